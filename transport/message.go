package transport

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"tandem"
)

// Message is what an Exchange carries: tandem.Draft, tandem.Target or one of the types in messageTypes, always by
// value. Send refuses anything else.
type Message any

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

// messageTypes are the control messages. On the wire a message is an array of its fields, in order.
var messageTypes = byType(
	control(codeBegin, nobody, Begin.limits, (*Begin).clean).with(msgpFalse, msgpEmpty), // Grounded, Form
	control[Ready](codeReady, accepter, nil, nil),
	control(codeSync, opener, Sync.limits, nil).with(msgpFalse), // DeviceLeads
	control[NeedSync](codeNeedSync, accepter, nil, nil),
	control(codeSources, accepter, Sources.limits, (*Sources).clean),
	control(codeEnd, anyone, End.limits, (*End).clean),
	control(codeFail, accepter, Fail.limits, (*Fail).clean).with(msgpFalse),                      // Again
	control(codeHello, nobody, Hello.limits, (*Hello).clean).with(msgpEmpty, msgpEmpty, msgpNil), // Adapter, Replica, Addrs
	control(codePairRequest, nobody, pairRequest.limits, (*pairRequest).clean),
	control(codePairReply, nobody, pairReply.limits, (*pairReply).clean),
	control(codeHandover, anyone, handoverLimits, nil),
	control(codePassages, accepter, Passages.limits, (*Passages).clean),
	control(codePiece, accepter, Piece.limits, nil),
	control(codeGot, opener, Got.limits, nil),
)

// sender says which side may send a message within an exchange.
type sender uint8

const (
	nobody   sender = iota // outside of exchanges, or as the first message of one
	opener                 // the side that opened the exchange: the device
	accepter               // the other side
	anyone
)

// messageType describes a type of control message.
type messageType struct {
	code   byte
	sender sender
	of     reflect.Type
	limits func(Message) error // refuses what exceeds the limits, on sending and on receiving
	decode func(body []byte) (Message, error)

	fields int    // how many it has
	later  []byte // what those at the end that came later than the others are by default: see shorten
}

// with returns the message type, whose last fields came later than the others and by default are encoded as these bytes.
// Another value of such a field must not end with that byte.
func (t messageType) with(later ...byte) messageType {
	t.later = later
	var err error
	if t.fields, err = fieldsOf(reflect.Zero(t.of).Interface()); err != nil {
		panic(err)
	}
	return t
}

// fieldsOf returns the length of the array that a message becomes.
func fieldsOf(m Message) (int, error) {
	body, err := marshal(m)
	n, _, ok := arrayLen(body)
	if err == nil && !ok {
		err = fmt.Errorf("%T is not an array", m)
	}
	return n, err
}

// shorten leaves out fields that came later than the message if they have their defaults, so that peers that do not know them
// understand it.
func (t messageType) shorten(body []byte) []byte {
	for i := len(t.later) - 1; i >= 0; i-- {
		n, header, ok := arrayLen(body)
		if !ok || body[len(body)-1] != t.later[i] {
			break
		}
		body = append(appendArrayLen(nil, n-1), body[header:len(body)-1]...)
	}
	return body
}

// lengthen adds the fields that a peer left out.
func (t messageType) lengthen(body []byte) []byte {
	n, header, ok := arrayLen(body)
	if !ok || n >= t.fields || n < t.fields-len(t.later) {
		return body
	}
	out := append(appendArrayLen(nil, t.fields), body[header:]...)
	return append(out, t.later[len(t.later)-(t.fields-n):]...)
}

const (
	msgpNil   = 0xc0
	msgpFalse = 0xc2
	msgpEmpty = 0xa0 // a string
)

// arrayLen reads the header of an array.
func arrayLen(body []byte) (n, header int, ok bool) {
	switch {
	case len(body) > 0 && body[0]&0xf0 == 0x90:
		return int(body[0] & 0x0f), 1, true
	case len(body) > 2 && body[0] == 0xdc:
		return int(body[1])<<8 | int(body[2]), 3, true
	}
	return 0, 0, false
}

func appendArrayLen(b []byte, n int) []byte {
	if n < 16 {
		return append(b, 0x90|byte(n))
	}
	return append(b, 0xdc, byte(n>>8), byte(n))
}

// control describes the message type M. The function limits may be nil. The function clean removes what a terminal or a
// log would obey from texts that are shown verbatim; it is nil for messages without such texts. It does not change the
// question and the passages, which are for a model, or texts that are compared.
func control[M any](code byte, from sender, limits func(M) error, clean func(*M)) messageType {
	t := messageType{code: code, sender: from, of: reflect.TypeFor[M](), limits: func(Message) error { return nil }}
	if limits != nil {
		t.limits = func(m Message) error { return limits(m.(M)) }
	}
	t.decode = func(body []byte) (Message, error) {
		var m M
		if err := msgpack.Unmarshal(body, &m); err != nil {
			return nil, fmt.Errorf("decode %T: %w", m, err)
		}
		if err := t.limits(m); err != nil {
			return nil, err
		}
		if clean != nil {
			clean(&m)
		}
		return m, nil
	}
	return t
}

// byType indexes message types by their Go type.
func byType(types ...messageType) map[reflect.Type]messageType {
	out := map[reflect.Type]messageType{}
	for _, t := range types {
		out[t.of] = t
	}
	return out
}

// typeOf returns the type of a control message, or an error if m is not one.
func typeOf(m Message) (messageType, error) {
	t, ok := messageTypes[reflect.TypeOf(m)]
	if !ok {
		return t, fmt.Errorf("%T is not a message", m)
	}
	return t, nil
}

// typeWith returns the message type with the given code.
func typeWith(code byte) (messageType, error) {
	for _, t := range messageTypes {
		if t.code == code {
			return t, nil
		}
	}
	return messageType{}, fmt.Errorf("control message of unknown code %d", code)
}

// allowed reports whether the side that opened an exchange, or the other one, may send m in it.
func allowed(m Message, byOpener bool) bool {
	switch m.(type) {
	case tandem.Draft, tandem.Target:
		return true
	}
	t, err := typeOf(m)
	return err == nil && (t.sender == anyone || t.sender == opener && byOpener || t.sender == accepter && !byOpener)
}

// Begin opens an exchange. It holds the question and everything else that both sides must share to answer it.
type Begin struct {
	ID       string // names the answer in both sides' logs
	Question string
	History  []Turn // earlier turns, oldest first
	tandem.Settings
}

// limits bounds the texts. The cloud checks whether the settings make sense, and can answer with a Fail.
func (m Begin) limits() error {
	history := 0
	for _, t := range m.History {
		history += len(t.Role) + len(t.Content)
	}
	return atMost(
		bound{"question", len(m.Question), MaxQuestion},
		bound{"number of earlier turns", len(m.History), MaxTurns},
		bound{"length of earlier turns", history, MaxHistory},
		bound{"id", len(m.ID), MaxText},
		bound{"weights", len(m.Weights), MaxText},
		bound{"form", len(m.Form), MaxForm},
	)
}

func (m *Begin) clean() { m.ID = clean(m.ID) }

// Turn is one message of the conversation so far.
type Turn struct {
	Role    string
	Content string
}

// Ready says that the cloud has retrieved and prefilled and can join the answer.
type Ready struct {
	Documents int           // passages in use
	Prefill   time.Duration // retrieval, passage KV and the question's own prefill
	MaxTokens int32         // the cloud's limit on the length of the answer if that is below the device's, or 0
}

// Sync starts an epoch from the device's answer so far.
type Sync struct {
	Epoch       uint32
	Tokens      []tandem.Token // agreed so far
	DeviceLeads bool           // at the next step (tandem.CouplingLeader)
}

func (m Sync) limits() error { return atMost(bound{"sync", len(m.Tokens), tandem.MaxAnswer}) }

// NeedSync asks the device for a Sync: the sender saw drafts that it cannot place.
type NeedSync struct{}

// handoverLimits checks a hand-over, which makes the receiver the side that turns drafts into targets. Either side may send one.
func handoverLimits(m tandem.Handover) error {
	for _, a := range m.Accept {
		if !(a >= 0 && a <= 1) {
			return fmt.Errorf("hand-over: acceptance rate %v is not between 0 and 1", a)
		}
	}
	return nil
}

// Sources says at the end of an answer what the cloud's documents had to do with it.
type Sources struct {
	Sources []Source // by title; none unless the cloud's operator allows it
	Parts   []Part   // the sentences of the answer; their sources, too, only if the operator allows it
}

// Part says which documents of the cloud a sentence of the answer draws on.
type Part struct {
	From    tandem.Step // its first token
	H       float64     // the cloud's mean weight while it was written, in nats
	Nothing float64     // share of the context without a document, 0 to 1
	Sources []Source
	Quotes  []Quote // what the cloud's documents say, only if its operator allows it

	// Otherwise has the likeliest sentence that says something else, if it might as well have been the answer; at most one.
	// Unless the operator allows quotes, it has a relevance and nothing more.
	Otherwise []Quote
}

// Quote is a sentence of a document that says a part of the answer or, if the answer is not known, a passage that comes near.
type Quote struct {
	Title     string
	Text      string
	From, To  int     // the bytes of Text that answer, or a passage's likeliest sentence; equal if that is not known
	Weight    float64 // its document's share of the cloud's distribution, 0 to 1
	Relevance float64 // to the question, in nats
	Column    string  // the name of the column that answers, in a table's row
}

// quoteFields is how many fields a quote without a column has, as every quote had once.
const quoteFields = 6

// EncodeMsgpack leaves out a column that there is not, so that peers that do not know columns understand the quote.
func (q Quote) EncodeMsgpack(enc *msgpack.Encoder) error {
	fields := []any{q.Title, q.Text, q.From, q.To, q.Weight, q.Relevance}
	if q.Column != "" {
		fields = append(fields, q.Column)
	}
	if err := enc.EncodeArrayLen(len(fields)); err != nil {
		return err
	}
	return enc.EncodeMulti(fields...)
}

// DecodeMsgpack reads what EncodeMsgpack writes.
func (q *Quote) DecodeMsgpack(dec *msgpack.Decoder) error {
	n, err := dec.DecodeArrayLen()
	fields := []any{&q.Title, &q.Text, &q.From, &q.To, &q.Weight, &q.Relevance, &q.Column}
	if err == nil && n != quoteFields && n != len(fields) {
		err = fmt.Errorf("a quote of %d fields", n)
	}
	if err != nil {
		return err
	}
	return dec.DecodeMulti(fields[:n]...)
}

func (q Quote) limits() error {
	if err := atMost(bound{"title", len(q.Title), MaxTitle}, bound{"column", len(q.Column), MaxTitle}, bound{"quote", len(q.Text), MaxQuote}); err != nil {
		return err
	}
	if !(q.From >= 0 && q.From <= q.To && q.To <= len(q.Text)) {
		return fmt.Errorf("sources: bytes %d to %d of a quote of %d", q.From, q.To, len(q.Text))
	}
	if !(q.Weight >= 0 && q.Weight <= 1+rounding && math.Abs(q.Relevance) <= maxWeight) {
		return fmt.Errorf("sources: weight %v and relevance %v of a quote are out of range", q.Weight, q.Relevance)
	}
	return nil
}

// Source is one document and its mean weight over the answer.
type Source struct {
	Title  string
	Weight float64
}

const (
	maxWeight = 1 << 14 // bounds the weight of a part, in nats
	rounding  = 1e-9    // a sum of weights may exceed 1 by this much
)

func (m Sources) limits() error {
	if err := atMost(bound{"parts", len(m.Parts), MaxParts}); err != nil {
		return err
	}
	for i, p := range m.Parts {
		if p.From > tandem.MaxAnswer || i > 0 && p.From <= m.Parts[i-1].From {
			return fmt.Errorf("sources: part %d begins at token %d", i, p.From)
		}
		if !(math.Abs(p.H) <= maxWeight && p.Nothing >= 0 && p.Nothing <= 1) {
			return fmt.Errorf("sources: weight %v and share %v of a part are out of range", p.H, p.Nothing)
		}
		if err := limitSources(p.Sources, MaxPartSources); err != nil {
			return err
		}
		if err := atMost(bound{"quotes", len(p.Quotes), MaxPartQuotes}, bound{"quotes that say something else", len(p.Otherwise), 1}); err != nil {
			return err
		}
		for _, q := range slices.Concat(p.Quotes, p.Otherwise) {
			if err := q.limits(); err != nil {
				return err
			}
		}
	}
	return limitSources(m.Sources, MaxSources)
}

func limitSources(list []Source, most int) error {
	if err := atMost(bound{"sources", len(list), most}); err != nil {
		return err
	}
	for _, s := range list {
		if err := atMost(bound{"title", len(s.Title), MaxTitle}); err != nil {
			return err
		}
		if !(s.Weight >= 0 && s.Weight <= 1+rounding) {
			return fmt.Errorf("sources: weight %v is not between 0 and 1", s.Weight)
		}
	}
	return nil
}

func (m *Sources) clean() {
	titles := func(list []Source) {
		for i := range list {
			list[i].Title = clean(list[i].Title)
		}
	}
	titles(m.Sources)
	for _, p := range m.Parts {
		titles(p.Sources)
		for _, list := range [][]Quote{p.Quotes, p.Otherwise} {
			for i := range list {
				list[i].Title, list[i].Column = clean(list[i].Title), clean(list[i].Column)
			}
		}
	}
}

// Passages answers WantText and WantKV. Saved caches follow as Pieces, one after the other (SendBulk).
type Passages struct {
	Passages []Passage
	Saved    []int // bytes of each passage's saved KV cache; empty with WantText
}

// Passage is a piece of one of the cloud's documents.
type Passage struct {
	Title, Text string
}

func (m Passages) limits() error {
	if err := atMost(bound{"number of passages", len(m.Passages), MaxPassages}); err != nil {
		return err
	}
	if len(m.Saved) != 0 && len(m.Saved) != len(m.Passages) {
		return fmt.Errorf("%d saved caches for %d passages", len(m.Saved), len(m.Passages))
	}
	for _, p := range m.Passages {
		if err := atMost(bound{"passage", len(p.Title) + len(p.Text), MaxPassage}); err != nil {
			return err
		}
	}
	sum := 0
	for _, n := range m.Saved {
		sum += n
		if err := atMost(bound{"saved cache", n, MaxBulk}, bound{"saved caches", sum, MaxBulk}); err != nil {
			return err
		}
	}
	return nil
}

func (m *Passages) clean() {
	for i := range m.Passages {
		m.Passages[i].Title = clean(m.Passages[i].Title)
	}
}

// Piece is a part of a bulk transfer (SendBulk).
type Piece struct {
	Data []byte
}

func (m Piece) limits() error { return atMost(bound{"piece", len(m.Data), maxPiece}) }

// Got acknowledges the Pieces of a bulk transfer.
type Got struct {
	Bytes int // of all pieces so far
}

func (m Got) limits() error { return atMost(bound{"bytes received", m.Bytes, MaxBulk}) }

// End says that the answer is complete or given up, and why.
type End struct {
	Reason string
}

func (m End) limits() error { return atMost(bound{"reason", len(m.Reason), MaxText}) }
func (m *End) clean()       { m.Reason = clean(m.Reason) }

// Fail says why a side cannot take part in the answer.
type Fail struct {
	Text  string
	Again bool // another replica, or this one later, can take the question
}

func (m Fail) limits() error { return atMost(bound{"reason", len(m.Text), MaxText}) }
func (m *Fail) clean()       { m.Text = clean(m.Text) }

// Limits on what a peer may send, checked before anything is allocated for it.
const (
	MaxQuestion    = 64 << 10  // bytes of Begin.Question
	MaxForm        = 64 << 10  // bytes of the form of an answer
	MaxHistory     = 256 << 10 // bytes of all turns together
	MaxTurns       = 256
	MaxTitle       = 1 << 10 // bytes of a title
	MaxSources     = 256
	MaxParts       = 32        // sentences in Sources
	MaxPartSources = 6         // sources of a sentence, heaviest first
	MaxPartQuotes  = 3         // quotes of a sentence
	MaxQuote       = 1 << 11   // bytes of a quote
	MaxReplicas    = 16        // addresses of a cloud
	MaxText        = 4 << 10   // bytes of a reason, a name, an identifier
	MaxPassages    = 64        // in an exchange
	MaxPassage     = 16 << 10  // bytes of a passage with its title
	MaxBulk        = 256 << 20 // bytes of a bulk transfer
	maxPiece       = 16 << 10  // bytes of a Piece
	maxControl     = 512 << 10 // bytes of any control message, uncompressed
)

// bound is a number that must lie between 0 and most.
type bound struct {
	what    string
	n, most int
}

// atMost returns an error for the first bound that is exceeded.
func atMost(bounds ...bound) error {
	for _, b := range bounds {
		if b.n < 0 || b.n > b.most {
			return fmt.Errorf("%s of %d, at most %d allowed", b.what, b.n, b.most)
		}
	}
	return nil
}
