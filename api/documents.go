package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"tandem/retrieval/passages"
)

// Library holds the documents that a side answers from. It is safe for concurrent use.
type Library interface {
	// List returns the documents.
	List(ctx context.Context) ([]Document, error)
	// Add reads a document of that name, replacing an earlier one. It returns why a document was skipped, "" if it was not.
	Add(ctx context.Context, name string, r io.Reader) (d Document, skipped string, err error)
	// Remove forgets a document. What was added by Add is deleted, and its name will do for its path; other files stay.
	Remove(ctx context.Context, path string) error
	// Search returns up to k passages that may answer a question, best first.
	Search(ctx context.Context, question string, k int) ([]Found, error)
}

// Found is a passage that a search found.
type Found struct {
	passages.Passage
	Words []string // of the question that it has; empty if it was found by related words
}

// ErrNoDocument is wrapped by the error of Remove if there is no such document.
var ErrNoDocument = errors.New("no such document")

// Document is a file that was read.
type Document struct {
	Path     string    `json:"path"`
	Title    string    `json:"title"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified,omitzero"` // zero for samples
	Passages int       `json:"passages"`
	Sample   bool      `json:"sample,omitempty"`
}

func (s *Server) library() (Library, error) {
	if s.cfg.Library == nil {
		return nil, forbidden("this server does not show its documents")
	}
	return s.cfg.Library, nil
}

func (s *Server) listDocuments(w http.ResponseWriter, r *http.Request) {
	l, err := s.library()
	if err != nil {
		fail(w, err)
		return
	}
	list, err := l.List(r.Context())
	if err != nil {
		s.note("the documents cannot be listed", err)
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": append([]Document{}, list...)})
}

// uploadResult is what became of an uploaded file.
type uploadResult struct {
	Name    string `json:"name"`
	Skipped string `json:"skipped,omitempty"` // why it was not read
	*Document
}

// addDocuments reads the files of a form (multipart/form-data), or one file whose name is the parameter "name".
func (s *Server) addDocuments(w http.ResponseWriter, r *http.Request) {
	l, err := s.library()
	if err != nil {
		fail(w, err)
		return
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
	case <-r.Context().Done():
		fail(w, r.Context().Err())
		return
	}
	r.Body = http.MaxBytesReader(w, &paced{ReadCloser: r.Body, control: http.NewResponseController(w), patience: stallAfter, left: longestUpload}, maxUpload)
	results, err := addFiles(l, r)
	why := allSkipped(results)
	if err != nil {
		s.note("an upload failed", err)
		why = errorOf(err)
	}
	if len(results) == 0 {
		fail(w, why)
		return
	}
	body, status := map[string]any{"object": "list", "data": results}, http.StatusOK
	if why != nil {
		why.retry(w)
		body["error"], status = why, why.Status
	}
	reply(w, status, body)
}

// addFiles adds the files of a request to a library. With an error, it also returns what became of the files before it.
func addFiles(l Library, r *http.Request) (results []uploadResult, err error) {
	add := func(name string, body io.Reader) error {
		d, skipped, err := l.Add(r.Context(), name, sent{body, "file"})
		if err != nil {
			return err
		}
		result := uploadResult{Name: name, Skipped: skipped}
		if skipped == "" {
			result.Document = &d
		}
		results = append(results, result)
		return nil
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		err = eachFile(r, func(given string, body io.Reader) error {
			name, wrong := fileName(given)
			if wrong != "" { // the others can be read
				results = append(results, uploadResult{Name: name, Skipped: "its name " + wrong})
				return nil
			}
			return add(name, body)
		})
		if err == nil && len(results) == 0 {
			err = badRequest("file", "the form has no file")
		}
		return results, err
	}
	given := r.URL.Query().Get("name")
	if given == "" {
		return nil, badRequest("name", "name is missing: send the file's name, with its ending, as in ?name=notes.md, or a form with the file")
	}
	name, wrong := fileName(given)
	if wrong != "" {
		return nil, badRequest("name", "the name %q %s: send another, with its ending, such as notes.md", name, wrong)
	}
	err = add(name, r.Body)
	return results, err
}

// paced reads the body of a request that holds a place. A client that sends less than slowestUpload for long, or for longer than
// longestUpload in all, is given up. The time between two reads, in which documents are indexed, does not count.
type paced struct {
	io.ReadCloser
	control  *http.ResponseController
	patience time.Duration // how long the next bytes may take
	left     time.Duration // how long the rest of the body may take
}

func (p *paced) Read(b []byte) (int, error) {
	begun := time.Now()
	p.control.SetReadDeadline(begun.Add(min(p.patience, p.left))) // not every writer has one
	n, err := p.ReadCloser.Read(b)
	took := time.Since(begun)
	p.patience = min(p.patience-took+time.Duration(n)*time.Second/slowestUpload, stallAfter)
	p.left -= took
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = refused(http.StatusRequestTimeout, "file", "too_slow", "the upload is too slow: send fewer or smaller files at a time")
	}
	return n, err
}

// allSkipped returns an error with the reasons if no file of an upload was read; nil if one was.
func allSkipped(results []uploadResult) *Error {
	var reasons []string
	for _, one := range results {
		if one.Skipped == "" {
			return nil
		}
		reasons = append(reasons, one.Name+": skipped, "+one.Skipped)
	}
	return refused(http.StatusUnprocessableEntity, "file", "unreadable", "%s", strings.Join(reasons, "; "))
}

// maxFiles bounds the files of a form. Each is written and indexed alone, while other uploads wait.
const maxFiles = 1000

// eachFile calls add for each file of a form.
func eachFile(r *http.Request, add func(name string, body io.Reader) error) error {
	form, err := r.MultipartReader()
	if err != nil {
		return badRequest("", "the form cannot be read: %v", err)
	}
	for files := 0; ; {
		p, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			var large *http.MaxBytesError
			var own *Error
			if errors.As(err, &large) || errors.As(err, &own) {
				return err
			}
			return badRequest("", "the form cannot be read: %v", err)
		}
		if p.FileName() == "" {
			continue
		}
		if files++; files > maxFiles {
			return badRequest("file", "the form has more than %d files: send the others in another", maxFiles)
		}
		if err := add(p.FileName(), p); err != nil {
			return err
		}
	}
}

// maxName bounds the name of an uploaded file in bytes.
const maxName = 128

// fileName returns the last element of a name, and what is wrong with it: it must do as the name of a file on any system.
func fileName(given string) (name, wrong string) {
	name = path.Base(strings.ReplaceAll(given, `\`, "/"))
	bare := strings.Trim(name, ". ")
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar || strings.ContainsRune(`<>:"|?*`, r)
	})
	switch {
	case bare == "" || bare == "/":
		return name, "is not that of a file"
	case name[0] == '.':
		return name, "begins with a dot, as those of hidden files"
	case bad || bare != name:
		return name, "has a character, or a dot or space at an end, that some systems do not allow"
	case len(name) > maxName:
		return name, fmt.Sprintf("has %d bytes, more than %d", len(name), maxName)
	}
	return name, ""
}

func (s *Server) removeDocument(w http.ResponseWriter, r *http.Request) {
	l, err := s.library()
	file := r.URL.Query().Get("path")
	if err == nil && file == "" {
		err = badRequest("path", "path: say which document, as GET /v1/documents lists it")
	}
	if err == nil {
		err = l.Remove(r.Context(), file)
	}
	if errors.Is(err, ErrNoDocument) {
		err = notFound("there is no document %q", file)
	}
	if err != nil {
		s.note("a document cannot be removed", err)
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, map[string]any{"path": file, "deleted": true})
}

// maxFound bounds the passages of one search.
const maxFound = 64

// searchPassages searches the documents: the parameters are q and k.
func (s *Server) searchPassages(w http.ResponseWriter, r *http.Request) {
	l, err := s.library()
	question, k := r.URL.Query().Get("q"), 8
	if text := r.URL.Query().Get("k"); text != "" && err == nil {
		if k, err = strconv.Atoi(text); err != nil || k < 1 || k > maxFound {
			err = badRequest("k", "k is %q: want 1 to %d", text, maxFound)
		}
	}
	if err == nil && strings.TrimSpace(question) == "" {
		err = badRequest("q", "q: say what to search for")
	}
	var found []Found
	if err == nil {
		found, err = l.Search(r.Context(), question, k)
	}
	if err != nil {
		s.note("a search failed", err)
		fail(w, err)
		return
	}
	list := []map[string]any{}
	for _, p := range found {
		one := map[string]any{"title": passages.Place(p.Title), "text": p.Text, "words": p.Words}
		if s.cfg.Files {
			one["file"] = p.Source
		}
		list = append(list, one)
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}
