package remote

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/aggregator"
	"tandem/model"
	"tandem/model/tokenizer"
	"tandem/models"
)

// serverVariable names the program llama-server to test with.
const serverVariable = "TANDEM_LLAMA_SERVER"

// startLlamaServer starts a real llama-server for a model file and returns its address. It skips the test where there is none.
func startLlamaServer(t *testing.T, file string) (address string) {
	t.Helper()
	program := os.Getenv(serverVariable)
	if program == "" {
		var err error
		if program, err = exec.LookPath("llama-server"); err != nil {
			t.Skipf("there is no llama-server to test with: set %s to its path", serverVariable)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	host, port, _ := net.SplitHostPort(address)
	cmd := exec.CommandContext(t.Context(), program, "-m", file, "--host", host, "--port", port, "-c", "4096", "-np", "8")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("llama-server said:\n%s", said.String())
		}
	})
	return address
}

// A real llama-server computes the built-in decoder's rows, up to rounding, and a pair with it answers.
func TestRealLlamaServer(t *testing.T) {
	path, m := open(t, models.Reader)
	address := startLlamaServer(t, path)
	var s *Server
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for { // it takes a moment to listen
		var err error
		var refused *net.OpError
		if s, err = Open(ctx, "llama-server://"+address, path, Options{}); err == nil {
			break
		} else if !errors.As(err, &refused) || ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	defer s.Close()
	for _, text := range append(probes, "Question: When does the harbour museum open?\nAnswer:", "Ü") {
		prompt := m.Tokenizer().Encode(text, tokenizer.Options{AddSpecial: true})
		local, err := m.Forward(t.Context(), []model.Input{{Seq: m.NewSeq(), Tokens: prompt}})
		if err != nil {
			t.Fatal(err)
		}
		d := distance(local[0], logitsOf(t, s, prompt))
		if row, ok := s.kept.get(keyOf(prompt)); !ok || d > 0.01+1-row.covered {
			t.Errorf("%q: %.4f of the mass of what follows differs, and %.4f is covered", text, d, row.covered)
		}
	}
	rule := aggregator.Rule{Greedy: true}
	start := time.Now()
	got, want := says(t, m, s, rule, "reader", true), says(t, m, nil, rule, "reader", true)
	st := s.Stats()
	t.Logf("greedy answers are equal: %v; %v a request, %d rows, covered %.4f, in all %v", got == want, st.Took/time.Duration(max(1, st.Requests)), st.Rows, st.Covered/float64(st.Rows), time.Since(start))
	if len(got) < 10 {
		t.Errorf("it says %q, and the model here %q", got, want)
	}
}

// distance returns the total variation between two softmaxes.
func distance(a, b []float32) (d float64) {
	p, q := probabilities(a), probabilities(b)
	for x := range p {
		d += math.Abs(p[x]-q[x]) / 2
	}
	return d
}

func probabilities(logits []float32) []float64 {
	out, most, sum := make([]float64, len(logits)), float64(slices.Max(logits)), 0.0
	for x, l := range logits {
		out[x] = math.Exp(float64(l) - most)
		sum += out[x]
	}
	for x := range out {
		out[x] /= sum
	}
	return out
}
