package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"
)

// reply answers with JSON. A client that does not read it for stallAfter is given up.
func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":{"message":"the response cannot be written as JSON","type":"server_error"}}`)
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(stallAfter)) // not every writer has one
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// read reads a request's JSON. Fields that v lacks are ignored, as other servers do.
func read(w http.ResponseWriter, r *http.Request, v any) error {
	if how := r.Header.Get("Content-Encoding"); how != "" && !strings.EqualFold(how, "identity") {
		return refused(http.StatusUnsupportedMediaType, "", "", "the request is compressed (%.40q): send it as it is", how)
	}
	b, err := io.ReadAll(sent{Reader: http.MaxBytesReader(w, r.Body, maxBody)})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		var own *Error
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &own) {
			return own
		}
		if errors.As(err, &wrong) {
			field := fieldPath(v, wrong.Field)
			return badRequest(field, "%s: %s", cmp.Or(field, "the request"), typeErrorText(wrong))
		}
		return badRequest("", "the request is no JSON object: %v", err)
	}
	return nil
}

// sent is what a client sends. If it cannot be read, that is the client's fault, unlike what is wrong with a file of the server.
type sent struct {
	io.Reader
	param string // what errors name; empty for the request
}

func (s sent) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	var own *Error
	var large *http.MaxBytesError
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.As(err, &own), errors.As(err, &large):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = badRequest(s.param, "the request ended early: send it again")
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = refused(http.StatusRequestTimeout, s.param, "too_slow", "the request is too slow: send it again")
	default:
		err = badRequest(s.param, "the request cannot be read: %v", err)
	}
	return n, err
}

// fieldPath returns the path of a field in a request that is read into v. encoding/json names the embedded struct on the way,
// which the request does not have.
func fieldPath(v any, path string) string {
	for f := range reflect.TypeOf(v).Elem().Fields() {
		if f.Anonymous {
			path = strings.TrimPrefix(path, f.Name+".")
		}
	}
	return path
}

// typeErrorText says what is wrong with a value. encoding/json gives the digits only of numbers that do not fit: "number 1.5".
func typeErrorText(wrong *json.UnmarshalTypeError) string {
	digits, unfit := strings.CutPrefix(wrong.Value, "number ")
	if unfit && (wrong.Type.Kind() == reflect.Float64 || !strings.ContainsAny(digits, ".eE")) {
		return digits + " is out of range"
	}
	return fmt.Sprintf("want %s, not %s", wantedJSON(wrong.Type), withArticle(wrong.Value))
}

// wantedJSON names in JSON's terms what a type is read from.
func wantedJSON(t reflect.Type) string {
	if t == reflect.TypeFor[stringList]() {
		return "a string or a list of strings"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// withArticle returns what encoding/json calls a value as it is said in a sentence: "an array", "a number 1.5".
func withArticle(value string) string {
	if strings.HasPrefix(value, "array") || strings.HasPrefix(value, "object") {
		return "an " + value
	}
	return "a " + value
}
