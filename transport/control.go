package transport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/pierrec/lz4/v4"
	"github.com/vmihailenco/msgpack/v5"

	"tandem"
)

// worthwhile is the size from which LZ4 is tried.
const worthwhile = 256

// frame encodes m, in the same way for datagrams and for the stream.
func (w *frameWriter) frame(m Message) ([]byte, error) {
	switch m := m.(type) {
	case tandem.Draft:
		return w.appendDraft(nil, m)
	case tandem.Target:
		return w.appendTarget(nil, m)
	}
	return encodeControl(m)
}

// message is the inverse of frame.
func (r *frameReader) message(frame []byte) (Message, error) {
	if len(frame) == 0 {
		return nil, errShort
	}
	switch {
	case frame[0]>>7 == kindDraft:
		return r.readDraft(frame)
	case frame[0]>>6 == kindTarget:
		return r.readTarget(frame)
	case frame[0]>>5 == kindControl:
		return decodeControl(frame)
	}
	return nil, fmt.Errorf("frame of unknown kind %#x", frame[0])
}

// encodeControl writes a control message: the kind byte, whose lowest bit says whether the body is compressed, the code
// of the message type, and the body as msgpack. The plain length precedes a compressed body.
func encodeControl(m Message) ([]byte, error) {
	t, err := typeOf(m)
	if err != nil {
		return nil, err
	}
	if err := t.limits(m); err != nil {
		return nil, err
	}
	body, err := marshal(m)
	if err != nil {
		return nil, err
	}
	body = t.shorten(body)
	if len(body) > maxControl {
		return nil, fmt.Errorf("%T of %d bytes, at most %d allowed", m, len(body), maxControl)
	}
	if len(body) >= worthwhile {
		packed := binary.AppendUvarint([]byte{kindControl<<5 | 1, t.code}, uint64(len(body)))
		start := len(packed)
		packed = append(packed, make([]byte, lz4.CompressBlockBound(len(body)))...)
		n, err := lz4.CompressBlock(body, packed[start:], nil)
		if err == nil && n > 0 && start+n < 2+len(body) {
			return packed[:start+n], nil
		}
	}
	return append([]byte{kindControl << 5, t.code}, body...), nil
}

// marshal encodes a message as an array of its fields.
func marshal(m Message) ([]byte, error) {
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.UseArrayEncodedStructs(true)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encode %T: %w", m, err)
	}
	return buf.Bytes(), nil
}

func decodeControl(frame []byte) (Message, error) {
	if len(frame) < 2 || frame[0]&^1 != kindControl<<5 {
		return nil, errors.New("malformed control message")
	}
	body := frame[2:]
	if frame[0]&1 == 1 {
		size, n := binary.Uvarint(body)
		if n <= 0 || size > maxControl {
			return nil, fmt.Errorf("control message of %d bytes, at most %d allowed", size, maxControl)
		}
		plain := make([]byte, size)
		got, err := lz4.UncompressBlock(body[n:], plain)
		if err != nil {
			return nil, fmt.Errorf("decompress control message: %w", err)
		}
		if uint64(got) != size {
			return nil, fmt.Errorf("decompress control message: it has %d bytes, not %d", got, size)
		}
		body = plain
	}
	if len(body) > maxControl {
		return nil, fmt.Errorf("control message of %d bytes, at most %d allowed", len(body), maxControl)
	}
	if err := checkShape(body); err != nil {
		return nil, fmt.Errorf("control message %d: %w", frame[1], err)
	}
	t, err := typeWith(frame[1])
	if err != nil {
		return nil, err
	}
	return t.decode(t.lengthen(body))
}

// clean removes control characters and writing-direction overrides from a text that came from the peer. In a terminal
// they could hide or forge what is shown, or write to the clipboard.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// checkShape walks a msgpack value before it is decoded, because the decoder allocates slices by the length that their
// header claims. It accepts one value of the kinds that our messages consist of (no maps, no extensions), nested at most
// 5 deep (Sources). Its arrays must hold all their elements, and at most tandem.MaxAnswer.
func checkShape(b []byte) error {
	rest, err := skipValue(b, 5)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes after the end of the message", len(rest))
	}
	return err
}

// skipValue returns what follows the value at the front of b.
func skipValue(b []byte, depth int) ([]byte, error) {
	size, array, b, err := skipHeader(b)
	if err != nil {
		return nil, err
	}
	if size < 0 || size > len(b) {
		return nil, errShort
	}
	b = b[size:]
	if array > tandem.MaxAnswer || array >= 0 && depth == 0 {
		return nil, fmt.Errorf("array of %d too long or too deep", array)
	}
	for range max(array, 0) {
		if b, err = skipValue(b, depth-1); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// skipHeader reads the header of the value at the front of b, and returns what follows it: size bytes, or the elements of an
// array. array is -1 for other values.
func skipHeader(b []byte) (size, array int, rest []byte, err error) {
	if len(b) == 0 {
		return 0, 0, nil, errShort
	}
	c, b := b[0], b[1:]
	width := 0 // of the length that follows, if any
	switch {
	case c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3: // small integers, nil, booleans
	case c&0xe0 == 0xa0:
		return int(c & 0x1f), -1, b, nil
	case c&0xf0 == 0x90:
		return 0, int(c & 0x0f), b, nil
	case c == 0xcc, c == 0xd0:
		size = 1
	case c == 0xcd, c == 0xd1:
		size = 2
	case c == 0xca, c == 0xce, c == 0xd2:
		size = 4
	case c == 0xcb, c == 0xcf, c == 0xd3:
		size = 8
	case c == 0xc4, c == 0xd9: // bytes and texts with a length
		width = 1
	case c == 0xc5, c == 0xda, c == 0xdc:
		width = 2
	case c == 0xc6, c == 0xdb, c == 0xdd:
		width = 4
	default:
		return 0, 0, nil, fmt.Errorf("unexpected msgpack code %#x", c)
	}
	if len(b) < width {
		return 0, 0, nil, errShort
	}
	for _, x := range b[:width] {
		size = size<<8 | int(x)
	}
	if c == 0xdc || c == 0xdd {
		return 0, size, b[width:], nil
	}
	return size, -1, b[width:], nil
}
