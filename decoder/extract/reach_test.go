package extract

import (
	"testing"

	"tandem"
)

// A part of the question is read when an answer comes to it, and not before: drafts and other last tokens read nothing
// ahead. What follows is the same whenever it was read.
func TestPartsAreReadWhenReached(t *testing.T) {
	const question = "Who owns the marina, and when does the museum open?"
	own := notes("Marina\nThe marina is owned by Ines Brandt.", "Museum\nThe museum opens at 9:40.")
	whole := open(t, config(0), question, own)
	if err := whole.Finish(t.Context(), whole.newline); err != nil || len(whole.parts) != 2 {
		t.Fatalf("an answer of two parts was finished with %d read, %v", len(whole.parts), err)
	}
	d := open(t, config(0), question, own)
	newline := []tandem.Branch{{Token: d.newline[0], Back: 1}}
	var next []tandem.Token
	for ended := false; !ended; ended = len(next) > 0 && d.cfg.Tokenizer.EOG(next[0]) {
		out, _, _, err := d.NextAhead(t.Context(), tandem.Pass{Keep: len(d.answer), Append: next, Branches: newline, Guess: 40})
		if err != nil {
			t.Fatal(err)
		}
		if part, _ := d.progress(d.answer); len(d.parts) != part+1 {
			t.Fatalf("after %q: %d parts were read, want %d", d.cfg.Tokenizer.Decode(d.answer), len(d.parts), part+1)
		}
		same, err := whole.Next(t.Context(), 0, d.answer)
		if err != nil || same.Dist.Mode() != out.Dist.Mode() || same.H != out.H {
			t.Fatalf("after %q: %v, and %v where both parts were read before, %v", d.cfg.Tokenizer.Decode(d.answer), out, same, err)
		}
		next = []tandem.Token{out.Dist.Mode()}
	}
	if got, want := d.cfg.Tokenizer.Decode(d.answer), "Ines Brandt\n9:40"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}
