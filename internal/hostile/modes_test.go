package hostile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tandem"
	"tandem/node"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

// canary stands in the device's document and its title, in no question, and in no answer.
const canary = "quokka"

// listener is a cloud that takes part by the rules, with next to no weight, and keeps all that it is told.
type listener struct {
	mu    sync.Mutex
	heard []transport.Message
}

func (l *listener) note(m transport.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, m)
}

// serve answers one exchange: it drafts an end for every step of the epoch, which decides nothing.
func (l *listener) serve(ctx context.Context, x *transport.Exchange, s sides, asked tandem.Settings) {
	x.Send(transport.Ready{Documents: 1})
	stop := s[tandem.Cloud].Model.Tokenizer().EOGs()[0]
	draft := func(epoch, version uint32, answer []tandem.Token) {
		x.Send(tandem.Draft{
			Epoch: epoch, Version: version, Step: tandem.Step(len(answer)), Prefix: tandem.PrefixOf(answer), Token: stop, Dist: dist(stop), H: tandem.FixedOf(-1e4),
		})
	}
	var answer []tandem.Token
	var epoch, version uint32
	for {
		m, err := x.Receive(ctx)
		if err != nil {
			return
		}
		l.note(m)
		switch m := m.(type) {
		case transport.Sync:
			epoch, version, answer = m.Epoch, 0, m.Tokens
			draft(epoch, version, answer)
		case tandem.Target: // the device decides
			answer = append(answer, m.Token)
			version++ // its draft was another token
			draft(epoch, version, answer)
		case tandem.Draft: // both decide: with no weight of its own, the device's draft becomes the target
			if m.Epoch == epoch && int(m.Step) == len(answer) && m.Prefix == tandem.PrefixOf(answer) {
				answer = append(answer, m.Token)
				version++
				draft(epoch, version, answer)
			}
		}
	}
}

// What a device tells the cloud of its documents depends on the mode. In none does it send a document, a title or a file's
// name. By default it sends what else its documents might say; with a support of one token only the word that it would say
// itself; in a private answer nothing but the tokens that were agreed.
func TestWhatCrosses(t *testing.T) {
	s := newSides(t)
	x, err := search.Memory(search.Options{Words: passages.SentenceWords})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	text := "# The " + canary + "\n\nThe cabin is at the harbour. The " + canary + " opens the museum."
	if _, err := x.AddFS(t.Context(), fstest.MapFS{canary + ".md": {Data: []byte(text)}}, "."); err != nil {
		t.Fatal(err)
	}
	s[tandem.Device].Documents = x
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	own, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []struct {
		name    string
		private bool
		support int
	}{{"mirror", false, 64}, {"support 1", false, 1}, {"private", true, 64}} {
		server, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{Identity: own, Peers: transport.NewPeers(id.ID), Hello: s.hello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		var ear listener
		ctx, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			for {
				conn, err := server.Accept(ctx)
				if err != nil {
					return
				}
				ear.note(conn.Hello())
				link, asked, err := conn.Accept(ctx)
				if err != nil {
					return
				}
				ear.note(asked)
				ear.serve(ctx, link, s, asked.Settings)
			}
		})
		d := s.device(id, own.ID, server.Addr().String())
		d.Private = mode.private
		with := settings(1)
		with.Support, with.Placement = mode.support, tandem.PlaceMirror
		a, err := d.Ask(t.Context(), node.Question{ID: "x", Text: question}, with, func(node.Token) {})
		d.Close()
		end()
		server.Close()
		all.Wait()
		if err != nil || a.Pair.Together == 0 {
			t.Fatalf("%s: %d tokens of %d together, %v", mode.name, a.Pair.Together, len(a.Tokens), err)
		}
		ear.check(t, s, mode.name, mode.private, mode.support, a)
	}
}

// check looks at all that was heard in an answer.
func (l *listener) check(t *testing.T, s sides, mode string, private bool, support int, a node.Answer) {
	t.Helper()
	var agreed []tandem.Token
	for _, x := range a.Tokens {
		agreed = append(agreed, x.ID)
	}
	agreed = append(agreed, s[tandem.Cloud].Model.Tokenizer().EOGs()...)
	drafts, widest := 0, 0
	for _, m := range l.heard {
		if text := fmt.Sprintf("%T %+v", m, m); strings.Contains(strings.ToLower(text), canary) {
			t.Errorf("%s: the device sends %s", mode, text)
		}
		switch m := m.(type) {
		case tandem.Draft:
			drafts, widest = drafts+1, max(widest, len(m.Dist.IDs))
		case tandem.Target:
			if !slices.Contains(agreed, m.Token) {
				t.Errorf("%s: target %+v of an answer %v", mode, m, agreed)
			}
		case transport.Sync, transport.Begin, transport.End, transport.Hello:
		default:
			if private {
				t.Errorf("%s: the device sends a %T", mode, m)
			}
		}
	}
	if private != (drafts == 0) || !private && (support == 1) != (widest == 1) {
		t.Errorf("%s: %d drafts of up to %d tokens", mode, drafts, widest)
	}
}
