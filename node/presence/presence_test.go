package presence

import (
	"slices"
	"testing"
	"time"
)

// A script of events with their times and the actions that each must cause.
type presenceCase struct {
	at   time.Duration
	e    Event
	want []Action
}

func TestPresence(t *testing.T) {
	const s = time.Second
	patience := Patience{Join: 5 * s, Silent: 3 * s, Slow: 15 * s, Busy: 2 * s, Pace: 8 * s}
	for name, script := range map[string][]presenceCase{
		"joins": {
			{0, Tick, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Ready, []Action{Join}},
			{3 * s, Heard, nil},
			{4 * s, Tick, nil},
		},
		"refused connection parts at once and dials again": {
			{0, Tick, []Action{Dial}},
			{s, Failed, []Action{Part}},
			{s, Tick, nil},
			{s + firstBackoff, Tick, []Action{Dial}},
			{2 * s, Connected, nil},
			{3 * s, Ready, []Action{Join}},
		},
		"slow to join": {
			{0, Tick, []Action{Dial}},
			{s, Connected, nil},
			{5 * s, Tick, []Action{Move, Part}},
			{6 * s, Tick, nil},
			{7 * s, Ready, []Action{Join}},
		},
		"a stall after a dial that took long": {
			{0, Tick, []Action{Dial}},
			{s, Listening, nil},
			{5900 * time.Millisecond, Connected, nil},
			{7300 * time.Millisecond, Tick, nil},
			{7400 * time.Millisecond, Tick, []Action{Move, Part}},
			{20 * s, Ready, []Action{Join}},
		},
		"slow to read but alive": {
			{0, Tick, []Action{Dial}},
			{4 * s, Listening, nil},
			{4 * s, Connected, nil},
			{13 * s, Heard, nil},
			{14 * s, Tick, nil},
			{16 * s, Tick, []Action{Move, Part}},
			{17 * s, Ready, []Action{Join}},
		},
		"silence parts, a word joins": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{0, Ready, []Action{Join}},
			{s, Tick, nil},
			{2 * s, Tick, []Action{Move}},
			{3 * s, Tick, []Action{Part}},
			{4 * s, Tick, nil},
			{5 * s, Tick, []Action{Move}},
			{9 * s, Tick, []Action{Move}},
			{10 * s, Heard, []Action{Join}},
			{11 * s, Tick, nil},
		},
		"busy: goes on alone soon, joins late": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{s / 2, Busy, nil},
			{s, Tick, nil},
			{2 * s, Busy, []Action{Part}},
			{3 * s, Busy, nil},
			{9 * s, Heard, nil},
			{30 * s, Ready, []Action{Join}},
		},
		"full for long: goes on alone at once, joins late": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{s / 4, Full, []Action{Part}},
			{s / 2, Full, nil},
			{30 * s, Ready, []Action{Join}},
			{31 * s, Full, nil},
		},
		"one token in ten seconds is too slow": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{0, Ready, []Action{Join}},
			{6 * s, Heard, nil},
			{6 * s, Own, nil},
			{9 * s, Heard, nil},
			{10 * s, Moved, nil},
			{11 * s, Heard, nil},
			{12 * s, Own, nil},
			{19 * s, Heard, nil},
			{20 * s, Heard, []Action{Part}},
			{34 * s, Heard, nil},
			{35 * s, Heard, []Action{Join}},
			{43 * s, Heard, []Action{Part}},
			{72 * s, Heard, nil},
			{73 * s, Heard, []Action{Join}},
		},
		"alive but slow": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{0, Ready, []Action{Join}},
			{7 * s, Heard, nil},
			{7 * s, Own, nil},
			{14 * s, Heard, nil},
			{15 * s, Tick, []Action{Part}},
			{15 * s, Heard, nil},
			{16 * s, Heard, nil},
			{30 * s, Heard, []Action{Join}},
		},
		"alive but contradicts itself": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{0, Ready, []Action{Join}},
			{s, Moved, nil},
			{2 * s, Distrusted, []Action{Part}},
			{3 * s, Heard, nil},
			{16 * s, Heard, nil},
			{17 * s, Heard, []Action{Join}},
			{18 * s, Distrusted, []Action{Part}},
			{19 * s, Broken, nil},
			{20 * s, Distrusted, []Action{Dial}},
		},
		"death mid-answer": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{0, Ready, []Action{Join}},
			{s, Moved, nil},
			{2 * s, Broken, []Action{Part}},
			{3 * s, Tick, []Action{Dial}},
			{3 * s, Failed, nil},
			{9 * s, Tick, []Action{Dial}},
			{9 * s, Connected, nil},
			{9 * s, Ready, []Action{Join}},
		},
		"a kept connection was dead": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{s, Broken, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Ready, []Action{Join}},
		},
		"and so is the cloud": {
			{0, Tick, []Action{Dial}},
			{0, Connected, nil},
			{s, Broken, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Broken, []Action{Part}},
		},
		"a cloud that does not fit is not asked again": {
			{0, Tick, []Action{Dial}},
			{s, Mismatch, []Action{Part}},
			{99 * s, Tick, nil},
		},
		"nor when it hangs up after its refusal, or takes that back": {
			{0, Tick, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Mismatch, []Action{Part}},
			{2 * s, Broken, nil},
			{9 * s, Tick, nil},
			{9 * s, Failed, nil},
			{19 * s, Tick, nil},
			{20 * s, Connected, nil},
			{20 * s, Ready, nil},
			{21 * s, Heard, nil},
			{22 * s, Mismatch, nil},
			{99 * s, Tick, nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(patience, 0)
			for i, c := range script {
				if got := p.Step(c.at, c.e); !slices.Equal(got, c.want) {
					t.Fatalf("line %d at %v: event %d gave %v, want %v", i, c.at, c.e, got, c.want)
				}
			}
		})
	}
}
