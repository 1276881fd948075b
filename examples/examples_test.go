package examples_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"testing"

	"tandem/examples"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

type question struct {
	Question, Answer string
	Device, Cloud    bool
	Values           []string
}

func questions(t *testing.T) []question {
	t.Helper()
	var out []question
	for scan := bufio.NewScanner(bytes.NewReader(examples.Questions)); scan.Scan(); {
		var q question
		d := json.NewDecoder(bytes.NewReader(scan.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			t.Fatalf("%s: %v", scan.Text(), err)
		}
		out = append(out, q)
	}
	return out
}

// corpus returns the files of a set and an index of them.
func corpus(t *testing.T, files fs.FS) (map[string]string, *search.Index) {
	t.Helper()
	texts := make(map[string]string)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		texts[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	x, err := search.Memory(search.Options{Words: passages.SentenceWords})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	report, err := x.AddFS(t.Context(), files, ".")
	if err != nil {
		t.Fatal(err)
	}
	if report.Added != len(texts) || len(report.Skipped) > 0 {
		t.Errorf("%d of %d files added, skipped: %v", report.Added, len(texts), report.Skipped)
	}
	if report.Passages < report.Added || report.Passages > 5*report.Added {
		t.Errorf("%d passages of %d files", report.Passages, report.Added)
	}
	return texts, x
}

// holding returns the names of the files that contain value as a whole word.
func holding(texts map[string]string, value string) (names []string) {
	word := regexp.MustCompile(`(^|[^\w.,:-])` + regexp.QuoteMeta(value) + `($|[^\w-])`)
	for name, text := range texts {
		if word.MatchString(text) {
			names = append(names, name)
		}
	}
	return names
}

// TestQuestions checks that every value stands in one document, on the side that the question says, and
// that a search of that side finds the document.
func TestQuestions(t *testing.T) {
	notes, device := corpus(t, examples.Notes)
	public, cloud := corpus(t, examples.Public)
	if len(notes) < 40 || len(public) < 40 {
		t.Errorf("%d notes, %d public documents; 40 of each were promised", len(notes), len(public))
	}
	const k = 4
	found, first, total := 0, 0, 0
	for i, q := range questions(t) {
		if i == 0 && q.Question != "What is the wifi password of the lake cabin, and when does the harbour museum open?" {
			t.Errorf("the first question is %q", q.Question)
		}
		usedDevice, usedCloud := false, false
		for _, v := range q.Values {
			if !bytes.Contains([]byte(q.Answer), []byte(v)) {
				t.Errorf("%q: the answer lacks %q", q.Question, v)
			}
			onDevice, onCloud := holding(notes, v), holding(public, v)
			if len(onDevice)+len(onCloud) != 1 {
				t.Errorf("%q: %q stands in %v and %v", q.Question, v, onDevice, onCloud)
				continue
			}
			usedDevice = usedDevice || len(onDevice) == 1
			usedCloud = usedCloud || len(onCloud) == 1
			x := device
			if len(onCloud) == 1 {
				x = cloud
			}
			rank := rankOf(t, x, q.Question, append(onDevice, onCloud...)[0], k)
			total++
			if rank >= 0 {
				found++
			} else {
				t.Logf("%q does not find %v", q.Question, append(onDevice, onCloud...))
			}
			if rank == 0 {
				first++
			}
		}
		if usedDevice != q.Device || usedCloud != q.Cloud {
			t.Errorf("%q: says device %v, cloud %v; is %v, %v", q.Question, q.Device, q.Cloud, usedDevice, usedCloud)
		}
	}
	t.Logf("recall@%d %.3f, first %.3f of %d values", k, float64(found)/float64(total), float64(first)/float64(total), total)
	if float64(found) < 0.95*float64(total) {
		t.Errorf("recall@%d is %d of %d", k, found, total)
	}
}

func rankOf(t *testing.T, x *search.Index, question, source string, k int) int {
	t.Helper()
	hits, err := x.Search(t.Context(), passages.Query{Text: question}, k)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hits {
		if h.Source == source {
			return i
		}
	}
	return -1
}
