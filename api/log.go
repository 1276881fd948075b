package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// longestPath bounds how much of a path is logged.
const longestPath = 256

// logged logs and counts each request, without its query and body: these have the user's words. Of those that are refused for who
// asks, which anybody can send, it logs few.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, path := time.Now(), r.URL.Path
		out := &countingWriter{ResponseWriter: w}
		defer func() { // also if the answer is broken off
			took := time.Since(begun)
			about := []any{"method", r.Method, "path", path[:min(len(path), longestPath)], "status", out.status,
				"took", took.Round(time.Microsecond), "from", r.RemoteAddr, "bytes", out.bytes}
			switch out.status {
			case http.StatusUnauthorized, http.StatusForbidden:
				s.refused.Add(s.cfg.Log, slog.LevelWarn, "request", about...)
			case http.StatusInternalServerError:
				s.cfg.Log.Warn("request", about...)
			default:
				s.cfg.Log.Info("request", about...)
			}
			if s.cfg.Requests != nil {
				s.cfg.Requests(cmp.Or(r.Pattern, "none"), out.status, took) // of the mux, which bounds how many there are
			}
		}()
		next.ServeHTTP(out, r)
	})
}

// countingWriter notes the status and the size of a response.
type countingWriter struct {
	http.ResponseWriter
	status int // 0 until the response begins
	bytes  int64
}

// Unwrap is for http.ResponseController.
func (c *countingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *countingWriter) WriteHeader(status int) {
	if c.status == 0 && status >= 200 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *countingWriter) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}

func (c *countingWriter) Flush() {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	http.NewResponseController(c.ResponseWriter).Flush() // not every writer can
}
