package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/model"
	"tandem/model/remote/remotetest"
	"tandem/models"
	"tandem/npu/native"
)

// A cloud whose model a server computes answers as with the model itself. Without the server's file or its key it does not start,
// and says why.
func TestCloudWithAnEngine(t *testing.T) {
	t.Parallel()
	c, h := newCloud(t), newHome(t)
	file := filepath.Join(c.Dir, "reader.gguf")
	if err := os.WriteFile(file, models.Decoder, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(file, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	server := &remotetest.Server{Model: m, Key: "sesame"}
	engine := httptest.NewServer(server.VLLM())
	defer engine.Close()
	address := "vllm" + strings.TrimPrefix(engine.URL, "http")
	key := filepath.Join(c.Dir, "key")
	if err := os.WriteFile(key, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	for want, flags := range map[string][]string{
		"give the GGUF file": {"--engine", address},
		"401":                {"--engine", address, "--model", file},
		"do not apply":       {"--engine", address, "--model", file, "--engine-key-file", key, "--lora", "x"},
		"neither":            {"--engine", "ollama://127.0.0.1", "--model", file},
		"want one line":      {"--engine", address, "--model", file, "--engine-key-file", os.DevNull},
	} {
		out, err := c.Command(append([]string{"serve", "--listen", c.address}, flags...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "sesame") {
			t.Errorf("%q: %v, %s; want %q", flags, err, out, want)
		}
	}

	c.serve("--model", file)
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("pair: %v %s", err, stderr)
	}
	ask := func() askJSON { return h.ask("--model", file, "--seed", "1", question) }
	want := ask()
	c.kill()
	c.serve("--engine", address, "--model", file, "--engine-key-file", key)
	before := server.Rows.Load()
	got := ask()
	if got.Answer != want.Answer || want.LocalOnly || got.LocalOnly || server.Rows.Load() == before {
		t.Errorf("with a server %q (alone: %v), with the model %q; the server computed %d rows", got.Answer, got.LocalOnly, want.Answer, server.Rows.Load()-before)
	}
	engine.Close()
	if gone := h.ask("--model", file, "--seed", "2", "When does the bakery open?"); !gone.LocalOnly || strings.Contains(strings.Join(gone.Remarks, " "), "127.0.0.1") {
		t.Errorf("without the server: %+v", gone)
	}
}
