package transport

import (
	"context"
	"errors"
	"testing"
	"time"

	"tandem"
	"tandem/transport/reliable"
)

// Whatever comes for an exchange, as datagrams and as frames of its stream, it holds no more than it may, and gives only
// messages that the peer may send.
func FuzzExchange(f *testing.F) {
	w := frameWriter{vocab: testVocab}
	var flow reliable.Flow
	draft := tandem.Draft{Token: 3, Dist: tandem.Dist{IDs: []tandem.Token{3, 5}, Weights: []uint32{1, tandem.Mass - 1}}, H: 7}
	var seed, stream []byte
	for i, m := range []Message{Sync{Epoch: 1}, draft, tandem.Target{Token: 3}, Got{Bytes: 5}, End{Reason: "over"}} {
		frame, err := w.frame(m)
		if err != nil {
			f.Fatal(err)
		}
		flow.Push(uint64(i+1), frame)
		b := flow.Pack(4, time.Unix(1, 0), time.Millisecond, 1150)
		seed = append(append(seed, 0, byte(len(b)-1)), b[1:]...) // without the exchange's id
		s := appendStreamFrame(nil, uint64(i+1), frame)
		stream = append(append(stream, 1, byte(len(frame)), byte(i+1)), s[2:]...)
	}
	f.Add(seed)
	f.Add(stream)
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newExchange(testVocab)
		x.conn = &Conn{wake: make(chan struct{}, 1), handshaken: handshaken{log: quiet(), warnings: new(warnings)}}
		x.longest = 100
		x.flow.Expect(1)
		now := time.Unix(1, 0)
		for len(data) > 2 {
			kind, n := data[0], min(int(data[1]), len(data)-2)
			piece := data[2 : 2+n]
			data, now = data[2+n:], now.Add(time.Millisecond)
			var err error
			switch {
			case kind == 0:
				err = x.datagram(piece, now)
			case kind == 2: // the reader has time
				ctx, cancel := context.WithCancelCause(t.Context())
				cancel(errNothing)
				m, e := x.Receive(ctx)
				if e == nil && !allowed(m, true) {
					t.Fatalf("the device may not send %T", m)
				}
				if s, ok := m.(Sync); ok && len(s.Tokens) > x.longest {
					t.Fatalf("a sync of %d", len(s.Tokens))
				}
			case n > 0:
				x.mu.Lock()
				if err = x.flow.Insert(uint64(kind), piece); err == nil {
					err = x.deliver()
				}
				x.mu.Unlock()
			}
			x.flow.Pack(4, now, time.Millisecond, 1150)
			if len(x.inbox) > inboxLimit || x.unread > inboxBytes+maxControl+16*tandem.MaxSupport {
				t.Fatalf("%d messages and %d bytes wait", len(x.inbox), x.unread)
			}
			if err != nil {
				return // the connection ends
			}
		}
	})
}

var errNothing = errors.New("nothing waits")

// A bulk transfer gives its bytes or an error, whatever the other end does, and never more than were asked for.
func FuzzBulk(f *testing.F) {
	f.Add([]byte{0, 5, 0, 5, 0, 2}, uint16(12))
	f.Add([]byte{0, 5, 1, 0, 2, 9}, uint16(4000))
	f.Add([]byte{3, 1, 3, 200, 3, 0}, uint16(6000))
	f.Fuzz(func(t *testing.T, script []byte, n uint16) {
		peer := &scripted{script: script}
		data, err := ReceiveBulk(t.Context(), peer, int(n))
		if err == nil && len(data) != int(n) || peer.sent > len(script)/2+1 {
			t.Fatalf("%d of %d bytes, %d messages sent: %v", len(data), n, peer.sent, err)
		}
		peer = &scripted{script: script}
		err = SendBulk(t.Context(), peer, make([]byte, n))
		if err == nil && peer.got != int(n) {
			t.Fatalf("the peer acknowledged %d of %d bytes", peer.got, n)
		}
		if peer.pieces > int(n)/pieceSize+1 {
			t.Fatalf("%d pieces for %d bytes", peer.pieces, n)
		}
	})
}

// scripted is the other end of a bulk transfer, which sends what its script says.
type scripted struct {
	script       []byte
	sent, pieces int // messages of this end
	got          int
}

func (s *scripted) Send(messages ...Message) error {
	for _, m := range messages {
		if s.sent++; s.sent > 1<<12 {
			return ErrBacklog
		}
		if _, ok := m.(Piece); ok {
			s.pieces++
		}
	}
	return nil
}

func (s *scripted) Receive(context.Context) (Message, error) {
	if len(s.script) < 2 {
		return nil, ErrLost
	}
	kind, n := s.script[0], int(s.script[1])
	s.script = s.script[2:]
	switch kind % 6 {
	case 0:
		return Piece{Data: make([]byte, n)}, nil
	case 1:
		return Piece{Data: make([]byte, maxPiece)}, nil
	case 2:
		return Fail{Text: "no"}, nil
	case 3:
		s.got += n * pieceSize / 2
		return Got{Bytes: s.got}, nil
	case 4:
		s.got -= n
		return Got{Bytes: s.got}, nil
	}
	return End{}, nil
}

// The window of a bulk transfer keeps within reason, whatever acknowledgements come, and when.
func FuzzBulkFlow(f *testing.F) {
	f.Add([]byte{0, 10, 0, 10, 1, 20, 1, 20})
	f.Fuzz(func(t *testing.T, script []byte) {
		var b bulkFlow
		now := time.Unix(1, 0)
		for ; len(script) > 1; script = script[2:] {
			now = now.Add(time.Duration(script[1]) * 3 * time.Millisecond)
			if script[0]%2 == 0 {
				if b.room() {
					b.send(pieceSize, now)
				}
			} else if b.acknowledge(int(script[0]/2%4)*pieceSize/2, now) != nil {
				return
			}
			if b.flying < 0 || b.flying != pieceSize*len(b.sent) || b.window != 0 && !(b.window >= pieceSize && b.window <= MaxBulk) || len(b.recent) > maxRecent {
				t.Fatalf("%d bytes fly in %d pieces, a window of %v, %d recent", b.flying, len(b.sent), b.window, len(b.recent))
			}
		}
	})
}
