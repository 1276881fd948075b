package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"tandem/model/sample"
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
	stop   string // the stop string that it came to; empty for none
}

// run answers q. It passes text to emit as soon as no stop string can begin in it, each time with the tokens whose text
// ends there.
func (s *Server) run(ctx context.Context, q Query, stops []string, emit func(text string, tokens []node.Token), record func(node.Line)) (outcome, error) {
	if s.cfg.Greeting != nil && q.Settings.Form == "" {
		if text, ok := s.cfg.Greeting(q.Text); ok {
			filter := sample.NewStopFilter(stops)
			text, stopped := filter.Write(text)
			if !stopped {
				text += filter.Flush()
			}
			emit(text, nil)
			return outcome{answer: node.Answer{Text: text}, text: text, finish: "stop", stop: filter.StoppedBy()}, nil
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.happened(q.ID, "begin", event{"question": q.Text})
	out := output{stop: sample.NewStopFilter(stops), emit: emit}
	if q.Settings.Form != "" {
		out.lead.Keep()
	}
	a, err := s.answer(ctx, q, func(t node.Token) {
		if out.stop.Stopped() {
			return
		}
		s.happened(q.ID, "token", event{"token": tokenInfoOf(t)})
		if out.add(t); out.stop.Stopped() {
			stop(errStopString)
		}
	}, record)
	if out.stop.Stopped() {
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
	out.show(out.stop.Flush())
	finish := "stop"
	if a.Reason == pair.ReasonLength && !out.stop.Stopped() {
		finish = "length"
	}
	s.happened(q.ID, "end", event{"tandem": s.extra(q, a)})
	return outcome{answer: a, text: out.shown.String(), finish: finish, stop: out.stop.StoppedBy()}, nil
}

// answer has the Answerer answer q. A panic, in any package, ends this answer and no other.
func (s *Server) answer(ctx context.Context, q Query, emit func(node.Token), record func(node.Line)) (a node.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.Error("internal fault", "answer", q.ID, "error", p, "stack", string(debug.Stack()))
			a, err = node.Answer{}, failed(http.StatusInternalServerError, "", 0, "the server failed at this question")
		}
	}()
	return s.cfg.Answers.Answer(ctx, q, emit, record)
}

// output passes the text of an answer's tokens on, up to the first stop string.
type output struct {
	lead  sample.LeadingSpace
	stop  *sample.StopFilter
	emit  func(text string, tokens []node.Token)
	shown strings.Builder
	held  []node.Token // whose text was not passed on yet
	used  int          // tokens, up to that in which a stop string ends
}

func (o *output) add(t node.Token) {
	o.held, o.used = append(o.held, t), o.used+1
	shown, _ := o.stop.Write(o.lead.Cut(t.Text))
	o.show(shown)
}

// show passes text on, with the tokens that were held.
func (o *output) show(text string) {
	if text != "" {
		o.shown.WriteString(text)
		o.emit(text, o.held)
		o.held = nil
	}
}

// cutShort returns an answer of which only its first tokens and the text up to a stop string are wanted. A part that loses its
// end keeps its sources.
func cutShort(a node.Answer, text string, tokens int) node.Answer {
	a.Tokens, a.Reason = a.Tokens[:min(tokens, len(a.Tokens))], pair.ReasonStop
	for i, p := range a.Parts {
		if at := strings.Index(text, p.Text); at >= 0 {
			text = text[at+len(p.Text):]
			continue
		}
		a.Parts = slices.Clone(a.Parts[:i])
		if p.Text = strings.TrimSpace(text); p.Text != "" {
			a.Parts, a.Reason = append(a.Parts, p), pair.ReasonLength
		}
		break
	}
	return a
}
