package api

import (
	"fmt"
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

// suggestion returns the path of the API that an unknown one may stand for, "" if there is none.
func (m *router) suggestion(path string) string {
	switch full := "/v1" + path; {
	case slices.Contains(m.paths, full): // the client was given an address without /v1
		return full
	case strings.TrimSuffix(path, "/") == "/v1":
		return "/v1/models"
	}
	return spelling.Nearest(path, m.paths)
}

// answerUnknown answers unknown paths and methods with JSON. The page's files are no part of the API.
func answerUnknown(mux *router) http.Handler {
	const page = "GET /"
	known := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return pattern != "" && !(pattern == page && isAPIPath(r.URL.Path))
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
			failAs(w, r, &Error{Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Code: "method_not_allowed",
				Message: fmt.Sprintf("%s is for %s, not %s", r.URL.Path, strings.Join(allowed, " and "), r.Method)})
			return
		}
		hint := "docs/api.md lists what is"
		if path := mux.suggestion(r.URL.Path); path != "" {
			hint = "did you mean " + path + "?"
		}
		failAs(w, r, notFound("%s is not part of this API: %s", r.URL.Path, hint))
	})
}

// isAPIPath reports whether a path belongs to the API, not to the page.
func isAPIPath(path string) bool {
	return path == "/v1" || strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, ollamaPrefix)
}
