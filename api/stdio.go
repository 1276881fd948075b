package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of a connection over standard input and output.
const (
	maxLine     = 16 << 20
	maxID       = 1 << 53     // what other programs read exactly
	lastReplies = time.Minute // how long replies may take after the input has ended
)

// Stdio returns a transport of the Model Context Protocol with one message a line, as over standard input and output. The
// library's own ends at the first line that is no message, and drops the replies that it still owes when the input ends.
func Stdio(in io.ReadCloser, out io.Writer) mcp.Transport { return &stdio{in, &lockedWriter{w: out}} }

type stdio struct {
	in  io.ReadCloser
	out *lockedWriter
}

// Connect implements mcp.Transport.
func (s *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	lines := &messageLines{Closer: s.in, in: bufio.NewReader(s.in), out: s.out}
	inner, err := (&mcp.IOTransport{Reader: lines, Writer: s.out, MaxLineLength: -1}).Connect(ctx) // lines has the limit
	if err != nil {
		return nil, err
	}
	return &stdioConn{Connection: inner, ending: ctx.Done(), closed: make(chan struct{}), open: map[jsonrpc.ID]bool{}}, nil
}

// lockedWriter is what replies of the library and of messageLines are written to, each in one piece.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lockedWriter) Close() error { return nil }

// messageLines passes on the lines of an input that are messages, and answers the others with an error.
type messageLines struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of a line that was passed on in part
}

func (l *messageLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) { // the last line may lack its end
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if code, wrong := refuseLine(line); wrong != nil {
			if err := l.refuse(line, code, wrong); err != nil {
				return 0, err
			}
			continue
		}
		l.rest = append(line, '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line returns the next line. Of a line that is too long it returns only so much that refuseLine notices.
func (l *messageLines) line() (line []byte, err error) {
	for {
		var part []byte
		part, err = l.in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// refuseLine returns the code and the reason if a line is neither a message nor a list of messages.
func refuseLine(line []byte) (code int, err error) {
	if len(line) > maxLine {
		return jsonrpc.CodeParseError, fmt.Errorf("the line has more than %d bytes", maxLine)
	}
	var value json.RawMessage
	if err := json.Unmarshal(line, &value); err != nil {
		return jsonrpc.CodeParseError, fmt.Errorf("the line is no JSON: %w", err)
	}
	var list []json.RawMessage
	switch {
	case line[0] != '[':
		list = append(list, line)
	case json.Unmarshal(line, &list) != nil || len(list) == 0:
		return jsonrpc.CodeInvalidRequest, errors.New("the list has no messages")
	}
	seen := map[jsonrpc.ID]bool{}
	for _, one := range list {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return jsonrpc.CodeInvalidRequest, fmt.Errorf("the line is no message of JSON-RPC 2.0: %w", plainly(err))
		}
		if r, is := m.(*jsonrpc.Request); is && r.IsCall() {
			if seen[r.ID] {
				return jsonrpc.CodeInvalidRequest, fmt.Errorf("two messages have the id %v", r.ID.Raw())
			}
			seen[r.ID] = true
		}
		if err := refuseParts(one); err != nil {
			return jsonrpc.CodeInvalidRequest, err
		}
	}
	return 0, nil
}

// refuseParts returns what a message lacks that the library does not look for: it reads ids as float64, which changes some, and
// leaves a call without a method and one with the id null unanswered.
func refuseParts(message []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(message, &parts); err != nil {
		return plainly(err)
	}
	has := func(name string) bool { _, ok := parts[name]; return ok }
	switch {
	case !has("method") && !has("result") && !has("error"):
		return errors.New("the message has no method")
	case has("id") && !isID(parts["id"]):
		return fmt.Errorf("the id %.40s is neither a string nor a whole number of at most 2^53", parts["id"])
	}
	return nil
}

// isID reports whether a value can be the id of a message and comes back as it was sent.
func isID(value json.RawMessage) bool {
	text := string(value)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return -maxID <= n && n <= maxID
	}
	f, err := strconv.ParseFloat(text, 64)
	return strings.HasPrefix(text, `"`) || err == nil && f == math.Trunc(f) && math.Abs(f) < maxID
}

// plainly names no types of Go in an error about a value of the wrong type. What the library says of the value is all that
// follows it.
func plainly(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("a value has the wrong type: want %s", wantedJSON(wrong.Type))
	}
	return err
}

// refuse answers a line with an error, under its id if it has one.
func (l *messageLines) refuse(line []byte, code int, why error) error {
	var of struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &of) != nil || !isID(of.ID) {
		of.ID = json.RawMessage("null")
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": of.ID, "error": map[string]any{"code": code, "message": why.Error()}})
	if err == nil {
		_, err = l.out.Write(append(b, '\n'))
	}
	return err
}

// stdioConn is a connection that reports the end of its input only when all calls are answered: the library then cancels
// those that are not.
type stdioConn struct {
	mcp.Connection
	ending <-chan struct{} // closed when the program is to end
	close  sync.Once
	closed chan struct{}

	mu   sync.Mutex // guards the fields below
	open map[jsonrpc.ID]bool
	idle chan struct{} // closed when no call is open; nil while nobody waits for that
}

// Read implements mcp.Connection.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		select {
		case <-c.answered():
		case <-time.After(lastReplies):
		case <-c.ending:
		case <-c.closed:
		}
		return nil, err
	}
	if r, is := m.(*jsonrpc.Request); is && r.IsCall() && r.Method != "subscriptions/listen" { // which stays open
		c.mu.Lock()
		c.open[r.ID] = true
		c.mu.Unlock()
	}
	return m, nil
}

// answered returns a channel that is closed when no call is open.
func (c *stdioConn) answered() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = make(chan struct{})
	if len(c.open) == 0 {
		close(c.idle)
	}
	return c.idle
}

// Write implements mcp.Connection.
func (c *stdioConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, coded(m))
	if r, is := m.(*jsonrpc.Response); is {
		c.mu.Lock()
		defer c.mu.Unlock()
		if was := c.open[r.ID]; was {
			if delete(c.open, r.ID); len(c.open) == 0 && c.idle != nil {
				close(c.idle)
			}
		}
	}
	return err
}

// coded returns a message whose error has a code. The library gives none to what it refuses in the state of the
// session, such as a call before the session is open.
func coded(m jsonrpc.Message) jsonrpc.Message {
	r, is := m.(*jsonrpc.Response)
	if !is || r.Error == nil {
		return m
	}
	var wire *jsonrpc.Error
	if errors.As(r.Error, &wire) && wire.Code != 0 {
		return m
	}
	out := *r
	out.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: r.Error.Error()}
	return &out
}

// Close implements mcp.Connection.
func (c *stdioConn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
