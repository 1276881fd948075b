package extract

import (
	"strings"
	"testing"

	"tandem/aggregator"
	"tandem/decoder"
	"tandem/model/chat"
	"tandem/model/tokenizer"
	"tandem/retrieval/passages"
)

var shops = []passages.Passage{
	{Source: "bike.md", Title: "Speiche bike rental", Text: "A bike costs 12 € a day. You can cancel up to 6 hours before."},
	{Source: "bike.md", Title: "Speiche bike rental", Text: "Our hotline is 0555 11 22. Dogs ride along in a basket."},
	{Source: "boat.md", Title: "Kahn boat rental", Text: "A rowing boat costs 30 € an hour. You can cancel up to 2 days before."},
	{Source: "boat.md", Title: "Kahn boat rental", Text: "Our hotline is 0555 77 88. Dogs are welcome in all boats."},
}

// talked asks after turns of a conversation, questions and answers in turn.
func talked(t *testing.T, question string, ps []passages.Passage, turns ...string) string {
	t.Helper()
	req := decoder.Request{Question: question, Passages: ps}
	for i, s := range turns {
		req.History = append(req.History, chat.Message{Role: []string{"user", "assistant"}[i%2], Content: s})
	}
	d, err := New(t.Context(), config(0), req)
	if err != nil {
		t.Fatal(err)
	}
	return answer(t, aggregator.Rule{Greedy: true}, d, open(t, config(0), question, nil))
}

// A follow-up is answered by the document that the last answer came from, whichever of two like it that is.
func TestFollowUpStaysInTheDocument(t *testing.T) {
	for _, c := range []struct {
		asked, said string
		follows     map[string]string
	}{
		{"What does a bike cost a day?", "12 €", map[string]string{"What is the hotline?": "0555 11 22", "How late can I cancel?": "6 hours"}},
		{"What does a rowing boat cost?", "30 €", map[string]string{"What is the hotline?": "0555 77 88", "How late can I cancel?": "2 days"}},
	} {
		for question, want := range c.follows {
			if got := talked(t, question, shops, c.asked, c.said); !strings.Contains(got, want) {
				t.Errorf("%q after %q: %q, want %q", question, c.asked, got, want)
			}
		}
	}
}

// What another document says of a thing of its own does not contradict a follow-up's answer, whichever side has that
// document; what it says of the conversation's does.
func TestOtherwiseInATalk(t *testing.T) {
	later := passages.Passage{Source: "later.md", Title: "Bike", Text: "The bike rental has a new hotline: 0555 33 44."}
	for _, c := range []struct {
		ps   []passages.Passage
		want string
	}{
		{shops, ""},
		{shops[2:], ""},
		{[]passages.Passage{later}, "0555 33 44"},
	} {
		req := decoder.Request{Question: "What is the hotline?", Passages: c.ps, History: []chat.Message{
			{Role: "user", Content: "How much is the bike?"}, {Role: "assistant", Content: "12 €"},
		}}
		d, err := New(t.Context(), config(0), req)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Finish(t.Context(), d.cfg.Tokenizer.Encode("0555 11 22", tokenizer.Options{})); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, q := range d.Parts()[0].Otherwise {
			got += q.Text[q.From:q.To]
		}
		if got != c.want {
			t.Errorf("%q: %q speaks against it, want %q", c.ps, got, c.want)
		}
	}
}
