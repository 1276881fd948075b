package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const benchText = `main: n_kv_max = 512, n_batch = 2048
|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|   128 |     32 |    8 |    384 |    0.256 |   500.00 |    1.024 |   250.00 |    1.280 |   300.00 |

llama_print_timings: total time = 1
`

// A program's run gives the speed of the prompt or of decoding, and an error says what went wrong.
func TestProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench")
	for _, c := range []struct {
		script string
		test   test
		want   float64
		err    string
	}{
		{"cat <<'END'\n" + benchText + "END\n", test{rows: 0}, 500, ""},
		{"cat <<'END'\n" + benchText + "END\n", test{rows: 8, after: 128}, 250, ""},
		{"case \"$*\" in *'-npp 1 -ntg 32 -npl 8'*) cat <<'END'\n" + benchText + "END\n;; esac", test{rows: 8}, 250, ""},
		{"echo no such model; exit 3", test{rows: 1}, 0, "no such model"},
		{"echo '| 1 | 2 | 3 | 4 | 5 | 6 | 7 | x | 9 | 10 |'", test{rows: 1}, 0, "no speeds"},
		{"echo '| 1 | 2 | 3 | 4 | 5 | 6 | 7 | 0 | 9 | 10 |'", test{rows: 1}, 0, "no speeds"},
		{"true", test{rows: 1}, 0, "no speeds"},
	} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script), 0o700); err != nil {
			t.Fatal(err)
		}
		got, err := program{path, "m.gguf", 1, false}.measure(t.Context(), c.test, 128, 32)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v", c.script, got, err)
		}
	}
}

// By the processor's time, the speeds are those of what further steps add, and of what is left for the prompt.
func TestParts(t *testing.T) {
	if got, err := parts([2]float64{2.5, 10.5}, 100, 16, 4); err != nil || got != [2]float64{50, 8} {
		t.Errorf("%v, %v", got, err)
	}
	for _, took := range [][2]float64{{1, 1}, {1, 0.5}, {0.5, 10}} {
		if _, err := parts(took, 100, 16, 4); err == nil {
			t.Errorf("%v is accepted", took)
		}
	}
	path := filepath.Join(t.TempDir(), "bench")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 3"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := (program{path, "m.gguf", 1, true}).measure(t.Context(), test{rows: 1}, 1, 1); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v", err)
	}
}
