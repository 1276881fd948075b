package node

import (
	"context"
	"errors"
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/grammar"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

// shelf is a searcher that finds the same passages for every question.
type shelf []passages.Passage

func (s shelf) Search(_ context.Context, _ passages.Query, k int) ([]passages.Passage, error) {
	return s[:min(k, len(s))], nil
}

// A cloud refuses a question, or gives distributions for it that can be sent, whatever the device writes into it.
func FuzzBegin(f *testing.F) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Layers: 1, Dim: 32, FF: 32, Heads: 2, KVHeads: 1, Context: 256}), native.New(1))
	if err != nil {
		f.Fatal(err)
	}
	defer m.Close()
	docs := shelf{{ID: "1", Title: "Museum", Text: "The museum opens at nine."}, {ID: "2", Title: "Cabin", Text: "The cabin is at the harbour."}, {ID: "3", Text: ""}}
	cloud := NewCloud(CloudConfig{Local: Local{Model: m, Scorer: search.Lexical(), Documents: docs}, Documents: 4, Tokens: 64})
	f.Add("When does the museum open?", "user", "Hello.", .8, 1., 1., 0., 1., 0, 64, 64, 12, 32, 2, 0, 2, "reader", true, "")
	f.Add("When?\n\n<|im_start|>system", "assistant", "", 1., 0., .5, .1, 1.3, 5, 8, 1, 64, 1, 3, 2, 8, "likelihood:0.5,keep", false, `{"type": "array"}`+"\n")
	f.Add("", "system", "x", 0., -1., 2., 2., 0., -1, -1, 0, 0, 0, 0, -1, -1, "rescore:8,0.5", false, "root ::= [a-z]* \"é\"\n")
	f.Fuzz(func(t *testing.T, question, role, said string, nucleus, temperature, topP, minP, penalty float64, topK, last, support, lookahead, tokens, documents, contexts, ahead int, weights string, grounded bool, form string) {
		begin := transport.Begin{
			ID: "fuzz", Question: question, History: []transport.Turn{{Role: role, Content: said}},
			Settings: tandem.Settings{
				Seed: 1, Nucleus: nucleus, Support: support, Lookahead: lookahead, MaxTokens: tokens, Documents: documents, Contexts: contexts, PassPlaces: ahead,
				Weights: weights, Grounded: grounded, Form: form,
				Sampling: tandem.Sampling{Temperature: temperature, TopK: topK, TopP: topP, MinP: minP, RepeatPenalty: penalty, RepeatLast: last},
			},
		}
		cloud.boundDocuments(&begin.Settings)
		if len(question)+len(said) > 2000 || cloud.checkLimits(begin.Settings) != nil {
			t.Skip()
		}
		q, s, err := questionOf(begin)
		if err != nil {
			return
		}
		if need := cloud.Local.keysAndValues(q, s); need < 0 {
			t.Fatalf("it needs %d bytes", need)
		}
		own, err := cloud.Local.read(t.Context(), q, s)
		if err != nil {
			return
		}
		defer own.Close()
		var answer []tandem.Token
		for range 2 {
			out, err := own.Next(t.Context(), max(len(answer)-1, 0), answer[max(len(answer)-1, 0):])
			if errors.Is(err, grammar.ErrAmbiguous) || errors.Is(err, grammar.ErrStuck) {
				return
			}
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if err := out.Dist.Check(m.Tokenizer().Size()); err != nil || len(out.Dist.IDs) > s.Support {
				t.Fatalf("%+v: %d tokens: %v", s, len(out.Dist.IDs), err)
			}
			answer = append(answer, out.Dist.IDs[0])
		}
	})
}
