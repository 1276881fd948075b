package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"tandem/node"
)

// stream sends events (text/event-stream) or lines of JSON. It is safe for concurrent use. A client that does not read for stallAfter
// is given up: when a write fails, net/http ends the context of the request, and with it the answer.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	lines   bool // JSON lines, as Ollama has them

	mu  sync.Mutex // held while something is sent
	err error
}

// newEventStream begins a stream of events.
func newEventStream(w http.ResponseWriter) *stream { return newStream(w, "text/event-stream") }

// newLineStream begins a stream of JSON lines.
func newLineStream(w http.ResponseWriter) *stream {
	s := newStream(w, "application/x-ndjson")
	s.lines = true
	return s
}

func newStream(w http.ResponseWriter, kind string) *stream {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	return &stream{w: w, control: http.NewResponseController(w)}
}

// send sends v. name is the event's, empty for none.
func (s *stream) send(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.err = err
		return
	}
	s.raw(name, string(b))
}

// sendLines returns what sends the lines of the recording that a job asks for, nil if it asks for none.
func (s *Server) sendLines(j *job, to *stream) func(node.Line) {
	if !j.Tandem.Record {
		return nil
	}
	return func(l node.Line) { to.send("record", s.spellLine(l)) }
}

// raw sends what needs no encoding.
func (s *stream) raw(name, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
