package hostile

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"

	"tandem"
	"tandem/transport"
)

// An attack is what a device does to a cloud with which it is paired, unless it says otherwise. It may end with any error.
type attack struct {
	name  string
	do    func(ctx context.Context, g *target, r *rand.Rand)
	lasts bool // until ctx ends: the honest device must not have to wait for that
}

// begin is a question as an attacker's Begin.
func begin(s tandem.Settings) []byte {
	return message(codeBegin, body(transport.Begin{ID: "x", Question: question, Settings: s}))
}

// streams greets, and writes each of some bytes to a stream of its own. It stays until the cloud hangs up or ctx ends.
func streams(ctx context.Context, g *target, data ...[]byte) {
	qc, err := g.attacker.greeted(ctx, g.address, g.hello(tandem.Device))
	if err != nil {
		return
	}
	defer qc.CloseWithError(0, "")
	for _, b := range data {
		s, err := qc.OpenStreamSync(ctx)
		if err != nil {
			break
		}
		s.Write(b)
	}
	select {
	case <-qc.Context().Done():
	case <-ctx.Done():
	}
}

// exchange opens an exchange by the rules, and gives it away. What follows need not keep to them.
func exchange(ctx context.Context, g *target, s tandem.Settings, then func(*quic.Conn, *quic.Stream)) {
	qc, err := g.attacker.greeted(ctx, g.address, g.hello(tandem.Device))
	if err != nil {
		return
	}
	defer qc.CloseWithError(0, "")
	stream, err := qc.OpenStreamSync(ctx)
	if err == nil {
		stream.Write(onStream(0, begin(s)))
		then(qc, stream)
	}
	select {
	case <-qc.Context().Done():
	case <-ctx.Done():
	}
}

// talking opens exchanges by package transport, with the last honest key, for messages that are well formed and mean no good.
func talking(ctx context.Context, g *target, s tandem.Settings, n int, then func(*transport.Exchange, int)) {
	conn, err := transport.Dial(ctx, g.address, transport.ClientConfig{Identity: g.honest[len(g.honest)-1], Peer: g.id, Hello: g.hello(tandem.Device), Log: quiet()})
	if err != nil {
		return
	}
	defer conn.Close("done")
	var all sync.WaitGroup
	for i := range n {
		x, err := conn.Open(ctx, transport.Begin{ID: "x", Question: question, Settings: s})
		if err != nil {
			break
		}
		all.Go(func() {
			defer x.Close()
			then(x, i)
		})
	}
	all.Wait()
}

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// bomb is a compressed message that claims to be as long as it may be.
func bomb(code byte) []byte {
	frame := binary.AppendUvarint([]byte{packed, code}, 512<<10)
	frame = append(frame, 0x1f, 0x90, 1, 0) // a literal, then a match of the byte before it,
	for range 2040 {
		frame = append(frame, 255) // which goes on and on
	}
	return append(frame, 0)
}

// deep is a message of arrays in arrays.
func deep(code byte, n int) []byte { return message(code, slices.Repeat([]byte{0x91}, n)) }

// dist is a distribution of one token.
func dist(t tandem.Token) tandem.Dist {
	return tandem.Dist{IDs: []tandem.Token{t}, Weights: []uint32{tandem.Mass}}
}

// attacks are by hostile devices.
var attacks = []attack{
	{name: "datagrams to the port that are not QUIC's", do: func(ctx context.Context, g *target, r *rand.Rand) {
		c, err := net.Dial("udp", g.address)
		if err != nil {
			return
		}
		defer c.Close()
		for range 2000 {
			c.Write(random(r, 1+r.IntN(1400)))
		}
	}},
	{name: "keys that are not paired", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for range 20 {
			if qc, err := g.stranger.greeted(ctx, g.address, g.hello(tandem.Device)); err == nil {
				qc.CloseWithError(0, "")
			}
		}
	}},
	{name: "pairing without a code", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for i := range 40 {
			qc, err := g.stranger.dial(ctx, g.address, pairing)
			if err != nil {
				continue
			}
			defer qc.CloseWithError(0, "")
			if s, err := qc.OpenStreamSync(ctx); err == nil && i%2 == 0 {
				s.Write(onStream(0, message(codePairRequest, random(r, 40))))
			}
		}
	}},
	{name: "connections without a hello", lasts: true, do: func(ctx context.Context, g *target, r *rand.Rand) {
		for range 80 {
			if qc, err := g.attacker.dial(ctx, g.address, talk); err == nil {
				defer qc.CloseWithError(0, "")
			}
		}
		<-ctx.Done()
	}},
	{name: "more connections than a key may have", lasts: true, do: func(ctx context.Context, g *target, r *rand.Rand) {
		for range 30 {
			if qc, err := g.attacker.greeted(ctx, g.address, g.hello(tandem.Device)); err == nil {
				defer qc.CloseWithError(0, "")
			}
		}
		<-ctx.Done()
	}},
	{name: "hellos that lie", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for _, change := range []func(*transport.Hello){
			func(h *transport.Hello) { h.VocabSize = math.MaxInt64 },
			func(h *transport.Hello) { h.VocabSize = -1 },
			func(h *transport.Hello) { h.Name = strings.Repeat("\x1b[2J", 4000) },
			func(h *transport.Hello) { h.Adapter = "zz" },
			func(h *transport.Hello) { h.Side = 77 },
			func(h *transport.Hello) { h.Scorer = strings.Repeat("x", 1<<20) },
		} {
			h := g.hello(tandem.Device)
			change(&h)
			if qc, err := g.attacker.greeted(ctx, g.address, h); err == nil {
				qc.CloseWithError(0, "")
			}
		}
	}},
	{name: "streams on which nothing begins", do: func(ctx context.Context, g *target, r *rand.Rand) {
		streams(ctx, g, slices.Repeat([][]byte{{1}}, 300)...)
	}},
	{name: "streams that begin wrongly", do: func(ctx context.Context, g *target, r *rand.Rand) {
		streams(ctx, g,
			binary.AppendUvarint(nil, 1<<62), []byte{0}, onStream(0, nil), onStream(0, []byte{0xff}), onStream(1, begin(settings(1))),
			onStream(0, message(codeNeedSync, []byte{0x90})), onStream(0, bomb(codeBegin)), onStream(0, deep(codeBegin, 100_000)),
			onStream(0, message(codeBegin, []byte{0xdd, 0xff, 0xff, 0xff, 0xff})), onStream(0, message(200, []byte{0x90})))
	}},
	{name: "random bytes on streams", do: func(ctx context.Context, g *target, r *rand.Rand) {
		var all [][]byte
		for range 100 {
			all = append(all, random(r, r.IntN(2000)))
		}
		streams(ctx, g, all...)
	}},
	{name: "random bytes after a question", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for range 20 {
			short, end := context.WithTimeout(ctx, 50*time.Millisecond)
			exchange(short, g, settings(1), func(qc *quic.Conn, s *quic.Stream) {
				if r.IntN(2) == 0 {
					s.Write(onStream(1, random(r, 100)))
					return
				}
				qc.SendDatagram(append(binary.AppendUvarint(nil, uint64(s.StreamID())), random(r, 1+r.IntN(200))...))
			})
			end()
		}
	}},
	{name: "messages that only a cloud may send", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for _, code := range []byte{codeReady, codeSources, codeFail, codePassages, codePiece} {
			short, end := context.WithTimeout(ctx, 100*time.Millisecond)
			exchange(short, g, settings(1), func(qc *quic.Conn, s *quic.Stream) { s.Write(onStream(1, message(code, []byte{0x90}))) })
			end()
		}
	}},
	{name: "a flood of echoes", do: func(ctx context.Context, g *target, r *rand.Rand) {
		exchange(ctx, g, settings(1), func(qc *quic.Conn, s *quic.Stream) {
			for i := range 3000 {
				if qc.SendDatagram(binary.AppendUvarint([]byte{0, byte(i % 3)}, uint64(i))) != nil {
					return
				}
			}
		})
	}},
	{name: "settings out of all bounds", do: func(ctx context.Context, g *target, r *rand.Rand) {
		var all [][]byte
		for _, change := range []func(*tandem.Settings){
			func(s *tandem.Settings) { s.Documents, s.Contexts, s.MaxTokens = 64, 256, 1<<16 },
			func(s *tandem.Settings) { s.Documents = math.MinInt },
			func(s *tandem.Settings) { s.MaxTokens = math.MaxInt },
			func(s *tandem.Settings) { s.Lookahead = -1 },
			func(s *tandem.Settings) { s.PassPlaces = 1 << 30 },
			func(s *tandem.Settings) { s.Nucleus = math.NaN() },
			func(s *tandem.Settings) { s.Sampling.Temperature = math.Inf(1) },
			func(s *tandem.Settings) { s.Sampling.TopP = -1 },
			func(s *tandem.Settings) { s.Sampling.RepeatLast = math.MaxInt },
			func(s *tandem.Settings) { s.Weights = "likelihood:" + strings.Repeat("9", 4000) },
			func(s *tandem.Settings) { s.Weights = "rescore:0,1e400" },
			func(s *tandem.Settings) { s.Placement, s.Coupling = 200, 200 },
			func(s *tandem.Settings) { s.Want = 99 },
			func(s *tandem.Settings) { s.Gamma = 1 << 20 },
		} {
			s := settings(1)
			change(&s)
			all = append(all, onStream(0, begin(s)))
		}
		streams(ctx, g, all...)
	}},
	{name: "the longest question and history", do: func(ctx context.Context, g *target, r *rand.Rand) {
		b := transport.Begin{ID: "x", Question: strings.Repeat("wifi ", transport.MaxQuestion/5), Settings: settings(1)}
		for range transport.MaxTurns {
			b.History = append(b.History, transport.Turn{Role: "user", Content: strings.Repeat("wifi ", transport.MaxHistory/transport.MaxTurns/6)})
		}
		streams(ctx, g, onStream(0, message(codeBegin, body(b))))
	}},
	{name: "questions that take long to read", do: func(ctx context.Context, g *target, r *rand.Rand) {
		var all [][]byte
		for _, text := range []string{"a", "a, ", "museum, ", "and ", "\"", "? ", ".", "Is it and ", "ß", "\u0301", "museum\n", "What's ", "xq" + string(rune('a'+r.IntN(26)))} {
			b := transport.Begin{ID: "x", Question: strings.Repeat(text, (transport.MaxQuestion-100)/len(text)), Settings: settings(1)}
			all = append(all, onStream(0, message(codeBegin, body(b))))
		}
		streams(ctx, g, all...)
	}},
	{name: "questions whose sender is gone", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for range 4 {
			pc, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				return
			}
			tr := &quic.Transport{Conn: pc}
			addr, _ := net.ResolveUDPAddr("udp", g.address)
			if qc, err := tr.Dial(ctx, addr, g.attacker.tls(talk), config()); err == nil {
				if s, err := qc.OpenStreamSync(ctx); err == nil {
					h := g.hello(tandem.Device)
					h.Version = transport.ProtocolVersion
					s.Write(onStream(0, message(codeHello, body(h))))
				}
				for range 4 {
					if s, err := qc.OpenStreamSync(ctx); err == nil {
						s.Write(onStream(0, begin(settings(1))))
					}
				}
				time.Sleep(50 * time.Millisecond)
			}
			pc.Close() // without a word
		}
	}},
	{name: "a hundred questions at once", do: func(ctx context.Context, g *target, r *rand.Rand) {
		var all [][]byte
		for range 100 {
			all = append(all, onStream(0, begin(settings(r.Uint64()))))
		}
		streams(ctx, g, all...)
	}},
	{name: "questions that end at once", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for range 10 {
			talking(ctx, g, settings(1), 10, func(x *transport.Exchange, i int) {
				if i%2 == 0 {
					x.Send(transport.End{Reason: "\x1b]0;owned\a"})
				}
			})
		}
	}},
	{name: "a device that does not read", do: func(ctx context.Context, g *target, r *rand.Rand) {
		s := settings(1)
		s.Want = tandem.WantKV
		exchange(ctx, g, s, func(*quic.Conn, *quic.Stream) {})
	}},
	{name: "acknowledgements of what was never sent", do: func(ctx context.Context, g *target, r *rand.Rand) {
		for _, want := range []tandem.Want{tandem.WantKV, tandem.WantText, tandem.WantDrafts} {
			s := settings(1)
			s.Want = want
			talking(ctx, g, s, 2, func(x *transport.Exchange, i int) {
				for range 20 {
					if x.Send(transport.Got{Bytes: transport.MaxBulk}, transport.Got{Bytes: 0}) != nil {
						return
					}
				}
			})
		}
	}},
	{name: "drafts from nowhere", do: func(ctx context.Context, g *target, r *rand.Rand) {
		vocab := g.sides[tandem.Cloud].Model.Tokenizer().Size()
		for _, place := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceCloud, tandem.PlaceDevice, tandem.PlaceGreedy} {
			s := settings(1)
			s.Placement = place
			talking(ctx, g, s, 4, func(x *transport.Exchange, i int) {
				for range 300 {
					token := tandem.Token(r.IntN(vocab))
					d := tandem.Draft{
						Epoch: uint32(r.IntN(3)), Step: tandem.Step(r.Uint32N(200)), Version: r.Uint32N(4), Prefix: tandem.Prefix(r.Uint32()),
						Token: token, Dist: dist(token), H: tandem.Fixed(math.MaxInt32), Decode: time.Hour,
					}
					if r.IntN(8) == 0 {
						d.Step, d.Epoch, d.Version = math.MaxUint32, math.MaxUint32, math.MaxUint32
					}
					if x.Send(d, tandem.Target{Epoch: d.Epoch, Step: d.Step, Prefix: d.Prefix, Token: token, By: tandem.ByBoth}) != nil {
						return
					}
				}
				wait(ctx, 100*time.Millisecond)
			})
		}
	}},
	{name: "epochs from nowhere", do: func(ctx context.Context, g *target, r *rand.Rand) {
		talking(ctx, g, settings(1), 4, func(x *transport.Exchange, i int) {
			for n := range 60 {
				tokens := make([]tandem.Token, 12)
				for i := range tokens {
					tokens[i] = tandem.Token(int32(r.Uint32()))
				}
				if x.Send(transport.Sync{Epoch: r.Uint32() >> uint(n%33), Tokens: tokens, DeviceLeads: n%2 == 0}) != nil {
					return
				}
			}
			wait(ctx, 100*time.Millisecond)
		})
	}},
	{name: "hand-overs from nowhere", do: func(ctx context.Context, g *target, r *rand.Rand) {
		s := settings(1)
		s.Placement, s.Coupling = tandem.PlaceGreedy, tandem.CouplingSpeculative
		talking(ctx, g, s, 4, func(x *transport.Exchange, i int) {
			for range 60 {
				h := tandem.Handover{
					Epoch: uint32(r.IntN(2)), Step: tandem.Step(r.Uint32() >> uint(r.IntN(33))), Prefix: tandem.Prefix(r.Uint32()),
					Versions: [2]uint32{r.Uint32(), r.Uint32()}, Accept: [2]float64{1, 0},
				}
				if x.Send(h) != nil {
					return
				}
			}
			wait(ctx, 100*time.Millisecond)
		})
	}},
	{name: "places held by signs of life", lasts: true, do: func(ctx context.Context, g *target, r *rand.Rand) {
		talking(ctx, g, settings(1), 8, func(x *transport.Exchange, i int) {
			for ctx.Err() == nil && x.Send(transport.Sync{}) == nil {
				wait(ctx, 50*time.Millisecond)
			}
		})
	}},
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// under lets an honest device ask while another attacks, for at least a fifth of a second if the attack takes as long, and once
// more afterwards.
func (g *target) under(t *testing.T, a attack, r *rand.Rand) {
	ctx, end := context.WithTimeout(t.Context(), atMost)
	defer end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.do(ctx, g, r)
	}()
	longest, asked := time.Duration(0), 0
	for start, over := time.Now(), false; !over && time.Since(start) < 200*time.Millisecond && !t.Failed(); asked++ {
		select {
		case <-done:
			over = true
		default:
		}
		begun := time.Now()
		g.same(t, 0)
		longest = max(longest, time.Since(begun))
		if a.lasts && ctx.Err() != nil {
			t.Errorf("answered only when the attack was over, after %v", longest)
		}
	}
	end()
	<-done
	if g.same(t, 0); t.Failed() {
		t.Fatalf("under attack: %s", a.name)
	}
	t.Logf("%s: %d answers in peace's words, the slowest after %v", a.name, asked, longest.Round(time.Millisecond))
}

// What an attacker writes without package transport is what a cloud reads: a question by the rules is taken.
func TestRawQuestionIsTaken(t *testing.T) {
	g := newTarget(t, newSides(t), 1)
	defer g.stop()
	ctx, end := context.WithTimeout(t.Context(), atMost)
	defer end()
	exchange(ctx, g, settings(1), func(qc *quic.Conn, s *quic.Stream) {
		defer qc.CloseWithError(0, "")
		for {
			answer, err := qc.ReceiveDatagram(ctx)
			if err != nil {
				t.Errorf("a question is not taken: %v", err)
			}
			if err != nil || bytes.Contains(answer, []byte{control, codeReady}) {
				return
			}
		}
	})
}

// While a device attacks, an honest one gets the answer of peace; afterwards nothing of the attack is left.
func TestDevices(t *testing.T) {
	s := newSides(t)
	check := leftovers(t)
	g := newTarget(t, s, 2)
	rounds(t, func(r *rand.Rand) {
		for _, a := range attacks {
			g.under(t, a, r)
		}
	})
	g.stop()
	check()
}

// All devices of a crowd get the answer of peace to each of their three questions, however many they are: most wait for a place,
// and as they wait up to a minute, none begins without the cloud. The network and the time are simulated: a busy machine would
// be late with the signs of life of all of them.
func TestCrowd(t *testing.T) {
	s := newSides(t)
	synctest.Test(t, func(t *testing.T) {
		check := leftovers(t)
		g := newCrowd(t, s, 64)
		rounds(t, func(*rand.Rand) {
			var all sync.WaitGroup
			for i := range g.honest {
				all.Go(func() {
					for range 3 {
						g.same(t, i)
					}
				})
			}
			all.Wait()
		})
		time.Sleep(10 * time.Second) // the cloud learns that an answer has ended when its device has it already
		if load := g.cloud.Load(); load.Answers+load.Waiting > 0 || load.KVReserved != 0 {
			t.Errorf("afterwards: %+v", load)
		}
		g.stop()
		check()
	})
}
