package specdec

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandem"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, limit int64) *History {
	t.Helper()
	h, err := OpenHistory(dir, "vocab-1", limit)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHistoryIsFoundAgain(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, 0)
	if err := h.Add("answer", ids("the spare key is under the mat"), noon); err != nil {
		t.Fatal(err)
	}
	if err := h.Add("context", ids("another text"), noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, 0)
	if !reflect.DeepEqual(again.Entries(), h.Entries()) || again.Size() != h.Size() {
		t.Errorf("%v came back as %v", h.Entries(), again.Entries())
	}
	if got := draft("where is the sp", &SAM{History: again}); got != "are key is under the mat" {
		t.Errorf("drafts %q", got)
	}
	files, err := Histories(dir)
	if err != nil || len(files) != 1 || files[0].Entries != 2 || files[0].Tokens != 42 || !files[0].Newest.Equal(noon.Add(time.Hour)) {
		t.Errorf("listed: %+v, %v", files, err)
	}
	if n, err := ClearHistories(dir); n != 1 || err != nil {
		t.Errorf("cleared %d: %v", n, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if n, err := ClearHistories(filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Errorf("nothing to clear: %d, %v", n, err)
	}
}

// A file that a crash cut at any byte gives its whole records, and goes on.
func TestHistorySurvivesCuts(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, 0)
	for i := range 3 {
		if err := h.Add("answer", ids("text number "+string(rune('0'+i))), noon); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		if err := os.WriteFile(h.path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		x := open(t, dir, 0)
		n := len(x.Entries())
		if err := x.Add("answer", ids("after the crash"), noon); err != nil {
			t.Fatal(err)
		}
		if y := open(t, dir, 0); len(y.Entries()) != n+1 || string(y.Entries()[n].Kind) != "answer" {
			t.Fatalf("cut at %d: %d entries became %d", cut, n, len(y.Entries()))
		}
	}
	// A flipped bit ends the history there.
	bent := bytes.Clone(whole)
	bent[len(bent)-3] ^= 4
	if err := os.WriteFile(h.path, bent, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := open(t, dir, 0); len(x.Entries()) != 2 {
		t.Errorf("%d entries of a damaged file", len(x.Entries()))
	}
	// What is no history is left as it is.
	bent[0] ^= 4
	if err := os.WriteFile(h.path, bent, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHistory(dir, "vocab-1", 0); err == nil || !strings.Contains(err.Error(), h.path) {
		t.Errorf("error %v for a file that is no history", err)
	}
	if after, _ := os.ReadFile(h.path); !bytes.Equal(after, bent) {
		t.Error("a file that is no history was changed")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, 5000)
	for i := range 300 {
		text := ids("entry number " + string(rune('a'+i%26)) + " of a history that is bounded")
		if err := h.Add("answer", text, noon.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(h.path); info.Size() > 5000 || info.Size() != h.Size() {
			t.Fatalf("%d bytes after %d entries", info.Size(), i)
		}
	}
	if err := h.Add("answer", make([]tandem.Token, 9000), noon); err != nil {
		t.Fatal(err)
	}
	e := open(t, dir, 5000).Entries()
	if len(e) < 30 || !e[len(e)-1].When.Equal(noon.Add(299*time.Second)) {
		t.Errorf("%d entries, the newest of %v", len(e), e[len(e)-1].When)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files", len(left))
	}
	if _, err := OpenHistory(dir, "../x", 0); err == nil {
		t.Error("a path is taken for a name")
	}
	if err := h.Add("gossip", ids("x"), noon); err == nil {
		t.Error("an unknown kind is taken")
	}
}

// Two processes append in turns: nothing is lost or damaged.
func TestHistoryOfTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, 0), open(t, dir, 0)
	for range 3 {
		for _, h := range []*History{a, b} {
			if err := h.Add("answer", ids("some words"), noon); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(open(t, dir, 0).Entries()); n != 6 {
		t.Errorf("%d entries of 6", n)
	}
}

// Whatever the bytes: entries that are written again give the same bytes as far as they were good.
func FuzzParseHistory(f *testing.F) {
	f.Add([]byte(historyMagic))
	f.Add(appendEntry([]byte(historyMagic), Entry{When: noon, Kind: "context", Tokens: ids("abc")}))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, good := parseHistory(data)
		if good > int64(len(data)) {
			t.Fatal("beyond the end")
		}
		b := []byte(historyMagic)
		for _, e := range entries {
			b = appendEntry(b, e)
		}
		if again, _ := parseHistory(b); len(again) != len(entries) {
			t.Fatalf("%d entries became %d", len(entries), len(again))
		}
	})
}
