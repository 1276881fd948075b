package answers

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLines(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, "1\n\n2")
	z.Close()
	for _, c := range []struct {
		in, want string // the lines, or part of the error
	}{
		{"1\n\n2\n", "1:1 3:2 "},
		{zipped.String(), "1:1 3:2 "},
		{zipped.String()[:zipped.Len()-9], "q.jsonl"},
		{"\x1f\x8b no more", "unpack q.jsonl"},
		{"1\n\xff\n", "q.jsonl, line 2: not UTF-8"},
		{"1\n" + strings.Repeat("x", maxLine+1), "q.jsonl, line 2: longer"},
		{"1\nbad", "q.jsonl, line 2: bad line"},
	} {
		var got string
		err := Lines("q.jsonl", strings.NewReader(c.in), func(n int, line []byte) error {
			if string(line) == "bad" {
				return fmt.Errorf("bad line")
			}
			got += fmt.Sprintf("%d:%s ", n, line)
			return nil
		})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%.20q: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestReadBroken(t *testing.T) {
	people := func(line string) error {
		_, err := Folder("people", fstest.MapFS{"documents/a.md": {Data: []byte("A")}, "questions.jsonl": {Data: []byte(line)}}, "questions.jsonl", 1)
		return err
	}
	reading := func(line string) error {
		_, err := Reading("reading", strings.NewReader(line), AllParagraphs, 1)
		return err
	}
	squad := func(s string) error {
		_, err := SQuAD("squad", strings.NewReader(s), AllParagraphs, 1)
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{people(""), "holds no questions"},
		{people("{"), "people/questions.jsonl, line 1"},
		{people(`{"question": "Q?", "answers": ["a"]}`), `lacks "kind"`},
		{people(`{"question": " ", "kind": "fact", "answers": ["a"]}`), `lacks "question"`},
		{people(`{"question": "Q?", "kind": "fact"}`), `lacks "answers"`},
		{people(`{"question": "Q?", "kind": "fact", "answers": [" "]}`), `lacks "answers"`},
		{people(`{"question": "Q?", "kind": "unanswerable", "answers": ["a"]}`), "no part"},
		{people(`{"question": "Q?", "kind": "fact", "answers": ["a"], "documents": ["b.md"]}`), `no document "b.md"`},
		{people(`{"question": "Q?", "kind": "followup", "answers": ["a"], "after": "7"}`), `no question "7" before`},
		{reading(""), "holds no questions"},
		{reading("[]"), "reading, line 1"},
		{reading(`{"question": "Q?", "answers": ["a"]}`), `lacks "passage"`},
		{reading(`{"question": "Q?", "passage": "P"}`), `lacks "answers"`},
		{reading(`{"question": "Q?", "passage": "P", "answers": ["a"], "support": [0, 9]}`), `"support" [0 9]`},
		{reading(`{"question": "Q?", "passage": "P", "answers": ["a"], "support": [1]}`), `"support" [1]`},
		{squad(`{"data": 3}`), "squad"},
		{squad(`{}`), "holds no questions"},
		{squad(`{"data": [{"paragraphs": [{"context": "P", "qas": [{"id": "7", "answers": [{"text": "P"}]}]}]}]}`), `question "7"`},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

func TestFolder(t *testing.T) {
	lines := `{"id": "1", "question": "Q?", "kind": "list", "documents": ["a.md"], "answers": ["x, y"], "items": ["x", "y"], "sentence": "x and y"}
{"id": "2", "question": "R?", "kind": "two", "answers": ["x; y"], "sentence": "s", "parts": [{"answers": ["x"], "sentence": "s"}, {"answers": ["y", "z"], "sentence": "t"}]}
{"id": "3", "question": "S?", "kind": "unanswerable", "answers": []}
{"id": "4", "question": "T?", "kind": "yesno", "answers": ["no"], "sentence": "s", "others": ["t"]}
{"id": "5", "question": "And?", "kind": "followup", "after": "4", "answers": ["u"], "sentence": "s"}
{"id": "6", "question": "And then?", "kind": "followup", "after": "5", "answers": ["v"], "sentence": "s"}
`
	s, err := Folder("people", fstest.MapFS{"documents/a.md": {Data: []byte("A")}, "documents/sub/b.md": {}, "questions.jsonl": {Data: []byte(lines)}}, "questions.jsonl", 1)
	if err != nil || s.Count() != 6 {
		t.Fatalf("%v: %+v", err, s)
	}
	w := s.Worlds[0]
	if len(w.Sides[0])+len(w.Sides[1]) != 1 {
		t.Errorf("documents: %+v", w.Sides)
	}
	want := [][]Part{
		{{[]string{"x"}, "x and y", nil}, {[]string{"y"}, "x and y", nil}},
		{{[]string{"x"}, "s", nil}, {[]string{"y", "z"}, "t", nil}},
		nil,
		{{[]string{"no"}, "s", []string{"t"}}},
		{{[]string{"u"}, "s", nil}},
		{{[]string{"v"}, "s", nil}},
	}
	for i, q := range w.Questions {
		if !reflect.DeepEqual(q.Parts, want[i]) || q.YesNo != (i == 3) || q.Answerable() != (i != 2) {
			t.Errorf("question %s: %+v", q.ID, q)
		}
	}
	last := w.Questions[5]
	if want := []Turn{{"T?", "no"}, {"And?", "u"}}; !slices.Equal(last.Earlier, want) {
		t.Errorf("before it is replayed: %v, want %v", last.Earlier, want)
	}
	asked, err := last.Replay(func(q Question) (Answer, error) { return Answer{Text: fmt.Sprint(len(q.Earlier)) + q.Text}, nil })
	if want := []Turn{{"T?", "0T?"}, {"And?", "1And?"}}; err != nil || !slices.Equal(asked.Earlier, want) {
		t.Errorf("replayed: %v, %v, want %v", asked.Earlier, err, want)
	}
	if _, err := last.Replay(func(Question) (Answer, error) { return Answer{}, io.EOF }); err != io.EOF {
		t.Errorf("%v, want %v", err, io.EOF)
	}
}

const twoParagraphs = `{"data": [{"title": "Lake_cabin", "paragraphs": [
 {"context": "Ä cabin. The door code is 4471. Not 44710.", "qas": [{"question": "Code?", "answers": [{"text": "4471", "answer_start": 26}, {"text": "44710", "answer_start": 36}]}]},
 {"context": "The key is under the mat.", "qas": [{"question": "Key?", "answers": [{"text": "under the mat", "answer_start": 11}]}, {"question": "Owner?", "answers": []}]}]}]}`

func TestSQuAD(t *testing.T) {
	one, err := SQuAD("squad", strings.NewReader(twoParagraphs), AllParagraphs, 1)
	if err != nil || len(one.Worlds) != 1 || len(one.Worlds[0].Sides[0]) != 1 || len(one.Worlds[0].Sides[1]) != 1 {
		t.Fatalf("%v: %+v", err, one)
	}
	q := one.Worlds[0].Questions
	if len(q) != 3 || q[0].Parts[0].Sentence != "The door code is 4471." || !slices.Equal(q[0].Parts[0].Others, []string{"Not 44710."}) || q[2].Answerable() {
		t.Errorf("%+v", q)
	}
	each, err := SQuAD("squad", strings.NewReader(twoParagraphs), OwnParagraph, 1)
	if err != nil || len(each.Worlds) != 2 || len(each.Worlds[1].Questions) != 2 {
		t.Fatalf("%v: %+v", err, each)
	}
	for _, w := range each.Worlds {
		docs := slices.Concat(w.Sides[0], w.Sides[1])
		if len(docs) != 1 || docs[0].Name != w.Questions[0].Names[0] || !strings.HasPrefix(string(docs[0].Data), "# Lake cabin\n\n") {
			t.Errorf("%+v", w)
		}
	}
}

func TestReading(t *testing.T) {
	lines := `{"title": "T", "passage": "Äh be. It is ce. Do it.", "question": "1?", "answers": ["ce"], "support": [7, 16]}
{"title": "T", "passage": "Äh be. It is ce. Do it.", "question": "2?", "answers": ["ce"]}
{"title": "T", "passage": "Äh be. It is ce. Do it.", "question": "3?", "answers": ["other words"]}
{"title": "T", "passage": "Äh be. It is ce. Do it.", "question": "4?", "answers": ["It is ce.", "Do it."], "answer_is_sentence": true}
{"title": "U", "passage": "Other.", "question": "5?", "answers": [], "unanswerable": true}
`
	s, err := Reading("reading", strings.NewReader(lines), AllParagraphs, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := s.Worlds[0]
	if len(w.Sides[0])+len(w.Sides[1]) != 2 {
		t.Errorf("two passages make %+v", w.Sides)
	}
	for i, want := range []string{"It is ce.", "It is ce.", "", "It is ce."} {
		if q := w.Questions[i]; q.Parts[0].Sentence != want || q.KnowsSentences() != (want != "") {
			t.Errorf("%+v", q)
		}
	}
	if w.Questions[4].Answerable() || !slices.Contains(w.Questions[3].Parts[0].Others, "Do it.") {
		t.Errorf("%+v", w.Questions)
	}
}

// The same seed deals and draws alike, another does not; each document goes to one side.
func TestSeed(t *testing.T) {
	var docs []Document
	var questions []Question
	for i := range 41 {
		docs = append(docs, Document{Name: fmt.Sprint(i)})
		questions = append(questions, Question{ID: fmt.Sprint(i)})
	}
	set := func(seed uint64) Set {
		return Set{"s", []World{{deal("s", seed, docs), questions[:20]}, {deal("s", seed, docs), questions[20:]}}}.Sample(10, seed)
	}
	a, b, c := set(1), set(1), set(2)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives another sample")
	}
	if reflect.DeepEqual(a.Worlds[0].Sides, c.Worlds[0].Sides) || reflect.DeepEqual(a.Worlds[0].Questions, c.Worlds[0].Questions) {
		t.Error("another seed gives the same")
	}
	if a.Count() != 10 || set(1).Sample(0, 1).Count() != 10 || set(1).Sample(99, 1).Count() != 10 {
		t.Errorf("%d questions, want 10", a.Count())
	}
	sides := a.Worlds[0].Sides
	seen := map[string]bool{}
	for _, d := range slices.Concat(sides[0], sides[1]) {
		seen[d.Name] = true
	}
	if n := len(sides[0]) - len(sides[1]); len(seen) != 41 || n*n != 1 {
		t.Errorf("%d documents on sides of %d and %d", len(seen), len(sides[0]), len(sides[1]))
	}
	ids := func(s Set) (out []string) {
		for _, w := range s.Worlds {
			for _, q := range w.Questions {
				out = append(out, q.ID)
			}
		}
		return out
	}
	all := ids(Set{"s", []World{{Questions: questions}}})
	at := -1
	for _, id := range ids(a) {
		i := slices.Index(all, id)
		if i <= at {
			t.Errorf("question %s is out of order", id)
		}
		at = i
	}
}
