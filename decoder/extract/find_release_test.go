package extract

import (
	"testing"

	"tandem/aggregator"
	"tandem/retrieval/passages"
)

const sluice = "v2.1.0 (2026-03-01)\n\nGates\n- Add a `--dry` option to `sluice open`\n- Fix the crash on an empty pond\n\nOther\n- Bump the Rust version to 1.80\n\n" +
	"v2.0.1 (TBD)\n\nGates\n- Fix the crash when two gates open\n- Remove support for Rust 1.70"

// A changelog says in which release something changed, what changed in a release, and when it came out.
func TestFromChangelog(t *testing.T) {
	for _, c := range []struct{ title, text, question, want string }{
		{"Changes", sluice, "Which sluice version added the --dry option?", "v2.1.0"},
		{"Changes", sluice, "In which release was the crash on an empty pond fixed?", "v2.1.0"},
		{"Changes", sluice, "Which version fixed the crash?", ""}, // two did
		{"Changes", sluice, "which version dropped Rust 1.70", "v2.0.1"},
		{"Changes", sluice, "Which version added Rust 1.70?", ""},
		{"Changes", sluice, "Which Rust version was removed?", ""}, // no version of the program
		{"Changes", sluice, "What was fixed in sluice 2.1.0?", "Fix the crash on an empty pond"},
		{"Changes", sluice, "To which Rust version did sluice 2.1.0 move?", "Bump the Rust version to 1.80"},
		{"Changes", sluice, "When was version 2.1.0 released?", "2026-03-01"},
		{"Changes", sluice, "When was version 2.0.1 released?", ""},
		{"Changes", sluice, "When was version 2.1 released?", ""},
		{"Changes", sluice, "Is the crash fixed in 2.1.0?", ""},
		{"Changes", sluice, "When was the --dry option added?", "2026-03-01"},
		{"Changes", sluice, "When was support for Rust 1.70 removed?", ""},
		{"Changes", "2.0 – 2026-01-01\n\nDeprecated\n- The gate. It will be removed in 3.0.", "When was the gate removed?", ""},
		{"Changes", "2.1 – 2026-03-01\n- Gates.\n2.0 – 2026-01-01\n- Wrong lock fixed.", "When was the lock fixed?", "2026-01-01"},
		{"Room 2.14", "The projector was replaced in March.", "When was the projector replaced?", ""},
		{"Changes", "2.1 – 2026-03-01\n- Gates.\n\n2.0 – 2026-01-01\n- Wrong lock fixed.", "Which version fixed the lock?", "2.0"},
		{"Changes", "2.1 – 2026-03-01\n- Gates.\n\n2.0 – 2026-01-01\n- Wrong lock fixed.", "What changed in 2.1?", "Gates."},
		{"Service log", "3.10.22 descaled, 165\n20.11.23 pump replaced, 310 eur, Bo\n7.5.24 descaled 178", "When was the pump replaced?", ""},
		{"Changes", "2.1 (1.3.26)\n- Gates.\n2.0 – 1.1.26\n- Wrong lock fixed.", "When was the lock fixed?", "1.1.26"},
		{"Changes", "2.1 – 20260301\n- Gates.\n2.0 – 20260101\n- Wrong lock fixed.", "When was the lock fixed?", "20260101"},
		{"Changes", "2.1 – May 2026\n- Gates.\n2.0 – January 2026\n- Wrong lock fixed.", "When was the lock fixed?", "January 2026"},
		{"History: Release v3.4", "- Add a lock by @ada", "Which release added the lock?", "v3.4"},
		{"History: Section 3.4", "- Add a lock by @ada", "Which release added the lock?", ""},
		{"Licence: 3.4 Grants", "Add a lock.", "Which release added the lock?", ""},
		{"Diary: 12.05.2026", "We add a lock.", "Which release added the lock?", ""},
	} {
		p := config(0).passage(passages.Passage{Title: c.title, Text: c.text, Source: "sluice.md"})
		got := ""
		if at := p.fromChangelog(queryOf(c.question)).ranges; len(at) > 0 {
			got = p.slice(at[0])
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
	}
}

// The release answers, and the line that names the change is shown with it.
func TestReleaseAnswers(t *testing.T) {
	d := open(t, config(0), "Which version dropped Rust 1.70?", []passages.Passage{{Title: "Changes", Text: sluice}})
	if got := answer(t, aggregator.Rule{Greedy: true}, d); got != "v2.0.1" {
		t.Errorf("%q, want v2.0.1", got)
	}
	if q := d.Parts()[0].Quotes; len(q) < 2 || q[1].Text != "- Remove support for Rust 1.70" {
		t.Errorf("quotes %+v", q)
	}
}
