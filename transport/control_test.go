package transport

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"tandem"
)

// drawControl draws any control message.
func drawControl(t *rapid.T) Message {
	text := rapid.Map(rapid.StringN(0, 40, 400), clean)
	number := rapid.IntRange(0, 200)
	switch rapid.IntRange(0, 11).Draw(t, "kind") {
	case 0:
		b := Begin{
			ID: text.Draw(t, "id"), Question: text.Draw(t, "question"),
			Settings: tandem.Settings{
				Seed:      rapid.Uint64().Draw(t, "seed"),
				Sampling:  tandem.Sampling{Temperature: rapid.Float64Range(0, 2).Draw(t, "temperature"), TopK: number.Draw(t, "top-k")},
				Placement: tandem.PlaceCloud, Coupling: tandem.CouplingSpeculative, Gamma: 7, Nucleus: 0.8,
				Support: number.Draw(t, "support"), Lookahead: number.Draw(t, "lookahead"), MaxTokens: number.Draw(t, "tokens"),
				Documents: number.Draw(t, "documents"), Contexts: number.Draw(t, "contexts"), Weights: text.Draw(t, "weights"),
				ShareTitles: rapid.Bool().Draw(t, "titles"), Want: tandem.Want(number.Draw(t, "want") % 4), PassPlaces: number.Draw(t, "ahead"),
				Grounded: rapid.Bool().Draw(t, "grounded"),
			},
		}
		if form := text.Draw(t, "form"); form != "" {
			b.Form = form + "\n"
		}
		for range rapid.IntRange(0, 20).Draw(t, "turns") {
			b.History = append(b.History, Turn{Role: "user", Content: text.Draw(t, "turn")})
		}
		return b
	case 1:
		return Ready{Documents: number.Draw(t, "documents"), Prefill: time.Duration(rapid.Int64().Draw(t, "prefill")), MaxTokens: rapid.Int32().Draw(t, "max tokens")}
	case 2:
		s := Sync{Epoch: rapid.Uint32().Draw(t, "epoch")}
		for _, v := range rapid.SliceOfN(rapid.Int32(), 0, 500).Draw(t, "tokens") {
			s.Tokens = append(s.Tokens, tandem.Token(v))
		}
		return s
	case 3:
		return NeedSync{}
	case 4:
		sources := func(most int) (list []Source) {
			for range rapid.IntRange(0, most).Draw(t, "sources") {
				list = append(list, Source{Title: text.Draw(t, "title"), Weight: rapid.Float64Range(0, 1).Draw(t, "weight")})
			}
			return list
		}
		s := Sources{Sources: sources(20)}
		for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
			s.Parts = append(s.Parts, Part{From: tandem.Step(201*i + number.Draw(t, "from")), H: rapid.Float64Range(-9, 9).Draw(t, "h"), Nothing: rapid.Float64Range(0, 1).Draw(t, "nothing"), Sources: sources(6)})
			for range rapid.IntRange(0, MaxPartQuotes).Draw(t, "quotes") {
				q := Quote{Title: text.Draw(t, "title"), Text: text.Draw(t, "quote"), Weight: rapid.Float64Range(0, 1).Draw(t, "weight"), Relevance: rapid.Float64Range(-9, 9).Draw(t, "relevance")}
				if q.To = len(q.Text); rapid.Bool().Draw(t, "table") {
					q.Column = text.Draw(t, "column")
				}
				s.Parts[i].Quotes = append(s.Parts[i].Quotes, q)
			}
		}
		return s
	case 5:
		return End{Reason: text.Draw(t, "reason")}
	case 6:
		return Fail{Text: text.Draw(t, "text")}
	case 7:
		rate := rapid.Float64Range(0, 1)
		return tandem.Handover{
			Epoch: rapid.Uint32().Draw(t, "epoch"), Step: tandem.Step(rapid.Uint32().Draw(t, "step")), Prefix: tandem.Prefix(rapid.Uint32().Draw(t, "prefix")),
			Versions: [2]uint32{rapid.Uint32().Draw(t, "device's version"), rapid.Uint32().Draw(t, "cloud's version")},
			Accept:   [2]float64{rate.Draw(t, "device's rate"), rate.Draw(t, "cloud's rate")},
		}
	case 8:
		var p Passages
		for range rapid.IntRange(0, 20).Draw(t, "passages") {
			p.Passages = append(p.Passages, Passage{Title: text.Draw(t, "title"), Text: text.Draw(t, "text")})
			p.Saved = append(p.Saved, number.Draw(t, "saved"))
		}
		return p
	case 9:
		return Piece{Data: rapid.SliceOfN(rapid.Byte(), 1, 5000).Draw(t, "data")}
	case 10:
		return Got{Bytes: rapid.IntRange(0, MaxBulk).Draw(t, "got")}
	}
	h := testHello(tandem.Device)
	h.Model = text.Draw(t, "model")
	return h
}

func TestControlRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawControl(t)
		frame, err := encodeControl(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeControl(frame)
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Fatalf("%#v became %#v", m, got)
		}
	})
}

// Text from a peer cannot control a terminal that shows it.
func TestControlCleans(t *testing.T) {
	const bad, good = "a\x1b]52;c;aGk=\x07b\u202ec\u009bd\x9b\ne\tf", "a]52;c;aGk=bcd e f"
	source := func(title string) []Source { return []Source{{Title: title}} }
	of := func(text string) []Message {
		hello := testHello(tandem.Device)
		hello.Name, hello.Software, hello.Model = text, text, text
		return []Message{
			hello, Begin{ID: text, Question: bad}, Fail{Text: text}, End{Reason: text},
			Sources{Sources: source(text), Parts: []Part{{Sources: source(text)}}},
			Passages{Passages: []Passage{{Title: text, Text: bad}}},
			pairRequest{Name: text}, pairReply{Name: text, Refused: text},
		}
	}
	want := of(good)
	for i, m := range of(bad) {
		frame, err := encodeControl(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeControl(frame); err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want[i]) {
			t.Errorf("got %q, %v, want %q", got, err, want[i])
		}
	}
	for _, err := range []error{
		&quic.ApplicationError{Remote: true, ErrorCode: codeClosed, ErrorMessage: bad},
		&quic.ApplicationError{Remote: true, ErrorCode: codeUnknown, ErrorMessage: bad},
		&quic.ApplicationError{Remote: true, ErrorCode: codeBusy, ErrorMessage: bad},
		&quic.TransportError{Remote: true, ErrorMessage: bad},
	} {
		if text := explain(err).Error(); !strings.Contains(text, good) {
			t.Errorf("%q", text)
		}
	}
	if text := explain(&quic.StreamError{}).Error(); strings.Contains(text, "code") {
		t.Errorf("%q says nothing to a user", text)
	}
	peers := OpenPeers(t.TempDir())
	if err := peers.Add(Peer{Name: bad}); err != nil {
		t.Fatal(err)
	}
	if peer, err := peers.Lookup(ID{}); err != nil || !strings.HasPrefix(peer.Name, "a]52;c;aGk=bcd") {
		t.Errorf("%q is paired, %v", peer.Name, err)
	}
}

func TestControlCompresses(t *testing.T) {
	frame, err := encodeControl(Begin{Question: strings.Repeat("where is the key? ", 1000)})
	if err != nil {
		t.Fatal(err)
	}
	if len(frame) > 500 {
		t.Errorf("18,000 repetitive bytes take %d", len(frame))
	}
	if _, err := decodeControl(frame); err != nil {
		t.Error(err)
	}
}

// A quote without a column is understood by peers that know no columns, and theirs is understood.
func TestQuoteWithoutColumn(t *testing.T) {
	type older struct {
		Title, Text       string
		From, To          int
		Weight, Relevance float64
	}
	q := Quote{Title: "Fees", Text: "Row | 135", From: 6, To: 9, Weight: .5, Relevance: 2.5}
	theirs, err := marshal(older{q.Title, q.Text, q.From, q.To, q.Weight, q.Relevance})
	if err != nil {
		t.Fatal(err)
	}
	var got Quote
	if err := msgpack.Unmarshal(theirs, &got); err != nil || got != q {
		t.Errorf("%+v, want %+v (%v)", got, q, err)
	}
	if ours, err := marshal(q); err != nil || !bytes.Equal(ours, theirs) {
		t.Errorf("%x, want %x (%v)", ours, theirs, err)
	}
	for _, n := range []byte{5, 8} {
		if err := msgpack.Unmarshal(append([]byte{0x90 | n}, make([]byte, 80)...), &got); err == nil {
			t.Errorf("a quote of %d fields is read", n)
		}
	}
}

func TestControlRefuses(t *testing.T) {
	nowhere := testHello(tandem.Cloud)
	nowhere.Addrs = []string{"10.0.0.2:4433", ""}
	for name, m := range map[string]Message{
		"question":          Begin{Question: strings.Repeat("x", MaxQuestion+1)},
		"turns":             Begin{History: make([]Turn, MaxTurns+1)},
		"history":           Begin{History: []Turn{{Content: strings.Repeat("x", MaxHistory+1)}}},
		"weights":           Begin{Settings: tandem.Settings{Weights: strings.Repeat("x", MaxText+1)}},
		"sync":              Sync{Tokens: make([]tandem.Token, tandem.MaxAnswer+1)},
		"rate":              tandem.Handover{Accept: [2]float64{0, 1.01}},
		"no rate":           tandem.Handover{Accept: [2]float64{math.NaN(), 0}},
		"title":             Sources{Sources: []Source{{Title: strings.Repeat("x", MaxTitle+1)}}},
		"column":            Sources{Parts: []Part{{Quotes: []Quote{{Column: strings.Repeat("x", MaxTitle+1)}}}}},
		"late part":         Sources{Parts: []Part{{From: tandem.MaxAnswer + 1}}},
		"parts in disorder": Sources{Parts: []Part{{From: 5}, {From: 2}}},
		"weight":            Sources{Sources: []Source{{Weight: 1.01}}},
		"no weight":         Sources{Parts: []Part{{Sources: []Source{{Weight: math.NaN()}}}}},
		"empty address":     nowhere,
		"not a message":     "text",
		"pointer":           &NeedSync{},
	} {
		if _, err := encodeControl(m); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
	lies := binary.BigEndian.AppendUint32([]byte{kindControl << 5, codeSync, 0x92, 1, 0xdd}, 1<<31) // an array of 2^31 in 9 bytes
	if err := checkShape(append(binary.BigEndian.AppendUint32([]byte{0xdd}, tandem.MaxAnswer+1), make([]byte, tandem.MaxAnswer+1)...)); err == nil {
		t.Error("an array beyond the limit was accepted")
	}
	bomb := append(binary.AppendUvarint([]byte{kindControl<<5 | 1, codeEnd}, 1<<40), 1, 2, 3)
	for name, frame := range map[string][]byte{
		"empty":        {},
		"long array":   lies,
		"bomb":         bomb,
		"unknown code": {kindControl << 5, 99, 0x90},
		"trailing":     {kindControl << 5, codeNeedSync, 0x90, 0},
		"versions":     {kindControl << 5, codeHandover, 0x95, 1, 2, 3, 0x93, 4, 5, 6, 0x92, 0, 1},
		"map":          {kindControl << 5, codeNeedSync, 0x80},
		"deep":         {kindControl << 5, codeNeedSync, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x90},
	} {
		if m, err := decodeControl(frame); err == nil {
			t.Errorf("%s: read as %#v", name, m)
		}
	}
}

// A question without grounding or a form is what peers that do not know these settings send and understand, and theirs mean none.
func TestBeginWithoutLimits(t *testing.T) {
	for s, want := range map[tandem.Settings]int{{}: 18, {Grounded: true}: 19, {Form: "{}\n"}: 20, {Form: "root ::= \"\xc3\xa0\"\n", Grounded: true}: 20} {
		frame, err := encodeControl(Begin{Question: "?", Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		n, _, ok := arrayLen(frame[2:])
		if !ok || n != want {
			t.Errorf("%+v: %d fields, want %d", s, n, want)
		}
		m, err := decodeControl(frame)
		if err != nil || m.(Begin).Settings != s {
			t.Errorf("%+v: %+v, %v", s, m, err)
		}
	}
}
