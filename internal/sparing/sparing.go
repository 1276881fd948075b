// Package sparing logs what anybody can cause without letting them fill the log.
package sparing

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// logEvery is how often messages about one matter are logged at most.
const logEvery = time.Minute

// Log decides which of many messages about one matter are logged: the first, then at most one each minute. Its zero value is
// ready for use, also by several goroutines at once.
type Log struct {
	mu       sync.Mutex
	last     time.Time // when one was logged; zero if none was
	unlogged int       // since then
}

// take reports whether to log a message, and how many were not since the last one.
func (s *Log) take(now time.Time) (logged bool, unlogged int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() && now.Sub(s.last) < logEvery {
		s.unlogged++
		return false, 0
	}
	unlogged, s.unlogged = s.unlogged, 0
	s.last = now
	return true, unlogged
}

// Add logs a message, at the level debug if it is one too many.
func (s *Log) Add(log *slog.Logger, level slog.Level, text string, args ...any) {
	logged, unlogged := s.take(time.Now())
	if !logged {
		log.Debug(text, args...)
		return
	}
	log.Log(context.Background(), level, text, append(args, "unlogged", unlogged)...)
}
