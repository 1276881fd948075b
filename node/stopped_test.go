package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/pair"
)

// A program that was stopped for a while has not waited for the cloud meanwhile. So the pair stays together, also where
// the cloud is required. A cloud that is silent from then on is still given up in time.
func TestStoppedProgramKeepsTheCloud(t *testing.T) {
	for _, placement := range placements {
		for _, require := range []bool{false, true} {
			for _, gone := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v, required %v, gone %v", placement, require, gone), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { stopAndGoOn(t, placement, require, gone) })
				})
			}
		}
	}
}

func stopAndGoOn(t *testing.T, placement tandem.Placement, require, gone bool) {
	cfg := toyConfig(placement, tandem.CouplingShared, 5, false)
	cfg.Stop = nil
	want := plain(cfg)
	cfg.Self = tandem.Device
	c := &cable{t: t, cfg: cfg, delay: 10 * time.Millisecond, takes: 30 * time.Millisecond, rng: rand.New(rand.NewPCG(5, 3))}
	c.cfg.Self = tandem.Cloud
	var wentOn, alone time.Time
	a := newDeviceAnswer(t.Context(), cfg, silence{}, func(tok Token) {
		if tok.Alone && alone.IsZero() {
			alone = time.Now()
		}
	})
	a.log, a.require = slog.New(slog.DiscardHandler), require
	stopped := map[tandem.Step]bool{0: false, 10: false, 30: false}
	a.record = &recorder{start: a.start, to: func(l Line) {
		if done, ok := stopped[l.Step]; l.Event != "decode" || !ok || done {
			return
		}
		stopped[l.Step] = true
		time.Sleep(20 * time.Second)
		if wentOn = time.Now(); gone && l.Step == 30 {
			c.stall(time.Hour)
		}
	}}
	defer a.stop()
	a.reach(DefaultPatience, lone(c.open))
	err := a.run(c.producer(tandem.Device, 50*time.Millisecond))
	answer := a.finish()
	c.hangUp()
	if failed := err != nil; failed != (gone && require) {
		t.Error(err)
	}
	if got := ids(answer.Tokens); answer.Pair.Alone > 0 != (gone && !require) || len(got) < 25 || !slices.Equal(got[:25], want[:25]) {
		t.Errorf("%d tokens, %d alone, remarks %q", len(got), answer.Pair.Alone, answer.Remarks)
	}
	if waited := alone.Sub(wentOn); gone && !require && (waited < DefaultPatience.Silent/2 || waited > 2*DefaultPatience.Silent) {
		t.Errorf("alone %v after the program went on", waited)
	}
}

// Whoever has enough, at the answer's last token or before, is still told the cloud's documents, and the cloud was not lost. Who
// goes away does not wait for them.
func TestEnough(t *testing.T) {
	cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 5, false)
	last := len(plain(cfg))
	for _, c := range []struct {
		name  string
		after int // tokens
		cause error
		ends  error // of the answer
		told  bool
	}{
		{"before the end", last / 2, ErrEnough, ErrEnough, true},
		{"at the end", last, ErrEnough, nil, true},
		{"gone", last / 2, context.Canceled, context.Canceled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, answer, err := breakOff(t, cfg, c.after, c.cause)
				if !errors.Is(err, c.ends) || len(answer.Tokens) < c.after || answer.Pair.Together == 0 || len(answer.Remarks) > 0 {
					t.Errorf("%v: %d tokens of %d, %d together, remarks %q", err, len(answer.Tokens), last, answer.Pair.Together, answer.Remarks)
				}
				if a.sourcesKnown != c.told {
					t.Errorf("the cloud's documents are known: %v, want %v", a.sourcesKnown, c.told)
				}
			})
		})
	}
}

// breakOff has a pair answer, and ends the context of who asked after some tokens.
func breakOff(t *testing.T, cfg pair.Config, after int, cause error) (*deviceAnswer, Answer, error) {
	cfg.Self = tandem.Device
	c := &cable{t: t, cfg: cfg, delay: 10 * time.Millisecond, takes: 30 * time.Millisecond, rng: rand.New(rand.NewPCG(5, 3))}
	c.cfg.Self = tandem.Cloud
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	n := 0
	a := newDeviceAnswer(ctx, cfg, silence{}, func(Token) {
		if n++; n == after {
			stop(cause)
		}
	})
	a.log = slog.New(slog.DiscardHandler)
	defer a.stop()
	a.reach(DefaultPatience, lone(c.open))
	err := a.run(c.producer(tandem.Device, 30*time.Millisecond))
	answer := a.finish()
	c.hangUp()
	return a, answer, err
}
