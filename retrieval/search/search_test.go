package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tandem/examples"
	"tandem/retrieval/passages"
)

func TestClauses(t *testing.T) {
	for question, want := range map[string][]string{
		"When does the harbour museum open?": {"When does the harbour museum open?"},
		"What is the wifi password of the lake cabin, and when does the harbour museum open?": {
			"What is the wifi password of the lake cabin", "when does the harbour museum open?"},
		"Who runs the bakery and at which pier does the ferry leave?":                  {"Who runs the bakery", "at which pier does the ferry leave?"},
		"When does it open? Who runs it?":                                              {"When does it open?", "When does it open? Who runs it?"},
		"When does the museum open, and when does it close?":                           {"When does the museum open", "When does the museum open when does it close?"},
		"What is the name of the wedding of Clara and Jonas?":                          {"What is the name of the wedding of Clara and Jonas?"},
		"What is the phone number of Anna and of Ben?":                                 {"What is the phone number of Anna and of Ben?"},
		"For the mill, what is the code, and for the inn, when does it open?":          {"For the mill, what is the code", "For the mill, what is the code for the inn, when does it open?"},
		"Tell me the fee of the mill. How deep is Lake Sarn?":                          {"Tell me the fee of the mill.", "How deep is Lake Sarn?"},
		"I need the fee of the mill. Also, who runs it, and tell me the code of Orla.": {"I need the fee of the mill.", "I need the fee of the mill. Also, who runs it", "tell me the code of Orla."},
		"What is the fee of the mill, and the inn's code?":                             {"What is the fee of the mill", "the inn's code?"},
		"Which bus stops at the mill and Contact of the inn?":                          {"Which bus stops at the mill", "Contact of the inn?"},
		"Who is the chair of Roth & Sons of Orla, and who wrote Fox and Storm?":        {"Who is the chair of Roth & Sons of Orla", "who wrote Fox and Storm?"},
		"A? B? C? D? E? F? G? H? I, and who? J":                                        {"A?", "B?", "C?", "D?", "E?", "F?", "G?", "H? I, and who? J"},
		"bread and Butter" + strings.Repeat(" pie", maxAhead) + " of Orla":             {"bread and Butter" + strings.Repeat(" pie", maxAhead) + " of Orla"},
		"bread and butter": {"bread and butter"},
		"and":              {"and"},
		"? ? ?":            {"?", "?", "?"},
		"":                 nil,
	} {
		if got := clauses(question); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

// Both halves of a question find their passages, although several passages of one half match better than any of the other's.
func TestCompoundSearch(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 5 {
		files[fmt.Sprintf("a%d.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "# Lake cabin\n\nThe wifi password of the lake cabin is tumbral-%d.", i)}
		files[fmt.Sprintf("b%d.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "# Visit %d\n\nThe museum opens at 9:3%d.", i, i)}
	}
	x := memoryOf(t, files)
	hits, err := x.Search(t.Context(), passages.Query{Text: "What is the wifi password of the lake cabin, and when does the museum open?"}, 4)
	if err != nil {
		t.Fatal(err)
	}
	museum := 0
	for _, h := range hits {
		if strings.Contains(h.Text, "museum") {
			museum++
		}
	}
	if len(hits) != 4 || museum == 0 || museum == 4 {
		t.Errorf("found %+v", hits)
	}
}

// A follow-up is searched alone and together with the question before it.
func TestFollowUpSearch(t *testing.T) {
	for question, want := range map[string][]string{
		"Who owns the mill?":                               {"Who owns the mill?"},
		"Who owns the mill, and when does it open?":        {"Who owns the mill", "Who owns the mill when does it open?", "Who owns the mill, and when does it open?"},
		"Who owns the mill?\nAnd the inn?":                 {"And the inn?", "Who owns the mill? And the inn?"},
		"Who owns the mill?\nWhat is its fee? Its area?\n": {"What is its fee?", "What is its fee? Its area?", "Who owns the mill? What is its fee?", "Who owns the mill? What is its fee? Its area?"},
		"\n": {""},
	} {
		if got := queriesOf(passages.QueryOf(question)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", question, got, want)
		}
	}
}

func TestSearchBounds(t *testing.T) {
	x := memoryOf(t, examples.Notes)
	for _, query := range []string{"", "the of", "???", "zzzz", "\xff\x00", strings.Repeat("wifi password ", 10000), `+a -b "c AND (d~2^3`} {
		for _, k := range []int{-1, 0, 1, 4, 1 << 40} {
			hits, err := x.Search(t.Context(), passages.Query{Text: query}, k)
			if err != nil || len(hits) > max(k, 0) {
				t.Errorf("%.20q, %d: %d hits, %v", query, k, len(hits), err)
			}
			for i, h := range hits {
				if h.ID == "" || h.Text == "" || h.Title == "" || h.Source == "" {
					t.Errorf("%.20q: incomplete hit %+v", query, h)
				}
				if slices.ContainsFunc(hits[:i], func(g passages.Passage) bool { return g.ID == h.ID }) {
					t.Errorf("%.20q: %s twice", query, h.ID)
				}
			}
		}
	}
}

func FuzzClauses(f *testing.F) {
	f.Add("What is a, and when does b open?")
	f.Add("and and ? ; and who")
	f.Add(strings.Repeat("a? ", 20) + strings.Repeat("b and ", 70) + "A of b")
	f.Fuzz(func(t *testing.T, s string) {
		clauses := clauses(s)
		if len(clauses) > maxParts {
			t.Fatalf("%d clauses", len(clauses))
		}
		for _, c := range clauses {
			if strings.TrimSpace(c) == "" && strings.Trim(s, ",; \t") != "" && !strings.ContainsAny(s, ",;") {
				t.Fatalf("empty clause of %q", s)
			}
		}
	})
}

// The passage that holds more of the question, or something that may answer it, comes first.
func TestRank(t *testing.T) {
	for _, c := range []struct{ question, want, other string }{
		{"Who directs the harbour museum?", "The director is Ada Roth.", "The phone number is 4471."},
		{"When was the harbour museum founded?", "It goes back to 1389.", "It is very quiet."},
		{"How much is entry to the harbour museum?", "It charges 8 euros.", "It lies by the river."},
		{"Where is the harbour museum's map?", "Its map is kept in the tin.", "Its map is old."},
		{"What is the phone number of the harbour museum?", "The phone number is 4471.", "Who knows the phone number?"},
		{"Who is the warden of the harbour museum?", "Its caretaker is Ada Roth.", "Its material is slate."},
		{"How many people live in Wrenmouth?", "It has 9,220 inhabitants.", "It was founded in 1389."},
		{"What is the fee of the harbour museum?", "The fee is 8 euros.", "The harbour museum lies by the harbour."},
	} {
		hits := []passages.Passage{{ID: "other", Title: "Harbour museum", Text: c.other}, {ID: "want", Title: "Harbour museum", Text: c.want}}
		sortSentences(c.question, hits)
		if hits[0].ID != "want" {
			t.Errorf("%s %q comes first", c.question, hits[0].Text)
		}
		hits = []passages.Passage{{ID: "a", Text: c.other}, {ID: "b", Text: c.other}}
		if sortSentences(c.question, hits); hits[0].ID != "a" {
			t.Errorf("%s equal passages are reordered", c.question)
		}
	}
}

// Which of many equal passages are found does not depend on the order in which files were added.
func TestTies(t *testing.T) {
	const n = candidatesPerResult * leastResults // in each of two folders
	files := fstest.MapFS{}
	for i := range 2 * n {
		files[fmt.Sprintf("%d/%03d.txt", i/n, i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "The walnut of house %d is old.", i)}
	}
	found := func(folders ...string) (texts []string) {
		x, err := Memory(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		for _, folder := range folders {
			if _, err := x.AddFS(t.Context(), files, folder); err != nil {
				t.Fatal(err)
			}
		}
		if f, err := newFinder(x.bleve); err != nil {
			t.Error(err)
		} else if ps, err := f.Find(t.Context(), []Term{{Text: "walnut", Weight: 1}}, 1); err != nil || len(ps) != 1 || f.Close() != nil {
			t.Errorf("%d passages instead of one, %v", len(ps), err)
		}
		for _, question := range []string{"walnut", "Is the walnut of house 7 old?"} {
			ps, err := x.Search(t.Context(), passages.Query{Text: question}, 3)
			if err != nil || len(ps) != 3 {
				t.Fatalf("%d passages, %v", len(ps), err)
			}
			for _, p := range ps {
				texts = append(texts, p.Text)
			}
		}
		return texts
	}
	if a, b := found("0", "1"), found("1", "0"); !slices.Equal(a, b) || !strings.Contains(a[3], "house 7 ") {
		t.Errorf("%q, added in another order %q", a, b)
	}
}
