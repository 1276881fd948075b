package documents

import (
	"strings"
	"testing"
)

const manual = `WEIR(8)                  Manual                  WEIR(8)

NAME
       weir - set the gates

DESCRIPTION
       weir  opens  the  gates  of  a river until the wanted level is
       met, and it waits for as long as  the  wind  blows  from  the
       north.  The  levels  are  read from the buoys which the crews
       have put out, one after the other, and they  are  summed  up.
       Who  runs  it needs no rights, but the gates must be free, or
       nothing will move.  It says which one is not, and  ends.  The
       levels of the last day are kept, and those  before  are  for‐
       gotten.  They can be had from the office, if somebody pays it
       for  the  work  of  looking them up.  To see what it does, run:

              weir -n LEVEL

       After that, the option wait may be set:

       -1, --once
              Open the gates once, and end after  that  without  any
              word.

       nowait
              Do not wait for the wind.

   The second gate (east).
       It opens last.

EXIT STATUS
              0      if all gates are open

              7      if one is not

`

// A manual as a program shows it: lines made equally long are no tables, words divided at their ends are whole, code
// below a colon is code, what hangs out of the text below it heads or explains that, and no line within the text is a
// heading.
func TestManual(t *testing.T) {
	got := show(textDocument(t.Context(), splitLines(manual), true))
	for _, want := range []string{
		"\np weir opens the gates of a river until the wanted level is met, and it waits", " are forgotten. They can", "\nc weir -n LEVEL\np After that, the option wait may be set:\nl -1, --once: Open the gates once,",
		"\nl nowait: Do not wait for the wind.\n# The second gate (east)\np It opens last.\n# EXIT STATUS\nl 0: if all gates are open\nl 7: if one is not",
	} {
		if !strings.Contains(got+"\n", want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A title that asks is the first of several questions.
func TestTitleAsks(t *testing.T) {
	const want = "title \n# Why does it hum?\np It is on.\n# Where is it?\np In the shed."
	if got := show(textDocument(t.Context(), splitLines("Why does it hum?\n\nIt is on.\n\nWhere is it?\n\nIn the shed.\n"), true)); got != want {
		t.Errorf("%s", got)
	}
}
