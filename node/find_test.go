package node

import (
	"slices"
	"testing"
	"testing/fstest"

	"golang.org/x/text/unicode/norm"

	"tandem/model/chat"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// In a conversation every other passage is of the document that the last answer came from, and the first of these is the one that
// gave it. Without one, or where another side gave the answer, the search is a plain one.
func TestFindGoesOnInTheDocument(t *testing.T) {
	x, err := search.Memory(search.Options{Words: passages.SentenceWords})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	files := fstest.MapFS{
		"bike.md": {Data: []byte("# Speiche rental\n\nA bike costs 12 € a day. Helmets are free. The hotline is 0555 11.")},
		"boat.md": {Data: []byte("# Kahn rental\n\nA boat costs 30 € an hour. The hotline is 0555 77. The hotline answers from 8. Ask the hotline for oars.")},
	}
	if _, err := x.AddFS(t.Context(), files, "."); err != nil {
		t.Fatal(err)
	}
	const question = "What is the hotline?"
	texts := func(said string) (out []string) {
		q := Question{Text: question}
		if said != "" {
			q.History = []chat.Message{{Role: "user", Content: "What does a bike cost a day?"}, {Role: "assistant", Content: said}}
		}
		found, err := q.Find(t.Context(), x, 6)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			out = append(out, p.Text)
		}
		return out
	}
	if got := texts("12 €"); !slices.Contains(got[:3], "A bike costs 12 € a day.") || !slices.Contains(got, "Helmets are free.") {
		t.Errorf("after an answer of bike.md: %q", got)
	}
	plain, err := x.Search(t.Context(), passages.Query{Before: "What does a bike cost a day?", Text: question}, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"I don't know.", "15 €"} {
		if got := texts(said); len(got) != len(plain) || slices.Contains(got, "Helmets are free.") {
			t.Errorf("after %q: %q, want as in a search", said, got)
		}
	}
	if got := texts(""); slices.Contains(got, "A bike costs 12 € a day.") {
		t.Errorf("asked first: %q", got)
	}
}

// A question is composed, with what was said before it, and leaves the caller's conversation as it was.
func TestQuestionIsComposed(t *testing.T) {
	const text = "Wann öffnet die Bäckerei?"
	apart := norm.NFD.String(text)
	history := []chat.Message{{Role: "user", Content: apart}}
	q := Question{Text: apart, History: history}.composed()
	if q.Text != text || q.History[0].Content != text || history[0].Content != apart {
		t.Errorf("%+q after %+q", q.Text, q.History)
	}
}
