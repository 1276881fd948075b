package quality

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func gzipped(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	io.WriteString(z, text)
	z.Close()
	return out.String()
}

// worldOf returns a line with one question that has the given fields.
func worldOf(question string) string { return `{"questions": [` + question + `]}` }

func TestReadWorlds(t *testing.T) {
	line := strings.ReplaceAll(ownWorld, "\n", " ")
	for name, text := range map[string]string{"plain": line + "\n\n" + line, "gzipped": gzipped(line + "\n" + line + "\n")} {
		got, err := readWorlds(name, strings.NewReader(text))
		if err != nil || len(got) != 2 || len(got[1].Questions) != 3 || !strings.Contains(got[1].Questions[2].node().Query().Before, "lake cabin") || got[1].Cloud[0].Name != "museum.md" || got[1].Questions[1].Values[1] != "9:30" {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	packed := gzipped(line + "\n" + line)
	const fine = `"kind": "one-part", "question": "Q?", "answer": "A.", "values": ["A"]`
	for _, c := range []struct{ text, want string }{
		{"", "x holds no questions"},
		{" \n\n", "x holds no questions"},
		{"\x1f\x8b no more", "unpack x: "},
		{packed[:len(packed)/2], "read x: unexpected EOF"},
		{packed[:len(packed)-8] + "\x00\x00\x00\x00" + packed[len(packed)-4:], "read x: gzip: invalid checksum"},
		{line + "\n{", "x, line 2: unexpected end of JSON"},
		{"\n[]", "x, line 2: json: cannot unmarshal array"},
		{"null", `x, line 1: lacks "questions"`},
		{`{"prompt": "?"}`, `x, line 1: lacks "questions"`},
		{worldOf(`{}`), `question 1 lacks "question"`},
		{worldOf(`{` + fine + `}, {"question": "Q?"}`), `question 2 lacks "kind"`},
		{worldOf(`{"question": "Q?", "kind": "one-part", "values": ["A"]}`), `question 1 lacks "answer"`},
		{worldOf(`{"question": "Q?", "kind": "one-part", "answer": "A."}`), `question 1 lacks "values"`},
		{worldOf(`{"question": "Q?", "kind": "one-part", "answer": "A.", "values": [""]}`), `question 1 lacks "values"`},
		{worldOf(`{` + fine + `, "earlier": [{"question": "P?"}]}`), `question 1 lacks "question" or "answer" of what was asked "earlier"`},
		{worldOf(`{"question": "Q?", "kind": "unanswerable", "answer": "It is unknown."}`), ""},
		{`{"device": [{"name": "../a.md"}], "questions": [{` + fine + `}]}`, `file 1 of the device: "../a.md"`},
		{`{"device": [{"name": "a"}], "cloud": [{"name": "a"}, {"name": "a"}], "questions": [{` + fine + `}]}`, `file 2 of the cloud: "a"`},
		{`{"cloud": [{"text": "no name"}], "questions": [{` + fine + `}]}`, `file 1 of the cloud: ""`},
		{line + "\n" + strings.Repeat(" ", maxWorldLine+1), "x, line 2: longer than 16 MB"},
	} {
		_, err := readWorlds("x", strings.NewReader(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.80q: %v; want %q", c.text, err, c.want)
		}
	}
}

// endless is an endless file of blank lines.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte(strings.Repeat(" ", 1023)+"\n"), len(p)/1024+1)), nil
}

// Files beyond the limits are refused, not cut.
func TestQualityBounds(t *testing.T) {
	if _, err := readWorlds("x", endless{}); err == nil || !strings.Contains(err.Error(), "x holds more than 256 MB") {
		t.Errorf("endless worlds: %v", err)
	}
	path := filepath.Join(t.TempDir(), "large.json")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSQuAD(path); err == nil || !strings.Contains(err.Error(), "holds more than 64 MB") {
		t.Errorf("a large file: %v", err)
	}
}

func TestReadSQuADErrors(t *testing.T) {
	paragraph := func(qa string) string {
		return `{"data": [{"paragraphs": [{"context": "C.", "qas": []}, {"context": "D.", "qas": [` + qa + `]}]}]}`
	}
	for _, c := range []struct{ text, want string }{
		{"", "x: unexpected end of JSON"},
		{`{"data": 3}`, "x: json: cannot unmarshal number"},
		{`{}`, "x holds no questions in the format of SQuAD"},
		{paragraph(`{"question": "Q?", "answers": []}`), "x holds no questions in the format of SQuAD"},
		{paragraph(`{"answers": [{"text": "A"}]}`), `x, article 1, paragraph 2, question 1 lacks "question"`},
		{paragraph(`{"question": "Q?", "answers": [{"text": "A"}, {}]}`), `x, article 1, paragraph 2, question 1 lacks "answer"`},
		{`{"data": [{}, {"paragraphs": [{"qas": []}]}]}`, `x, article 2, paragraph 1: lacks "context"`},
	} {
		if _, err := parseSQuAD("x", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
}

// usable returns an error if a world that was read cannot be used.
func usable(w World) error {
	if err := w.check(); err != nil {
		return err
	}
	for _, q := range w.Questions {
		var r Result
		if r.Add(q, q.Right()[0]); r.N != 1 || r.F1 < 0 || r.F1 > 1 || r.Exact != 1 {
			return fmt.Errorf("%+v: %+v", q, r)
		}
	}
	return nil
}

func FuzzReadWorlds(f *testing.F) {
	line := strings.ReplaceAll(ownWorld, "\n", " ")
	for _, s := range []string{line, gzipped(line), line + "\n\n" + line, "{", "null", "\x1f\x8b", gzipped("{")[:20], worldOf(`{"kind": "unanswerable", "question": "?", "answers": ["a"]}`)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		worlds, err := readWorlds("x", bytes.NewReader(data))
		if (err == nil) != (len(worlds) > 0) {
			t.Fatalf("%v: %d worlds", err, len(worlds))
		}
		for _, w := range worlds {
			if err := usable(w); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzReadSQuAD(f *testing.F) {
	for _, s := range []string{ownSQuAD, `{"data": [{"paragraphs": [{"context": "a", "qas": [{}]}]}]}`, "{}", "[", `{"data": [null]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := parseSQuAD("x", data)
		if err != nil {
			return
		}
		if err := usable(w); err != nil {
			t.Fatal(err)
		}
		if d := len(w.Device) - len(w.Cloud); d < 0 || d > 1 {
			t.Fatalf("%d and %d passages", len(w.Device), len(w.Cloud))
		}
	})
}

// The passages of a SQuAD file go to the two sides in turn, each with its article's title.
func TestReadSQuADDeals(t *testing.T) {
	w, err := parseSQuAD("squad.json", []byte(ownSQuAD))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, files := range [][]File{w.Device, w.Cloud} {
		for _, f := range files {
			got = append(got, f.Text)
		}
	}
	want := []string{"# Lake cabin\n\nThe wifi password is tumbral-5827.\n", "# Lake cabin\n\nThe key is under the mat.\n",
		"# Lake cabin\n\nThe door code is 4471.\n", "# Museum\n\nThe museum opens at 9:30.\n"}
	if !slices.Equal(got, want) || len(w.Device) != 2 {
		t.Errorf("%q, want %q", got, want)
	}
	var where []string
	for _, q := range w.Questions {
		where = append(where, q.Where)
	}
	if !slices.Equal(where, []string{"device", "cloud", "cloud"}) || !slices.Equal(w.Questions[0].Answers, []string{"tumbral-5827", "tumbral"}) {
		t.Errorf("%v: %+v", where, w.Questions)
	}
	if err := w.check(); err != nil {
		t.Error(err)
	}
}

// ownWorld is a line with one world.
const ownWorld = `{"device": [{"name": "cabin.md", "text": "# Lake cabin\n\nThe wifi password is tumbral-5827.\n"}],
"cloud": [{"name": "museum.md", "text": "# Harbour museum\n\nThe museum opens at 9:30.\n"}], "questions": [
{"kind": "one-part", "where": "device", "question": "What is the wifi password of the lake cabin?",
 "answer": "The wifi password of the lake cabin is tumbral-5827.", "values": ["tumbral-5827"]},
{"kind": "two-part", "where": "both", "question": "What is the wifi password of the lake cabin, and when does the harbour museum open?",
 "answer": "The wifi password of the lake cabin is tumbral-5827. The harbour museum opens at 9:30.", "values": ["tumbral-5827", "9:30"]},
{"kind": "follow-up", "where": "device", "question": "And the wifi password?", "answer": "The wifi password of the lake cabin is tumbral-5827.",
 "values": ["tumbral-5827"], "earlier": [{"question": "Where is the lake cabin?", "answer": "The lake cabin is unknown."}]}]}`

// ownSQuAD has passages for both sides, and a question without an answer.
const ownSQuAD = `{"data": [
{"title": "Lake_cabin", "paragraphs": [
 {"context": "The wifi password is tumbral-5827.", "qas": [{"question": "What is the wifi password?", "answers": [{"text": "tumbral-5827"}, {"text": "tumbral"}]}]},
 {"context": "The door code is 4471.", "qas": [{"question": "What is the door code?", "answers": [{"text": "4471"}]}, {"question": "Who?", "answers": []}]},
 {"context": "The key is under the mat.", "qas": []}]},
{"title": "Museum", "paragraphs": [
 {"context": "The museum opens at 9:30.", "qas": [{"question": "When does the museum open?", "answers": [{"text": "9:30"}]}]}]}]}`
