package decoder

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tandem/aggregator"
	"tandem/internal/words"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// The built-in decoder's answers quote the sentences that say them. Where nobody knows, passages that come near stand below.
func TestQuotes(t *testing.T) {
	m := openDecoder(t)
	cfg := groundedConfig(m, "reader")
	cfg.Scorer = search.Lexical()
	ps := []passages.Passage{
		{Title: "Harbour museum", Text: "Children pay nothing. The harbour museum opens at 9:40. The shop sells maps."},
		{Title: "Bakery", Text: "The mountain bakery is run by Malte Bergson."},
	}
	for _, c := range []struct {
		question, quote, marked string
		weighs                  bool
	}{
		{"When does the harbour museum open?", "The harbour museum opens at 9:40.", "9:40", true},
		{"Who runs the mountain bakery?", "The mountain bakery is run by Malte Bergson.", "Malte Bergson", true},
		{"What is the door code of the moon base?", "", "", false},
	} {
		d := newDecoder(t, cfg, Request{Question: c.question, Passages: ps})
		answer, err := LockStep(t.Context(), d, nil, aggregator.Rule{Greedy: true}, m.Tokenizer().EOGs(), 40)
		if err != nil {
			t.Fatal(err)
		}
		said := textOf(m, answer)
		quotes := d.Parts()[0].Quotes
		if len(quotes) == 0 || (quotes[0].Weight > 0) != c.weighs {
			t.Fatalf("%s %s: %+v", c.question, said, quotes)
		}
		if q := quotes[0]; c.weighs && (q.Text != c.quote || q.Text[q.From:q.To] != c.marked) {
			t.Errorf("%s %s: quoted %q, marked %q", c.question, said, q.Text, q.Text[q.From:q.To])
		}
		for _, q := range quotes {
			if !c.weighs && q.Text != ps[q.Passage].Text {
				t.Errorf("%s %s: quoted %q and not the passage", c.question, said, q.Text)
			}
		}
	}
}

// A sentence that shares no word with an answer is not cited for it.
func TestQuotesShareWords(t *testing.T) {
	c := citer{topic: "How do I get in?", passages: []passages.Passage{{Title: "House", Text: "The alarm code is 7731."}}, scorer: search.Lexical()}
	for said, cited := range map[string]bool{"』』』": false, "every": false, "the is": false, "It is 7731.": true, "codes": true} {
		if got := c.quotes(Part{Weights: []float64{1}}, said, []float64{1}); (len(got) > 0) != cited {
			t.Errorf("%q is cited by %+v", said, got)
		}
	}
}

// Sentences are in order and hold all of a text but space. The text around one is whole sentences within the bound, unless
// the sentence alone exceeds it.
func TestSentencesOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"Dr.", "Kim", "opens", "9:40.", "No!", "\n", "- ", "ö\u00a0", "\"Yes.\"", "e.g.", "?"}), 1, 20).Draw(t, "words")
		text := strings.Join(words, " ")
		if strings.TrimSpace(text) == "" {
			t.Skip()
		}
		all := sentencesOf(text)
		end, held := 0, ""
		for _, s := range all {
			if s.from < end || s.to <= s.from || strings.TrimSpace(text[end:s.from]) != "" {
				t.Fatalf("%q: %v", text, all)
			}
			end, held = s.to, held+text[s.from:s.to]
		}
		if strings.TrimSpace(text[end:]) != "" {
			t.Fatalf("%q: %v", text, all)
		}
		i, most := rapid.IntRange(0, len(all)-1).Draw(t, "i"), rapid.IntRange(0, 60).Draw(t, "most")
		if from, to := around(all, i, most); from > all[i].from || to < all[i].to || to-from > max(most, all[i].to-all[i].from) {
			t.Fatalf("%q around %v: %d to %d", text, all[i], from, to)
		}
	})
}

func TestRepeated(t *testing.T) {
	asked := words.Content("When does the harbour museum open?")
	for _, c := range []struct{ text, answer, want string }{
		{"The harbour museum opens at 9:40 on weekdays.", "The harbour museum opens at 9:40.", "9:40"},
		{"Ask Jürgen Müller (0561 555 12).", "It is Jürgen Müller.", "Jürgen Müller"},
		{"The museum opens.", "The museum opens.", ""},
		{"", "x", ""},
	} {
		if from, to := repeated(c.text, c.answer, asked); c.text[from:to] != c.want {
			t.Errorf("%q in %q: %q, want %q", c.answer, c.text, c.text[from:to], c.want)
		}
	}
}
