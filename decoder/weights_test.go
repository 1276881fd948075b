package decoder

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/internal/allocated"
)

func TestParseWeightsRoundTrip(t *testing.T) {
	for _, s := range []string{"static", "rescore", "rescore:4,0.7", "rescore:1,0", "sentence", "", "reader", "reader:0.5,1,-2.5,0",
		"likelihood", "likelihood:0.5", "likelihood:1,keep", "sentence+likelihood", "sentence+likelihood:0.25,keep"} {
		w, err := ParseWeights(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseWeights(w.String())
		if err != nil || again != w {
			t.Errorf("%q: %q parses to %+v, %v, not %+v", s, w, again, err, w)
		}
	}
	for _, s := range []string{"x", "rescore:0", "rescore:2,1", "rescore:two", "likelihood:0", "likelihood:1.5",
		"likelihood:NaN", "likelihood:1,drop", "static:1", "rescore:3,-1", "reader:1", "reader:1,1,1,-1"} {
		if w, err := ParseWeights(s); err == nil {
			t.Errorf("%q parses to %+v", s, w)
		}
	}
}

func TestFocus(t *testing.T) {
	const (
		cabin  = "What is the wifi password of the lake cabin"
		museum = "and when does the harbour museum open?"
		both   = cabin + ", " + museum
	)
	for _, c := range []struct{ question, answer, clause, sentence string }{
		{both, "", cabin, ""},
		{both, "The", cabin, ""},
		{both, "The wifi password", cabin, "The wifi"},
		{both, "The wifi password of the lake cabin is tum", cabin, "The wifi password of the lake cabin is"},
		// The end of the text does not end a sentence.
		{both, "The wifi password of the lake cabin is tumbral-5827.", cabin, "The wifi password of the lake cabin is"},
		{both, "The wifi password of the lake cabin is tumbral-5827. The", museum, ""},
		{both, "The wifi password of the lake cabin is tumbral-5827. The harbour museum opens at", museum, "The harbour museum opens"},
		// The sentence tells which clause it is about, in any order.
		{both, "The harbour museum opens", museum, "The harbour museum"},
		{both, "The wifi password of the lake cabin is x1. The harbour museum opens at 9:30. ", both, ""},
		// There is only one clause.
		{museum, "The harbour museum", museum, "The harbour"},
		// Numbers, abbreviations and initials do not end a sentence.
		{both, "The wifi of the cabin is 1.5 and Mr. A. Thornby has ", cabin, "The wifi of the cabin is 1.5 and Mr. A. Thornby has"},
		{"Who is Anna? Who is Ben?", "Anna is a nurse. ", "Who is Ben?", ""},
		{"What is the phone number of Anna and of Ben?", "The phone number of Anna is 5. The", "and of Ben?", ""},
		{"What is the phone number of Anna and of Ben?", "The phone number of Ben is", "and of Ben?", "The phone number of Ben"},
		{"What is the wifi password and the door code of the lake cabin?", "The wifi password of the lake cabin is x. The", "and the door code of the lake cabin?", ""},
		{"Tell me the fee of the mill. Also, how deep is Lake Sarn?", "The fee of the mill is 5 euros. ", "how deep is Lake Sarn?", ""},
		{"Tell me who St. Roth is. I need the fee of Mr. Will.", "The fee of", "I need the fee of Mr. Will.", "The fee"},
		{"What is the fee of the mill, and the inn's code?", "The fee of the mill is 5 euros. ", "and the inn's code?", ""},
		{"Who knows Fox, and Storm?", "", "Who knows Fox, and Storm?", ""},
		{"Is Salt and Rope open?", "", "Is Salt and Rope open?", ""},
		{"", "", "", ""},
	} {
		q := focusClauses(c.question)
		i, sentence := q.focus([]byte(c.answer))
		clause := q.part(i)
		if clause != c.clause || sentence != c.sentence {
			t.Errorf("%q, %q: clause %q, sentence %q; want %q, %q", c.question, c.answer, clause, sentence, c.clause, c.sentence)
		}
	}
}

// Questions come from the other side and answers from a model, so neither can be trusted.
func FuzzFocus(f *testing.F) {
	f.Add("What is the wifi password, and when does the museum open?", "The wifi password is x. The museum opens at 9.")
	f.Add("a, and what\xff", "Mr. \xf0\x9f")
	f.Add(strings.Repeat("and what? ", 40), "? ! . ")
	f.Add("\n;,and ,", "\n\n\"")
	f.Fuzz(func(t *testing.T, asked, answer string) {
		q := focusClauses(asked)
		if len(q.clauses) < 1 || len(q.clauses) > maxClauses {
			t.Fatalf("%d clauses", len(q.clauses))
		}
		for _, c := range q.clauses {
			if !strings.Contains(q.text, c.text) {
				t.Fatalf("%q is not part of %q", c.text, q.text)
			}
		}
		i, sentence := q.focus([]byte(answer))
		clause := q.part(i)
		if !strings.Contains(q.text, clause) || !strings.Contains(answer, sentence) {
			t.Fatalf("focus on %q, %q", clause, sentence)
		}
		if at := sentenceStart([]byte(answer)); at < 0 || at > len(answer) || utf8.ValidString(answer) && !utf8.ValidString(answer[at:]) {
			t.Fatalf("the last sentence begins at %d of %d", at, len(answer))
		}
	})
}

// A question is not copied at each comma: twice the commas take about twice the memory.
func TestFocusOfManyCommas(t *testing.T) {
	cost := func(n int) uint64 {
		asked := strings.Repeat("a, ", n)
		return allocated.Bytes(func() { focusClauses(asked) })
	}
	if one, two := cost(1<<11), cost(1<<12); two > 3*one {
		t.Errorf("%d kB, %d kB for twice the commas", one>>10, two>>10)
	}
}
