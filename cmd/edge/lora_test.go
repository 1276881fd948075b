package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/models"
	"tandem/npu"
	"tandem/npu/native"
	"tandem/npu/quant"
)

// writeAdapter writes an adapter of the built-in decoder's values that changes every text, in the form of llama.cpp.
func writeAdapter(t *testing.T, path string, size float32) {
	t.Helper()
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := m.Config()
	meta := []gguf.KV{{Key: "general.architecture", Value: c.Arch}, {Key: "general.type", Value: "adapter"}, {Key: "adapter.type", Value: "lora"},
		{Key: "adapter.lora.alpha", Value: float32(2)}}
	var tensors []npu.Tensor
	add := func(name string, rows, cols int, f func(i int) float32) {
		v := make([]float32, rows*cols)
		for i := range v {
			v[i] = f(i)
		}
		x := npu.Tensor{Name: name, Type: npu.F32, Rows: rows, Cols: cols, Data: make([]byte, 4*len(v))}
		if err := quant.Quantize(npu.F32, x.Data, v); err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, x)
	}
	for i := range c.Layers {
		name := fmt.Sprintf("blk.%d.ffn_down.weight", i)
		add(name+".lora_a", 2, c.FF, func(i int) float32 { return float32(i%3 - 1) })
		add(name+".lora_b", c.Dim, 2, func(i int) float32 { return size * float32(i%5-2) })
	}
	var b bytes.Buffer
	if err := gguf.Write(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An adapter is added by name, changes what run, ask and chat say, adds up to nothing with its negative, and goes again.
func TestLora(t *testing.T) {
	t.Parallel()
	home := clitest.NewHome(t)
	file := filepath.Join(home.Dir, "loud.gguf")
	writeAdapter(t, file, 0.2)
	must := func(args ...string) string {
		t.Helper()
		out, aside, err := home.Run(args...)
		if err != nil {
			t.Fatalf("edge %q: %v\n%s%s", args, err, out, aside)
		}
		return out
	}
	if out := must("models", "adapt", "add", file, "--name", "shout"); !strings.Contains(out, "shout: rank 2 of") {
		t.Errorf("add says %q", out)
	}
	if _, aside, err := home.Run("models", "adapt", "add", file, "--name", "shout"); err == nil || !strings.Contains(aside, "shout") {
		t.Errorf("a second add under the name: %q", aside)
	}
	if out := must("models", "adapt", "list"); !strings.Contains(out, "shout") {
		t.Errorf("list says %q", out)
	}
	if out := must("models", "adapt", "show", "shout"); !strings.Contains(out, "ffn_down") {
		t.Errorf("show says %q", out)
	}
	text := func(args ...string) string {
		t.Helper()
		var v struct{ Text, Answer string }
		if err := json.Unmarshal([]byte(must(append(args, "--json", "--seed", "1", "--max-tokens", "12")...)), &v); err != nil {
			t.Fatal(err)
		}
		return v.Text + v.Answer
	}
	for _, command := range [][]string{{"run", "The harbour museum opens at nine."}, {"ask", "--reader", "decoder", "--no-grounded", "--local-only", "When does the harbour museum open?"}} {
		base, with := text(command...), text(append(command, "--lora", "shout")...)
		if base == with {
			t.Errorf("edge %s: the adapter changes nothing: %q", command[0], base)
		}
		if got := text(append(command, "--lora", "shout=0")...); got != base {
			t.Errorf("edge %s: with scale 0 %q, without the adapter %q", command[0], got, base)
		}
		if got := text(append(command, "--lora", file)...); got != with {
			t.Errorf("edge %s: by path %q, by name %q", command[0], got, with)
		}
		if got := text(append(command, "--lora", "shout=0.5", "--lora", "shout=0.5")...); got != with {
			t.Errorf("edge %s: two halves say %q, the whole %q", command[0], got, with)
		}
	}
	chat := func(args ...string) string {
		t.Helper()
		cmd := home.Command(t.Context(), append([]string{"chat", "--json", "--reader", "decoder", "--no-grounded", "--local-only", "--seed", "1", "--max-tokens", "12"}, args...)...)
		cmd.Stdin = strings.NewReader("When does the harbour museum open?\n")
		out, err := cmd.Output()
		var v struct{ Answer string }
		if err := errors.Join(err, json.Unmarshal(out, &v)); err != nil {
			t.Fatalf("edge chat %q: %v, %s", args, err, out)
		}
		return v.Answer
	}
	if base, with, zero := chat(), chat("--lora", "shout"), chat("--lora", "shout=0"); base == "" || base == with || zero != base {
		t.Errorf("edge chat: %q, with the adapter %q, with scale 0 %q", base, with, zero)
	}
	if _, aside, err := home.Run("run", "--lora", "shuot", "x"); err == nil || !strings.Contains(aside, "adapt list") {
		t.Errorf("an unknown adapter: %q", aside)
	}
	must("models", "adapt", "rm", "shout")
	if out := must("models", "adapt", "list"); strings.Contains(out, "shout") {
		t.Errorf("after rm, list says %q", out)
	}
}

// Forecasts leave the text as it is, and are no adapter of it.
func TestForecast(t *testing.T) {
	t.Parallel()
	home := clitest.NewHome(t)
	const prompt = "Context: The harbour museum opens at nine. Its director is Ada Lindqvist.\nQuestion: When does the harbour museum open?\nAnswer:"
	text := func(args ...string) (v struct {
		Text   string
		Accept float64 `json:"accept_length"`
	}) {
		t.Helper()
		out, aside, err := home.Run(append([]string{"run", "--json", "--raw", "--threads", "1", "--max-tokens", "30"}, append(args, prompt)...)...)
		if err == nil {
			err = json.Unmarshal([]byte(out), &v)
		}
		if err != nil {
			t.Fatalf("edge run %q: %v\n%s", args, err, aside)
		}
		return v
	}
	plain := text("--draft", "off")
	for _, flags := range [][]string{{"--forecast", "forecast"}, {"--draft", "forecast"}} {
		if forecast := text(flags...); plain.Text == "" || plain.Text != forecast.Text || forecast.Accept < 1 {
			t.Errorf("%+v, with forecasts %+v", plain, forecast)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--lora forecast", "--forecast"}, {"--forecast reply", "--lora"}, {"--forecast nobody", "adapt list"}, {"--forecast forecast --draft off", "off"},
	} {
		if _, aside, err := home.Run(append([]string{"run"}, append(strings.Fields(c.args), "x")...)...); err == nil || !strings.Contains(aside, c.want) {
			t.Errorf("%s: %q, want %q", c.args, aside, c.want)
		}
	}
}

// An adapter for answers changes how the pair's answer sounds, on one side or on both, and not what it says: the values
// stay, and the documents that the sentences come from.
func TestAdaptersChangeHowThePairSounds(t *testing.T) {
	t.Parallel()
	asked := []struct {
		question string
		values   []string
	}{
		{"What is the gate code of the storage unit?", []string{"8853"}},
		{"What is the destination of bus 14?", []string{"Ebbel Bridge"}},
		{"What is the phone number of Uncle Bela?", []string{"555-0142"}},
		{decoderQuestion, []string{deviceKnows, decoderCloudKnows}},
	}
	c, h := newCloud(t), newHome(t)
	said, sources, changed := map[string]string{}, map[string]string{}, map[string]int{}
	for _, sides := range [][2]string{{"", ""}, {"brief", ""}, {"", "brief"}, {"brief", "brief"}} {
		device, cloud := []string{"--reader", "decoder"}, []string{"--reader", "decoder"}
		if sides[0] != "" {
			device = append(device, "--lora", sides[0])
		}
		if sides[1] != "" {
			cloud = append(cloud, "--lora", sides[1])
		}
		c.serve(cloud...)
		if said[decoderQuestion] == "" {
			if out, stderr, err := h.Run("pair", c.code()); err != nil {
				t.Fatalf("pair: %v, %s%s", err, out, stderr)
			}
		}
		for _, q := range asked {
			a := h.ask(append(device, q.question)...)
			var from []string
			for _, p := range a.Parts {
				if len(p.Sources) > 0 {
					from = append(from, p.Sources[0].Side+": "+p.Sources[0].Title)
				}
			}
			if said[q.question] == "" {
				said[q.question], sources[q.question] = a.Answer, fmt.Sprint(from)
			}
			if a.LocalOnly || !holds(a.Answer, q.values...) || fmt.Sprint(from) != sources[q.question] {
				t.Errorf("with %q: %s %q from %q, without adapters %q from %s", sides, q.question, a.Answer, from, said[q.question], sources[q.question])
			}
			if a.Answer != said[q.question] {
				changed[fmt.Sprint(sides)]++
			}
		}
		c.kill()
	}
	if both := changed[fmt.Sprint([2]string{"brief", "brief"})]; both == 0 || len(changed) < 3 {
		t.Errorf("answers that sound otherwise: %v", changed)
	}
}
