package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/model"
	"tandem/models"
	"tandem/retrieval/passages"
)

func TestTokenF1(t *testing.T) {
	for _, c := range []struct {
		answer, gold string
		want         float64
	}{
		{"tumbral-5827", "tumbral-5827", 1},
		{"The Museum opens at 9:30!", "museum opens at 930", 1}, // case, articles and punctuation do not count
		{"It opens at nine.", "at nine", 2. * 2 / (4 + 2)},
		{"no no no", "no", 2. * 1 / (3 + 1)}, // a word counts as often as the other side has it
		{"yes", "no", 0},
		{"", "no", 0},
		{"the", "", 1}, // nothing is left of either
		{"24 £", "24 £", 1},
		{"Ä b", "ä B", 1},
	} {
		for _, got := range []float64{tokenF1(c.answer, c.gold), tokenF1(c.gold, c.answer)} {
			if math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%q and %q: F1 %v, want %v", c.answer, c.gold, got, c.want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for answer, want := range map[string]bool{
		"The door code of the lake cabin is unknown.": true,
		"It opens at 9:30. The price is Unknown.":     true,
		"I don't know.":                        true,
		"The text does not say when it opens.": true,
		"That is not mentioned.":               true,
		"There is no information about it.":    true,
		"":                                     false,
		"The museum opens at 9:30.":            false,
		"The unknowns are x and y.":            false,
		"She does not knowingly lie.":          false,
	} {
		if cli.Refused(answer) != want {
			t.Errorf("%q: refused is %v", answer, !want)
		}
	}
}

func TestHoldsWord(t *testing.T) {
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"It opens at 9:30.", "9:30", true},
		{"It opens at 19:30.", "9:30", false},
		{"It opens at 9:301.", "9:30", false},
		{"Not 19:30 but 9:30", "9:30", true},
		{"a", "", false},
		{"", "x", false},
	} {
		if holdsWord(c.text, c.value) != c.want {
			t.Errorf("%q in %q: %v", c.value, c.text, !c.want)
		}
	}
}

func TestQualityRowAdds(t *testing.T) {
	known := asked{Kind: "one-part", Answer: "It opens at 9:30.", Answers: []string{"9:30"}, Values: []string{"9:30"}}
	nobody := asked{Kind: "unanswerable", Answer: "The code is unknown."}
	squad := asked{Kind: "xquad", Answers: []string{"The Broncos", "Denver Broncos"}, Values: []string{"Denver"}}
	for _, c := range []struct {
		q      asked
		answer string
		want   qualityRow
	}{
		{known, "It opens at 9:30.", qualityRow{Exact: 1, F1: 1, Holds: 1}},
		{known, "9:30", qualityRow{Exact: 1, F1: 1, Holds: 1}},
		{known, "it opens at 9:30", qualityRow{F1: 1, Holds: 1}}, // worlds' answers are compared to the letter
		{known, "It opens at 9:301.", qualityRow{F1: 0.75}},
		{known, "That is unknown.", qualityRow{Refused: 1}},
		{known, "9:30 or unknown", qualityRow{F1: 0.5, Holds: 1, Refused: 1}},
		{nobody, "The code is unknown.", qualityRow{Exact: 1, F1: 1, Holds: 1, Refused: 1}},
		{nobody, "I do not know.", qualityRow{Exact: 1, Holds: 1, Refused: 1}},
		{nobody, "The code is 4471.", qualityRow{F1: 2. * 2 / (3 + 3)}},
		{squad, "the denver broncos!", qualityRow{Exact: 1, F1: 1}},
		{squad, "Broncos", qualityRow{Exact: 1, F1: 1}},
	} {
		got := qualityRow{}
		right := got.add(c.q, c.answer)
		c.want.N = 1
		if got != c.want || right != (c.want.Exact == 1) {
			t.Errorf("%q to %+v: %v, %+v; want %+v", c.answer, c.q, right, got, c.want)
		}
		if got.add(c.q, c.answer); got.N != 2 || got.F1 != 2*c.want.F1 || got.Exact != 2*c.want.Exact {
			t.Errorf("%q twice: %+v", c.answer, got)
		}
	}
}

// ownWorld is a line of --set.
const ownWorld = `{"device": [{"name": "cabin.md", "text": "# Lake cabin\n\nThe wifi password is tumbral-5827.\n"}],
"cloud": [{"name": "museum.md", "text": "# Harbour museum\n\nThe museum opens at 9:30.\n"}], "questions": [
{"kind": "one-part", "where": "device", "question": "What is the wifi password of the lake cabin?",
 "answer": "The wifi password of the lake cabin is tumbral-5827.", "values": ["tumbral-5827"]},
{"kind": "two-part", "where": "both", "question": "What is the wifi password of the lake cabin, and when does the harbour museum open?",
 "answer": "The wifi password of the lake cabin is tumbral-5827. The harbour museum opens at 9:30.", "values": ["tumbral-5827", "9:30"]},
{"kind": "follow-up", "where": "device", "question": "And the wifi password?", "answer": "The wifi password of the lake cabin is tumbral-5827.",
 "values": ["tumbral-5827"], "earlier": [{"question": "Where is the lake cabin?", "answer": "The lake cabin is unknown."}]}]}`

// ownSQuAD has passages for both sides, and a question that nobody can answer.
const ownSQuAD = `{"data": [
{"title": "Lake_cabin", "paragraphs": [
 {"context": "The wifi password is tumbral-5827.", "qas": [{"question": "What is the wifi password?", "answers": [{"text": "tumbral-5827"}, {"text": "tumbral"}]}]},
 {"context": "The door code is 4471.", "qas": [{"question": "What is the door code?", "answers": [{"text": "4471"}]}, {"question": "Who?", "answers": []}]},
 {"context": "The key is under the mat.", "qas": []}]},
{"title": "Museum", "paragraphs": [
 {"context": "The museum opens at 9:30.", "qas": [{"question": "When does the museum open?", "answers": [{"text": "9:30"}]}]}]}]}`

// The rows have what their readers look for, and say what the pair knows beyond its sides.
func TestBenchQuality(t *testing.T) {
	h := clitest.NewHome(t)
	line := strings.ReplaceAll(ownWorld, "\n", " ") + "\n"
	clitest.Write(t, h.Dir, "own.jsonl", line+strings.NewReplacer("device", "cloud", "cloud", "device").Replace(line))
	clitest.Write(t, h.Dir, "squad.json", ownSQuAD)
	stdout, stderr, err := h.Run("quality", "--n", "2", "--sets", "one-part,two-part,follow-up,xquad", "--set", "own.jsonl", "--xquad", "squad.json",
		"--methods", strings.Join(qualityMethods, ","), "--weights", "reader;static", "--threads", "1", "--json", "rows.json")
	if err != nil || stdout != "" {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	rows := readRows(t, filepath.Join(h.Dir, "rows.json"))
	if want := 4 * (len(qualityMethods) + 1); len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	exact := map[string]any{}
	for _, r := range rows {
		for _, key := range []string{"set", "method", "weights", "n", "exact_match", "f1"} {
			if _, ok := r[key]; !ok {
				t.Errorf("no %q in %v", key, r)
			}
		}
		if r["n"] != 2. {
			t.Errorf("%v questions, want 2: %v", r["n"], r)
		}
		if f1, ok := r["f1"].(float64); !ok || f1 < 0 || f1 > 1 {
			t.Errorf("F1 of %v", r)
		}
		if weights, ok := r["weights"].(string); ok && strings.HasPrefix(weights, "reader") {
			exact[r["set"].(string)+" "+r["method"].(string)] = r["exact_match"]
		}
	}
	for row, want := range map[string]float64{"one-part device": 0.5, "one-part cloud": 0.5, "one-part pair": 1, "one-part given": 1, "one-part sequence-thorough": 1,
		"follow-up device": 0.5, "follow-up cloud": 0.5, "follow-up pair": 1, "two-part device": 0, "two-part cloud": 0, "two-part pair": 1, "two-part one-side": 1, "two-part sequence-thorough": 0, "two-part sequence-fast": 0,
		"one-part device-context": 0.5, "one-part cloud-context": 0.5, "two-part device-context": 0, "two-part cloud-context": 0} {
		if exact[row] != want {
			t.Errorf("%s: exact match %v, want %v", row, exact[row], want)
		}
	}
}

// Without files of one's own the built-in questions are asked, --n of each set.
func TestBenchQualityBuiltIn(t *testing.T) {
	h := clitest.NewHome(t)
	stdout, stderr, err := h.Run("quality", "--n", "2", "--methods", "device,pair", "--sets", "one-part,unanswerable,xquad", "--threads", "1", "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	var got struct {
		Rows []qualityRow
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Rows) != 4 || got.Rows[0].N != 2 {
		t.Errorf("%v: %s", err, stdout)
	}
	if !strings.Contains(stderr, "--xquad") {
		t.Errorf("a set that is not there is not named: %s", stderr)
	}
}

func readRows(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return got.Rows
}

// What makes no sense is said, and named, before a model is opened.
func TestBenchQualityErrors(t *testing.T) {
	h := clitest.NewHome(t)
	clitest.Write(t, h.Dir, "bad.jsonl", "{")
	clitest.Write(t, h.Dir, "bad.json", `{"data": 3}`)
	clitest.Write(t, h.Dir, "broken.gz", "\x1f\x8b no more")
	clitest.Write(t, h.Dir, "own.jsonl", strings.ReplaceAll(ownWorld, "\n", " "))
	for _, c := range []struct{ args, want string }{
		{"rows.json", "needs --json before it"},
		{"--set missing.jsonl", "missing.jsonl"},
		{"--set bad.jsonl", "bad.jsonl, line 1"},
		{"--set broken.gz", "broken.gz"},
		{"--sets xquad --xquad bad.json", "bad.json"},
		{"--sets three-part", "no questions of the sets three-part"},
		{"--set own.jsonl --sets unanswerable", "no questions of the sets unanswerable"},
		{"--methods magic", "one-context"},
		{"--wikitext --methods pair", "--methods pair: use one-context"},
		{"--weights magic", "magic"},
		{"--wikitext", "wiki.test.raw"},
	} {
		stdout, stderr, err := h.Run(append([]string{"quality", "--model", "none.gguf"}, strings.Fields(c.args)...)...)
		if err == nil || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("quality %s: %v, %q, %q; want %q", c.args, err, stdout, stderr, c.want)
		}
	}
}

// A text that valid holds word for word is predicted; with no document and with one all methods agree that have it.
func TestBenchQualityWikitext(t *testing.T) {
	h := clitest.NewHome(t)
	words := strings.Fields(strings.Repeat("The harbour museum opens at 9:30 and the old mill on the river is closed in winter . ", 6))
	dir := filepath.Join(h.Dir, "shared", "data", "wikitext2")
	clitest.Write(t, dir, "wiki.test.raw", "= Museum =\n\n "+strings.Join(words, " ")+"\n")
	clitest.Write(t, dir, "wiki.valid.raw", "The harbour museum opens at 9:30.\n\nThe old mill is closed in winter.\n\nA river flows to the harbour.\n")
	if _, stderr, err := h.Run("quality", "--wikitext", "--threads", "1", "--json", "rows.json"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	bits := map[string]map[float64]float64{}
	rows := readRows(t, filepath.Join(h.Dir, "rows.json"))
	for _, r := range rows {
		method := r["method"].(string)
		if bits[method] == nil {
			bits[method] = map[float64]float64{}
		}
		b := r["bits_per_byte"].(float64)
		if bits[method][r["documents"].(float64)] = b; b <= 0 || b > 16 || r["n"] != 1. {
			t.Errorf("%v", r)
		}
	}
	if len(rows) != len(wikitextMethods)*len(wikitextDocuments) || bits["output"][16] == 0 {
		t.Errorf("%d rows: %v", len(rows), bits)
	}
	for _, method := range wikitextMethods {
		one := 1. // documents
		if method == "cloud-context" {
			one = 0 // the first is the device's
		}
		if b := bits[method]; math.Abs(b[0]-bits["output"][0]) > 1e-9 || math.Abs(b[1]-bits["output"][one]) > 1e-9 || method != "cloud-context" && b[1] == b[0] {
			t.Errorf("%s: %v; output: %v", method, b, bits["output"])
		}
	}
	if _, stderr, err := h.Run("quality", "--wikitext", "--methods", "output", "--threads", "1", "--json", "rows.json"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for i, r := range readRows(t, filepath.Join(h.Dir, "rows.json")) {
		if r["method"] != "output" || i >= len(wikitextDocuments) {
			t.Errorf("row %d of --methods output: %v", i, r)
		}
	}
	clitest.Write(t, dir, "wiki.test.raw", "Too short.\n")
	if _, stderr, err := h.Run("quality", "--wikitext"); err == nil || !strings.Contains(stderr, "no paragraph of 80 words") {
		t.Errorf("a short text: %v, %s", err, stderr)
	}
}

// Equal documents are as good as one of them, however their distributions are mixed; of different ones a mixture
// costs no less than the best and no more than the worst, to the token.
func TestPredictMixes(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Reader, model.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const given, predicted = "The harbour museum", " opens at 9:30."
	of := func(texts ...string) map[string]float64 {
		var hits []passages.Passage
		for _, s := range texts {
			hits = append(hits, passages.Passage{Text: s})
		}
		bits, err := predict(t.Context(), m, hits, given, predicted)
		if err != nil {
			t.Fatal(err)
		}
		return bits
	}
	const a, b = "The harbour museum opens at 9:30.", "The mill is closed."
	first, second, both, same := of(a), of(b), of(a, b), of(a, a, a)
	for _, method := range []string{"output", "sequence"} {
		if math.Abs(same[method]-first["output"]) > 1e-6 {
			t.Errorf("%s of three equal documents: %v bits, of one %v", method, same[method], first["output"])
		}
		if x := both[method]; !(first["output"] < x && x < second["output"]) {
			t.Errorf("%s: %v bits, not between %v and %v", method, x, first["output"], second["output"])
		}
	}
	if both["device-context"] != first["one-context"] || both["cloud-context"] != second["one-context"] {
		t.Errorf("each side's own: %v; alone: %v, %v", both, first, second)
	}
	if joined := of(b + "\n" + a); both["one-context"] != joined["one-context"] {
		t.Errorf("the most relevant document is not nearest: %v, %v", both, joined)
	}
	// Of what does not fit the end stays.
	most := m.Config().Context
	if x, y := of(strings.Repeat(b+" ", most)+a), of(strings.Repeat(b+" ", 2*most)+a); x["one-context"] != y["one-context"] || x["one-context"] > second["one-context"] {
		t.Errorf("too long by different lengths: %v, %v; %v without what stays", x, y, second)
	}
}

// The passages of a set in SQuAD's form go to the two sides in turn, each with its article's title.
func TestReadSQuADDeals(t *testing.T) {
	w, err := readSQuAD("squad.json", []byte(ownSQuAD))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, files := range [][]file{w.Device, w.Cloud} {
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
