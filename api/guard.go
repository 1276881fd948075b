package api

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// guard refuses requests that come from other pages, by other names, or without the key.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := s.checkHost(r.Host); err != nil {
			failAs(w, r, err)
			return
		}
		if err := s.checkOrigin(w, r); err != nil {
			failAs(w, r, err)
			return
		}
		if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if err := s.checkKey(r); err != nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			failAs(w, r, err)
			return
		}
		if s.ending() && (isAPIPath(r.URL.Path) || r.URL.Path == "/health") {
			failAs(w, r, ErrEnding)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ErrEnding is the error of requests that a server has no time for because it is about to end. As the cause of the end of their
// context, it is what they are told.
var ErrEnding = failed(http.StatusServiceUnavailable, "draining", 5*time.Second, "the server is shutting down: try again in a moment")

// ending reports whether the server is about to end. It then answers what it was asked before, and nothing else.
func (s *Server) ending() bool {
	select {
	case <-s.cfg.Ending:
		return true
	default:
		return false
	}
}

// checkHost refuses names that somebody else may have pointed at this machine (DNS rebinding). A key protects from that,
// too, so with a key any name is allowed.
func (s *Server) checkHost(host string) error {
	name := hostName(host)
	if s.cfg.Key != "" || OnLoopback(host) || slices.Contains(s.cfg.Hosts, name) {
		return nil
	}
	return forbidden("the host %q is not this server's: use localhost, or start the server with --host %s", host, name)
}

// OnLoopback reports whether an address, with a port or without, is of the loopback interface, which only this machine can
// reach.
func OnLoopback(address string) bool {
	name := hostName(address)
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// hostName returns the host of an address, with a port or without, in small letters.
func hostName(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.Trim(address, "[]"))
}

// checkOrigin refuses requests that a page of another origin makes, unless it is allowed to.
func (s *Server) checkOrigin(w http.ResponseWriter, r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return s.checkSite(r)
	}
	if u, err := url.Parse(origin); err == nil && u.Host == r.Host && u.Host != "" {
		return nil
	}
	if !slices.ContainsFunc(s.cfg.Origins, func(allowed string) bool { return admits(allowed, origin) }) {
		return forbidden("pages of %q may not call this server: start it with --cors %s to allow them", origin, origin)
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", allowedHeaders(r.Header.Values("Access-Control-Request-Headers")))
	h.Add("Vary", "Access-Control-Request-Headers")
	return nil
}

// AnyPort ends an allowed origin that stands for all ports of its host: http://localhost:*.
const AnyPort = ":*"

// admits reports whether an allowed origin is an origin, or stands for it.
func admits(allowed, origin string) bool {
	if site, any := strings.CutSuffix(allowed, AnyPort); any {
		u, err := url.Parse(origin)
		return err == nil && u.Scheme+"://"+u.Host == origin && u.Scheme+"://"+withoutPort(u) == site
	}
	return allowed == origin || allowed == "*"
}

// withoutPort returns the host of an URL as it is written, without its port.
func withoutPort(u *url.URL) string {
	if port := u.Port(); port != "" {
		return strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.Host
}

// checkSite refuses what a page of another site loads without saying its origin, such as a picture or a frame. The page could not
// read it, but the server would have done the work. Browsers say where it comes from and what it is for (Fetch Metadata); other
// programs do not. Whoever follows a link gets what it leads to.
func (s *Server) checkSite(r *http.Request) error {
	site, dest := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Dest")
	own := site == "" || site == "same-origin" || site == "none"
	if own || dest == "document" || !isAPIPath(r.URL.Path) && r.URL.Path != "/metrics" || slices.Contains(s.cfg.Origins, "*") {
		return nil
	}
	return forbidden("pages of other sites may not load %s: call it with fetch, from a page that --cors allows", r.URL.Path)
}

// Bounds of the headers that a page may ask to send.
const (
	maxHeaders    = 64
	maxHeaderName = 128
)

// allowedHeaders returns what an allowed page may send: whatever it asks for, since clients add headers of their own, such as
// OpenAI's X-Stainless-*. A browser that asked for a header that is left out does not send the request.
func allowedHeaders(asked []string) string {
	allowed := []string{"Authorization", "Content-Type"}
	for _, name := range strings.Split(strings.Join(asked, ","), ",") {
		name = strings.TrimSpace(name)
		if len(allowed) < maxHeaders && len(name) <= maxHeaderName && isToken(name) && !slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) }) {
			allowed = append(allowed, name)
		}
	}
	return strings.Join(allowed, ", ")
}

// isToken reports whether text is a token in the sense of HTTP, as names of headers are.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

// keyless are the paths that need no key: they say nothing about documents.
var keyless = []string{"/health", "/api/version"}

// checkKey refuses requests without the server's key. The page itself is no secret; what it asks for is.
func (s *Server) checkKey(r *http.Request) error {
	page := (r.Method == http.MethodGet || r.Method == http.MethodHead) && !isAPIPath(r.URL.Path) && r.URL.Path != "/metrics"
	if s.cfg.Key == "" || slices.Contains(keyless, r.URL.Path) || page {
		return nil
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if key := r.Header.Get("X-Api-Key"); key != "" && scheme == "" { // of Anthropic's clients
		scheme, given = "Bearer", key
	}
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(s.cfg.Key)) != 1 {
		return refused(http.StatusUnauthorized, "", "invalid_api_key", "the key is missing or wrong: send Authorization: Bearer KEY")
	}
	return nil
}
