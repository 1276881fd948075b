package span

import "strings"

// relations says which words may stand for a head or go with it, such as "rat" for "rodent": "other5 another3", with a
// grade from 1 to 9 for each.
type relations map[string]string

// endings are what a word's form may have instead of its head's ending, in the order in which they are tried.
var endings = [...][2]string{
	{"s", ""}, {"es", ""}, {"ies", "y"}, {"ed", ""}, {"ed", "e"}, {"ied", "y"}, {"ing", ""}, {"ing", "e"}, {"er", ""}, {"er", "e"}, {"est", ""},
}

// head returns the head that a lower-case word is a form of, or "".
func (l *lexicon) head(low string) string {
	if _, ok := l.relations[low]; ok {
		return low
	}
	if w, ok := l.irregular[low]; ok {
		if _, ok := l.relations[w]; ok {
			return w
		}
	}
	for _, e := range endings {
		w, ok := strings.CutSuffix(low, e[0])
		if !ok || len([]rune(w)) < 2 {
			continue
		}
		if _, ok := l.relations[w+e[1]]; ok {
			return w + e[1]
		}
		if r := []rune(w); e[1] == "" && len(r) > 3 && r[len(r)-1] == r[len(r)-2] {
			if once := string(r[:len(r)-1]); l.relations[once] != "" {
				return once
			}
		}
	}
	return ""
}

// of returns the grades of the words that go with a head.
func (r relations) of(head string) map[string]int {
	out := map[string]int{}
	for _, other := range strings.Fields(r[head]) {
		last := len(other) - 1
		out[other[:last]] = int(other[last] - '0')
	}
	return out
}

// related returns how related the question's words are to the passage's words: from 0 to .9.
func (m *matching) related(q, p *text, r relations) [][]float32 {
	out := make([][]float32, len(m.asked))
	for k, j := range m.asked {
		out[k] = make([]float32, len(p.words))
		of := r.of(q.words[j].head)
		if len(of) == 0 {
			continue
		}
		for i := range p.words {
			if w := &p.words[i]; w.head != "" {
				out[k][i] = float32(of[w.head]) / 10
			}
		}
	}
	return out
}

// withRelated sets features 21 to 31 of the passage and 6 to 8 of the question: those of related words. Most are as
// those of matches, with related words counted, too.
func (m *matching) withRelated(f, g [][matchFeatures]float32, q, p *text, r relations) {
	related := m.related(q, p, r)
	both := matching{asked: m.asked, weights: m.weights}
	for k, row := range related {
		sum := make([]float32, len(row))
		for i := range row {
			sum[i] = max(row[i], m.m[k][i])
		}
		both.m = append(both.m, sum)
	}
	around := make([][matchFeatures]float32, len(f))
	both.places(around, p)
	sums := make([]float32, len(f)+1)
	for i := range f {
		var top, weight, all float32
		for k, w := range m.weights {
			top, weight, all = max(top, related[k][i]), max(weight, related[k][i]*w), max(all, both.m[k][i]*w)
		}
		f[i][21], f[i][22] = top, min(float32(weight*3), 1)
		sums[i+1] = sums[i] + all
		for n, of := range [...]int{5, 6, 7, 8, 10, 11, 15, 20} {
			f[i][23+n] = around[i][of]
		}
	}
	var best [2]float32
	for i := range f {
		f[i][31] = sums[min(i+11, len(f))] - sums[max(i-10, 0)]
		best[0], best[1] = max(best[0], f[i][23]), max(best[1], f[i][25])
	}
	for k, j := range m.asked {
		g[j][6] = most(related[k])
		for n, of := range [...]int{23, 25} {
			for i := range f { // whether the best sentence and the best line hold the word or one related to it
				if best[n] > 0 && f[i][of] >= best[n]-near {
					g[j][7+n] = max(g[j][7+n], both.m[k][i])
				}
			}
		}
	}
}

// Related returns the words that may stand for a lower-case word or go with it, also in other languages, each with a
// grade from .1 to .9.
func (r *Reader) Related(word string) map[string]float64 {
	of := r.lexicon.relations.of(r.lexicon.head(word))
	out := make(map[string]float64, len(of))
	for other, grade := range of {
		out[other] = float64(grade) / 10
	}
	r.lexicon.meanings(word, out)
	return out
}
