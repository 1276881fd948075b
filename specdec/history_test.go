package specdec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem"
	"tandem/internal/atomicfile"
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

func TestHistoryIsReadAgain(t *testing.T) {
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
		t.Errorf("read %v, want %v", again.Entries(), h.Entries())
	}
	if got := draft("where is the sp", &SAM{History: again}); got != "are key is under the mat" {
		t.Errorf("draft %q", got)
	}
	files, err := Histories(dir)
	if err != nil || len(files) != 1 || files[0].Entries != 2 || files[0].Tokens != 42 || !files[0].Newest.Equal(noon.Add(time.Hour)) {
		t.Errorf("Histories() = %+v, %v", files, err)
	}
	if n, err := ClearHistories(dir); n != 1 || err != nil {
		t.Errorf("cleared %d: %v", n, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != lockName {
		t.Errorf("files %v are left, want only the lock", left)
	}
	if n, err := ClearHistories(filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Errorf("clearing a missing folder: %d, %v", n, err)
	}
}

// A file that a crash truncated at any byte keeps its complete records and accepts new ones.
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
	// The history ends before a record with a flipped bit.
	bent := bytes.Clone(whole)
	bent[len(bent)-3] ^= 4
	if err := os.WriteFile(h.path, bent, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := open(t, dir, 0); len(x.Entries()) != 2 {
		t.Errorf("%d entries of a damaged file", len(x.Entries()))
	}
	// A file that is not a history is not changed.
	bent[0] ^= 4
	if err := os.WriteFile(h.path, bent, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHistory(dir, "vocab-1", 0); err == nil || !strings.Contains(err.Error(), h.path) {
		t.Errorf("error %v for a file that is not a history", err)
	}
	if after, _ := os.ReadFile(h.path); !bytes.Equal(after, bent) {
		t.Error("a file that is not a history was changed")
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
		t.Errorf("%d entries, the newest from %v", len(e), e[len(e)-1].When)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
	if _, err := OpenHistory(dir, "../x", 0); err == nil {
		t.Error("a path was accepted as a name")
	}
	if err := h.Add("gossip", ids("x"), noon); err == nil {
		t.Error("an unknown kind was accepted")
	}
}

// Two processes append in turns. Nothing is lost or damaged.
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
		t.Errorf("%d entries, want 6", n)
	}
}

// text returns the n-th text of a writer. All texts have the same size.
func text(who, n int) []tandem.Token {
	return append([]tandem.Token{tandem.Token(1000 + who), tandem.Token(2000 + n)}, make([]tandem.Token, 20)...)
}

var textSize = int64(len(appendEntry(nil, Entry{When: noon, Kind: "answer", Tokens: text(0, 0)})))

func addText(t *testing.T, h *History, who, n int) {
	t.Helper()
	if err := h.Add("answer", text(who, n), noon); err != nil {
		t.Fatal(err)
	}
}

// fill adds texts of writer 0 until only free more fit, and returns how many it added.
func fill(t *testing.T, h *History, free int) (n int) {
	t.Helper()
	for ; h.Size()+int64(free+1)*textSize <= h.limit; n++ {
		addText(t, h, 0, n)
	}
	return n
}

// textsOf returns the numbers of a writer's texts, in the order of the history.
func textsOf(h *History, who int) (n []int) {
	for _, e := range h.Entries() {
		if slices.Equal(e.Tokens, text(who, int(e.Tokens[1])-2000)) {
			n = append(n, int(e.Tokens[1])-2000)
		}
	}
	return n
}

// A handle respects changes that others made to the file: texts that they added survive shortening, and cleared texts do
// not come back.
func TestHistoryKeepsWhatOthersDid(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, 5000), open(t, dir, 5000)
	n := fill(t, a, 3)
	for i := range 3 {
		addText(t, b, 1, i)
	}
	addText(t, a, 0, n)
	x := open(t, dir, 5000)
	if got := textsOf(x, 0); len(got) > n/2 || !slices.Contains(got, n) {
		t.Fatalf("the shortened history has texts %v of writer 0", got)
	}
	if got := textsOf(x, 1); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("texts %v of writer 1 are left, want all three", got)
	}
	fill(t, b, 0)
	if _, err := ClearHistories(dir); err != nil {
		t.Fatal(err)
	}
	addText(t, b, 2, 7)
	if x := open(t, dir, 5000); len(x.Entries()) != 1 || !slices.Equal(textsOf(x, 2), []int{7}) {
		t.Errorf("%d texts after clearing and adding one, want 1", len(x.Entries()))
	}
}

// run returns a command that runs this test in another process, with other in its environment.
func run(t *testing.T, dir, other string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), "TANDEM_TEST_HISTORY="+dir, "TANDEM_TEST_OTHER="+other)
	c.Stderr = os.Stderr
	return c
}

// When processes add and shorten at the same time, the newest texts of each are kept, undamaged and in order, and all
// texts if they fit.
func TestHistoryOfManyProcesses(t *testing.T) {
	const processes, texts = 4, 150
	if dir := os.Getenv("TANDEM_TEST_HISTORY"); dir != "" {
		var who int
		var limit int64
		fmt.Sscan(os.Getenv("TANDEM_TEST_OTHER"), &who, &limit)
		h := open(t, dir, limit)
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin) // until all are ready
		for i := range texts {
			addText(t, h, who, i)
		}
		return
	}
	for _, limit := range []int64{DefaultHistory, 5000} {
		dir := t.TempDir()
		var cs []*exec.Cmd
		var ins []io.Closer
		var outs []*bufio.Reader
		for who := range processes {
			c := run(t, dir, fmt.Sprint(who, limit))
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.StdoutPipe()
			if err = errors.Join(err, c.Start()); err != nil {
				t.Fatal(err)
			}
			cs, ins, outs = append(cs, c), append(ins, in), append(outs, bufio.NewReader(out))
		}
		for _, out := range outs {
			if line, err := out.ReadString('\n'); line != "ready\n" {
				t.Fatalf("another process printed %q, %v", line, err)
			}
		}
		for _, in := range ins {
			in.Close()
		}
		for i, c := range cs {
			out, _ := io.ReadAll(outs[i])
			if err := c.Wait(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		h := open(t, dir, limit)
		if n := int64(len(h.Entries())); limit == DefaultHistory && n != processes*texts || h.Size() > limit || n < processes*texts && (n+1)*textSize < limit/2 {
			t.Errorf("limit %d: %d texts in %d bytes", limit, n, h.Size())
		}
		undamaged := 0
		for who := range processes {
			got := textsOf(h, who)
			undamaged += len(got)
			for i, n := range got {
				if n != texts-len(got)+i {
					t.Fatalf("limit %d: the history has texts %v of process %d", limit, got, who)
				}
			}
		}
		if undamaged != len(h.Entries()) {
			t.Errorf("limit %d: %d of %d texts are undamaged", limit, undamaged, len(h.Entries()))
		}
	}
}

// A process that dies before a new file is in place leaves the old one as it was. The next opening or clearing removes
// the new file.
func TestHistorySurvivesCrashesWhileShortening(t *testing.T) {
	if dir := os.Getenv("TANDEM_TEST_HISTORY"); dir != "" {
		h := open(t, dir, 5000)
		h.failpoint = func(step string) error {
			if step == "replace" {
				os.Exit(3)
			}
			return nil
		}
		addText(t, h, 1, 0)
		return
	}
	dir := t.TempDir()
	n := fill(t, open(t, dir, 5000), 0)
	before, err := os.ReadFile(open(t, dir, 5000).path)
	if err != nil {
		t.Fatal(err)
	}
	crash := func() {
		t.Helper()
		c := run(t, dir, "")
		if c.Run(); c.ProcessState.ExitCode() != 3 {
			t.Fatalf("the other process: %v", c.ProcessState)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, atomicfile.Unfinished+"*")); len(left) != 1 {
			t.Fatalf("the crash left the files %v", left)
		}
	}
	crash()
	h := open(t, dir, 5000)
	if after, _ := os.ReadFile(h.path); !bytes.Equal(after, before) || len(h.Entries()) != n {
		t.Errorf("%d of %d texts after a crash", len(h.Entries()), n)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
	addText(t, h, 2, 0)
	fill(t, h, 0)
	crash()
	if n, err := ClearHistories(dir); n != 1 || err != nil {
		t.Errorf("cleared %d: %v", n, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != lockName {
		t.Errorf("%v is left", left)
	}
}

// If the disk is full when the file is shortened, the file stays as it was. If a record does not fit, its first half
// does no harm.
func TestHistorySurvivesAFullDisk(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, 5000)
	h.failpoint = func(step string) error {
		if step == "replace" {
			return syscall.ENOSPC
		}
		return nil
	}
	n := fill(t, h, 0)
	before, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Add("answer", text(1, 0), noon); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if after, _ := os.ReadFile(h.path); !bytes.Equal(after, before) || len(h.Entries()) != n {
		t.Error("the file or the entries have changed")
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
	h.failpoint = nil
	addText(t, h, 1, 0)

	n, h.failpoint = len(h.Entries()), func(string) error {
		data, err := os.ReadFile(h.path)
		half := appendEntry(data, Entry{When: noon, Kind: "answer", Tokens: text(1, 1)})
		return errors.Join(err, os.WriteFile(h.path, half[:len(half)-9], 0o600), syscall.ENOSPC)
	}
	if err := h.Add("answer", text(1, 1), noon); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	h.failpoint = nil
	if x := open(t, dir, 5000); len(x.Entries()) != n || len(h.Entries()) != n {
		t.Errorf("%d texts, want %d", len(x.Entries()), n)
	}
	addText(t, h, 1, 2)
	if x := open(t, dir, 5000); !slices.Equal(textsOf(x, 1), []int{0, 2}) || len(x.Entries()) != n+1 {
		t.Errorf("texts %v after the disk had space again", textsOf(x, 1))
	}
}

// A draft that started before the history was shortened keeps using the old entries.
func TestHistoryIsShortenedUnderADraft(t *testing.T) {
	for _, tree := range []bool{false, true} {
		h := open(t, t.TempDir(), 5000)
		if err := h.Add("answer", ids("the spare key is under the mat"), noon); err != nil {
			t.Fatal(err)
		}
		fill(t, h, 0)
		s := &SAM{History: h, Tree: tree}
		s.Committed(ids("where is the spare"))
		addText(t, h, 1, 0)
		if len(textsOf(h, 0)) > 70 {
			t.Fatal("shortening dropped no texts")
		}
		s.Committed(ids(" k"))
		nodes := NewTree(100, nil)
		s.Propose(nodes)
		if got := path(nodes); got != "ey is under the mat" {
			t.Errorf("draft %q", got)
		}
	}
}

// Valid entries of any bytes can be written and parsed again.
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
			t.Fatalf("%d entries, want %d", len(again), len(entries))
		}
	})
}

// Texts draft from a history while answers are added to it.
func TestHistoryGrowsWhileRead(t *testing.T) {
	h := NewHistory(8 << 10) // shortened on the way
	answer := ids("the museum opens at nine and closes at five. ")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for i := range 40 {
				if err := h.Add("answer", append(slices.Clone(answer), tandem.Token(i)), time.Unix(1, 0)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 40 {
				s := &SAM{Tree: true, History: h}
				for _, token := range answer {
					s.Committed([]tandem.Token{token})
					s.Propose(NewTree(32, nil))
				}
			}
		})
	}
	all.Wait()
	s, tree := &SAM{History: h}, NewTree(32, nil)
	s.Committed(answer[:8])
	if s.Propose(tree); len(tree.Nodes) == 0 || tree.Nodes[0].Token != answer[8] {
		t.Errorf("after %q it drafts %v", "the muse", tree.Nodes)
	}
	if h.Size() > 8<<10 || len(h.Entries()) == 0 {
		t.Errorf("%d answers of %d bytes are kept", len(h.Entries()), h.Size())
	}
}

// A text that would displace all others, and itself, is ignored. That depends on the size of the file's header too.
func TestHistoryKeepsItsEntriesWhenATextIsTooLong(t *testing.T) {
	const limit = 4096
	for n := limit/2 - 64; n <= limit/2; n++ {
		h := NewHistory(limit)
		for range 10 {
			if err := h.Add("answer", make([]tandem.Token, 300), noon); err != nil {
				t.Fatal(err)
			}
		}
		before := len(h.Entries())
		if err := h.Add("answer", make([]tandem.Token, n), noon); err != nil {
			t.Fatal(err)
		}
		after := h.Entries()
		if len(after) == 0 || len(after[len(after)-1].Tokens) != n && len(after) != before {
			t.Fatalf("of %d entries, %d are left after a text of %d tokens", before, len(after), n)
		}
	}
}
