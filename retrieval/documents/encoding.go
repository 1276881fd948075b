package documents

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// decodeText returns data as UTF-8. It goes by the byte order mark if there is one; otherwise it takes data as UTF-8,
// even if a few bytes of it are not, or as Windows-1252 if few bytes speak against that.
func decodeText(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}):
		out, err := utf32.UTF32(utf32.LittleEndian, utf32.UseBOM).NewDecoder().Bytes(data)
		return decoded(out, err)
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		out, err := utf16.UTF16(utf16.LittleEndian, utf16.UseBOM).NewDecoder().Bytes(data)
		return decoded(out, err)
	}
	data = withoutMark(data)
	if bytes.IndexByte(data, 0) >= 0 {
		return "", errors.New("binary (it holds NUL bytes)")
	}
	if mostlyUTF8(data) {
		return string(bytes.ToValidUTF8(data, []byte("\ufffd"))), nil
	}
	if odd := controls(data); odd*50 > len(data) {
		return "", errors.New("binary (neither UTF-8 nor Windows-1252 text)")
	}
	out, err := charmap.Windows1252.NewDecoder().Bytes(data)
	return decoded(out, err)
}

// withoutMark returns data without the mark of UTF-8 at its start.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }

func decoded(out []byte, err error) (string, error) {
	if err != nil {
		return "", fmt.Errorf("text in an unknown encoding (%v)", err)
	}
	return strings.TrimPrefix(string(out), "\ufeff"), nil
}

// mostlyUTF8 reports whether data is UTF-8, or has at least twice as many of its longer characters as bytes that are not UTF-8. In
// other encodings bytes look like such a character only by chance.
func mostlyUTF8(data []byte) bool {
	long, invalid := 0, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if i += n; n > 1 {
			long++
		} else if r == utf8.RuneError {
			invalid++
		}
	}
	return long >= 2*invalid
}

// decodeAs returns data in the named encoding as UTF-8. If the name is unknown or the data does not follow it, it goes by the
// data; it replaces what is no text at all.
func decodeAs(data []byte, name string) string {
	if enc := encodingOf(name); enc != nil {
		if out, err := enc.NewDecoder().Bytes(data); err == nil {
			return string(out)
		}
	}
	if text, err := decodeText(data); err == nil {
		return text
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// encodingOf returns the encoding of a name, nil if the name says nothing. Browsers do not know those of DOS, which mail has, too.
func encodingOf(name string) encoding.Encoding {
	name = strings.Replace(strings.ToLower(strings.Trim(name, `;"' `)), "latin-", "latin", 1)
	if enc, canonical := charset.Lookup(name); enc != nil {
		if canonical == "replacement" || canonical == "utf-8" {
			return nil
		}
		return enc
	}
	enc, _ := ianaindex.IANA.Encoding(name)
	return enc
}

// controls counts the bytes that do not occur in Windows-1252 text.
func controls(data []byte) (n int) {
	for _, c := range data {
		if c < ' ' && !bytes.ContainsRune([]byte("\t\n\r\f\v\x1b"), rune(c)) ||
			bytes.IndexByte([]byte{0x7f, 0x81, 0x8d, 0x8f, 0x90, 0x9d}, c) >= 0 {
			n++
		}
	}
	return n
}
