package node

import (
	"slices"
	"testing"
	"time"
)

// A script of events with their times and the actions that each must cause.
type presenceCase struct {
	at   time.Duration
	e    presenceEvent
	want []presenceAction
}

func TestPresence(t *testing.T) {
	const s = time.Second
	patience := Patience{Join: 5 * s, Silent: 3 * s, Slow: 15 * s}
	for name, script := range map[string][]presenceCase{
		"joins": {
			{0, tick, []presenceAction{doDial}},
			{s, connected, nil},
			{2 * s, ready, []presenceAction{doJoin}},
			{3 * s, heard, nil},
			{4 * s, tick, nil},
		},
		"refused connection parts at once and dials again": {
			{0, tick, []presenceAction{doDial}},
			{s, failed, []presenceAction{doPart}},
			{s, tick, nil},
			{s + firstBackoff, tick, []presenceAction{doDial}},
			{2 * s, connected, nil},
			{3 * s, ready, []presenceAction{doJoin}},
		},
		"slow to join": {
			{0, tick, []presenceAction{doDial}},
			{s, connected, nil},
			{5 * s, tick, []presenceAction{doMove, doPart}},
			{6 * s, tick, nil},
			{7 * s, ready, []presenceAction{doJoin}},
		},
		"slow to read but alive": {
			{0, tick, []presenceAction{doDial}},
			{4 * s, listening, nil},
			{4 * s, connected, nil},
			{13 * s, heard, nil},
			{14 * s, tick, nil},
			{16 * s, tick, []presenceAction{doMove, doPart}},
			{17 * s, ready, []presenceAction{doJoin}},
		},
		"silence parts, a word joins": {
			{0, tick, []presenceAction{doDial}},
			{0, connected, nil},
			{0, ready, []presenceAction{doJoin}},
			{s, tick, nil},
			{2 * s, tick, []presenceAction{doMove}},
			{3 * s, tick, []presenceAction{doPart}},
			{4 * s, tick, nil},
			{5 * s, tick, []presenceAction{doMove}},
			{9 * s, tick, []presenceAction{doMove}},
			{10 * s, heard, []presenceAction{doJoin}},
			{11 * s, tick, nil},
		},
		"alive but slow": {
			{0, tick, []presenceAction{doDial}},
			{0, connected, nil},
			{0, ready, []presenceAction{doJoin}},
			{14 * s, heard, nil},
			{15 * s, tick, []presenceAction{doPart}},
			{15 * s, heard, nil},
			{16 * s, heard, nil},
			{30 * s, heard, []presenceAction{doJoin}},
		},
		"death mid-answer": {
			{0, tick, []presenceAction{doDial}},
			{0, connected, nil},
			{0, ready, []presenceAction{doJoin}},
			{s, moved, nil},
			{2 * s, broken, []presenceAction{doPart}},
			{3 * s, tick, []presenceAction{doDial}},
			{3 * s, failed, nil},
			{9 * s, tick, []presenceAction{doDial}},
			{9 * s, connected, nil},
			{9 * s, ready, []presenceAction{doJoin}},
		},
		"a kept connection was dead": {
			{0, tick, []presenceAction{doDial}},
			{0, connected, nil},
			{s, broken, []presenceAction{doDial}},
			{s, connected, nil},
			{2 * s, ready, []presenceAction{doJoin}},
		},
		"and so is the cloud": {
			{0, tick, []presenceAction{doDial}},
			{0, connected, nil},
			{s, broken, []presenceAction{doDial}},
			{s, connected, nil},
			{2 * s, broken, []presenceAction{doPart}},
		},
		"a cloud that does not fit is not asked again": {
			{0, tick, []presenceAction{doDial}},
			{s, mismatch, []presenceAction{doPart}},
			{99 * s, tick, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPresence(patience, 0)
			for i, c := range script {
				if got := p.Step(c.at, c.e); !slices.Equal(got, c.want) {
					t.Fatalf("line %d at %v: event %d gave %v, want %v", i, c.at, c.e, got, c.want)
				}
			}
		})
	}
}
