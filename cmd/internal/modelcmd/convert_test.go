package modelcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/npu"
)

func TestQuantizeCommand(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir, err := modelsDir(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := cli.MakePrivateDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.gguf"), tinymodel.GGUF(tinymodel.Spec{Type: npu.F16}), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "small.gguf")
	if err := (&quantizeCmd{In: "m", Out: to, Type: "Q4_0"}).Run(a); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "in Q4_0") || !strings.Contains(out.String(), "bits a weight") {
		t.Errorf("%s", out)
	}
	m, err := ModelFlags{Model: "small", Threads: 1}.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	for _, c := range []struct {
		cmd  quantizeCmd
		want string
	}{
		{quantizeCmd{In: "m", Out: to, Type: "q8_0"}, "exists"},
		{quantizeCmd{In: "m", Out: to + "x", Type: "q3"}, `unknown type "q3": use one of`},
		{quantizeCmd{In: "none", Out: to + "x", Type: "q8_0"}, `no model "none"`},
		{quantizeCmd{In: "small", Out: to + "x", Type: "q8_0"}, "--requantize"},
		{quantizeCmd{Out: to + "x", Type: "q8_0"}, "built in"},
	} {
		if err := c.cmd.Run(a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.cmd, err, c.want)
		}
	}
	if err := (&convertCmd{In: dir, Out: to + "x"}).Run(a); err == nil || !strings.Contains(err.Error(), "no config.json") {
		t.Errorf("error %v", err)
	}
	if err := (&convertCmd{In: filepath.Join(dir, "nodir"), Out: to + "x"}).Run(a); err == nil || !strings.Contains(err.Error(), "nodir does not exist: name the folder that edge models pull") {
		t.Errorf("error %v", err)
	}
	checkpoint := filepath.Join(dir, "stories.bin")
	if err := os.WriteFile(checkpoint, make([]byte, 28), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&convertCmd{In: checkpoint, Out: to + "x"}).Run(a); err == nil || !strings.Contains(err.Error(), "not a llama2.c checkpoint") {
		t.Errorf("error %v", err)
	}
	if err := (&convertCmd{In: dir, Out: to + "x", Tokenizer: "t"}).Run(a); err == nil || !strings.Contains(err.Error(), "--tokenizer is for") {
		t.Errorf("error %v", err)
	}
}
