package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// server is an "edge serve" process.
type server struct {
	home
	url string
}

// serve starts the process and waits until it listens.
func serve(h home, flags ...string) server {
	h.T.Helper()
	cmd := h.Command(h.T.Context(), append([]string{"serve", "--json", "--http", "127.0.0.1:0"}, flags...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	var v struct{ Listening string }
	if err := json.NewDecoder(out).Decode(&v); err != nil || v.Listening == "" {
		h.T.Fatalf("%v: %+v", err, v)
	}
	go io.Copy(io.Discard, out)
	return server{h, "http://" + v.Listening}
}

// do sends a request and returns the response's body.
func (s server) do(method, path, body string) (int, string) {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return response.StatusCode, string(b)
}

func (s server) ask(question, more string) string {
	s.T.Helper()
	code, body := s.do("POST", "/v1/chat/completions", fmt.Sprintf(`{"seed":1,"messages":[{"role":"user","content":%q}]%s}`, question, more))
	if code != http.StatusOK {
		s.T.Fatalf("%d %s", code, body)
	}
	return body
}

// Questions are answered at once by the pair, over any emulated path; documents that are uploaded take the place of the
// samples, and stay.
func TestServe(t *testing.T) {
	h := newHome(t)
	s := serve(h)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			more := fmt.Sprintf(`,"tandem":{"rtt_ms":%d,"placement":%q}`, i%3*20, []string{"mirror", "device", "cloud"}[i%3])
			if body := s.ask("When does the harbour museum open?", more); !strings.Contains(body, `"content":"9:30"`) || !strings.Contains(body, `"side":"cloud"`) {
				t.Errorf("%d: %s", i, body)
			}
		})
	}
	all.Wait()
	if body := s.ask("When does the harbour museum open?", `,"tandem":{"local_only":true}`); !strings.Contains(body, `"local_only":true`) || strings.Contains(body, "9:30") {
		t.Errorf("this device alone: %s", body)
	}
	if _, body := s.do("GET", "/v1/pair", ""); !strings.Contains(body, `"sample":true`) {
		t.Errorf("%s", body)
	}

	code, body := s.do("POST", "/v1/documents?name=boat.md", "# The boat\n\nThe boat lies at pier 7. Its name is Merganser.")
	if code != http.StatusOK || strings.Contains(body, "skipped") {
		t.Fatalf("%d %s", code, body)
	}
	if body := s.ask("What is the name of the boat?", ""); !strings.Contains(body, "Merganser") || !strings.Contains(body, "boat.md") {
		t.Errorf("of the document: %s", body)
	}
	if body := s.ask("When does the harbour museum open?", ""); !strings.Contains(body, `"unknown":true`) {
		t.Errorf("of the samples, which are left: %s", body)
	}
	if code, body := s.do("POST", "/v1/documents?name=empty.md", ""); code != http.StatusOK || !strings.Contains(body, "skipped") {
		t.Errorf("an empty file: %d %s", code, body)
	}
	file := filepath.Join(h.Dir, ".local", "share", "tandem", "edge", "uploads", "boat.md")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if code, body := s.do("DELETE", "/v1/documents?path="+file, ""); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	if body := s.ask("What is the name of the boat?", ""); !strings.Contains(body, `"unknown":true`) {
		t.Errorf("of a document that was removed: %s", body)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

// A server that others can reach needs a key, which nobody else can read.
func TestServeNeedsAKey(t *testing.T) {
	h := newHome(t)
	if _, errs, err := h.Run("serve", "--http", "0.0.0.0:0"); err == nil || !strings.Contains(errs, "--api-key") {
		t.Errorf("%v: %s", err, errs)
	}
	file := filepath.Join(h.Dir, "keys", "edge")
	s := serve(h, "--api-key", file)
	if code, _ := s.do("GET", "/v1/models", ""); code != http.StatusUnauthorized {
		t.Errorf("without the key: %d", code)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := h.Run("serve", "--http", "127.0.0.1:0", "--api-key", file); err == nil || !strings.Contains(errs, "chmod 600") {
		t.Errorf("%v: %s", err, errs)
	}
}
