package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Each request has a line in the log, which warns of those that are refused for who asks.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	cfg := config(&echo{})
	cfg.Key, cfg.Log = "0123456789abcdef", slog.New(slog.NewTextHandler(&log, nil))
	s := New(cfg)
	for _, c := range []struct {
		method, path, body string
		header             []string
		want               string
	}{
		{"GET", "/v1/passages?q=secret", "", nil, "level=WARN msg=request method=GET path=/v1/passages status=401 "},
		{"GET", "/health", "", nil, "level=INFO msg=request method=GET path=/health status=200 "},
		{"GET", "/nothing", "", []string{"Authorization", "Bearer " + cfg.Key}, "level=INFO msg=request method=GET path=/nothing status=404 "},
		{"POST", chatPath, ask("secret", `,"stream":true`), []string{"Authorization", "Bearer " + cfg.Key}, "level=INFO msg=request method=POST path=" + chatPath + " status=200 "},
	} {
		log.Reset()
		w := send(t, s, c.method, c.path, c.body, c.header...)
		if got := log.String(); !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "secret") ||
			!strings.Contains(got, "bytes="+fmt.Sprint(w.Body.Len())) || !strings.Contains(got, "from=") {
			t.Errorf("%s %s: %s", c.method, c.path, got)
		}
	}
}

// Requests that are refused for who asks are logged at once, then at most once a minute, with how many were not: anybody can send
// them. Others are all logged.
func TestRefusedRequestsAreLoggedSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		cfg := config(&echo{})
		cfg.Key, cfg.Origins, cfg.Log = "0123456789abcdef", nil, slog.New(slog.NewTextHandler(&log, nil))
		s := New(cfg)
		for _, step := range []struct {
			after time.Duration
			times int
			want  string // of the last warning
			lines int
		}{
			{0, 1, "unlogged=0", 1},
			{0, 20, "", 0},
			{time.Minute, 1, "unlogged=41", 1},
			{time.Hour, 1, "unlogged=1", 1},
		} {
			time.Sleep(step.after)
			log.Reset()
			for range step.times {
				send(t, s, "GET", "/v1/passages", "")
				send(t, s, "GET", "/v1/passages", "", "Origin", "http://evil.example")
			}
			if got := log.String(); strings.Count(got, "\n") != step.lines || !strings.Contains(got, step.want) {
				t.Errorf("after %v, %d refusals: %q, want %d lines and %q", step.after, 2*step.times, got, step.lines, step.want)
			}
		}
		log.Reset()
		for range 3 {
			send(t, s, "GET", "/health", "")
		}
		if got := strings.Count(log.String(), "\n"); got != 3 {
			t.Errorf("%d of 3 requests were logged", got)
		}
	})
}

// A client that goes away before its answer is there has cancelled it: the server has not failed.
func TestLogOfCancelledAnswers(t *testing.T) {
	for _, path := range []string{chatPath, "/api/chat"} {
		ctx, leave := context.WithCancel(t.Context())
		var log bytes.Buffer
		cfg := config(&echo{pause: func(ctx context.Context) error { leave(); <-ctx.Done(); return ctx.Err() }})
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		cfg.Requests = func(route string, status int, _ time.Duration) {
			if status != 499 {
				t.Errorf("%s: counted as %d", route, status)
			}
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, strings.NewReader(ask("secret", `,"stream":false`)))
		New(cfg).Handler().ServeHTTP(httptest.NewRecorder(), r)
		if got := log.String(); !strings.Contains(got, "level=INFO") || !strings.Contains(got, " status=499 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
}
