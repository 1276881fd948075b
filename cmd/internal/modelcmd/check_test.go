package modelcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/internal/testfile"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/npu"
)

// A flipped bit in a model that this program made, or whose checksum was recorded, keeps it from being opened, wherever the bit
// is. models check finds it, and says of which files nothing is known.
func TestDamagedModels(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir, err := modelsDir(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := cli.MakePrivateDir(dir); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(dir, "made.gguf")
	mine := filepath.Join(dir, "mine.gguf")
	if err := os.WriteFile(mine, tinymodel.GGUF(tinymodel.Spec{Type: npu.F16}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&quantizeCmd{In: "mine", Out: made, Type: "q8_0"}).Run(a); err != nil {
		t.Fatal(err)
	}
	check := func(c checkCmd, fails bool, want ...string) {
		t.Helper()
		out.Reset()
		if err := c.Run(a); (err != nil) != fails {
			t.Errorf("%+v: %v", c, err)
		}
		for _, w := range want {
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), w) {
				t.Errorf("%+v: no %q in\n%s", c, w, out)
			}
		}
	}
	check(checkCmd{}, false, "ok "+made, "unknown "+mine, "models check --trust")
	info, err := os.Stat(made)
	if err != nil {
		t.Fatal(err)
	}
	for bit := 0; bit < int(8*info.Size()); bit += int(info.Size()) / 2 {
		testfile.Flip(t, made, int64(bit))
		m, err := ModelFlags{Model: "made", Threads: 1}.Open(a)
		if err == nil {
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), made) || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("bit %d: %v", bit, err)
		}
		check(checkCmd{Names: []string{"made"}}, true, "damaged "+made)
		testfile.Flip(t, made, int64(bit))
	}
	check(checkCmd{Names: []string{"made", mine}, Trust: true}, false, "ok "+made, "recorded "+mine)
	check(checkCmd{}, false, "ok "+made, "ok "+mine)
	// Files that are no models, cut ones and weights that are no numbers have no checksum, and are damaged all the same.
	meta, tensors := tinymodel.Parts(tinymodel.Spec{Type: npu.F16})
	for _, w := range tensors {
		if w.Name == "blk.0.ffn_gate.weight" {
			copy(w.Data, []byte{0, 0x7e})
		}
	}
	var nan bytes.Buffer
	if err := gguf.Write(&nan, meta, tensors); err != nil {
		t.Fatal(err)
	}
	whole := tinymodel.GGUF(tinymodel.Spec{Type: npu.F16})
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("a text\n"), "cut": whole[:len(whole)-9], "nan": nan.Bytes()} {
		path := filepath.Join(t.TempDir(), name+".gguf")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, trust := range []bool{false, true, false} {
			check(checkCmd{Names: []string{path}, Trust: trust}, true, "damaged "+path)
		}
		if m, err := (ModelFlags{Model: path, Threads: 1}).Open(a); err == nil {
			m.Close()
			t.Errorf("%s: opened", name)
		}
	}
	for _, name := range []string{"none", SpanReader, BuiltInDecoder} {
		check(checkCmd{Names: []string{name}}, true)
	}
	if err := (&rmCmd{Names: []string{"made", "mine"}}).Run(a); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
