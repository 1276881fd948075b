package node

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/transport"
)

// headStart returns a configuration of the pair and the drafts with which both sides agree on its first tokens.
func headStart(t *testing.T, tokens int) (cfg pair.Config, drafts []transport.Message) {
	t.Helper()
	for seed := range uint64(1000) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, seed, false)
		cfg.Stop = nil
		rule, answer := cfg.Rule(), plain(cfg)[:tokens]
		var drafts []transport.Message
		for i, token := range answer {
			step, before := tandem.Step(i), answer[:i]
			own, _ := toyOutput(tandem.Device, before)
			dist, h := toyOutput(tandem.Cloud, before)
			if rule.Draft(tandem.Device, step, own) != token || rule.Draft(tandem.Cloud, step, dist) != token {
				break
			}
			drafts = append(drafts, tandem.Draft{Epoch: 1, Step: step, Prefix: tandem.PrefixOf(before), Token: token, Dist: dist, H: h})
		}
		if len(drafts) == tokens {
			return cfg, drafts
		}
	}
	t.Fatal("no seed with which the sides agree from the beginning")
	return cfg, nil
}

// A device that parts from the cloud at the first of several tokens that were agreed in one step shows these before the
// tokens that it then decides alone, and decodes what comes after them all.
func TestPartsAtTheFirstOfSeveralTokens(t *testing.T) {
	const together = 4
	cfg, words := headStart(t, together)
	cfg.Self = tandem.Device
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c := &contrary{}
		open := func(context.Context) (replica, error) {
			down := make(chan []transport.Message, len(words)+1)
			down <- words
			time.AfterFunc(time.Second, func() { down <- []transport.Message{transport.Ready{}} }) // the device has drafted meanwhile
			return replica{conn: c, exchange: &end{cable: &c.cable, ctx: ctx, out: make(chan []transport.Message, 1<<10), in: down}}, nil
		}
		a := newDeviceAnswer(ctx, cfg, silence{}, func(Token) {})
		a.log = slog.New(slog.DiscardHandler)
		defer a.stop()
		a.reach(Patience{Join: time.Minute, Silent: time.Minute, Pace: time.Minute}, lone(open)) // with no patience for a slow cloud
		if err := a.run(&toy{side: tandem.Device, takes: 10 * time.Millisecond}); err != nil {
			t.Error(err)
		}
		answer := a.finish()
		if err := check(cfg, answer.Tokens); err != nil {
			t.Error(err)
		}
		first := slices.IndexFunc(answer.Tokens, func(tok Token) bool { return tok.Alone })
		if first != together || !strings.Contains(strings.Join(answer.Remarks, "; "), "went away after "+tokens(together)+":") {
			t.Errorf("the device decided token %d alone, want %d; remarks %q", first, together, answer.Remarks)
		}
	})
}
