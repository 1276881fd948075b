package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/transport"
)

// terminal runs a program on a pseudo-terminal.
type terminal struct {
	t    *testing.T
	keys *os.File

	mu   sync.Mutex
	seen bytes.Buffer // since the last wait
	asks int          // how often the program asked where the cursor is

	mute atomic.Bool // does not say where the cursor is
}

func newTerminal(t *testing.T, h home, args ...string) *terminal {
	t.Helper()
	return newTerminalOf(t, "xterm", h, args...)
}

// newTerminalOf runs a program on a terminal of a kind.
func newTerminalOf(t *testing.T, kind string, h home, args ...string) *terminal {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { keys.Close() })
	fd := int(keys.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	cmd := h.Command(t.Context(), args...)
	cmd.Env = append(cmd.Env, "TERM="+kind, "INPUTRC="+filepath.Join(h.Dir, "inputrc"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	term := &terminal{t: t, keys: keys}
	go term.read()
	return term
}

func (c *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := c.keys.Read(buf)
		if err != nil {
			return
		}
		if bytes.Contains(buf[:n], []byte("\x1b[6n")) && !c.mute.Load() { // asks where the cursor is
			c.keys.WriteString("\x1b[1;1R")
		}
		c.mu.Lock()
		c.asks += bytes.Count(buf[:n], []byte("\x1b[6n"))
		c.seen.Write(buf[:n])
		c.mu.Unlock()
	}
}

// send types keys and waits until the terminal shows want.
func (c *terminal) send(keys, want string) {
	c.t.Helper()
	c.mu.Lock()
	c.seen.Reset()
	c.mu.Unlock()
	c.keys.WriteString(keys)
	c.wait(want)
}

func (c *terminal) wait(want string) {
	c.t.Helper()
	c.until(want, func(shown string) bool { return strings.Contains(shown, want) })
}

// until waits until what the terminal has shown since the last keys passes a check. The limit only ends a test that hangs.
func (c *terminal) until(want string, passes func(shown string) bool) {
	c.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		shown := c.seen.String()
		c.mu.Unlock()
		if passes(shown) {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("no %q on the terminal, but %q", want, shown)
		}
	}
}

// What the editor writes when it begins to edit a line, and at the end of each of its drawings.
const (
	edits = "\x1b[?2004h"
	drew  = "\x1b[?25h"
)

// drawn waits until the editor has drawn want, and all that it draws with it.
func (c *terminal) drawn(want string) {
	c.t.Helper()
	c.until(want, func(shown string) bool {
		_, after, found := strings.Cut(shown, want)
		return found && strings.HasSuffix(after, drew)
	})
}

// ready waits until the editor takes keys and has drawn its prompt.
func (c *terminal) ready() {
	c.t.Helper()
	c.drawn(edits)
}

// On a terminal, a question that is missing is asked for, and is not kept.
func TestAskOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	c := newTerminal(t, h, "ask", "--sample")
	c.wait("question")
	c.send("When does the harbour museum open?\n", cloudKnows)
	if out, _, err := h.Run("history", "list"); err != nil || strings.Contains(out, "museum") {
		t.Errorf("%v, %s", err, out)
	}
	c = newTerminal(t, h, "ask", "--sample")
	c.wait("question")
	c.send("\x04", "the question is empty")
	for _, args := range []string{"ask", "pair"} {
		c = newTerminal(t, h, args)
		c.wait(":")
		c.send("\x03", "\nedge: interrupted")
	}
}

// A terminal shows what a model from a file is doing until the first token, which may take long.
func TestModelShowsWhatItDoes(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, h.Dir, "own.gguf", string(tinymodel.GGUF(tinymodel.Spec{Arch: "qwen2"})))
	for _, args := range [][]string{
		{"ask", "--local-only", "--max-tokens", "4", "--model", "own.gguf", question},
		{"run", "--raw", "--max-tokens", "4", "--model", "own.gguf", question},
	} {
		c := newTerminal(t, h, args...)
		c.wait("\ropening own.gguf")
		c.wait("\rreading")
	}
}

// A terminal shows which cloud is asked, since one that is away is given ten seconds.
func TestDoctorShowsWhomItAsks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	peers := transport.OpenPeers(filepath.Join(h.Dir, ".config", "tandem", "edge", "peers"))
	if err := peers.Add(transport.Peer{ID: id.ID, Name: "cellar", Addrs: []string{freeAddress(t)}}); err != nil {
		t.Fatal(err)
	}
	c := newTerminal(t, h, "doctor")
	c.wait("\rasking cellar")
	c.wait("broken  cloud")
}

// What is typed before the prompt, such as during an answer, is not lost.
func TestChatTypedAhead(t *testing.T) {
	c := newTerminal(t, newHome(t), "chat", "--local-only")
	c.send("/seed 5\n/seed 6\nunfinished", "seed 5\r\n")
	c.wait("seed 6\r\n")
	c.drawn("> unfinished")
	c.send("\x15/exit\r", "/exit")
}

// Keys that arrive quickly one by one are all taken, and a line that grows past the bottom of the screen is shown whole.
func TestChatFastTyping(t *testing.T) {
	c := newTerminal(t, newHome(t), "chat", "--local-only")
	c.ready()
	for range 3 {
		line := "/" + strings.Repeat("abcdefghij", 20)
		for i := range line {
			c.keys.WriteString(line[i : i+1])
		}
		c.send("\r", "no command "+line+":")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asks > 0 {
		t.Errorf("the editor asked %d times where the cursor is: keys that arrive with the reply are lost", c.asks)
	}
}

// After a question of many lines, the next prompt makes room for one line, and so leaves the answer on the screen.
func TestChatLeavesTheAnswer(t *testing.T) {
	c := newTerminal(t, newHome(t), "chat", "--local-only")
	c.ready()
	c.send("\x1b[200~/x"+strings.Repeat("\n", 9)+"end\x1b[201~\r", "no command /x")
	c.ready()
	c.mu.Lock()
	defer c.mu.Unlock()
	_, after, _ := strings.Cut(c.seen.String(), "no command /x")
	if !strings.Contains(after, "\x1bD") || strings.Contains(after, "\x1bD\x1bD") {
		t.Errorf("it scrolls by more than a row: %q", after)
	}
}

// Ctrl-D deletes the character under the cursor, and none at the end of the line.
func TestChatDeletes(t *testing.T) {
	c := newTerminal(t, newHome(t), "chat", "--local-only")
	c.ready()
	c.send("/abc\x04\x04\x02\x02\x04\r", "no command /ac:")
}

// On a terminal that understands no codes, Ctrl-C gives up a line and not the chat. No TERM at all says as little.
func TestChatOnADumbTerminal(t *testing.T) {
	for _, kind := range []string{"dumb", ""} {
		c := newTerminalOf(t, kind, newHome(t), "chat", "--local-only")
		const again = "Ctrl-D or /exit ends the chat.\r\n> "
		c.wait("> ")
		c.send("unwanted\x03", again)
		c.send("\x03", again)
		c.send("/seed 5\n", "seed 5\r\n")
		c.mu.Lock()
		if strings.Contains(c.seen.String(), "\x1b[") {
			t.Errorf("TERM=%s: codes in %q", kind, c.seen.String())
		}
		c.mu.Unlock()
	}
}

// On a terminal questions are edited and kept. Ctrl-C ends an answer and not the chat; pasted lines are one question.
func TestChatOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	c := newTerminal(t, h, "chat", "--placement", "sync", "--rtt", "1s") // a second for each token
	c.ready()
	c.send(question+"\r", "\x1b[?2004l")
	c.until("an answer", func(shown string) bool { _, after, _ := strings.Cut(shown, "\x1b[?2004l"); return after != "" })
	c.send("\x03", "the answer was stopped")
	c.ready()
	c.send("नमस्ते 漢字\x01/\r", "no command /नमस्ते")
	c.ready()
	c.send("\x1b[200~/see\nd 8\x1b[201~\r", "no command /see")
	c.ready()
	c.send("/seed 5\r", "seed 5")
	c.ready()
	c.send("/seed 6\r", "seed 6")
	c.ready()
	c.send("\x12", "inc-search") // Ctrl-R; it asks where the cursor is, and so may lose a key that comes early
	c.drawn("inc-search")
	for i, typed := 1, "seed 5"; i <= len(typed); i++ {
		c.send(typed[i-1:i], typed[:i]+"\x1b[0m_")
		c.drawn(typed[:i] + "\x1b[0m_")
	}
	c.send("\r", "\x1b[?2004lseed 5\r\n"+edits) // the answer, not the search, and the editor after it
	c.ready()
	c.send("\x1b[A\x1b[A\r", "seed 6") // arrows
	c.ready()
	c.send("/\t", "show the seed") // Tab lists the commands with their help
	c.drawn("show the seed")
	c.send("\x15", "> ")
	c.drawn("> ")
	c.send("\x04", "\n")
	kept, err := os.ReadFile(filepath.Join(h.Dir, ".local", "state", "tandem", "edge", "questions.jsonl"))
	if err != nil || !strings.HasPrefix(string(kept), strconv.Quote(question)+"\n") {
		t.Errorf("kept %s, %v", kept, err)
	}
}

// A terminal that does not say where its cursor is has menus all the same, and the chat goes on.
func TestChatOnAMuteTerminal(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, newHome(t), "chat", "--local-only")
	c.mute.Store(true)
	c.ready()
	c.send("/\t", "show the seed")
	c.drawn("show the seed")
	c.send("\x15", "> ")
	c.drawn("> ")
	c.send("/seed 5\r", "seed 5\r\n")
}

// Malformed settings of the line editor are said and left out.
func TestChatWithoutInputrc(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, h.Dir, "inputrc", "set editing-mode vi\n$if\n garbage \"\\C-x\": \n\"\\e[A\": history-search-backward\nset bogus\n")
	c := newTerminal(t, h, "chat", "--local-only")
	c.wait("cannot be read")
	c.ready()
	c.send("/seed 5\r", "seed 5")
}

// On a terminal and without a prompt, run talks with a person, and keeps nothing of it.
func TestRunTalks(t *testing.T) {
	h := newHome(t)
	clitest.Write(t, h.Dir, "own.gguf", string(tinymodel.GGUF(tinymodel.Spec{Arch: "qwen2"})))
	c := newTerminal(t, h, "run", "--stats", "--max-tokens", "4", "--model", "own.gguf")
	c.wait("Type a prompt")
	c.ready()
	c.send("Hello\r", "4 tokens")
	c.ready()
	c.send("/nothing\r", "there is no command /nothing")
	c.ready()
	if out, _, err := h.Run("history", "list"); err != nil || strings.Contains(out, "Hello") {
		t.Errorf("%v, %s", err, out)
	}
}
