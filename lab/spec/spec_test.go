package spec

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/internal/testfile"
	"tandem/internal/tinymodel"
	"tandem/lab/report"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/models"
	"tandem/npu/native"
	"tandem/specdec"
)

func TestPromptsKeepRequestAndContextApart(t *testing.T) {
	t.Run("samples", func(t *testing.T) { promptsApart(t, "") })
	t.Run("public data", func(t *testing.T) {
		promptsApart(t, filepath.Dir(filepath.Dir(testfile.Shared(t, "data", "specbench", "questions.jsonl"))))
	})
}

func promptsApart(t *testing.T, data string) {
	for _, task := range Tasks {
		prompts, err := Prompts(task, data)
		if err != nil {
			t.Fatal(err)
		}
		if len(prompts) < 5 {
			t.Errorf("%s: %d prompts", task, len(prompts))
		}
		for _, p := range prompts {
			switch {
			case p.Context == "" && task != "rag", p.Request == "", strings.ContainsRune(p.Request, '\n'), strings.TrimSpace(p.Context) != p.Context:
				t.Errorf("%s: context %.60q, request %q", task, p.Context, p.Request)
			}
			if got := p.Messages(true); p.Context != "" && (len(got) != 2 || got[0].Content != p.Context || got[1].Content != p.Request) {
				t.Errorf("%s: messages %v", task, got)
			}
		}
	}
}

// Reply tasks come from the program's own conversations, whose oldest lines may be cut.
func TestPromptsOfReplies(t *testing.T) {
	want, err := ReadPrompts(bytes.NewReader(models.Replies))
	if err != nil || len(want) != 40 {
		t.Fatalf("%d conversations, %v", len(want), err)
	}
	got, err := Prompts("reply", "")
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d prompts, %v", len(got), err)
	}
	for i, p := range got {
		if p.Context != want[i].Context || p.Request != want[i].Request || p.Cut != Oldest || !strings.Contains(p.Context, ": ") {
			t.Errorf("%+v is not %+v", p, want[i])
		}
	}
}

func TestPromptFitCutsTheContextOnly(t *testing.T) {
	for _, c := range []struct {
		name, context, want string
		rule                CutRule
		room                int
	}{
		{"behind a sentence", "One two. Three four. Five six.", "One two. Three four.", AtSentence, 24},
		{"behind a word", "One two three four. Five six.", "One two", AtSentence, 12},
		{"whole lines", "<a>\n<bb>\n<ccc>", "<a>\n<bb>", AtLine, 10},
		{"the oldest lines", "Al: x\nBo: y\nAl: z", "Bo: y\nAl: z", Oldest, 12},
		{"nothing", "abcdefgh", "", AtSentence, 4},
		{"all", "abc def", "abc def", AtSentence, 40},
	} {
		p, cut, err := Prompt{Context: c.context, Request: "do it", Cut: c.rule}.Fit(func(p Prompt) (bool, error) { return len(p.Context) <= c.room, nil })
		if err != nil || p.Context != c.want || p.Request != "do it" || cut != (c.want != c.context) {
			t.Errorf("%s: %q, cut %v, %v; want %q", c.name, p.Context, cut, err, c.want)
		}
	}
}

// Every drafter gives plain decoding's answers, and its results give their costs.
func TestExperiment(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := Experiment{Model: m, Costs: slices.Concat(slices.Repeat(specdec.Costs{1}, 32), slices.Repeat(specdec.Costs{2}, 32)), History: t.TempDir(), MaxTokens: 40, Rows: 32}
	var inputs []Input
	said := 0
	for _, text := range []string{"the cat sat on the mat. the dog sat on the cat.", "the mat sat on the dog. the c"} {
		in := Input{Tokens: chat.Encode(m.Tokenizer(), text)}
		inputs = append(inputs, in)
		if _, err := sample.GenerateWith(t.Context(), m, in.Tokens, s.Sampling, s.MaxTokens, nil, func(tandem.Token) error { said++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	methods := []string{"plain", "pld+reuse", "all+history", "eagle (simulated)", "sam"}
	done := 0
	rows, err := s.Run(t.Context(), "own", inputs, methods, func(n, total int) {
		if done++; n != done || total != 10 {
			t.Errorf("%d of %d at %d", n, total, done)
		}
	})
	if err != nil || len(rows) != len(methods) || done != 10 {
		t.Fatalf("%d results, %d reports of progress, %v", len(rows), done, err)
	}
	for i, r := range rows {
		if r.Task != "own" || r.Method != methods[i] || r.Inputs != 2 || r.Tokens != said || r.Simulated != (i == 3) {
			t.Errorf("%+v", r)
		}
		if r.AcceptLength < 1 || r.Chosen < 1 || r.Ratio <= 0 || r.MinRatio <= 0 || r.MinRatio > r.Ratio || r.Prefill <= 0 || r.DrafterMs <= 0 {
			t.Errorf("%+v", r)
		}
		if math.Abs(r.Valid-r.AcceptLength/32) > 1e-9 || math.Abs(r.Valid+r.Wasted+r.Underutilised-1) > 1e-9 || r.Wasted < 0 {
			t.Errorf("shares of %+v", r)
		}
	}
	if r := rows[0]; r.AcceptLength != 1 || r.Wasted != 0 || math.Abs(r.Ratio-1) > 1e-9 {
		t.Errorf("plain: %+v", r)
	}
	if r := rows[3]; r.AcceptLength < 2 {
		t.Errorf("a drafter that knows the answer: %+v", r)
	}
	for i, r := range rows {
		if peer := i == 4; r.Published.Known != peer || slices.Contains(publishedRows, r.PublishedRows) != peer || peer && r.Published.Value < 1 {
			t.Errorf("as published: %+v", r)
		}
	}
	files, err := specdec.Histories(s.History)
	if err != nil || len(files) != 2 || files[0].Entries != 2 || files[1].Entries != 2 {
		t.Errorf("all keeps a history of %+v, %v", files, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, "own", inputs, methods, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// For the costs of another model and for the model's own, the findings name the drafters that are faster than all together.
func TestFindings(t *testing.T) {
	results := []Result{
		{Task: "summary", Method: "pld", Model: "small", CostsOf: "large", Inputs: 3, Ratio: 2.1, OwnRatio: report.Is(2.26)},
		{Task: "summary", Method: "all", Model: "small", CostsOf: "large", Inputs: 3, Ratio: 2.8, OwnRatio: report.Is(1.67)},
		{Task: "summary", Method: "eagle (simulated)", Model: "small", CostsOf: "large", Inputs: 3, Ratio: 3, OwnRatio: report.Is(3), Simulated: true},
		{Task: "rag", Method: "pld", Model: "small", CostsOf: "large", Ratio: 9},
	}
	got := Findings(results)
	if want := "summary, by the passes of small: all (1.67) is slower than pld (2.26), 3 inputs."; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	if note := string(Figure(results).SVG); !strings.Contains(note, "Answers by small") {
		t.Error("the figure does not name the model")
	}
}

// With the costs of another model, results have a ratio by the model's own costs too.
func TestOwnCosts(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	flat, steep := slices.Repeat(specdec.Costs{1}, 64), specdec.Costs{}
	for i := range 64 {
		steep = append(steep, float64(i+1))
	}
	s := Experiment{Model: m, Costs: flat, Own: steep, History: t.TempDir(), MaxTokens: 40, Rows: 32}
	in := Input{Tokens: chat.Encode(m.Tokenizer(), "the cat sat on the mat. the dog sat on the cat. the cat sat on")}
	results, err := s.Run(t.Context(), "own", []Input{in}, []string{"plain", "eagle (simulated)"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := results[0]; r.Ratio != 1 || r.OwnRatio != report.Is(1) {
		t.Errorf("plain: %+v", r)
	}
	if r := results[1]; r.Ratio < 1.5 || r.OwnRatio.Value > 1.01 {
		t.Errorf("passes whose cost depends on the rows, and others: %+v", r)
	}

	// EAGLE's drafter takes six passes for a draft.
	s.Own, s.Eagle = nil, .25
	if results, err = s.Run(t.Context(), "own", []Input{in}, []string{"eagle (simulated)"}, nil); err != nil {
		t.Fatal(err)
	}
	if r := results[0]; math.Abs(r.Ratio-r.Chosen/(1+6*s.Eagle)) > 1e-9 {
		t.Errorf("with drafting: %+v", r)
	}
}

func TestAnswerPrompts(t *testing.T) {
	list, err := answerPrompts()
	if err != nil || len(list) < 100 {
		t.Fatal(len(list), err)
	}
	for _, p := range list {
		if p.Context == "" || p.Request == "" {
			t.Fatalf("%+v", p)
		}
	}
}

func TestParseWords(t *testing.T) {
	for text, want := range map[string]Words{"own": {}, "reference": {Reference: true}, "reference:.25": {Reference: true, Disagree: .25}} {
		if got, err := ParseWords(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "mine", "own:.5", "reference:2", "reference:x", "reference:NaN"} {
		if _, err := ParseWords(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
