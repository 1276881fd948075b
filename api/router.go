package api

import (
	"net/http"
	"slices"
	"strings"

	"tandem/internal/spelling"
)

// router is a mux that knows the API's paths.
type router struct {
	*http.ServeMux
	paths []string
}

// HandleFunc adds a path of the API.
func (m *router) HandleFunc(pattern string, h http.HandlerFunc) {
	_, path, _ := strings.Cut(pattern, " ")
	if !strings.Contains(path, "{") {
		m.paths = append(m.paths, path)
	}
	m.ServeMux.HandleFunc(pattern, h)
}

// lacksPrefix reports whether a path is one of OpenAI's API without /v1: the client was given an address without it.
func (m *router) lacksPrefix(path string) bool { return slices.Contains(m.paths, "/v1"+path) }

// suggestion returns the path of the API that an unknown one may stand for, "" if there is none.
func (m *router) suggestion(path string) string {
	switch {
	case m.lacksPrefix(path):
		return "/v1" + path
	case strings.TrimSuffix(path, "/") == "/v1":
		return "/v1/models"
	}
	for _, known := range m.paths {
		if strings.HasSuffix(path, known) { // the client added a prefix to an address that had one
			return known
		}
	}
	return spelling.Nearest(path, m.paths)
}

// otherwise says how to do here what the paths of other servers' APIs do.
var otherwise = map[string]string{
	"/api/pull": fetched, "/api/push": fetched, "/api/create": fetched, "/api/copy": fetched, "/api/delete": fetched,
	"/completion": "use /v1/completions", "/embedding": "use /v1/embeddings", "/slots": "/props has their number",
}

// fetched says where models come and go.
const fetched = "models are not changed over HTTP: run \"models pull\" or \"models rm\", and start the server with --model"

// hint says what to do instead of asking for an unknown path.
func (m *router) hint(path string) string {
	if text := otherwise[strings.TrimSuffix(path, "/")]; text != "" {
		return text
	}
	if strings.HasPrefix(path, "/v1/responses/") {
		return "answers are not kept"
	}
	if meant := m.suggestion(path); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "docs/api.md lists what is"
}

// answerUnknown answers unknown paths and methods with JSON. The page's files are no part of the API.
func answerUnknown(mux *router) http.Handler {
	const page = "GET /"
	known := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return pattern != "" && !(pattern == page && (isAPIPath(r.URL.Path) || mux.lacksPrefix(r.URL.Path)))
	}
	serves := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return known(r) && (pattern != page || r.URL.Path == "/")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known(r) {
			mux.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			if other := r.Clone(r.Context()); method != r.Method {
				if other.Method = method; serves(other) {
					w.Header().Add("Allow", method)
				}
			}
		}
		if allowed := w.Header().Values("Allow"); len(allowed) > 0 {
			failAs(w, r, refused(http.StatusMethodNotAllowed, "", "method_not_allowed", "%s is for %s, not %s", r.URL.Path, strings.Join(allowed, " and "), r.Method))
			return
		}
		failAs(w, r, notFound("%s is not part of this API: %s", r.URL.Path, mux.hint(r.URL.Path)))
	})
}

// isAPIPath reports whether a path belongs to the API, not to the page.
func isAPIPath(path string) bool {
	return strings.HasPrefix(path+"/", "/v1/") || strings.HasPrefix(path+"/", ollamaPrefix) || isLlamaPath(path) || otherwise[path] != ""
}
