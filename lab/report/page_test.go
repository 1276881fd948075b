package report

import (
	"strings"
	"testing"
)

// The page says which cells of the shared coupling hold the same text, and which do not.
func TestPageTexts(t *testing.T) {
	row := func(method, text string) Result { return Result{Method: method, Text: text} }
	same := []Report{
		{Name: "latency", Results: []Result{row("tandem", "a"), row("drdg-tw", "a"), row("dragon", "b"), row("device-alone", "c")}},
		{Name: "loss", Results: []Result{row("tandem-stream", "a"), row("tandem", "")}},
		{Name: "schedule", Results: []Result{row("tandem", "z")}},
	}
	if got := sameSeedSameText(same); len(got) != 1 || !strings.Contains(got[0], "all 3 cells") || !strings.Contains(got[0], "latency, loss") {
		t.Errorf("%q", got)
	}
	same[0].Results[1].Text = "other"
	if got := strings.Join(sameSeedSameText(same), "; "); !strings.Contains(got, "latency: 2 texts, want one") {
		t.Errorf("%q", got)
	}
}
