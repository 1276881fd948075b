package main

import (
	"slices"
	"testing"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/node"
	"tandem/node/presence"
)

// A device that must have its cloud waits a minute for a place there, and for each token of one that is slow. Any other goes on
// alone much sooner. --wait is for the place alone.
func TestPatienceWithARequiredCloud(t *testing.T) {
	const s = time.Second
	wait := 5 * s
	required, waiting, muted, far := answerFlags{}, answerFlags{}, answerFlags{}, answerFlags{}
	required.RequireCloud, waiting.RequireCloud, far.RequireCloud = true, true, true
	waiting.Wait, muted.Side, far.RTT = &wait, "cloud", 2*s
	for name, c := range map[string]struct {
		flags        answerFlags
		place, token time.Duration
	}{
		"any":                    {answerFlags{}, 2 * s, 5 * s},
		"required":               {required, 60 * s, 60 * s},
		"the cloud alone":        {muted, 60 * s, 60 * s},
		"required, with --wait":  {waiting, wait, 60 * s},
		"required, and far away": {far, (60 + 3*2) * s, 60 * s},
	} {
		ss := &session{app: &cli.App{}, flags: c.flags}
		p := ss.newDevice(nil).Patience
		if got := keptFor(p, presence.Busy, presence.Connected); got != c.place {
			t.Errorf("%s: waits %v for a place, want %v", name, got, c.place)
		}
		if got := keptFor(p, presence.Heard, presence.Connected, presence.Ready, presence.Agreed); got != c.token {
			t.Errorf("%s: waits %v for a token, want %v", name, got, c.token)
		}
	}
}

// keptFor returns how long a device of that patience keeps, after these events, a cloud of which only one thing is heard.
func keptFor(p node.Patience, heard presence.Event, before ...presence.Event) time.Duration {
	m := presence.New(p, 0)
	for _, e := range append([]presence.Event{presence.Tick}, before...) {
		m.Step(0, e)
	}
	for now := presence.Every; now < time.Hour; now += presence.Every {
		if slices.Contains(m.Step(now, heard), presence.GoAlone) {
			return now
		}
	}
	return time.Hour
}
