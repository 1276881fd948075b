package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"tandem/decoder"
	"tandem/node"
)

// Error is an error as OpenAI's API has it.
type Error struct {
	Status  int           `json:"-"`
	Retry   time.Duration `json:"-"` // when to try again; 0 for never
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   orNull        `json:"param"`
	Code    orNull        `json:"code"`
}

func (e *Error) Error() string { return e.Message }

// orNull is a string that is null in JSON if it is empty.
type orNull string

// MarshalJSON implements json.Marshaler.
func (s orNull) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(s))
}

func badRequest(param, format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Param: orNull(param), Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &Error{Status: http.StatusNotFound, Type: "invalid_request_error", Code: "not_found", Message: fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) error {
	return &Error{Status: http.StatusForbidden, Type: "invalid_request_error", Code: "forbidden", Message: fmt.Sprintf(format, args...)}
}

// statusGone is nginx's status of requests whose client has gone, which nobody reads but the operator.
const statusGone = 499

// errorOf returns err as an Error.
func errorOf(err error) *Error {
	var e *Error
	var large *http.MaxBytesError
	var file *fs.PathError
	var moved *os.LinkError
	var full *decoder.NoRoomError
	var away interface{ Unreachable() bool }
	var discreet interface{ Public() string }
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &large):
		return &Error{Status: http.StatusRequestEntityTooLarge, Type: "invalid_request_error", Code: "too_large", Message: fmt.Sprintf("the request is larger than %d bytes", large.Limit)}
	case errors.As(err, &full):
		return &Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "context_length_exceeded", Message: full.Error()}
	case errors.Is(err, node.ErrNoCloud):
		return &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "no_cloud", Message: err.Error()}
	case errors.Is(err, context.Canceled):
		return &Error{Status: statusGone, Type: "server_error", Code: "cancelled", Message: "the answer was cancelled"}
	case errors.Is(err, node.ErrLater):
		return &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "busy", Retry: 2 * time.Second, Message: err.Error()}
	case errors.Is(err, syscall.ENOSPC):
		return &Error{Status: http.StatusInsufficientStorage, Type: "server_error", Code: "disk_full", Message: "the server's disk is full"}
	case errors.As(err, &away) && away.Unreachable():
		return &Error{Status: http.StatusServiceUnavailable, Type: "server_error", Code: "unreachable", Retry: 10 * time.Second, Message: "the documents cannot be reached: try again later"}
	case errors.As(err, &discreet):
		return &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: discreet.Public()}
	case errors.As(err, &moved):
		return &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: fmt.Sprintf("the server cannot %s one of its files: %v", moved.Op, moved.Err)}
	case errors.As(err, &file): // whose path is nobody's business
		return &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: fmt.Sprintf("the server cannot %s one of its files: %v", file.Op, file.Err)}
	}
	return &Error{Status: http.StatusInternalServerError, Type: "server_error", Message: err.Error()}
}

// note logs an error if a client is told less than it says: the rest names the files or the servers behind this one.
func (s *Server) note(what string, err error) {
	if told := errorOf(err); told.Status >= http.StatusInternalServerError && told.Message != err.Error() {
		s.cfg.Log.Error(what, "error", err)
	}
}

// fail answers with an error as OpenAI's API has it.
func fail(w http.ResponseWriter, err error) {
	e := errorOf(err)
	e.retry(w)
	reply(w, e.Status, map[string]any{"error": e})
}

// retry tells a client when to try again.
func (e *Error) retry(w http.ResponseWriter) {
	if e.Retry > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(e.Retry.Seconds())))
	}
}

// failAs answers with an error in the form of the API that the request's path belongs to.
func failAs(w http.ResponseWriter, r *http.Request, err error) {
	if strings.HasPrefix(r.URL.Path, ollamaPrefix) {
		failOllama(w, err)
		return
	}
	if path := r.URL.Path; path == messagesPath || strings.HasPrefix(path, messagesPath+"/") {
		failAnthropic(w, err)
		return
	}
	fail(w, err)
}
