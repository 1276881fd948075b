package main

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

// Each method answers, reports its name, and gives the same text for the same seed. Methods of both sides know the
// documents of both.
func TestMethods(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for method, c := range map[string]struct {
		flags     []string
		knows     string // "" if the method need not know it
		placement string
		local     bool
	}{
		"tandem":    {nil, decoderCloudKnows, "mirror", false},
		"dragon":    {[]string{"--gamma", "0.5"}, decoderCloudKnows, "greedy", false},
		"crcg":      {nil, "", "mirror", true},
		"drcg-text": {[]string{"--send-documents"}, "", "mirror", false},
		"drcg-kv":   {[]string{"--send-documents"}, decoderCloudKnows, "mirror", false},
		"drdg-tw":   {nil, decoderCloudKnows, "sync", false},
		"drdg-sw":   {nil, "", "mirror", false},
	} {
		args := append([]string{"--method", method, "--seed", "4", decoderQuestion}, c.flags...)
		a := h.ask(args...)
		if a.Method != method || a.Placement != c.placement || a.LocalOnly != c.local || len(a.Tokens) == 0 || !holds(a.Answer, c.knows) {
			t.Errorf("%s: %+v", method, a)
		}
		if (len(a.Documents.Cloud) > 0) == c.local || c.local == (a.Stats.BytesReceived > 0) {
			t.Errorf("%s: the cloud's documents %v, %d bytes received", method, a.Documents.Cloud, a.Stats.BytesReceived)
		}
		if again := h.ask(args...); again.Answer != a.Answer {
			t.Errorf("%s: %q, then %q", method, a.Answer, again.Answer)
		}
	}
}

// A document is sent only if it is a sample, the device asks for it, and the cloud's operator allows it.
func TestDocumentsStay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	clitest.Write(t, filepath.Join(h.Dir, "notes"), "key.txt", "The key is under the mat.")
	for _, c := range []struct{ args, want string }{
		{"--method drcg-kv", "--send-documents"},
		{"--method drcg-text --send-documents --notes notes", "sample documents"},
		{"--method drcg-text --send-documents --public notes", "sample documents"},
		{"--send-documents", "sends no document"},
		{"--method drdg-sw --local-only", "leave one out"},
		{"--method drdg-tw --placement mirror", "leave it out"},
		{"--method drcg-kv --send-documents --side cloud", "leave it out"},
	} {
		if _, stderr, err := h.Run(append(append([]string{"ask"}, strings.Fields(c.args)...), question)...); err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("edge ask %s: %v, %q; want %q", c.args, err, stderr, c.want)
		}
	}
	c := newCloud(t)
	c.serve()
	if _, stderr, err := h.Run("pair", c.code()); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if _, stderr, err := h.Run("ask", "--method", "drcg-text", "--send-documents", question); err == nil || !strings.Contains(stderr, "--allow-documents") {
		t.Errorf("a cloud that allows nothing: %v, %q", err, stderr)
	}
	c.kill()
	c.serve("--allow-documents")
	if a := h.ask("--method", "drcg-text", "--send-documents", question); len(a.Tokens) == 0 || len(a.Documents.Cloud) == 0 {
		t.Errorf("%+v", a)
	}
	c.kill()
	out, err := c.Command("serve", "--listen", c.address, "--allow-documents", "--public", h.Dir+"/notes").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "only the sample documents") {
		t.Errorf("documents of one's own: %v, %s", err, out)
	}
}
