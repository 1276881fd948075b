package main

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/cmd/internal/clitest"
)

func TestGreets(t *testing.T) {
	for text, want := range map[string]bool{
		"Hello!":                              true,
		"Hello there, how are you?":           true,
		"thanks a lot":                        true,
		"Thank you very much.":                true,
		"Thanks, that was helpful!":           true,
		"Guten Morgen":                        true,
		"What can you do?":                    true,
		"Who are you?":                        true,
		"what documents do you have?":         true,
		"Tell me a joke":                      true,
		"Please delete all my files!":         true,
		"?":                                   true,
		"help":                                true,
		"What is the help desk's number?":     false,
		"What was that?":                      false,
		"Who are you to call in a fire?":      false,
		"Which documents do I need?":          false,
		"How do I delete all my files?":       false,
		"delete old files":                    false,
		"Tell me a phone number of the vet":   false,
		"Who told a joke?":                    false,
		"hello kitty":                         false,
		"Good morning yoga: when is it?":      false,
		"thanks to whom was the mill rebuilt": false,
		"helpline":                            false,
		"wifi":                                false,
		"你好":                                  false,
	} {
		if got := greets(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// A file where a folder is wanted is named, with what takes a file.
func TestNotesOfFile(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, h.Dir, "a.md", "The berth is C17.\n")
	if _, stderr, err := h.Run("ask", "--notes", filepath.Join(h.Dir, "a.md"), "hello"); err == nil || !strings.Contains(stderr, "a.md is a file") || !strings.Contains(stderr, "index add FILE") {
		t.Errorf("%v, %s", err, stderr)
	}
}

// The reply to a greeting has the lists of every answer, so that what goes through them finds them empty, and says how it ended.
func TestGreetingAsJSON(t *testing.T) {
	h := newHome(t)
	out, stderr, err := h.Run("ask", "--json", "--local-only", "hello")
	if err != nil || strings.Contains(out, "null") || !strings.Contains(out, `"finish": "stop"`) {
		t.Errorf("%v, %s, %s", err, stderr, out)
	}
}

// The reply to a greeting names what can be asked: of the samples, or of the user's own documents.
func TestGreetingNamesOwnDocuments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if a := h.ask("Guten Morgen"); !strings.Contains(a.Answer, "harbour museum") || len(a.Parts) > 0 {
		t.Errorf("with the samples: %q", a.Answer)
	}
	notes := filepath.Join(h.Dir, "notes")
	clitest.Write(t, notes, "boat.md", "# The boat Marigold\n\nThe berth of the Marigold is C17.\n")
	for _, args := range [][]string{{"--notes", notes}, {"--notes", notes, "--local-only"}} {
		if a := h.ask(append(args, "Tell me a joke")...); a.Answer != "Ask a question that your documents answer, such as one about “The boat Marigold”." {
			t.Errorf("%q: %q", args, a.Answer)
		}
	}
	clitest.Write(t, notes, "Alder.ini", "[tree]\nheight = 20\n") // has the title of another file
	for _, title := range []string{"Alder", strings.Repeat("Birch ", 20), "Zelkova"} {
		clitest.Write(t, notes, title[:3]+".md", "# "+title+"\n\nA tree.\n")
	}
	if a := h.ask("--notes", notes, "--local-only", "Hello!"); a.Answer != "Ask a question that your documents answer, such as one about “"+strings.Repeat("Birch ", 6)+"Bir…”, “The boat Marigold” or “Alder”." {
		t.Errorf("of several documents: %q", a.Answer)
	}
	if a := h.ask("--notes", notes, "--local-only", "Thanks!"); a.Answer != "You are welcome." {
		t.Errorf("thanks: %q", a.Answer)
	}
	if a := h.ask("--notes", notes, "--local-only", "What documents do you have?"); !strings.HasPrefix(a.Answer, "edge index list shows what is indexed. Ask a question that") {
		t.Errorf("asked for the documents: %q", a.Answer)
	}
	if a := h.ask("--side", "cloud", "--cloud", "sample", "--notes", notes, "hello"); strings.Contains(a.Answer, "Marigold") {
		t.Errorf("the cloud alone: %q", a.Answer)
	}
}
