package transport

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/pierrec/lz4/v4"
	"github.com/vmihailenco/msgpack/v5"

	"tandem"
)

// Codes of the control messages. They are part of the wire format: append, never renumber.
const (
	codeBegin = iota + 1
	codeReady
	codeSync
	codeNeedSync
	codeSources
	codeEnd
	codeFail
	codeHello
	codePairRequest
	codePairReply
	codeHandover
	codePassages
	codePiece
	codeGot
)

// worthwhile is the size from which LZ4 is tried.
const worthwhile = 256

// frame turns m into the bytes that cross, whichever way they travel.
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

// encodeControl writes a control message: the kind byte, whose lowest bit says that the body is compressed,
// a code, and the body as msgpack. A compressed body is preceded by its plain length.
func encodeControl(m Message) ([]byte, error) {
	code, err := codeOf(m)
	if err != nil {
		return nil, err
	}
	if err := checkLimits(m); err != nil {
		return nil, err
	}
	body, err := msgpack.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", m, err)
	}
	if len(body) > maxControl {
		return nil, fmt.Errorf("%T of %d bytes, at most %d allowed", m, len(body), maxControl)
	}
	if len(body) >= worthwhile {
		packed := binary.AppendUvarint([]byte{kindControl<<5 | 1, code}, uint64(len(body)))
		start := len(packed)
		packed = append(packed, make([]byte, lz4.CompressBlockBound(len(body)))...)
		n, err := lz4.CompressBlock(body, packed[start:], nil)
		if err == nil && n > 0 && start+n < 2+len(body) {
			return packed[:start+n], nil
		}
	}
	return append([]byte{kindControl << 5, code}, body...), nil
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
		if err != nil || uint64(got) != size {
			return nil, fmt.Errorf("decompress control message: %d of %d bytes: %v", got, size, err)
		}
		body = plain
	}
	if len(body) > maxControl {
		return nil, fmt.Errorf("control message of %d bytes, at most %d allowed", len(body), maxControl)
	}
	if err := checkShape(body); err != nil {
		return nil, fmt.Errorf("control message %d: %w", frame[1], err)
	}
	switch frame[1] {
	case codeBegin:
		return unmarshal[Begin](body)
	case codeReady:
		return unmarshal[Ready](body)
	case codeSync:
		return unmarshal[Sync](body)
	case codeNeedSync:
		return unmarshal[NeedSync](body)
	case codeSources:
		return unmarshal[Sources](body)
	case codeEnd:
		return unmarshal[End](body)
	case codeFail:
		return unmarshal[Fail](body)
	case codeHello:
		return unmarshal[Hello](body)
	case codePairRequest:
		return unmarshal[pairRequest](body)
	case codePairReply:
		return unmarshal[pairReply](body)
	case codeHandover:
		return unmarshal[Handover](body)
	case codePassages:
		return unmarshal[Passages](body)
	case codePiece:
		return unmarshal[Piece](body)
	case codeGot:
		return unmarshal[Got](body)
	}
	return nil, fmt.Errorf("control message of unknown code %d", frame[1])
}

func unmarshal[M any](body []byte) (Message, error) {
	var m M
	if err := msgpack.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("decode %T: %w", m, err)
	}
	if err := checkLimits(m); err != nil {
		return nil, err
	}
	return printable(m), nil
}

// printable returns m without what a terminal or a log would obey, in the texts that are shown as they are. The
// question and passages are for a model; what is compared stays as it is.
func printable(m Message) Message {
	titles := func(list []Source) {
		for i := range list {
			list[i].Title = clean(list[i].Title)
		}
	}
	switch m := m.(type) {
	case Begin:
		m.ID = clean(m.ID)
		return m
	case Sources:
		titles(m.Sources)
		for _, p := range m.Parts {
			titles(p.Sources)
		}
	case Passages:
		for i := range m.Passages {
			m.Passages[i].Title = clean(m.Passages[i].Title)
		}
	case End:
		m.Reason = clean(m.Reason)
		return m
	case Fail:
		m.Text = clean(m.Text)
		return m
	case Hello:
		m.Software, m.Name, m.Model = clean(m.Software), clean(m.Name), clean(m.Model)
		return m
	case pairRequest:
		m.Name = clean(m.Name)
		return m
	case pairReply:
		m.Name, m.Refused = clean(m.Name), clean(m.Refused)
		return m
	}
	return m
}

// clean takes control characters and overrides of the writing direction out of a text of the peer's: in a terminal
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

func codeOf(m Message) (byte, error) {
	switch m.(type) {
	case Begin:
		return codeBegin, nil
	case Ready:
		return codeReady, nil
	case Sync:
		return codeSync, nil
	case NeedSync:
		return codeNeedSync, nil
	case Sources:
		return codeSources, nil
	case End:
		return codeEnd, nil
	case Fail:
		return codeFail, nil
	case Hello:
		return codeHello, nil
	case pairRequest:
		return codePairRequest, nil
	case pairReply:
		return codePairReply, nil
	case Handover:
		return codeHandover, nil
	case Passages:
		return codePassages, nil
	case Piece:
		return codePiece, nil
	case Got:
		return codeGot, nil
	}
	return 0, fmt.Errorf("%T is not a message", m)
}

// checkLimits refuses what exceeds the limits of message.go, when sending as when receiving.
func checkLimits(m Message) error {
	over := func(what string, n, limit int) error {
		return fmt.Errorf("%s of %d, at most %d allowed", what, n, limit)
	}
	switch m := m.(type) {
	case Begin:
		return checkBegin(m, over)
	case Sync:
		if len(m.Tokens) > MaxAnswer {
			return over("sync", len(m.Tokens), MaxAnswer)
		}
	case Handover:
		for _, a := range m.Accept {
			if !(a >= 0 && a <= 1) {
				return fmt.Errorf("hand-over: acceptance rate %v is not between 0 and 1", a)
			}
		}
	case Sources:
		return checkSources(m, over)
	case Passages:
		return checkPassages(m, over)
	case Piece:
		if len(m.Data) > maxPiece {
			return over("piece", len(m.Data), maxPiece)
		}
	case Got:
		if m.Bytes < 0 || m.Bytes > MaxBulk {
			return over("bytes received", m.Bytes, MaxBulk)
		}
	case End:
		if len(m.Reason) > MaxText {
			return over("reason", len(m.Reason), MaxText)
		}
	case Fail:
		if len(m.Text) > MaxText {
			return over("reason", len(m.Text), MaxText)
		}
	case Hello:
		return m.valid()
	case pairRequest:
		if len(m.Name) > MaxText {
			return over("name", len(m.Name), MaxText)
		}
	case pairReply:
		if len(m.Name)+len(m.Refused) > MaxText {
			return over("name", len(m.Name)+len(m.Refused), MaxText)
		}
	}
	return nil
}

func checkPassages(m Passages, over func(string, int, int) error) error {
	switch {
	case len(m.Passages) > MaxPassages:
		return over("number of passages", len(m.Passages), MaxPassages)
	case len(m.Saved) != 0 && len(m.Saved) != len(m.Passages):
		return fmt.Errorf("%d saved caches for %d passages", len(m.Saved), len(m.Passages))
	}
	for _, p := range m.Passages {
		if n := len(p.Title) + len(p.Text); n > MaxPassage {
			return over("passage", n, MaxPassage)
		}
	}
	sum := 0
	for _, n := range m.Saved {
		if sum += n; n < 0 || n > MaxBulk || sum > MaxBulk {
			return over("saved caches", sum, MaxBulk)
		}
	}
	return nil
}

// checkSources bounds what the cloud says of its documents.
func checkSources(m Sources, over func(string, int, int) error) error {
	if len(m.Parts) > MaxParts {
		return over("parts", len(m.Parts), MaxParts)
	}
	check := func(list []Source, most int) error {
		if len(list) > most {
			return over("sources", len(list), most)
		}
		for _, s := range list {
			if len(s.Title) > MaxTitle {
				return over("title", len(s.Title), MaxTitle)
			}
			if !(s.Weight >= 0 && s.Weight <= 1+rounding) {
				return fmt.Errorf("sources: weight %v is not between 0 and 1", s.Weight)
			}
		}
		return nil
	}
	for i, p := range m.Parts {
		if p.From > MaxAnswer || i > 0 && p.From <= m.Parts[i-1].From {
			return fmt.Errorf("sources: part %d begins at token %d", i, p.From)
		}
		if !(math.Abs(p.H) <= maxWeight && p.Nothing >= 0 && p.Nothing <= 1) {
			return fmt.Errorf("sources: weight %v and share %v of a part make no sense", p.H, p.Nothing)
		}
		if err := check(p.Sources, MaxPartSources); err != nil {
			return err
		}
	}
	return check(m.Sources, MaxSources)
}

const (
	maxWeight = 1 << 14 // bounds the weight of a part, in nats
	rounding  = 1e-9    // by so much a sum of weights may exceed 1
)

func checkBegin(m Begin, over func(string, int, int) error) error {
	history := 0
	for _, t := range m.History {
		history += len(t.Role) + len(t.Content)
	}
	for _, c := range []struct {
		what     string
		n, limit int
	}{
		{"question", len(m.Question), MaxQuestion},
		{"number of earlier turns", len(m.History), MaxTurns},
		{"length of earlier turns", history, MaxHistory},
		{"id", len(m.ID), MaxText},
		{"weights", len(m.Weights), MaxText},
		{"support", m.MaxSupport, tandem.MaxSupport},
		{"length of the answer", m.MaxTokens, MaxAnswer},
		{"lookahead", m.Lookahead, MaxAnswer},
		{"number of documents", m.Documents, MaxSources},
		{"number of rows", m.Rows, MaxSources},
	} {
		if c.n < 0 || c.n > c.limit {
			return over(c.what, c.n, c.limit)
		}
	}
	for _, x := range []float64{m.TopP, m.Sampling.Temperature, m.Sampling.TopP, m.Sampling.MinP, m.Sampling.RepeatPenalty} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return errors.New("begin: a parameter is not a number")
		}
	}
	return nil
}

// checkShape walks a msgpack value before it is decoded: the decoder allocates slices by the length that
// their header claims. It admits one value of what our messages are made of (no maps, no extensions),
// nested at most 5 deep (Sources), whose arrays have all their elements and at most MaxAnswer of them.
func checkShape(b []byte) error {
	rest, err := skipValue(b, 5)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes too many", len(rest))
	}
	return err
}

func skipValue(b []byte, depth int) ([]byte, error) {
	if len(b) == 0 {
		return nil, errShort
	}
	c, b := b[0], b[1:]
	size, array := 0, -1
	switch {
	case c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3: // small integers, nil, booleans
	case c&0xe0 == 0xa0:
		size = int(c & 0x1f)
	case c&0xf0 == 0x90:
		array = int(c & 0x0f)
	case c == 0xcc, c == 0xd0:
		size = 1
	case c == 0xcd, c == 0xd1:
		size = 2
	case c == 0xca, c == 0xce, c == 0xd2:
		size = 4
	case c == 0xcb, c == 0xcf, c == 0xd3:
		size = 8
	case c == 0xc4, c == 0xd9, c == 0xc5, c == 0xda, c == 0xc6, c == 0xdb, c == 0xdc, c == 0xdd: // with a length
		width := map[byte]int{0xc4: 1, 0xd9: 1, 0xc5: 2, 0xda: 2, 0xdc: 2, 0xc6: 4, 0xdb: 4, 0xdd: 4}[c]
		if len(b) < width {
			return nil, errShort
		}
		for _, x := range b[:width] {
			size = size<<8 | int(x)
		}
		if b = b[width:]; c >= 0xdc {
			size, array = 0, size
		}
	default:
		return nil, fmt.Errorf("unexpected msgpack code %#x", c)
	}
	if size < 0 || size > len(b) {
		return nil, errShort
	}
	b = b[size:]
	if array > MaxAnswer || array >= 0 && depth == 0 {
		return nil, fmt.Errorf("array of %d too long or too deep", array)
	}
	for range max(array, 0) {
		var err error
		if b, err = skipValue(b, depth-1); err != nil {
			return nil, err
		}
	}
	return b, nil
}
