package ground

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tandem/model/vocabulary"
)

const syllables = "ba ken li mor sta tu an er ing el do ri va no th est ou pre com ly"

// word returns a word of up to n syllables.
func word(r *rand.Rand, n int) string {
	list := strings.Fields(syllables)
	var b strings.Builder
	for range 1 + r.IntN(n) {
		b.WriteString(list[r.IntN(len(list))])
	}
	return b.String()
}

// benchmarkPieces returns as many pieces as Qwen2.5 has tokens: bytes, words with and without a blank, and rows of marks.
func benchmarkPieces() []string {
	const size = 151_936
	var out []string
	known := map[string]bool{}
	add := func(p string) {
		if !known[p] {
			out, known[p] = append(out, p), true
		}
	}
	for b := range 256 {
		add(string([]byte{byte(b)}))
	}
	for n := 2; n < 64; n++ {
		for _, c := range " \n\t.-*=" {
			add(strings.Repeat(string(c), n))
		}
	}
	for _, w := range Words() {
		add(w)
		add(" " + w)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for len(out) < size {
		p := word(r, 4)
		switch r.IntN(8) {
		case 0, 1, 2, 3:
			p = " " + p
		case 4:
			p = strings.ToUpper(p[:1]) + p[1:]
		case 5:
			p = " " + strings.ToUpper(p[:1]) + p[1:]
		}
		add(p)
	}
	return out
}

// encode spells a text with the longest tokens.
func encode(v *vocabulary.Vocabulary, text string) (out []string) {
	for text != "" {
		node, longest := int32(0), 0
		for i := 0; i < len(text); i++ {
			if node = v.Tokens.Child(node, text[i]); node < 0 {
				break
			}
			if len(v.Tokens.At(node)) > 0 {
				longest = i + 1
			}
		}
		out, text = append(out, text[:longest]), text[longest:]
	}
	return out
}

// longPassage returns n words.
func longPassage(n int) string {
	r := rand.New(rand.NewPCG(1, 1))
	words := make([]string, n)
	for i := range words {
		words[i] = word(r, 4)
	}
	return strings.Join(words, " ")
}

// What it costs to make a vocabulary, once per tokenizer.
func BenchmarkVocabulary(b *testing.B) {
	pieces := benchmarkPieces()
	b.ReportAllocs()
	for b.Loop() {
		vocabulary.New(pieces, 0)
	}
}

// What a step costs a context of 100 and of 2,000 words: the state, the mask and its application.
func BenchmarkStep(b *testing.B) {
	v := vocabulary.New(benchmarkPieces(), 0)
	for name, words := range map[string]int{"100 words": 100, "2000 words": 2000} {
		b.Run(name, func(b *testing.B) {
			passage := longPassage(words)
			c := NewQuestion(v, "When does the harbour museum open?").Context("Harbour museum", passage)
			answer := encode(v, "The harbour museum, "+strings.Join(strings.Fields(passage)[:24], " "))
			logits := make([]float32, v.Size)
			s, i := c.Start(), 0
			for b.Loop() {
				if s.Lost() {
					b.Fatalf("lost before %q", answer[i])
				}
				c.Allowed(s, 256).Restrict(logits)
				s = c.Next(s, []byte(answer[i]))
				if i++; i == len(answer) {
					s, i = c.Start(), 0
				}
			}
		})
	}
}

// What the first mask of a context of 2,000 words costs, of which later ones use parts.
func BenchmarkFirst(b *testing.B) {
	v := vocabulary.New(benchmarkPieces(), 0)
	passage := longPassage(2000)
	q := NewQuestion(v, "When does the harbour museum open?")
	for b.Loop() {
		c := q.Context("Harbour museum", passage)
		c.Allowed(c.Start(), 256)
	}
}
