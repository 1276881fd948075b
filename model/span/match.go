package span

import "tandem/internal/spelling"

// What a passage's words share with a question's. These features carry a small reader.

// near is how close two sums count as equal.
const near = 1e-6

// matching says which words of a passage match which content words of a question.
type matching struct {
	asked   []int       // the question's content words, the first of each stem
	weights []float32   // of asked: how rare each is; they sum to 1
	m       [][]float32 // [asked][words of the passage]: 1 for the same stem, less for a likely one, 0 for none
}

// match compares a question with a passage. A likely match counts fuzzy.
func match(q, p *text, fuzzy float32) matching {
	var m matching
	seen := map[string]bool{}
	var sum float32
	for j := range q.words {
		if w := &q.words[j]; w.content() && !seen[w.stem] {
			seen[w.stem] = true
			m.asked = append(m.asked, j)
			m.weights = append(m.weights, w.idf)
			sum += w.idf
		}
	}
	var own, joined map[string][][2]int
	for k, j := range m.asked {
		m.weights[k] /= sum + near
		row, any := make([]float32, len(p.words)), false
		for i := range p.words {
			if w := &p.words[i]; w.stem == q.words[j].stem || w.own == q.words[j].own {
				row[i], any = 1, true
			}
		}
		if !any && letters(q.words[j].low) {
			if joined == nil {
				own, joined = pairs(q), pairs(p)
			}
			likely(row, q, p, j, own, joined, fuzzy)
		}
		m.m = append(m.m, row)
	}
	return m
}

// pairs returns what neighbouring words make together, with or without a hyphen between them.
func pairs(t *text) map[string][][2]int {
	out := map[string][][2]int{}
	for i := 0; i+1 < len(t.words); i++ {
		j := i + 1
		if t.words[j].low == "-" && i+2 < len(t.words) {
			j++
		}
		if a, b := t.words[i].low, t.words[j].low; letters(a) && letters(b) && len([]rune(a)) < 12 {
			out[a+b] = append(out[a+b], [2]int{i, j})
		}
	}
	return out
}

// likely fills the row of a question's word whose stem the passage does not have.
func likely(row []float32, q, p *text, j int, own, joined map[string][][2]int, fuzzy float32) {
	asked, any := q.words[j].low, false
	for _, at := range joined[asked] {
		row[at[0]], row[at[1]], any = fuzzy, fuzzy, true
	}
	for low, places := range own {
		for _, at := range places {
			if at[0] != j && at[1] != j {
				continue
			}
			for i := range p.words {
				if p.words[i].low == low {
					row[i], any = fuzzy, true
				}
			}
		}
	}
	if any {
		return
	}
	known := map[string]bool{}
	for i := range p.words {
		w := &p.words[i]
		if !w.content() || !letters(w.low) {
			continue
		}
		same, ok := known[w.low]
		if !ok {
			same = alike([]rune(asked), []rune(w.low))
			known[w.low] = same
		}
		if same {
			row[i] = fuzzy
		}
	}
}

// alike reports whether two words may be the same one: by their first five letters or a typing error.
func alike(a, b []rune) bool {
	if len(a) < 4 || len(b) < 4 || !(a[0] == b[0] || a[0] == b[1] && a[1] == b[0]) {
		return false
	}
	if len(a) > 5 && len(b) > 5 && string(a[:5]) == string(b[:5]) {
		return true
	}
	most := 1
	if max(len(a), len(b)) >= 8 {
		most = 2
	}
	return spelling.Distance(a, b, most) <= most
}

// features returns the match features of the passage's words and of the question's.
func features(q, p *text, fuzzy float32, r relations) (f, g [][matchFeatures]float32) {
	f, g = make([][matchFeatures]float32, len(p.words)), make([][matchFeatures]float32, len(q.words))
	m := match(q, p, fuzzy)
	shared(f, q, p)
	if len(m.asked) == 0 {
		return f, g
	}
	m.byWord(f, q, p)
	m.places(f, p)
	m.ofQuestion(f, g, q, p)
	if len(r) > 0 {
		m.withRelated(f, g, q, p, r)
	}
	return f, g
}

// shared sets features 0 and 1: the question has the word, its stem.
func shared(f [][matchFeatures]float32, q, p *text) {
	low, stem := map[string]bool{}, map[string]bool{}
	for i := range q.words {
		w := &q.words[i]
		low[w.low], low[w.same], stem[w.own], stem[w.stem] = true, true, true, true
	}
	for i := range p.words {
		w := &p.words[i]
		f[i][0], f[i][1] = one(low[w.low] || low[w.same]), one(stem[w.own] || stem[w.stem])
	}
}

// byWord sets features 2 to 4, 13, 14 and 18.
func (m *matching) byWord(f [][matchFeatures]float32, q, p *text) {
	follow := map[[2]string]bool{}
	for i := 0; i+1 < len(q.words); i++ {
		follow[[2]string{q.words[i].stem, q.words[i+1].stem}] = true
	}
	sums := make([]float32, len(f)+1) // of the words' weights, from the first word on
	for i := range f {
		var hit, weight float32
		for k, row := range m.m {
			hit, weight = max(hit, row[i]), max(weight, row[i]*m.weights[k])
		}
		f[i][2], f[i][3] = min(float32(weight*3), 1), one(hit > 0 && hit < 1)
		sums[i+1] = sums[i] + weight
		if i+1 < len(f) && follow[[2]string{p.words[i].stem, p.words[i+1].stem}] {
			f[i][4], f[i+1][4] = 1, 1
		}
	}
	var all float32
	for k, row := range m.m {
		all += float32(m.weights[k] * most(row))
	}
	for i := range f {
		f[i][13] = sums[min(i+4, len(f))] - sums[max(i-3, 0)]
		f[i][14] = sums[min(i+11, len(f))] - sums[max(i-10, 0)]
		f[i][18] = all
	}
}

func most(row []float32) (top float32) {
	for _, v := range row {
		top = max(top, v)
	}
	return top
}

// A holding says how well a part of a passage holds each of the asked words.
type holding []float32

// in returns what the words a to b hold.
func (m *matching) in(a, b int) holding {
	h := make(holding, len(m.asked))
	for k, row := range m.m {
		h[k] = most(row[a:b])
	}
	return h
}

// density returns the weight of what the parts hold together.
func (m *matching) density(parts ...holding) (sum float32) {
	for k, w := range m.weights {
		var top float32
		for _, h := range parts {
			if h != nil {
				top = max(top, h[k])
			}
		}
		sum += float32(top * w)
	}
	return sum
}

// places sets features 5 to 12, 15 to 17, 19 and 20: what the sentence, the line, its heading, key and column hold of
// the question.
func (m *matching) places(f [][matchFeatures]float32, p *text) {
	line := m.segments(p, func(w *word) int { return w.line })
	sentence := m.segments(p, func(w *word) int { return w.sentence })
	pieces := make([]holding, len(p.pieces))
	for i, r := range p.pieces {
		pieces[i] = m.in(r[0], r[1])
	}
	piece := func(i int) holding {
		if i < 0 {
			return nil
		}
		return pieces[i]
	}
	var best [3]float32 // of features 5, 7 and 15
	for i := range f {
		w, x := &p.words[i], &f[i]
		heading, header, title := piece(w.heading), piece(w.header), piece(p.title)
		l, s := line[w.line], sentence[w.sentence]
		x[5] = m.density(s)
		x[7] = m.density(l, heading, header, title)
		x[9], x[10], x[11], x[12] = m.density(heading), m.density(piece(w.keyed)), m.density(header), m.density(l)
		x[15] = m.density(s, heading, header, title)
		x[20] = x[5]
		if w.sentence > 0 {
			x[20] = m.density(s, sentence[w.sentence-1])
		}
		best[0], best[1], best[2] = max(best[0], x[5]), max(best[1], x[7]), max(best[2], x[15])
	}
	for i := range f {
		x := &f[i]
		x[6], x[8], x[19] = one(x[5] > 0 && x[5] >= best[0]-near), one(x[7] > 0 && x[7] >= best[1]-near), one(x[15] > 0 && x[15] >= best[2]-near)
		x[16], x[17] = best[0], best[1]
	}
}

// segments returns what each line or sentence holds, by its number.
func (m *matching) segments(p *text, of func(*word) int) (out []holding) {
	for a, n := 0, len(p.words); a < n; {
		b := a + 1
		for b < n && of(&p.words[b]) == of(&p.words[a]) {
			b++
		}
		out = append(out, m.in(a, b))
		a = b
	}
	return out
}

// ofQuestion sets the question's features, once the passage's are known.
func (m *matching) ofQuestion(f, g [][matchFeatures]float32, q, p *text) {
	stems := map[string]bool{}
	for i := range p.words {
		stems[p.words[i].own], stems[p.words[i].stem] = true, true
	}
	for j := range g {
		g[j][3] = one(stems[q.words[j].own] || stems[q.words[j].stem])
	}
	for k, j := range m.asked {
		row, w := m.m[k], m.weights[k]
		found := most(row)
		g[j][0], g[j][1], g[j][2] = found, min(float32(float32(found*w)*3), 1), w
		for i := range f { // whether the best sentence and the best line hold the word
			if x := &f[i]; x[16] > 0 && x[5] >= x[16]-near {
				g[j][4] = max(g[j][4], row[i])
			}
			if x := &f[i]; x[17] > 0 && x[7] >= x[17]-near {
				g[j][5] = max(g[j][5], row[i])
			}
		}
	}
}
