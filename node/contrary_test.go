package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/transport"
)

// contrary is a cloud that says the same to every question and listens to nothing. It lives as long as its
// words and, unless it hangs up, for ever.
type contrary struct {
	cable
	words   []transport.Message
	hangsUp bool
	opened  int
	closed  int
}

func (c *contrary) open(context.Context) (replica, error) {
	c.opened++
	live, hangUp := context.WithCancelCause(context.Background())
	down := make(chan []transport.Message, len(c.words))
	for _, m := range c.words {
		down <- []transport.Message{m}
	}
	if c.hangsUp {
		time.AfterFunc(10*time.Millisecond, func() { hangUp(errCut) })
	}
	return replica{conn: c, exchange: &closing{end{cable: &c.cable, ctx: live, out: make(chan []transport.Message, 1<<10), in: down}, c, hangUp}}, nil
}

func (c *contrary) LastHeard() time.Time { return time.Now() }

// closing is an end whose Close ends it, as a real one's does.
type closing struct {
	end
	cloud *contrary
	stop  context.CancelCauseFunc
}

func (c *closing) Close() error {
	c.cloud.mu.Lock()
	defer c.cloud.mu.Unlock()
	if c.ctx.Err() == nil {
		c.cloud.closed++
	}
	c.stop(transport.ErrClosed)
	return nil
}

// face answers with c for a cloud.
func face(t *testing.T, c *contrary, require bool) (Answer, error) {
	t.Helper()
	cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
	cfg.Self, cfg.Stop = tandem.Device, nil // 60 tokens in any case
	a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
	a.log, a.require = slog.New(slog.DiscardHandler), require
	defer a.stop()
	a.reach(DefaultPatience, lone(c.open))
	err := a.run(&toy{side: tandem.Device, takes: time.Second})
	return a.finish(), err
}

// A cloud that refuses is asked once in an answer, and heard once, whether it hangs up afterwards or talks on.
func TestRefusedForGood(t *testing.T) {
	for name, c := range map[string]*contrary{
		"hangs up": {words: []transport.Message{transport.Fail{Text: "no"}}, hangsUp: true},
		"talks on": {words: []transport.Message{transport.Fail{Text: "no"}, transport.Fail{Text: "no"}, transport.Ready{}, transport.Fail{Text: "no"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer, err := face(t, c, false)
				if err != nil || answer.Reason != pair.ReasonLength || c.opened != 1 || c.closed != 1 {
					t.Errorf("error %v, %v, asked %d times, %d links closed by the device", err, answer.Reason, c.opened, c.closed)
				}
				if said := strings.Join(answer.Remarks, "; "); len(answer.Remarks) != 1 || !strings.Contains(said, "cannot take part: no") || !strings.Contains(said, "answers alone") {
					t.Errorf("remarks %q", answer.Remarks)
				}
			})
		})
	}
}

// Where the cloud is required, the error says why it does not take part.
func TestRefusalIsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := face(t, &contrary{words: []transport.Message{transport.Fail{Text: "no such model"}}}, true)
		var refused *transport.RefusedError
		if !errors.Is(err, ErrNoCloud) || !errors.As(err, &refused) || refused.Reason != "no such model" {
			t.Error(err)
		}
	})
}

// A cloud that keeps contradicting itself is left out, and the answer says so; where it is
// required the answer fails, without one token of the device's own.
func TestDistrust(t *testing.T) {
	for _, require := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &contrary{words: []transport.Message{transport.Ready{}, transport.NeedSync{}, transport.NeedSync{}, transport.NeedSync{}, transport.NeedSync{}}}
			answer, err := face(t, c, require)
			said := strings.Join(answer.Remarks, "; ")
			if require == strings.Contains(said, "contradicting") { // where it is required, the error says so
				t.Errorf("required: %v: remarks %q", require, said)
			}
			if require {
				if !errors.Is(err, ErrNoCloud) || !errors.Is(err, ErrDistrusted) || len(answer.Tokens) > 0 {
					t.Errorf("required: error %v after %d tokens", err, len(answer.Tokens))
				}
				return
			}
			if err != nil || answer.Pair.Alone != 60 || !strings.Contains(said, "answers alone") || c.opened != 1 {
				t.Errorf("error %v, %d tokens alone, %d links, remarks %q", err, answer.Pair.Alone, c.opened, said)
			}
			if n := strings.Count(said, "joined in"); n < 1 || n > 4 {
				t.Errorf("taken back %d times in a minute, want each time after %v: %q", n, DefaultPatience.Slow, said)
			}
		})
	}
}
