package decoder

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder/ground"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/grammar"
	"tandem/model/sample"
	"tandem/model/tokenizer"
	"tandem/model/vocabulary"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// openDecoder opens the built-in decoder.
func openDecoder(t testing.TB) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func groundedConfig(m *model.Model, weights string) Config {
	cfg := toyConfig(m, weights)
	cfg.Grounded = true
	return cfg
}

// limits are the ways to limit what a decoder writes.
var limits = map[string]func(m *model.Model, weights string) Config{"grounded": groundedConfig, "form": formConfig}

func formConfig(m *model.Model, weights string) Config {
	cfg := toyConfig(m, weights)
	form, err := grammar.Of(`root ::= (word " ")* word "."
word ::= [A-Z]? [^A-Z .]+`)
	if err != nil {
		panic(err)
	}
	cfg.Form = form
	return cfg
}

// otherPassages are those of the other side.
var otherPassages = []passages.Passage{
	{ID: "6", Title: "Fähre", Text: "Jürgen Müller fährt um 17:20 Uhr; die Karte kostet 3,50 €."},
	{ID: "7", Title: "Prices", Text: "Coffee | 2.80\nTea | 1,823.00 (3.5 %)"},
}

var plainWord = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+(?:[.,:'’]\p{N}[\p{L}\p{M}\p{N}]*)*`)

// inventedWords returns the words of an answer that are neither in the question nor in the list nor whole in a passage.
func inventedWords(answer, question string, ps []passages.Passage) (out []string) {
	known := map[string]bool{"s": true}
	for _, text := range append(ground.Words(), question) {
		for _, w := range plainWord.FindAllString(text, -1) {
			known[strings.ToLower(w[:1])+w[1:]] = true
		}
	}
	held := map[string]bool{}
	for _, p := range ps {
		for _, w := range plainWord.FindAllString(p.Title+"\n"+p.Text, -1) {
			held[w] = true
		}
	}
	for _, w := range plainWord.FindAllString(answer, -1) {
		if !known[strings.ToLower(w[:1])+w[1:]] && !held[w] {
			out = append(out, w)
		}
	}
	return out
}

// A side alone and a pair write nothing that is not in the question, in the list or in a passage of one of them: whatever the
// model, the weights, the contexts and the coupling.
func TestGroundedInventsNothing(t *testing.T) {
	tiny, reader := openToy(t, 3, 512), openDecoder(t)
	words := 0
	for i, c := range []struct {
		m        *model.Model
		weights  string
		contexts int
		coupling tandem.Coupling
	}{
		{tiny, "static", 0, tandem.CouplingShared},
		{tiny, "sentence+likelihood", 2, tandem.CouplingSpeculative},
		{tiny, "reader:0.5,0.6,-1,0.4", 0, tandem.CouplingShared},
		{reader, "reader", 0, tandem.CouplingSpeculative},
		{reader, "sentence", 1, tandem.CouplingShared},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			cfg := groundedConfig(c.m, c.weights)
			cfg.Contexts, cfg.TopP = c.contexts, 1
			ends := c.m.Tokenizer().EOGs()
			for seed := range uint64(6) {
				device := newDecoder(t, cfg, Request{Question: bothQuestion, Passages: samplePassages})
				cloud := newDecoder(t, cfg, Request{Question: bothQuestion, Passages: otherPassages})
				rule := aggregator.Rule{Seed: seed, Coupling: c.coupling, Gamma: tandem.HalfGamma}
				both := Producer(cloud)
				if seed%3 == 0 {
					both = nil
				}
				answer, err := LockStep(t.Context(), device, both, rule, ends, 60)
				if err != nil {
					t.Fatal(err)
				}
				text := textOf(c.m, answer)
				if len(answer) == 60 { // cut off in a word, perhaps
					text = text[:strings.LastIndexAny(text, " \n")+1]
				}
				words += len(plainWord.FindAllString(text, -1))
				if bad := inventedWords(text, bothQuestion, slices.Concat(samplePassages, otherPassages)); len(bad) > 0 {
					t.Errorf("seed %d: %q invents %q", seed, text, bad)
				}
			}
		})
	}
	if words < 100 {
		t.Errorf("all answers together have %d words", words)
	}
}

func textOf(m *model.Model, answer []tandem.Target) string {
	var tokens []tandem.Token
	for _, a := range answer {
		tokens = append(tokens, a.Token)
	}
	return m.Tokenizer().Decode(tokens)
}

// The same answer gives the same bits under grounding and in a form, whatever calls and rollbacks led to it, also one that the
// other side wrote and this one could not.
func TestLimitedRollback(t *testing.T) {
	for name, config := range limits {
		t.Run(name, func(t *testing.T) { limitedRollback(t, config) })
	}
}

func limitedRollback(t *testing.T, config func(*model.Model, string) Config) {
	m := openToy(t, 1, 512)
	letters := m.Tokenizer().Encode("The wifi password is tumbral-5827. Jürgen Müller opens at 9:30.\n", tokenizer.Options{})
	for i, weights := range []string{"reader:0.5,0.6,-1,0.4", "sentence", "likelihood:0.5"} {
		t.Run(weights, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			req := Request{Question: bothQuestion, Passages: samplePassages}
			d := newDecoder(t, config(m, weights), req)
			var answer []tandem.Token
			for range 40 {
				keep := r.IntN(len(answer) + 1)
				n := min(keep+r.IntN(5), len(letters))
				app := slices.Clone(letters[min(keep, n):n])
				pass := tandem.Pass{Keep: keep, Append: app, Guess: r.IntN(4), Branches: []tandem.Branch{{Token: letters[0], Back: 1}}[:r.IntN(1+min(1, len(app)))]}
				out, _, _, err := d.NextAhead(context.Background(), pass)
				if err != nil {
					t.Fatal(err)
				}
				answer = append(answer[:keep:keep], app...)
				out.Took = 0
				fresh := newDecoder(t, config(m, weights), req)
				if want := next(t, fresh, 0, answer...); !equal(out, want) {
					t.Fatalf("after %q: %v, want %v", m.Tokenizer().Decode(answer), out, want)
				}
			}
		})
	}
}

// What NextAhead says about other answers is what Next says.
func TestLimitedAhead(t *testing.T) {
	for name, config := range limits {
		t.Run(name, func(t *testing.T) { limitedAhead(t, config) })
	}
}

func limitedAhead(t *testing.T, config func(*model.Model, string) Config) {
	m := openToy(t, 1, 512)
	req := Request{Question: bothQuestion, Passages: samplePassages}
	d := newDecoder(t, config(m, "sentence"), req)
	tok := m.Tokenizer()
	answer := tok.Encode("The wifi", tokenizer.Options{})
	drafts := tok.Encode(" password", tokenizer.Options{})
	other := tok.Encode("Q", tokenizer.Options{})[:1]
	out, also, chain, err := d.NextAhead(t.Context(), tandem.Pass{Append: answer, Branches: []tandem.Branch{{Token: other[0], Back: 1}}, Drafts: drafts})
	if err != nil || len(also) != 1 || len(chain) == 0 {
		t.Fatalf("%d alternatives, %d drafts, %v", len(also), len(chain), err)
	}
	same := func(dist tandem.Dist, h tandem.Fixed, answer ...tandem.Token) {
		t.Helper()
		want := next(t, newDecoder(t, config(m, "sentence"), req), 0, answer...)
		if !equal(Output{Dist: dist, H: h}, Output{Dist: want.Dist, H: want.H}) {
			t.Errorf("after %q: %v %v, want %v %v", tok.Decode(answer), dist, h, want.Dist, want.H)
		}
	}
	same(out.Dist, out.H, answer...)
	same(also[0].Dist, also[0].H, append(slices.Clone(answer[:len(answer)-1]), other...)...)
	for i, f := range chain {
		same(f.Dist, f.H, append(slices.Clone(answer), drafts[:i+1]...)...)
	}
}

// In a word that no passage of a side holds, the side has no say; one context of several still has.
func TestGroundedMute(t *testing.T) {
	m := openToy(t, 1, 512)
	tok := m.Tokenizer()
	d := newDecoder(t, groundedConfig(m, "static"), Request{Question: "What?", Passages: samplePassages[:2]})
	at := func(text string) (Output, []float64) {
		out := next(t, d, 0, tok.Encode(text, tokenizer.Options{})...)
		return out, d.documentWeights()
	}
	if out, _ := at("Jürg"); out.H != tandem.FixedOf(Mute) || !slices.Equal(out.Dist.IDs, tok.EOGs()[:1]) {
		t.Errorf("in a foreign word: %v", out)
	}
	if out, _ := at("It is these these these these"); !slices.Equal(out.Dist.IDs, tok.EOGs()[:1]) {
		t.Errorf("in a loop: %v", out)
	}
	if out, _ := at("Jürgen "); out.H == tandem.FixedOf(Mute) {
		t.Error("muted after a foreign word")
	}
	if _, w := at("It is tumb"); w[0] < 0.999 {
		t.Errorf("weights %v in a word of the first passage", w)
	}
	if _, w := at("It is tumbral-5827 "); w[0] > 0.99 {
		t.Errorf("weights %v after a word of the first passage", w)
	}
}

// Words of earlier turns may be written again. So may no words that are only in the template.
func TestGroundedConversation(t *testing.T) {
	m := openToy(t, 1, 512)
	tok := m.Tokenizer()
	req := Request{Question: "And there?", Passages: samplePassages[:1]}
	for _, asked := range []bool{false, true} {
		if asked {
			req.History = append(req.History, chat.Message{Role: "user", Content: "What of Zanzibar?"}, chat.Message{Role: "assistant", Content: "It is unknown."})
		}
		d := newDecoder(t, groundedConfig(m, "static"), req)
		if out := next(t, d, 0, tok.Encode("In Zanz", tokenizer.Options{})...); (out.H == tandem.FixedOf(Mute)) == asked {
			t.Errorf("asked about it %v: %v", asked, out)
		}
		if out := next(t, d, 0, tok.Encode("Contex", tokenizer.Options{})...); out.H != tandem.FixedOf(Mute) {
			t.Error("a word of the template is allowed")
		}
	}
}

// The built-in decoder answers the sample question as before: all words of its answer are grounded.
func TestGroundedAnswer(t *testing.T) {
	m := openDecoder(t)
	var texts []string
	for _, grounded := range []bool{false, true} {
		cfg := Config{Model: m, Scorer: search.Lexical(), Weights: Supported, Grounded: grounded, Sampling: sample.Params{}}
		device := newDecoder(t, cfg, Request{Question: bothQuestion, Passages: samplePassages[:1]})
		cloud := newDecoder(t, cfg, Request{Question: bothQuestion, Passages: samplePassages[1:2]})
		answer, err := LockStep(t.Context(), device, cloud, aggregator.Rule{Greedy: true}, m.Tokenizer().EOGs(), 64)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, textOf(m, answer))
	}
	if texts[0] != texts[1] || !strings.Contains(texts[1], "tumbral-5827") {
		t.Errorf("%q with grounding, %q without", texts[1], texts[0])
	}
}

// An answer is never cut off within a word or number, however short it must be.
func TestGroundedEnds(t *testing.T) {
	m := openToy(t, 5, 512)
	for _, most := range []int{8, 40} {
		cfg := groundedConfig(m, "static")
		cfg.MaxTokens, cfg.TopP = most, 1
		for seed := range uint64(20) {
			d := newDecoder(t, cfg, Request{Question: "When?", Passages: samplePassages})
			answer, err := LockStep(t.Context(), d, nil, aggregator.Rule{Seed: seed}, m.Tokenizer().EOGs(), most)
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(m, answer); len(inventedWords(text, "When?", samplePassages)) > 0 {
				t.Errorf("%d tokens: %q", len(answer), text)
			}
		}
	}
}

// In a form, every answer of a side alone is one, whatever the seed, and a text that is none leaves the side without a say.
func TestForm(t *testing.T) {
	m := openToy(t, 1, 512)
	tok := m.Tokenizer()
	req := Request{Question: bothQuestion, Passages: samplePassages}
	cfg := formConfig(m, "sentence")
	matcher := grammar.NewMatcher(cfg.Form, vocabulary.Of(tok))
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		d := newDecoder(t, cfg, req)
		var answer, last []tandem.Token
		at := matcher.Start()
		for range 30 {
			out := next(t, d, len(answer)-len(last), last...)
			token := out.Dist.IDs[r.IntN(len(out.Dist.IDs))]
			if slices.Contains(tok.EOGs(), token) {
				if !at.MayEnd() {
					t.Fatalf("%q ends", tok.Decode(answer))
				}
				break
			}
			if at = matcher.Next(at, tok.Piece(token)); at.Lost() {
				t.Fatalf("%q follows %q", tok.Piece(token), tok.Decode(answer))
			}
			last = []tandem.Token{token}
			answer = append(answer, token)
		}
	}
	out := next(t, newDecoder(t, cfg, req), 0, tok.Encode("..", tokenizer.Options{})...)
	if out.H != tandem.FixedOf(Mute) || !slices.Contains(tok.EOGs(), out.Dist.IDs[0]) {
		t.Errorf("after what is no beginning of the form: %v, %v", out.H, out.Dist)
	}
	cfg.Grounded = true
	if _, err := New(t.Context(), cfg, req); err == nil {
		t.Error("a form was combined with grounding")
	}
}
