package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/dllm"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
)

// diffusionFile writes a random diffusion model.
func diffusionFile(t *testing.T, arch string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), arch+".gguf")
	if err := os.WriteFile(path, tinymodel.GGUF(tinymodel.Spec{Arch: arch, Seed: 3, Gain: 3, Context: 128}), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A diffusion model denoises without a flag, also on a simulated phone, and its steps can be shown.
func TestRunDenoises(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, arch := range []string{"llada", "dream"} {
		file := diffusionFile(t, arch)
		run := func(more ...string) (out struct {
			Text             string
			Tokens, Forwards int
			Rows             int
			Logit_rows       int
			Method           string
		}, stderr string) {
			t.Helper()
			stdout, stderr, err := h.Run(append([]string{"run", "--json", "--raw", "--model", file, "--max-tokens", "40", "--seed", "1"}, append(more, "The harbour")...)...)
			if err != nil {
				t.Fatalf("%v: %v\n%s", more, err, stderr)
			}
			if err := json.Unmarshal([]byte(stdout), &out); err != nil {
				t.Fatalf("%v in %q", err, stdout)
			}
			return out, stderr
		}
		full, _ := run()
		if full.Text == "" || full.Tokens == 0 || full.Forwards == 0 || full.Forwards > 40 || full.Method != "full" || full.Logit_rows >= full.Rows {
			t.Errorf("%s: %+v", arch, full)
		}
		shown, steps := run("--show-denoising")
		if shown.Text != full.Text || strings.Count(steps, "\n") < full.Forwards {
			t.Errorf("%s: shown as %q, %d lines for %d passes, without %q", arch, shown.Text, strings.Count(steps, "\n"), full.Forwards, full.Text)
		}
		vanilla, _ := run("--denoise", "vanilla")
		if vanilla.Forwards <= full.Forwards || vanilla.Rows <= full.Rows {
			t.Errorf("%s: vanilla took %+v, full %+v", arch, vanilla, full)
		}
		if again, _ := run("--soc", "sm8750", "--denoise", "prefix-kv"); again.Text == "" {
			t.Errorf("%s: on a simulated phone %+v", arch, again)
		}
		// What the window looks ahead by is the phone's time, not this machine's: a seed has one text.
		once, _ := run("--soc", "sm8750/llada", "--visible", ".3", "--stable", ".99")
		for range 2 {
			if again, _ := run("--soc", "sm8750/llada", "--visible", ".3", "--stable", ".99"); again != once {
				t.Errorf("%s: on a simulated phone %+v, then %+v", arch, once, again)
			}
		}
		// With half of the weights in memory, staged in every pass, the text is the same.
		size, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if staged, _ := run("--npu-memory", fmt.Sprint(float64(size.Size())/2/(1<<20))); staged.Text != full.Text {
			t.Errorf("%s: with half of the memory %q, want %q", arch, staged.Text, full.Text)
		}
		i := strings.IndexFunc(full.Text, func(r rune) bool { return r >= 'A' && r <= 'z' })
		if i < 0 {
			t.Fatalf("%s: no letter in %q", arch, full.Text)
		}
		if stop, _ := run("--stop", full.Text[i:i+1]); stop.Text != full.Text[:i] {
			t.Errorf("%s: stopped before %q: %q of %q", arch, full.Text[i:i+1], stop.Text, full.Text)
		}
	}
}

// Flags that make no sense for a diffusion model are named, and so are its own for another.
func TestRunRefusesFlagsOfOtherModels(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	file := diffusionFile(t, "llada")
	for _, c := range []struct {
		flags []string
		want  []string
	}{
		{[]string{"--model", file, "--draft", "sam", "--top-k", "4"}, []string{"--top-k", "--draft", "diffusion model"}},
		{[]string{"--model", file, "--forecast", "forecast"}, []string{"--forecast", "diffusion model"}},
		{[]string{"--model", file, "--repeat-penalty", "1.2", "--min-p", ".1", "--top-p", ".5", "--repeat-last", "3"}, []string{"--repeat-penalty", "--min-p", "--top-p", "--repeat-last"}},
		{[]string{"--model", file, "--denoise", "slow"}, []string{"--denoise", "fast-dllm"}},
		{[]string{"--model", file, "--visible", ".95"}, []string{"--visible"}},
		{[]string{"--model", file, "--block", "0"}, []string{"--block 0"}},
		{[]string{"--model", file, "--refresh=-1"}, []string{"--refresh -1"}},
		{[]string{"--show-denoising", "--block", "8"}, []string{"--show-denoising, --block", "diffusion models"}},
	} {
		_, stderr, err := h.Run(append(append([]string{"run"}, c.flags...), "Hello")...)
		if err == nil {
			t.Errorf("%v: accepted", c.flags)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: %q does not mention %q", c.flags, stderr, want)
			}
		}
	}
	// A prompt that leaves no room for a block.
	if _, stderr, err := h.Run("run", "--raw", "--model", file, strings.Repeat("ab", 60)); err == nil || !strings.Contains(stderr, "less than a block") {
		t.Errorf("too long a prompt: %v: %s", err, stderr)
	}
}

// Each parameter of llada.cpp can be given, where the method has it.
func TestTechnique(t *testing.T) {
	f := denoiseFlags{Denoise: "full", Block: 16, Visible: .6, Stable: .8, Trigger: 2, Refresh: 5}
	want := dllm.Full()
	want.Block, want.Visible, want.Stable, want.Trigger, want.Refresh = 16, .6, .8, 2, 5
	if m, err := f.technique(); err != nil || m != want {
		t.Errorf("%+v, %v, want %+v", m, err, want)
	}
	f.Denoise = "prefix-kv"
	if m, err := f.technique(); err != nil || m.Trigger != 0 || m.Refresh != 0 || m.Visible <= 1 {
		t.Errorf("prefix-kv: %+v, %v", m, err)
	}
	if given := f.given(); len(given) != 6 {
		t.Errorf("given %v", given)
	}
}

// The line that shows an answer fits, escapes what a terminal would obey, and tells the states apart.
func TestSettling(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Arch: "llada"}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	mask := m.Config().Mask
	answer := []dllm.Cell{{Token: 'a', Status: dllm.Stable}, {Token: 'b', Status: dllm.Visible}, {Token: 'c', Status: dllm.Visible}, {Token: mask}, {Token: '\n', Status: dllm.Stable},
		{Token: 0x1b, Status: dllm.Stable}, {Token: 'd', Draft: true}, {Token: mask}, {Token: mask}, {Token: mask}, {Token: mask}, {Token: mask}}
	if got, want := settling(m, answer, 0), `a[bc]·¶\x1b[d]····`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for size := range 30 {
		if got := settling(m, answer, size); size > 0 && len(got) > size {
			t.Errorf("%q is longer than %d", got, size)
		}
	}
}

// A question and a chat are answered from the documents by a diffusion model: denoised on the device alone, and token by token in
// a pair, where the placement does not change the text.
func TestAskDenoises(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(t.TempDir(), "llada.gguf")
	if err := os.WriteFile(path, tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Seed: 3, Gain: 3, Context: 2048}), 0o644); err != nil {
		t.Fatal(err)
	}
	a := h.ask("--model", path, "--side", "device", "--max-tokens", "20", "--seed", "1", question)
	if a.Answer == "" || !a.LocalOnly || len(a.Tokens) == 0 || len(a.Tokens) > 20 || len(a.Documents.Device) == 0 || a.Stats.TotalMs <= 0 {
		t.Errorf("%+v", a)
	}
	if b := h.ask("--model", path, "--local-only", "--max-tokens", "20", "--seed", "1", question); b.Answer != a.Answer {
		t.Errorf("%q, then %q", a.Answer, b.Answer)
	}
	var together string
	for _, placement := range []string{"mirror", "device", "cloud"} {
		p := h.ask("--model", path, "--max-tokens", "8", "--seed", "1", "--placement", placement, question)
		if p.LocalOnly || len(p.Tokens) == 0 || together != "" && p.Answer != together {
			t.Errorf("in a pair, placement %s: %q, want %q (%+v)", placement, p.Answer, together, p)
		}
		together = p.Answer
	}
	cmd := h.Command(t.Context(), "chat", "--model", path, "--side", "device", "--max-tokens", "12", "--seed", "1", "--show-denoising")
	cmd.Stdin = strings.NewReader("When does the harbour museum open?\nAnd who owns it?\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "·") || strings.Count(string(out), "asked: this device (sample documents) alone") != 2 {
		t.Errorf("chat: %v: %s", err, out)
	}
	for grounded, remarks := range map[string]int{"--grounded": 0, "--no-grounded": 1} {
		if a := h.ask("--model", path, "--side", "device", "--max-tokens", "20", grounded, question); len(a.Remarks) != remarks || remarks > 0 && !strings.Contains(a.Remarks[0], "not held to the documents' words") {
			t.Errorf("%s: remarks %q", grounded, a.Remarks)
		}
	}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--model", path, "--show-denoising"}, "--side device"},
		{[]string{"--model", path, "--draft", "sam"}, "--draft"},
		{[]string{"--model", path, "--side", "device", "--top-k", "3"}, "--top-k"},
		{[]string{"--side", "device", "--show-denoising"}, "--show-denoising"},
	} {
		if _, stderr, err := h.Run(append(append([]string{"ask"}, c.flags...), "Who?")...); err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %v: %s", c.flags, err, stderr)
		}
	}
}

// A server denoises what it is asked alone, one answer after the other: whole and as a stream, up to a stop string.
func TestServeDenoises(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := filepath.Join(t.TempDir(), "llada.gguf")
	if err := os.WriteFile(path, tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Seed: 3, Gain: 3, Context: 2048}), 0o644); err != nil {
		t.Fatal(err)
	}
	want := h.ask("--model", path, "--side", "device", "--max-tokens", "20", "--seed", "1", question).Answer
	s := serve(h, "--model", path, "--side", "device")
	content := func(body string) string { return contentOf(t, body) }
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if got := content(s.ask(question, `,"max_tokens":20`)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	all.Wait()
	stop := string([]rune(want)[3:5])
	short, _, _ := strings.Cut(want, stop)
	quoted, err := json.Marshal(stop)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(s.ask(question, `,"max_tokens":20,"stop":`+string(quoted))); got != strings.TrimSpace(short) {
		t.Errorf("up to %q: %q, want %q", stop, got, short)
	}
	if code, body := s.do("POST", "/v1/chat/completions", `{"logprobs":true,"messages":[{"role":"user","content":"Who?"}]}`); code != 400 || !strings.Contains(body, "in blocks") {
		t.Errorf("logprobs: %d %s", code, body)
	}
	if body := s.ask(question, `,"max_tokens":20,"stream":true`); strings.Count(body, "data: ") < 4 || !strings.Contains(body, "[DONE]") {
		t.Errorf("stream: %s", body)
	}
}

// contentOf returns the text of a completion.
func contentOf(t *testing.T, body string) string {
	t.Helper()
	var v struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil || len(v.Choices) != 1 {
		t.Errorf("%v: %s", err, body)
		return ""
	}
	return v.Choices[0].Message.Content
}

// A server to which a cloud is paired denoises what it is asked alone as before.
func TestServeDenoisesAfterPairing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, h.Dir, "llada.gguf", string(tinymodel.GGUF(tinymodel.Spec{Arch: "llada", Seed: 3, Gain: 3, Context: 2048})))
	clitest.Write(t, h.Dir, "own.md", "The berth of the Marigold is C17.\n")
	if _, stderr, err := h.Run("index", "add", filepath.Join(h.Dir, "own.md")); err != nil {
		t.Fatal(err, stderr)
	}
	s := serve(h, "--model", filepath.Join(h.Dir, "llada.gguf"))
	alone := func() string {
		return contentOf(t, s.ask("Where does the Marigold lie?", `,"max_tokens":20,"tandem":{"local_only":true}`))
	}
	want := alone()
	c := newCloud(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatal(err, stderr)
	}
	if got := alone(); got != want || want == "" {
		t.Errorf("%q, want %q", got, want)
	}
}
