// Package page is the web page of package api: plain HTML, style sheets and modules, embedded as they are. It loads nothing
// from other servers, so it works without a network.
package page

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed index.html style.css app.js answer.js timeline.js documents.js server.js icon.svg
var files embed.FS

// policy lets the page load only its own files, and show itself in no other page.
const policy = "default-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// Handler serves the page.
func Handler() http.Handler {
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		if name := strings.TrimPrefix(r.URL.Path, "/"); name != "" {
			if _, err := fs.Stat(files, name); err != nil {
				http.Error(w, fmt.Sprintf("There is no page %s here. The web page is at /. Programs use the paths below /v1/ (the APIs of OpenAI and Anthropic) or /api/ (Ollama's), and /health says whether the server runs.", r.URL.Path), http.StatusNotFound)
				return
			}
		}
		server.ServeHTTP(w, r)
	})
}
