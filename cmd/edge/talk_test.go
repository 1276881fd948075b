package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/sample"
	"tandem/npu/native"
	"tandem/npu/phone"
)

// newTalk is a conversation with a random model of an architecture.
func newTalk(t *testing.T, arch string, context int) *talking {
	t.Helper()
	file := tinymodel.GGUF(tinymodel.Spec{
		Arch: arch, Seed: 7, Gain: 3, Context: context,
		Template: "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>",
	})
	m, err := model.OpenBytes("tiny", file, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	a := &cli.App{Context: t.Context(), Screen: &cli.Screen{Out: io.Discard, Aside: io.Discard}, Globals: &cli.Globals{}}
	c := &runCmd{}
	c.Draft, c.MaxTokens = "pld,sam", 12
	return &talking{runCmd: c, app: a, model: m, device: &phone.Device{}, sampling: sample.Params{Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1}, Seed: 5}, seq: m.NewSeq()}
}

// An answer in a conversation is the one that a model gives which reads the whole conversation again, also where the model has
// windows. What it has read before is not read again where the model can keep it.
func TestTalkReadsOn(t *testing.T) {
	for _, run := range []struct {
		arch    string
		penalty float64
	}{{"llama", 1}, {"gemma3", 1}, {"llama", 1.3}} {
		c, arch := newTalk(t, run.arch, 512), run.arch
		c.sampling.RepeatPenalty, c.sampling.RepeatLast = run.penalty, -1
		for turn := range 4 {
			if err := c.answer(fmt.Sprintf("Say %d", turn)); err != nil {
				t.Fatal(err)
			}
			tokens, err := c.render(c.model, c.said[:2*turn+1])
			if err != nil {
				t.Fatal(err)
			}
			var fresh []tandem.Token
			_, err = sample.Generate(t.Context(), c.model, tokens, c.sampling, c.MaxTokens, func(x tandem.Token) error {
				fresh = append(fresh, x)
				return nil
			})
			if err != nil || len(fresh) == 0 {
				t.Fatal(fresh, err)
			}
			if all := append(tokens, fresh...); len(c.read) < len(all)-1 || !slices.Equal(c.read, all[:len(c.read)]) {
				t.Errorf("%s, turn %d: the sequence holds %d, want all but the last of %d", arch, turn, c.read, all)
			}
		}
	}
}

// A conversation that no longer fits in the context loses its oldest turns, and a prompt that does not fit is refused and forgotten.
func TestTalkThatIsTooLong(t *testing.T) {
	c := newTalk(t, "llama", 160)
	for turn := range 8 {
		if err := c.answer(fmt.Sprintf("Question %d", turn)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.said); n >= 16 || n%2 != 0 || c.said[0].Role != "user" || c.said[n-2].Content != "Question 7" {
		t.Errorf("after eight turns, the conversation has %d texts: %v", n, c.said)
	}
	before := len(c.said)
	if err := c.answer(strings.Repeat("long ", 100)); err == nil || !strings.Contains(err.Error(), "takes 160: shorten it") || len(c.said) != before {
		t.Errorf("%v, %d texts", err, len(c.said))
	}
	if err := c.answer("Again"); err != nil {
		t.Error(err)
	}
}

// What was stopped before its first word is not part of the conversation, which goes on.
func TestTalkThatIsStopped(t *testing.T) {
	c := newTalk(t, "llama", 512)
	if err := c.answer("Hello"); err != nil {
		t.Fatal(err)
	}
	going := c.app.Context
	stopped, cancel := context.WithCancel(going)
	cancel()
	c.app.Context = stopped
	if err := c.answer("Again"); err == nil || len(c.said) != 2 {
		t.Errorf("%v, %d texts", err, len(c.said))
	}
	c.app.Context = going
	if err := c.answer("Once more"); err != nil || len(c.said) != 4 || c.said[2].Content != "Once more" {
		t.Error(err, c.said)
	}
}

// A turn says in later prompts what was said, without thoughts.
func TestTalkTurns(t *testing.T) {
	c := newTalk(t, "llama", 512)
	for _, turn := range []struct{ role, text, want string }{
		{"assistant", "<think>\nhm\n</think>\n\nYes.", "Yes."}, {"user", "<think>?", "<think>?"},
	} {
		if got := c.message(turn.role, turn.text); got.Role != turn.role || got.Content != turn.want {
			t.Errorf("%s: %q becomes %q", turn.role, turn.text, got)
		}
	}
}

// Commands clear the conversation and end it, and others are refused.
func TestTalkCommands(t *testing.T) {
	c := newTalk(t, "llama", 512)
	if err := c.take("Hello"); err != nil || len(c.said) != 2 {
		t.Fatal(err, c.said)
	}
	if err := c.take("/clear"); err != nil || len(c.said) != 0 {
		t.Error(err, c.said)
	}
	for line, want := range map[string]string{"/bye": "EOF", "/exit": "EOF", "/clear now": "takes no argument", "/save x": "takes no argument", "/load": "no command /load"} {
		if err := c.take(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := c.take("/help"); err != nil {
		t.Error(err)
	}
}
