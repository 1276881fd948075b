package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testfile"
	"tandem/internal/tinymodel"
	"tandem/npu"
)

// A flipped bit in a model that this program made, or whose checksum was recorded, keeps it from being opened, wherever the bit
// is. models check finds it, and says of which files nothing is known.
func TestDamagedModels(t *testing.T) {
	a, out, _ := testApp(t)
	dir, err := a.modelsDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := Make(dir); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(dir, "made.gguf")
	mine := filepath.Join(dir, "mine.gguf")
	if err := os.WriteFile(mine, tinymodel.GGUF(tinymodel.Spec{Type: npu.F16}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&modelsQuantize{In: "mine", Out: made, Type: "q8_0"}).Run(a); err != nil {
		t.Fatal(err)
	}
	check := func(c modelsCheck, fails bool, want ...string) {
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
	check(modelsCheck{}, false, "ok "+made, "unknown "+mine, "models check --trust")
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
		check(modelsCheck{Names: []string{"made"}}, true, "damaged "+made)
		testfile.Flip(t, made, int64(bit))
	}
	check(modelsCheck{Names: []string{"made", mine}, Trust: true}, false, "ok "+made, "recorded "+mine)
	check(modelsCheck{}, false, "ok "+made, "ok "+mine)
	for _, name := range []string{"none", SpanReader, BuiltIn} {
		check(modelsCheck{Names: []string{name}}, true)
	}
	if err := (&modelsRm{Names: []string{"made", "mine"}}).Run(a); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
