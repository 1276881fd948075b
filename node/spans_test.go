package node

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/model/tokenizer"
	"tandem/models"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/pair/pairtest"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

// With the span reader, too, the same seed gives the same text in every placement, in both couplings and on any network.
func TestSameSeedSameSpans(t *testing.T) {
	const question = "When does the harbour museum open, and what is the wifi password?"
	for _, temperature := range []float64{0, 1} {
		sides, tok := spanSides(t, question, temperature)
		for seed := range uint64(4) {
			for _, coupling := range []tandem.Coupling{tandem.CouplingShared, tandem.CouplingSpeculative, tandem.CouplingLeader} {
				cfg := toyConfig(tandem.PlaceMirror, coupling, seed, temperature == 0)
				cfg.Stop, cfg.Vocab = tok.EOGs(), tok.Size()
				targets, err := decoder.LockStep(t.Context(), sides[0], sides[1], cfg.Rule(), cfg.Stop, cfg.MaxTokens)
				if err != nil {
					t.Fatal(err)
				}
				want := pairtest.Tokens(targets)
				synctest.Test(t, func(t *testing.T) { // one bubble for all: see race_test.go
					for _, placement := range placements {
						cfg.Placement = placement
						for _, c := range []*cable{{}, {delay: 20 * time.Millisecond, jitter: 15 * time.Millisecond}, {delay: 150 * time.Millisecond, loss: .1}} {
							c.spans = sides
							if got, _ := converse(t, cfg, c, 0, nil); !slices.Equal(got, want) {
								t.Errorf("%v %v seed %d delay %v: %q, want %q", placement, coupling, seed, c.delay, tok.Decode(got), tok.Decode(want))
							}
						}
					}
				})
				if temperature == 0 && tok.Decode(want) != "9:40\nharbour-7421" {
					t.Errorf("the answer is %q", tok.Decode(want))
				}
			}
		}
	}
}

// If the cloud is killed in the middle of a part that only it knows, the answer says that the rest of that part is not
// known, whether or not the cloud comes back, and is marked as one with less than both sides know.
func TestPartOfLostCloudIsUnknown(t *testing.T) {
	const question = "What is the wifi password, and when does the harbour museum open?"
	const known = "harbour-7421\n"
	for cut := range 4 { // tokens of the cloud's part
		sides, tok := spanSides(t, question, 0)
		cfg := toyConfig(tandem.PlaceSync, tandem.CouplingShared, 1, true)
		cfg.Stop, cfg.Vocab = tok.EOGs(), tok.Size()
		for _, away := range []time.Duration{200 * time.Millisecond, time.Hour} {
			said := len(tok.Encode(known, tokenizer.Options{}))
			answer := spansUntil(t, cfg, sides, tok, said+cut+1, away)
			part := answer.Parts[len(answer.Parts)-1]
			if !strings.HasPrefix(part.Text, "9") || !strings.HasSuffix(part.Text, " … "+extract.Unknown) || part.Unknown != 1 || part.Overruled {
				t.Errorf("cut after %d tokens for %v: %+v", cut+1, away, part)
			}
			if first := answer.Parts[0]; len(answer.Parts) != 2 || first.Text != strings.TrimSpace(known) || first.Unknown > .5 || !answer.Degraded {
				t.Errorf("cut after %d tokens for %v: degraded %v, %+v", cut+1, away, answer.Degraded, first)
			}
		}
	}
}

// What nobody knew before the cloud was killed is still not known: the cloud would have said it otherwise.
func TestUnknownBeforeLostCloud(t *testing.T) {
	const question = "What is the name of the dog, and when does the harbour museum open?"
	sides, tok := spanSides(t, question, 0)
	cfg := toyConfig(tandem.PlaceSync, tandem.CouplingShared, 1, true)
	cfg.Stop, cfg.Vocab = tok.EOGs(), tok.Size()
	said := len(tok.Encode(extract.Unknown+"\n", tokenizer.Options{}))
	answer := spansUntil(t, cfg, sides, tok, said+1, time.Hour)
	if first := answer.Parts[0]; first.Text != extract.Unknown || first.Unknown <= .5 || len(answer.Parts) != 2 {
		t.Errorf("%+v", answer.Parts)
	}
}

// spansUntil answers with both sides until the cloud is away for a while after n tokens.
func spansUntil(t *testing.T, cfg pair.Config, sides [2]producer, tok *tokenizer.Tokenizer, n int, away time.Duration) (answer Answer) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cable{delay: 20 * time.Millisecond, spans: sides}
		c.prepare = func(a *deviceAnswer) { a.speller, a.wantsCloud = tok.Stream(), true }
		c.ending = func(a *deviceAnswer) {
			d := sides[tandem.Device].(*extract.Decoder)
			if err := d.Finish(t.Context(), a.machine.Answer()); err != nil {
				t.Error(err)
			}
			a.parts[tandem.Device] = (&reading{answerer: d, passages: make(found, 1), logOdds: true}).parts()
		}
		_, answer = converse(t, cfg, c, 0, func(said int) {
			if said == n {
				c.fail(away)
			}
		})
	})
	return answer
}

// The answer, the recording and the cloud give the same reason why an answer ended: "length" also where the reader has
// left out words of a sentence, and "stop" where that has room.
func TestReasonsAgree(t *testing.T) {
	const question = "Is the wifi password of the lake cabin harbour-7421?"
	for most, want := range map[int]string{8: "length", 120: "stop"} {
		sides, tok := spanSides(t, question, 0, func(cfg *extract.Config) { cfg.MaxTokens = most })
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 1, true)
		cfg.Stop, cfg.Vocab, cfg.MaxTokens = tok.EOGs(), tok.Size(), most
		said := map[string]string{}
		synctest.Test(t, func(t *testing.T) {
			c := &cable{delay: 20 * time.Millisecond, spans: sides, record: func(l Line) { said["record"] = l.Reason }, heard: func(m transport.Message) {
				if end, ok := m.(transport.End); ok {
					said["cloud"] = end.Reason
				}
			}}
			c.prepare = func(a *deviceAnswer) { a.speller, a.questionParts, a.answer.MaxTokens = tok.Stream(), 1, most }
			_, answer := converse(t, cfg, c, 0, nil)
			said["answer"] = answer.Reason.String()
			if (most == 8) != strings.HasSuffix(answer.Text, " …") {
				t.Errorf("the answer of %d tokens is %q", most, answer.Text)
			}
		})
		for where, reason := range said {
			if len(said) != 3 || reason != want {
				t.Errorf("%d tokens: the %s says %q, want %q of all three: %v", most, where, reason, want, said)
			}
		}
	}
}

// Each part has its share of the tokens, and text in one part may have several lines.
func TestAbridged(t *testing.T) {
	tokens := func(text string) (out []Token) {
		for _, word := range strings.SplitAfter(text, " ") {
			out = append(out, Token{Text: word})
		}
		return out
	}
	long := strings.Repeat("a ", 20)
	for _, c := range []struct {
		text        string
		parts, most int
		want        bool
	}{
		{long + "…", 1, 30, true}, {long + "a", 1, 30, false}, {long + "…", 1, 90, false},
		{long + "… \n b", 2, 60, true}, {"b \n … " + long, 2, 60, true}, {"9 … \n b", 2, 60, false},
		{long + "… \n b", 1, 30, false},
	} {
		if got := isAbridged(tokens(c.text), c.parts, c.most); got != c.want {
			t.Errorf("%q in %d parts of %d tokens: %v", c.text, c.parts, c.most, got)
		}
	}
}

// found is documents of which every question finds all.
type found []passages.Passage

func (f found) Search(context.Context, passages.Query, int) ([]passages.Passage, error) {
	return f, nil
}

// A citation holds what it is cited for, however many tokens of the answer are agreed on in a pass: the last of them count, too.
func TestCitesTheWholeAnswer(t *testing.T) {
	r, m := spanReader(t), builtin(t)
	for _, c := range []struct {
		question string
		texts    []string
		parts    int
	}{
		{"When was the museum in Kassel opened?", []string{"The museum in Kassel was opened in 1981 by the mayor.", "The museum in Kassel was opened in 1983 by the mayor."}, 1},
		{"How much flour and how many eggs?", []string{"- 400 g flour\n- 5 eggs"}, 2},
	} {
		var docs found
		for _, text := range c.texts {
			docs = append(docs, passages.Passage{Title: "Notes", Text: text})
		}
		d := &Device{Local: Local{Model: m, Reader: r, Scorer: search.Lexical(), Documents: docs}}
		for _, ahead := range []int{1, 4, 8} {
			s := tandem.Settings{Nucleus: .95, Support: 64, Lookahead: 8, PassPlaces: ahead, Documents: 8, MaxTokens: 40}
			got, err := d.Ask(t.Context(), Question{Text: c.question}, s, func(Token) {})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Parts) != c.parts {
				t.Errorf("%d ahead: %q in %d parts, want %d", ahead, got.Text, len(got.Parts), c.parts)
			}
			for _, p := range got.Parts {
				holds := func(q Quote) bool { return strings.Contains(q.Text, p.Text) }
				if len(p.Quotes) == 0 || !holds(p.Quotes[0]) || slices.ContainsFunc(p.Quotes, func(q Quote) bool { return q.Weight > 0 && !holds(q) }) {
					t.Errorf("%d ahead: %q is cited by %+v", ahead, p.Text, p.Quotes)
				}
			}
		}
	}
}

// spanSides returns the built-in span reader with a question over two sides' documents.
func spanSides(t *testing.T, question string, temperature float64, changes ...func(*extract.Config)) (sides [2]producer, tok *tokenizer.Tokenizer) {
	t.Helper()
	r := spanReader(t)
	tok = builtin(t).Tokenizer()
	cfg := extract.Config{Reader: r, Tokenizer: tok, Scorer: search.Lexical(), Temperature: temperature}
	for _, change := range changes {
		change(&cfg)
	}
	for side, text := range []string{
		"Lake cabin\nThe wifi password is harbour-7421. The key hangs behind the blue door.",
		"Harbour museum\nThe harbour museum opens at 9:40 on weekdays.",
	} {
		title, rest, _ := strings.Cut(text, "\n")
		d, err := extract.New(t.Context(), cfg, decoder.Request{Question: question, Passages: []passages.Passage{{Title: title, Text: rest}}})
		if err != nil {
			t.Fatal(err)
		}
		sides[side] = d
	}
	return sides, tok
}

// spanReader opens the built-in span reader.
func spanReader(t *testing.T) *span.Reader {
	t.Helper()
	f, err := gguf.Parse("built-in", models.Span)
	if err != nil {
		t.Fatal(err)
	}
	r, err := span.New(f, native.New(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// builtin opens the built-in decoder, which spells the span reader's answers.
func builtin(t *testing.T) *model.Model {
	t.Helper()
	m, err := model.OpenBytes("built-in", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}
