package ground

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tandem"
	"tandem/internal/scripts"
	"tandem/internal/testfile"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/model/tokenizer"
	"tandem/model/vocabulary"
	"tandem/models"
)

// vocabularyOf returns the vocabulary of a model file.
func vocabularyOf(t testing.TB, name string, data []byte) (*vocabulary.Vocabulary, *tokenizer.Tokenizer) {
	t.Helper()
	f, err := gguf.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.New(f)
	if err != nil {
		t.Fatal(err)
	}
	return vocabulary.Of(tok), tok
}

// allVocabularies returns small vocabularies and, if the shared data are there, real ones.
func allVocabularies(t testing.TB) map[string]*tokenizer.Tokenizer {
	t.Helper()
	out := map[string]*tokenizer.Tokenizer{}
	_, out["reader"] = vocabularyOf(t, "reader", models.Decoder)
	_, out["tiny"] = vocabularyOf(t, "tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 1, Context: 64, Dim: 32, FF: 48}))
	for _, name := range []string{"llama-spm", "gpt-2"} {
		path, err := testfile.Find("data", "tokenizers", name+".vocab.gguf")
		if err != nil {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, out[name] = vocabularyOf(t, name, data)
	}
	return out
}

// The words of texts are as the package says.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"It opens at 9:40, closes at 17:20.":    "It|opens|at|9:40|closes|at|17:20",
		"1,823 of 2 000,5 (3.5%) on 14.05.2026": "1,823|of|2|000,5|3.5%|on|14.05.2026",
		"a tumbral-5827 b":                      "a|tumbral-5827|b",
		"info@example.org, https://x.org/a_b":   "info@example.org|info|example|org|https://x.org/a_b|https|x|org|a|b",
		"the cabin's door":                      "the|cabin|cabin's|cabin|s|door",
		"−5 °C and -5.5, not 3-5":               "−5|°C|and|-5.5|not|3-5",
		"Jürgen Müller, 東京 (हिन्दी)":            "Jürgen|Müller|東京|हिन्दी",
		"C++ | a=b": "C++|a|b",
		"€14":       "€14",
		"":          "",
	} {
		if got := strings.Join(wordsOf(text), "|"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// museum is a context for examples.
func museum(t testing.TB) *Context {
	v, _ := vocabularyOf(t, "reader", models.Decoder)
	return NewQuestion(v, "When does the harbour museum open?").Context("Harbour museum",
		"The museum opens at 9:40 on weekdays\nand closes at 17:20. Jürgen Müller sells tickets for 14 €; Anna Keller helps. It is -5 °C cold, 3.5 % of days.")
}

func TestTexts(t *testing.T) {
	c := museum(t)
	for text, want := range map[string]struct{ begins, may bool }{
		"The harbour museum opens at 9:40.":    {true, true},
		"Harbour museum: 17:20":                {true, true},
		"opens at 9:40 on weekdays and closes": {true, true},
		" I don't know.":                       {true, true},
		"It is unknown…":                       {true, true},
		"J\xc3":                                {true, false},
		"Jürgen Müller's":                      {true, true},
		"Müller":                               {true, true},
		"Open":                                 {true, true},
		"(9:40)":                               {true, true},
		"14 €":                                 {true, true},
		"-5 °C":                                {true, true},
		"9:4":                                  {true, false},
		"wee":                                  {true, false},
		"14":                                   {true, false}, // of 14 €
		"14.":                                  {false, false},
		"9:41":                                 {false, false},
		"9.40":                                 {false, false},
		"9:40:17":                              {false, false},
		"5 °C":                                 {false, false},
		"Jürgen Keller":                        {false, false}, // two spans
		"Jürgen, Keller":                       {true, true},
		"Jürgen and Keller":                    {true, true},
		"opens/closes":                         {false, false},
		"unknown9":                             {false, false},
		"Paris":                                {false, false},
		"ürgen":                                {false, false},
		"3.5":                                  {true, false},
		"weekdays - and":                       {true, true},
		"weekdays -5":                          {false, false},
	} {
		s := c.Start()
		for i := 0; i < len(text); i++ {
			s = c.step(s, text[i])
		}
		if s.Lost() == want.begins || s.mayEnd() != want.may {
			t.Errorf("%q: begins %v, may end %v", text, !s.Lost(), s.mayEnd())
		}
	}
}

// Where another context wrote something, a context has no say until white space, and then none over what goes with that.
func TestLost(t *testing.T) {
	c := museum(t)
	for text, want := range map[string]struct{ lost, may, span bool }{
		"Paris":         {lost: true},
		"Paris.":        {lost: true},
		"Paris ":        {may: true},
		"Paris, ":       {may: true}, // it does not know what the comma belongs to
		"Paris in":      {may: true},
		"Paris in ":     {may: true, span: true},
		"Paris\n":       {may: true},
		"Jürgen Paris":  {lost: true},
		"in Paris Anna": {lost: true},
	} {
		s := c.Next(c.Start(), []byte(text))
		if s.Lost() != want.lost || s.mayEnd() != want.may || c.step(s, '9').Lost() == want.span {
			t.Errorf("%q: lost %v, may end %v", text, s.Lost(), s.mayEnd())
		}
	}
}

// alphabet is what random texts are made of.
var alphabet = strings.Split(strings.Repeat("a b B , . : - ' s 1 2 9 € % ü 東 the no 's \u00a0 \u3000 | ( \" … – ’ :// @ + − 👍 \u0301 \n", 1), " ")

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		if r.IntN(4) == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// randomAnswer returns a text of the reference's units, perhaps spoilt.
func randomAnswer(r *rand.Rand, ref reference) string {
	var b strings.Builder
	for range r.IntN(6) {
		switch r.IntN(5) {
		case 0:
			b.WriteString(ref.words[r.IntN(len(ref.words))])
		case 1, 2:
			if len(ref.spans) > 0 {
				b.WriteString(ref.spans[r.IntN(len(ref.spans))])
			}
		case 3:
			b.WriteString(randomText(r, 2))
		}
		if r.IntN(4) > 0 {
			b.WriteByte(' ')
		} else {
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
	}
	text := []byte(b.String())
	if len(text) > 0 && r.IntN(3) == 0 {
		text[r.IntN(len(text))] = byte(r.Uint32())
	}
	return string(text)
}

// randomQuestion returns a question, passages and the reference for them.
func randomQuestion(r *rand.Rand) (question string, ps []string, ref reference) {
	question = randomText(r, 5)
	for _, w := range wordsOf(question) {
		ref.words = append(ref.words, bothCases(w)...)
	}
	ref.words = append(ref.words, listed()...)
	for range 1 + r.IntN(2) {
		p := randomText(r, 12)
		ps = append(ps, p)
		ref.spans = append(ref.spans, spansOf(p)...)
	}
	return question, ps, ref
}

// The state of an answer says what trying all words and spans says.
func TestStateAgainstReference(t *testing.T) {
	v, _ := vocabularyOf(t, "tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 1, Context: 64, Dim: 32, FF: 48}))
	r := rand.New(rand.NewPCG(1, 2))
	begun, n := 0, 0
	for range 400 {
		question, ps, ref := randomQuestion(r)
		c := NewQuestion(v, question).Context(ps...)
		for range 6 {
			text := randomAnswer(r, ref)
			s := c.Start()
			for i := range len(text) {
				s = c.step(s, text[i])
				n++
				if !s.Lost() {
					begun++
				}
				if want := ref.begins(text[:i+1]); s.Lost() == want {
					t.Fatalf("question %q, passages %q: %q begins a text: %v, want %v", question, ps, text[:i+1], !s.Lost(), want)
				}
				if s.Lost() {
					break
				}
			}
		}
	}
	t.Logf("%d of %d prefixes begin texts", begun, n)
	if begun < n/4 {
		t.Errorf("only %d of %d prefixes begin texts", begun, n)
	}
}

// The mask holds the tokens that the state allows one by one.
func TestMaskAgainstState(t *testing.T) {
	for name, tok := range allVocabularies(t) {
		t.Run(name, func(t *testing.T) {
			v := vocabulary.Of(tok)
			r := rand.New(rand.NewPCG(3, 4))
			for range 12 {
				question, ps, _ := randomQuestion(r)
				c := NewQuestion(v, question).Context(ps...)
				s := c.Start()
				for range 6 {
					m := c.Allowed(s, many)
					var allowed []tandem.Token
					for id := range tandem.Token(tok.Size()) {
						want := tok.EOG(id) && s.mayEnd() || !tok.IsControl(id) && len(tok.Piece(id)) > 0 && !all(c, s, tok.Piece(id)).Lost()
						if m.Has(id) != want {
							t.Fatalf("question %q, passages %q, %v: token %q is allowed: %v", question, ps, s, tok.Piece(id), m.Has(id))
						}
						if want && !tok.IsControl(id) {
							allowed = append(allowed, id)
						}
					}
					if len(allowed) == 0 {
						break
					}
					s = c.Next(s, tok.Piece(allowed[r.IntN(len(allowed))]))
				}
			}
		})
	}
}

// all returns the state after text, lost if it is lost anywhere.
func all(c *Context, s State, text []byte) State {
	for _, b := range text {
		s = c.step(s, b)
	}
	return s
}

// plainWord is what a reader calls a word or a number.
var plainWord = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+(?:[.,:'’]\p{N}[\p{L}\p{M}\p{N}]*)*`)

// invented returns the words of an answer that are not in the question, not in the list and not whole in a passage.
func invented(answer, question string, passages []string) (out []string) {
	known := listed()
	for _, w := range plainWord.FindAllString(question, -1) {
		known = append(known, bothCases(w)...)
	}
	for _, w := range known {
		known = append(known, plainWord.FindAllString(w, -1)...)
	}
	known = append(known, "s") // of 's
	for _, loc := range plainWord.FindAllStringIndex(answer, -1) {
		word := answer[loc[0]:loc[1]]
		whole := func(p string) bool {
			for at := 0; at < len(p); at++ {
				if !strings.HasPrefix(p[at:], word) || at > 0 && !utf8.RuneStart(p[at]) {
					continue
				}
				before, _ := utf8.DecodeLastRuneInString(p[:at])
				after, _ := utf8.DecodeRuneInString(p[at+len(word):])
				in := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
				if !in(before) && !in(after) {
					return true
				}
			}
			return false
		}
		if !slices.Contains(known, word) && !slices.ContainsFunc(passages, whole) {
			out = append(out, word)
		}
	}
	return out
}

// many is more tokens than any answer has.
const many = 1 << 20

// simulate lets contexts with different passages write an answer together: any context that is not lost may give the next token.
func simulate(r *rand.Rand, tok *tokenizer.Tokenizer, question string, ps []string, most int) (string, error) {
	q := NewQuestion(vocabulary.Of(tok), question)
	contexts, states := make([]*Context, len(ps)), make([]State, len(ps))
	for i, p := range ps {
		contexts[i] = q.Context(p)
		states[i] = contexts[i].Start()
	}
	var text []byte
	for n := 0; ; n++ {
		var may []int
		for i, s := range states {
			if !s.Lost() {
				may = append(may, i)
			}
		}
		if len(may) == 0 {
			return string(text), fmt.Errorf("nobody goes on after %q", text)
		}
		i := may[r.IntN(len(may))]
		var tokens []tandem.Token
		m := contexts[i].Allowed(states[i], max(0, most-n))
		ends := states[i].mayEnd()
		for id := range tandem.Token(tok.Size()) {
			if m.Has(id) && !tok.IsControl(id) {
				tokens = append(tokens, id)
			}
		}
		if len(tokens) == 0 || ends && r.IntN(12) == 0 {
			if !ends {
				return string(text), fmt.Errorf("%q can neither go on nor end", text)
			}
			return string(text), nil
		}
		piece := tok.Piece(tokens[r.IntN(len(tokens))])
		text = append(text, piece...)
		for j, c := range contexts {
			states[j] = c.Next(states[j], piece)
		}
	}
}

// Contexts that write an answer together invent nothing, whatever they choose.
func TestNothingInvented(t *testing.T) {
	for name, tok := range allVocabularies(t) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			n := 300
			if tok.Size() > 1<<16 {
				n = 20
			}
			for range n {
				question, ps, _ := randomQuestion(r)
				ps = append(ps, randomText(r, 12), scripts.Text(r))
				text, err := simulate(r, tok, question, ps, 40)
				if err != nil {
					t.Fatalf("question %q, passages %q: %v", question, ps, err)
				}
				if bad := invented(text, question, ps); len(bad) > 0 {
					t.Fatalf("question %q, passages %q: %q invents %q", question, ps, text, bad)
				}
			}
		})
	}
}

// A context can copy its passage byte for byte in any script, token by token.
func TestCopies(t *testing.T) {
	v, tok := vocabularyOf(t, "reader", models.Decoder)
	r := rand.New(rand.NewPCG(7, 8))
	q := NewQuestion(v, "?")
	for i := range 10_000 {
		text := scripts.Text(r)
		c := q.Context(text)
		s := c.Start()
		for _, id := range tok.Encode(text, tokenizer.Options{}) {
			if i%100 == 0 && !c.Allowed(s, many).Has(id) {
				t.Fatalf("%q: %q is not allowed", text, tok.Piece(id))
			}
			s = all(c, s, tok.Piece(id))
		}
		if s.Lost() || !s.mayEnd() {
			t.Fatalf("%q cannot be copied", text)
		}
	}
}

// A vocabulary that lacks characters never begins what it cannot spell.
func TestUnspellable(t *testing.T) {
	pieces := []string{"", " ", ".", "a", "b", "the", "t", "h", "e", "ab"}
	v := vocabulary.New(pieces, 0)
	c := NewQuestion(v, "x").Context("ab bc a")
	s := c.Start()
	for _, text := range []string{"bc", "c", "x", "i"} {
		if !all(c, s, []byte(text)).Lost() {
			t.Errorf("%q is begun", text)
		}
	}
	for _, text := range []string{"ab", "a", "the"} {
		if !all(c, s, []byte(text)).mayEnd() {
			t.Errorf("%q is not allowed", text)
		}
	}
}

// However a context and its answers look, what it writes is not invented.
func FuzzNothingInvented(f *testing.F) {
	_, tok := vocabularyOf(f, "reader", models.Decoder)
	f.Add("When does it open?", "It opens at 9:40.", "Anna's 3.5 % | −5 °C", uint64(1))
	f.Add("wifi", "- a\n- b: c\n| d | e |", "東京\u3000は\u00a01\u00a0823", uint64(2))
	f.Fuzz(func(t *testing.T, question, one, two string, seed uint64) {
		question, one, two = strings.ToValidUTF8(question, "?"), strings.ToValidUTF8(one, "?"), strings.ToValidUTF8(two, "?")
		text, err := simulate(rand.New(rand.NewPCG(seed, 0)), tok, question, []string{one, two}, 30)
		if err != nil {
			t.Fatal(err)
		}
		if bad := invented(text, question, []string{one, two}); len(bad) > 0 {
			t.Fatalf("%q invents %q", text, bad)
		}
	})
}

func TestLoops(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                   false,
		"It opens at 9:40.":                  false,
		"The code is 1111 1111.":             false,
		"these these these":                  false,
		"It is these these these these":      true,
		"is 6:18, 6:18, 6:18, 6:18,":         true,
		"one thing, two things, one thing, ": false,
	} {
		if Loops([]byte(text)) != want {
			t.Errorf("%q loops: %v", text, !want)
		}
	}
}

// An answer that is to end goes on to the end of its word and no further.
func TestMustEnd(t *testing.T) {
	v, tok := vocabularyOf(t, "reader", models.Decoder)
	c := NewQuestion(v, "?").Context("It costs 14 € today.")
	for text, want := range map[string]bool{"It": true, "It costs 1": false, "It costs 14": false, "It costs 14 €": true} {
		m := c.Allowed(c.Next(c.Start(), []byte(text)), 0)
		if ends := m.Size() == len(tok.EOGs()) && m.Has(tok.EOGs()[0]); ends != want || m.Size() == 0 {
			t.Errorf("after %q: %d tokens, only ends %v", text, m.Size(), ends)
		}
	}
}
