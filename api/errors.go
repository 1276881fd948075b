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

// refused is the error of a request that the client must change. param and code may be empty.
func refused(status int, param, code, format string, args ...any) *Error {
	return &Error{Status: status, Type: "invalid_request_error", Param: orNull(param), Code: orNull(code), Message: fmt.Sprintf(format, args...)}
}

func badRequest(param, format string, args ...any) error {
	return refused(http.StatusBadRequest, param, "", format, args...)
}

func notFound(format string, args ...any) error {
	return refused(http.StatusNotFound, "", "not_found", format, args...)
}

func forbidden(format string, args ...any) error {
	return refused(http.StatusForbidden, "", "forbidden", format, args...)
}

// noModel is the error of a request that names another model, or another encoder, than the one here.
func noModel(kind, name, here string) error {
	return refused(http.StatusNotFound, "model", "model_not_found", "there is no %s %s here: this server has %s", kind, name, here)
}

// failed is the error of a request that the server cannot answer. code may be empty. retry says when to try again, 0 for never.
func failed(status int, code string, retry time.Duration, message string) *Error {
	return &Error{Status: status, Type: "server_error", Code: orNull(code), Retry: retry, Message: message}
}

// faultIn is the error of an operation on one of the server's files, whose path is nobody's business.
func faultIn(operation string, err error) *Error {
	return failed(http.StatusInternalServerError, "", 0, fmt.Sprintf("the server cannot %s one of its files: %v", operation, err))
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
		return refused(http.StatusRequestEntityTooLarge, "", "too_large", "the request is larger than %d bytes", large.Limit)
	case errors.As(err, &full):
		return refused(http.StatusBadRequest, "", "context_length_exceeded", "%v", full)
	case errors.Is(err, node.ErrNoCloud):
		return failed(http.StatusServiceUnavailable, "no_cloud", 0, err.Error())
	case errors.Is(err, context.Canceled):
		return failed(statusGone, "cancelled", 0, "the answer was cancelled")
	case errors.Is(err, node.ErrLater):
		return failed(http.StatusServiceUnavailable, "busy", 2*time.Second, err.Error())
	case errors.Is(err, syscall.ENOSPC):
		return failed(http.StatusInsufficientStorage, "disk_full", 0, "the server's disk is full")
	case errors.As(err, &away) && away.Unreachable():
		return failed(http.StatusServiceUnavailable, "unreachable", 10*time.Second, "the documents cannot be reached: try again later")
	case errors.As(err, &discreet):
		return failed(http.StatusInternalServerError, "", 0, discreet.Public())
	case errors.As(err, &moved):
		return faultIn(moved.Op, moved.Err)
	case errors.As(err, &file):
		return faultIn(file.Op, file.Err)
	}
	return failed(http.StatusInternalServerError, "", 0, err.Error())
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
