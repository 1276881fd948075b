package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A server on the loopback interface refuses requests for other names, and drops clients that are idle.
func TestMetricsHost(t *testing.T) {
	served := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	if s := metricsServer("127.0.0.1:9090", served); s.IdleTimeout <= 0 || s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 {
		t.Error("clients may stay as long as they like")
	}
	for _, c := range []struct {
		address, host string
		want          int
	}{
		{"127.0.0.1:9090", "127.0.0.1:9090", 200},
		{"127.0.0.1:9090", "localhost:9090", 200},
		{"[::1]:9090", "[::1]:9090", 200},
		{"[::1]:9090", "[::1]", 200},
		{"127.0.0.1:9090", "evil.example:9090", 421},
		{"127.0.0.1:9090", "", 421},
		{"0.0.0.0:9090", "cloud.example:9090", 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = c.host
		w := httptest.NewRecorder()
		metricsServer(c.address, served).Handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s asked for %q: %d, want %d", c.address, c.host, w.Code, c.want)
		}
	}
}
