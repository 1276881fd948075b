package documents

import (
	"bytes"
	"context"
	"io"
	"mime/quotedprintable"
	"strings"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
)

// This file reads the lines of calendars (RFC 5545) and address books (RFC 6350), which have one form:
// NAME;PARAMETER=VALUE:VALUE. A line that begins with a blank continues the one above.

// property is a line of a calendar or an address book.
type property struct {
	name   string            // in upper case, without the group before it
	group  string            // that groups it with a label, as "item1" does in "item1.TEL:"
	params map[string]string // by name in upper case; a parameter without a name, as in "TEL;HOME:", is a TYPE
	value  string            // as in the file: parts and text still have their backslashes
}

// properties passes the lines of a calendar or an address book to do, until ctx ends. It drops lines of another form.
func properties(ctx context.Context, text string, do func(property)) error {
	if err := countLines(text); err != nil {
		return err
	}
	var whole strings.Builder // the line with its continuations
	flush := func() {
		if p, ok := parseProperty(whole.String()); ok {
			do(p)
		}
		whole.Reset()
	}
	soft := false // a quoted-printable line goes on
	for _, line := range splitLines(text) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case soft:
			whole.WriteString("\n")
			whole.WriteString(line)
		case line != "" && (line[0] == ' ' || line[0] == '\t'):
			whole.WriteString(line[1:])
			continue
		default:
			flush()
			whole.WriteString(line)
			soft = quoted(line)
		}
		soft = soft && strings.HasSuffix(line, "=")
	}
	flush()
	return nil
}

// joinSplit joins lines of a calendar or an address book where a continuation may split a character into its bytes: behind a byte that is
// not ASCII. (A line of quoted-printable never ends in one where it goes on.) It leaves UTF-16 alone, whose characters stay whole.
func joinSplit(data []byte) []byte {
	if bytes.IndexByte(data, 0) >= 0 {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		if n := len(out); n > 0 && out[n-1] >= utf8.RuneSelf {
			rest := bytes.TrimPrefix(data, []byte("\r"))
			rest = bytes.TrimPrefix(rest, []byte("\n"))
			if len(rest) < len(data) && len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
				data = rest[1:]
				continue
			}
		}
		out, data = append(out, data[0]), data[1:]
	}
	return out
}

// quoted reports whether the value of a line is in the encoding quoted-printable, as old address books have it.
func quoted(line string) bool {
	head, _, _ := strings.Cut(line, ":")
	return strings.Contains(strings.ToUpper(head), "QUOTED-PRINTABLE")
}

// maxParams is how many parameters of a line are read. Those of the same name are joined.
const maxParams = 64

func parseProperty(line string) (property, bool) {
	at := valueAt(line)
	if at < 0 {
		return property{}, false
	}
	parts := strings.Split(line[:at], ";")
	group, name, grouped := strings.Cut(parts[0], ".")
	if !grouped {
		group, name = "", parts[0]
	}
	p := property{group: group, name: strings.ToUpper(strings.TrimSpace(name)), value: line[at+1:]}
	if len(parts) > 1 {
		p.params = map[string]string{}
	}
	for _, param := range parts[1:min(len(parts), maxParams+1)] {
		key, value, named := strings.Cut(param, "=")
		if !named {
			key, value = "TYPE", param
		}
		key, value = strings.ToUpper(key), strings.Trim(value, `"`)
		if before := p.params[key]; before != "" {
			value = before + "," + value
		}
		p.params[key] = value
	}
	if quoted(line[:at] + ":") {
		if data, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(p.value))); err == nil {
			p.value = decodeAs(data, p.params["CHARSET"])
		}
	}
	return p, true
}

// valueAt returns where the colon before a line's value is: the first that is not within quotation marks. It returns -1
// if there is none.
func valueAt(line string) int {
	within := false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			within = !within
		case line[i] == ':' && !within:
			return i
		}
	}
	return -1
}

// text returns the value without its backslashes.
func (p property) text() string { return unescaped(p.value) }

// fields returns the parts of the value that semicolons divide, without backslashes and blanks around them.
func (p property) fields() (out []string) {
	from := 0
	for i := 0; i <= len(p.value); i++ {
		switch {
		case i == len(p.value) || p.value[i] == ';':
			out = append(out, english.Collapse(unescaped(p.value[from:i])))
			from = i + 1
		case p.value[i] == '\\':
			i++
		}
	}
	return out
}

// unescaped returns text without backslashes before signs; \n is a line end.
func unescaped(s string) string { return withoutBackslashes.Replace(s) }

var withoutBackslashes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\:`, ":")

// cutFold removes a prefix in letters of either case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
