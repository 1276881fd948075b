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
