package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/tinymodel"
	"tandem/model/remote/remotetest"
	"tandem/models"
)

// A cloud whose model a real llama-server computes answers what it answers with the model itself, refuses a file of
// another model, and leaves an answer when the server is killed in the midst of it.
func TestCloudWithLlamaServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "reader.gguf"), filepath.Join(dir, "other.gguf")
	for path, data := range map[string][]byte{file: models.Decoder, other: tinymodel.GGUF(tinymodel.Spec{Words: []string{"cabin"}, Seed: 3})} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	engine := remotetest.StartLlamaServer(t, file)
	c, h := newCloud(t), newHome(t)
	address := "llama-server://" + engine.Address
	out, err := c.Command("serve", "--listen", c.address, "--engine", address, "--model", other).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "give the file that the server runs") {
		t.Errorf("with another model: %v, %s", err, out)
	}

	c.serve("--model", file)
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	questions := []string{question, "When does the bakery open?", "What does a day ticket of the ferry cost?"}
	var want []askJSON
	for _, q := range questions {
		want = append(want, h.ask("--model", file, "--temperature", "0", q))
	}
	c.kill()
	c.serve("--engine", address, "--model", file)
	for i, q := range questions {
		got := h.ask("--model", file, "--temperature", "0", q)
		if got.LocalOnly || got.Answer != want[i].Answer { // they have no close calls
			t.Errorf("%s: with a server %q (alone: %v, %q), with the model %q", q, got.Answer, got.LocalOnly, got.Remarks, want[i].Answer)
		}
	}
	c.kill()
	c.serve("--engine", address, "--model", file) // no row is kept now
	text, said := askMeanwhile(t, h, 4, engine.Kill, "--model", file)
	if text == "" || !strings.Contains(said, "alone") || strings.Contains(said, engine.Address) {
		t.Errorf("the server was killed: %q, %s", text, said)
	}
	if gone := h.ask("--model", file, "--seed", "2", questions[1]); !gone.LocalOnly {
		t.Errorf("without the server: %+v", gone)
	}
}
