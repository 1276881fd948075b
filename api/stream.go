package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"tandem/node"
	"tandem/pair"
)

// errStopString is the cause of the end of an answer's context if the answer has come to a stop string of the request.
var errStopString = fmt.Errorf("%w: it has come to a stop string", node.ErrEnough)

// Failure returns err, which an Answerer's answer in ctx ended with, or nil if the answer was cut where the request wants it: it
// did not fail.
func Failure(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStopString) {
		return nil
	}
	return err
}

// outcome is how an answer ended.
type outcome struct {
	answer node.Answer
	text   string // up to a stop string
	finish string // stop, length
}

// run answers q. It passes text to emit as soon as no stop string can begin in it, each time with the tokens whose text
// ends there.
func (s *Server) run(ctx context.Context, q Query, stops []string, emit func(text string, tokens []node.Token), record func(node.Line)) (outcome, error) {
	if s.cfg.Greeting != nil {
		if text, ok := s.cfg.Greeting(q.Text); ok {
			emit(text, nil)
			return outcome{answer: node.Answer{Text: text}, text: text, finish: "stop"}, nil
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.events.send(event{"answer": q.ID, "event": "begin", "question": q.Text})
	out := output{cut: cutter{stops: stops}, emit: emit}
	a, err := s.answer(ctx, q, func(t node.Token) {
		if out.cut.done {
			return
		}
		s.events.send(event{"answer": q.ID, "event": "token", "token": infoOf(t)})
		if out.add(t); out.cut.done {
			stop(errStopString)
		}
	}, record)
	if out.cut.done {
		a, err = cutShort(a, out.shown.String(), out.used), nil
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrEnding) {
			err = ErrEnding
		}
		s.note("an answer failed", err)
		s.events.send(event{"answer": q.ID, "event": "end", "error": errorOf(err).Message})
		return outcome{}, err
	}
	out.show(out.cut.rest())
	finish := "stop"
	if a.Reason == pair.ReasonLength && !out.cut.done {
		finish = "length"
	}
	s.events.send(event{"answer": q.ID, "event": "end", "tandem": s.extra(q, a)})
	return outcome{answer: a, text: out.shown.String(), finish: finish}, nil
}

// answer has the Answerer answer q. A panic, in any package, ends this answer and no other.
func (s *Server) answer(ctx context.Context, q Query, emit func(node.Token), record func(node.Line)) (a node.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.Error("internal fault", "answer", q.ID, "error", p, "stack", string(debug.Stack()))
			a, err = node.Answer{}, &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: "the server failed at this question"}
		}
	}()
	return s.cfg.Answers.Answer(ctx, q, emit, record)
}

// output passes the text of an answer's tokens on, up to the first stop string.
type output struct {
	cut   cutter
	emit  func(text string, tokens []node.Token)
	shown strings.Builder
	held  []node.Token // whose text was not passed on yet
	used  int          // tokens, up to that in which a stop string ends
}

func (o *output) add(t node.Token) {
	o.held, o.used = append(o.held, t), o.used+1
	o.show(o.cut.add(t.Text))
}

// show passes text on, with the tokens that were held.
func (o *output) show(text string) {
	if text != "" {
		o.shown.WriteString(text)
		o.emit(text, o.held)
		o.held = nil
	}
}

// cutShort returns an answer of which only its first tokens and the text up to a stop string are wanted.
func cutShort(a node.Answer, text string, tokens int) node.Answer {
	a.Tokens = a.Tokens[:min(tokens, len(a.Tokens))]
	for i, p := range a.Parts {
		if at := strings.Index(text, p.Text); at >= 0 {
			text = text[at+len(p.Text):]
			continue
		}
		a.Parts = slices.Clone(a.Parts[:i])
		if p.Text = strings.TrimSpace(text); p.Text != "" {
			a.Parts = append(a.Parts, p)
		}
		break
	}
	return a
}

// cutter passes text on up to the first stop string. It holds back what may be the beginning of one.
type cutter struct {
	stops []string
	held  string
	begun bool // text has come that is not white space
	done  bool // a stop string has come
}

// add returns the text that can be passed on after more text.
func (c *cutter) add(text string) string {
	if !c.begun {
		text = strings.TrimLeft(text, " \n")
		c.begun = text != ""
	}
	c.held += text
	if from, ok := c.stop(); ok {
		c.held, c.done = c.held[:from], true
		return c.rest()
	}
	keep := 0
	for _, s := range c.stops {
		for n := min(len(s)-1, len(c.held)); n > keep; n-- {
			if strings.HasSuffix(c.held, s[:n]) {
				keep = n
			}
		}
	}
	out := c.held[:len(c.held)-keep]
	c.held = c.held[len(c.held)-keep:]
	return out
}

// stop returns where the first stop string in the held text begins, and reports whether there is one. The first is the one
// that ends first, so that the cut does not depend on how much text comes at once; of several that end together, the longest.
func (c *cutter) stop() (from int, ok bool) {
	end := 0
	for _, s := range c.stops {
		i := strings.Index(c.held, s)
		if i < 0 {
			continue
		}
		if !ok || i+len(s) < end || i+len(s) == end && i < from {
			from, end, ok = i, i+len(s), true
		}
	}
	return from, ok
}

// rest returns the text that was held back.
func (c *cutter) rest() string {
	out := c.held
	c.held = ""
	return out
}

// stream sends events (text/event-stream) or lines of JSON. A client that does not read for stallAfter is given up.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	lines   bool // JSON lines, as Ollama has them
	err     error
}

func newStream(w http.ResponseWriter, lines bool) *stream {
	kind := "text/event-stream"
	if lines {
		kind = "application/x-ndjson"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	return &stream{w: w, control: http.NewResponseController(w), lines: lines}
}

// send sends v. name is the event's, empty for none.
func (s *stream) send(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.err = err
		return
	}
	s.raw(name, string(b))
}

func (s *stream) raw(name, data string) {
	if s.err != nil {
		return
	}
	s.control.SetWriteDeadline(time.Now().Add(stallAfter))
	switch {
	case s.lines:
		_, s.err = fmt.Fprintf(s.w, "%s\n", data)
	case name != "":
		_, s.err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
	default:
		_, s.err = fmt.Fprintf(s.w, "data: %s\n\n", data)
	}
	if s.err == nil {
		s.err = s.control.Flush()
	}
}
