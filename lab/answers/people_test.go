package answers

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkedQuestion is a question as the set's file has it.
type checkedQuestion struct {
	ID, Question, Kind, Sentence, After     string
	Documents, Near, Answers, Items, Others []string
	Parts                                   []Part
}

// The sets keep what their README promises.
func TestPeople(t *testing.T) {
	seen := map[string]bool{}
	for set, want := range map[string]struct{ documents, questions int }{"tune": {35, 161}, "judge": {35, 171}, "technical": {20, 188}, "first": {17, 111}, "second": {21, 169}, "third": {20, 229}, "fourth": {23, 259}, "fifth": {24, 247}, "sixth": {24, 254}, "seventh": {22, 238}, "eighth": {22, 264}, "ninth": {22, 251}, "tenth": {26, 260}, "eleventh": {24, 240}, "twelfth": {24, 258}, "thirteenth": {24, 269}, "fourteenth": {24, 263}, "fifteenth": {24, 200}, "sixteenth": {24, 200}, "seventeenth": {24, 225}, "eighteenth": {150, 240}, "nineteenth": {45, 230}, "twentieth": {40, 230}, "visitors": {48, 249}, "visitors2": {43, 285}, "provoked": {63, 188}, "provoked2": {54, 292}, "contrasts": {40, 586}, "contrasts2": {24, 320}, "tongues": {15, 138}, "tune/talks": {35, 148}} {
		file := questionFiles()["people/"+set]
		texts := documentsOf(t, path.Dir(file))
		if len(texts) != want.documents {
			t.Errorf("%s: %d documents, want %d", set, len(texts), want.documents)
		}
		f, err := people.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n := 0
		err = Lines(set, f, func(_ int, line []byte) error {
			var q checkedQuestion
			if err := json.Unmarshal(line, &q); err != nil {
				return err
			}
			n++
			for _, key := range []string{q.ID, q.After + strings.ToLower(q.Question)} {
				if seen[key] {
					t.Errorf("%s %s: %q occurs twice", set, q.ID, key)
				}
				seen[key] = true
			}
			if q.Kind == "followup" && q.After == "" || q.After != "" && (q.Kind != "followup" && q.Kind != "unanswerable" || !seen[q.After]) {
				t.Errorf("%s: a %s after %q", q.ID, q.Kind, q.After)
			}
			q.check(t, texts)
			return nil
		})
		if err != nil || n != want.questions {
			t.Errorf("%s: %d questions, want %d: %v", set, n, want.questions, err)
		}
	}
}

// documentsOf returns the texts of one set by its folder.
func documentsOf(t *testing.T, set string) map[string]string {
	t.Helper()
	dir, err := fs.Sub(people, set+"/documents")
	if err != nil {
		t.Fatal(err)
	}
	least := 40
	if base := path.Base(set); base == "contrasts" || base == "eighteenth" || strings.HasPrefix(base, "provoked") || strings.HasPrefix(base, "visitors") {
		least = 7 // they have small tables and notes
	}
	texts := map[string]string{}
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if words := len(strings.Fields(string(data))); !utf8.Valid(data) || words < least || words > 650 {
			t.Errorf("%s/%s: %d words, UTF-8 %v", set, e.Name(), words, utf8.Valid(data))
		}
		texts[e.Name()] = string(data)
	}
	if path.Base(set) == "tune" && !strings.Contains(texts["mail-piano-lessons.eml"], "\r\n") {
		t.Error("mail-piano-lessons.eml has lost its CRLF line ends")
	}
	return texts
}

var valueKinds = []string{"fact", "keywords", "typo", "indirect", "pronoun", "changed", "table", "why", "how", "contradicted", "foreign", "followup", "comparison", "same", "cross"}

// check checks a question against the documents of its set.
func (q checkedQuestion) check(t *testing.T, texts map[string]string) {
	t.Helper()
	for _, name := range append(slices.Clone(q.Documents), q.Near...) {
		if _, ok := texts[name]; !ok {
			t.Errorf("%s: no document %s", q.ID, name)
		}
	}
	if q.Kind == "unanswerable" {
		if len(q.Documents)+len(q.Answers)+len(q.Sentence) > 0 {
			t.Errorf("%s: unanswerable, but has documents, answers or a sentence", q.ID)
		}
		return
	}
	anywhere := func(s string) bool {
		return slices.ContainsFunc(q.Documents, func(name string) bool { return strings.Contains(texts[name], s) })
	}
	parts := q.Parts
	if len(parts) == 0 {
		parts = []Part{{Answers: q.Answers, Sentence: q.Sentence, Others: q.Others}}
	}
	for _, p := range parts {
		for _, s := range append([]string{p.Sentence}, p.Others...) {
			if s == "" || strings.ContainsAny(s, "\r\n") || !anywhere(s) {
				t.Errorf("%s: sentence not in its documents: %q", q.ID, s)
			}
		}
		if (q.Kind == "two" || slices.Contains(valueKinds, q.Kind)) && !anywhere(p.Answers[0]) {
			t.Errorf("%s: answer not in its documents: %q", q.ID, p.Answers[0])
		}
	}
	switch q.Kind {
	case "two":
		if len(parts) != 2 {
			t.Errorf("%s: %d parts, want 2", q.ID, len(parts))
		}
	case "list":
		if len(q.Items) < 2 || slices.ContainsFunc(q.Items, func(i string) bool { return !anywhere(i) }) {
			t.Errorf("%s: items %q", q.ID, q.Items)
		}
	case "yesno":
		if len(q.Answers) != 1 || q.Answers[0] != "yes" && q.Answers[0] != "no" {
			t.Errorf("%s: answers %q", q.ID, q.Answers)
		}
	default:
		if !slices.Contains(valueKinds, q.Kind) {
			t.Errorf("%s: unknown kind %q", q.ID, q.Kind)
		}
	}
}
