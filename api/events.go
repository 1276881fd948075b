package api

import (
	"maps"
	"net/http"
	"sync"
	"time"
)

// event is something that happened in an answer: begin, token or end.
type event map[string]any

// hub passes events to all who watch. Who does not keep up misses some.
type hub struct {
	mu       sync.Mutex
	watchers map[chan event]bool
}

// Bounds of watching.
const (
	maxWatchers = 16
	watchQueue  = 256
	keepAlive   = 15 * time.Second
)

func (h *hub) send(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.watchers {
		select {
		case c <- e:
		default:
		}
	}
}

// watch returns a channel of events, or nil if too many watch already.
func (h *hub) watch() chan event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) == maxWatchers {
		return nil
	}
	if h.watchers == nil {
		h.watchers = map[chan event]bool{}
	}
	c := make(chan event, watchQueue)
	h.watchers[c] = true
	return c
}

func (h *hub) leave(c chan event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, c)
}

// happened sends an event of an answer. Its words are left out unless every client may read them.
func (s *Server) happened(answer, kind string, words event) {
	e := event{"answer": answer, "event": kind}
	if s.cfg.Words {
		maps.Copy(e, words)
	}
	s.events.send(e)
}

// watch streams the events of all answers.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	c := s.events.watch()
	if c == nil {
		fail(w, failed(http.StatusServiceUnavailable, "busy", 10*time.Second, "too many clients watch the events"))
		return
	}
	defer s.events.leave(c)
	out := newEventStream(w)
	out.raw("hello", "{}")
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for out.err == nil {
		select {
		case e := <-c:
			out.send("", e)
		case <-tick.C:
			out.raw("alive", "{}")
		case <-r.Context().Done():
			return
		case <-s.cfg.Ending: // else the server would wait for whoever watches
			return
		}
	}
}
