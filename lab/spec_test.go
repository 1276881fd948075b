package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/models"
)

// sharedData is the folder of public data beside the repository; the test is skipped where there is none.
func sharedData(t *testing.T) string {
	dir, err := filepath.Abs("../../shared/data")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "specbench", "questions.jsonl")); err != nil {
		t.Skip("no Spec-Bench data beside the repository")
	}
	return dir
}

func TestSpecPromptsKeepRequestAndContextApart(t *testing.T) {
	t.Run("samples", func(t *testing.T) { specPromptsApart(t, "") })
	t.Run("public data", func(t *testing.T) { specPromptsApart(t, sharedData(t)) })
}

func specPromptsApart(t *testing.T, data string) {
	for _, task := range SpecTasks {
		prompts, err := SpecPrompts(task, data)
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

// Replies are to the conversations that ship with the program, of which the oldest lines may go.
func TestSpecPromptsOfReplies(t *testing.T) {
	want, err := ReadSpecPrompts(bytes.NewReader(models.Replies))
	if err != nil || len(want) != 40 {
		t.Fatalf("%d conversations, %v", len(want), err)
	}
	got, err := SpecPrompts("reply", "")
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d prompts, %v", len(got), err)
	}
	for i, p := range got {
		if p.Context != want[i].Context || p.Request != want[i].Request || p.Cut != Oldest || !strings.Contains(p.Context, ": ") {
			t.Errorf("%+v is not %+v", p, want[i])
		}
	}
}

func TestSpecPromptFitCutsTheContextOnly(t *testing.T) {
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
		p, cut, err := SpecPrompt{Context: c.context, Request: "do it", Cut: c.rule}.Fit(func(p SpecPrompt) (bool, error) { return len(p.Context) <= c.room, nil })
		if err != nil || p.Context != c.want || p.Request != "do it" || cut != (c.want != c.context) {
			t.Errorf("%s: %q, cut %v, %v; want %q", c.name, p.Context, cut, err, c.want)
		}
	}
}
