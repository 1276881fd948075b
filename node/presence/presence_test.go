package presence

import (
	"slices"
	"testing"
	"time"
)

// A script is a list of events with their times and the actions that each must cause.
type script []struct {
	at   time.Duration
	e    Event
	want []Action
}

// How many scripts begin: the question was sent, and the cloud has taken part from the beginning.
var (
	asked  = script{{0, Tick, []Action{Dial}}, {0, Connected, nil}}
	joined = append(slices.Clone(asked), script{{0, Ready, []Action{Join}}}...)
)

func TestPresence(t *testing.T) {
	const s = time.Second
	patience := Patience{Join: 5 * s, Silent: 3 * s, Slow: 15 * s, Busy: 2 * s, Pace: 8 * s}
	for name, c := range map[string]struct{ begins, goesOn script }{
		"joins": {nil, script{
			{0, Tick, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Ready, []Action{Join}},
			{3 * s, Heard, nil},
			{4 * s, Tick, nil},
		}},
		"refused connection parts at once and dials again": {nil, script{
			{0, Tick, []Action{Dial}},
			{s, Failed, []Action{GoAlone}},
			{s, Tick, nil},
			{s + firstBackoff, Tick, []Action{Dial}},
			{2 * s, Connected, nil},
			{3 * s, Ready, []Action{Join}},
		}},
		"slow to join": {nil, script{
			{0, Tick, []Action{Dial}},
			{s, Connected, nil},
			{5 * s, Tick, []Action{Migrate, GoAlone}},
			{6 * s, Tick, nil},
			{7 * s, Ready, []Action{Join}},
		}},
		"a stall after a dial that took long": {nil, script{
			{0, Tick, []Action{Dial}},
			{s, Listening, nil},
			{5900 * time.Millisecond, Connected, nil},
			{7300 * time.Millisecond, Tick, nil},
			{7400 * time.Millisecond, Tick, []Action{Migrate, GoAlone}},
			{20 * s, Ready, []Action{Join}},
		}},
		"slow to read but alive": {nil, script{
			{0, Tick, []Action{Dial}},
			{4 * s, Listening, nil},
			{4 * s, Connected, nil},
			{13 * s, Heard, nil},
			{14 * s, Tick, nil},
			{16 * s, Tick, []Action{Migrate, GoAlone}},
			{17 * s, Ready, []Action{Join}},
		}},
		"silence parts, a word joins": {joined, script{
			{s, Tick, nil},
			{2 * s, Tick, []Action{Migrate}},
			{3 * s, Tick, []Action{GoAlone}},
			{4 * s, Tick, nil},
			{5 * s, Tick, []Action{Migrate}},
			{9 * s, Tick, []Action{Migrate}},
			{10 * s, Heard, []Action{Join}},
			{11 * s, Tick, nil},
		}},
		"busy: goes on alone soon, joins late": {asked, script{
			{s / 2, Busy, nil},
			{s, Tick, nil},
			{2 * s, Busy, []Action{GoAlone}},
			{3 * s, Busy, nil},
			{9 * s, Heard, nil},
			{30 * s, Ready, []Action{Join}},
		}},
		"full for long: goes on alone at once, joins late": {asked, script{
			{s / 4, Full, []Action{GoAlone}},
			{s / 2, Full, nil},
			{30 * s, Ready, []Action{Join}},
			{31 * s, Full, nil},
		}},
		"one token in ten seconds is too slow": {joined, script{
			{6 * s, Heard, nil},
			{6 * s, Computing, nil},
			{9 * s, Heard, nil},
			{10 * s, Agreed, nil},
			{11 * s, Heard, nil},
			{12 * s, Computing, nil},
			{19 * s, Heard, nil},
			{20 * s, Heard, []Action{GoAlone}},
			{34 * s, Heard, nil},
			{35 * s, Heard, []Action{Join}},
			{43 * s, Heard, []Action{GoAlone}},
			{72 * s, Heard, nil},
			{73 * s, Heard, []Action{Join}},
		}},
		"alive but slow": {joined, script{
			{7 * s, Heard, nil},
			{7 * s, Computing, nil},
			{14 * s, Heard, nil},
			{15 * s, Tick, []Action{GoAlone}},
			{15 * s, Heard, nil},
			{16 * s, Heard, nil},
			{30 * s, Heard, []Action{Join}},
		}},
		"alive but contradicts itself": {joined, script{
			{s, Agreed, nil},
			{2 * s, Distrusted, []Action{GoAlone}},
			{3 * s, Heard, nil},
			{16 * s, Heard, nil},
			{17 * s, Heard, []Action{Join}},
			{18 * s, Distrusted, []Action{GoAlone}},
			{19 * s, Broken, nil},
			{20 * s, Distrusted, []Action{Dial}},
		}},
		"death mid-answer": {joined, script{
			{s, Agreed, nil},
			{2 * s, Broken, []Action{GoAlone}},
			{3 * s, Tick, []Action{Dial}},
			{3 * s, Failed, nil},
			{9 * s, Tick, []Action{Dial}},
			{9 * s, Connected, nil},
			{9 * s, Ready, []Action{Join}},
		}},
		"a kept connection was dead": {asked, script{
			{s, Broken, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Ready, []Action{Join}},
		}},
		"and so is the cloud": {asked, script{
			{s, Broken, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Broken, []Action{GoAlone}},
		}},
		"the replica in use dies: another takes over": {joined, script{
			{s, Others, nil},
			{2 * s, Broken, []Action{Dial}},
			{3 * s, Connected, nil},
			{3 * s, Ready, []Action{Join}},
			{4 * s, Tick, nil},
		}},
		"and so does that, before the device gets impatient": {joined, script{
			{s, Others, nil},
			{2 * s, Broken, []Action{Dial}},
			{3 * s, Connected, nil},
			{3 * s, Broken, []Action{Dial}},
			{4 * s, Tick, nil},
			{7 * s, Tick, []Action{GoAlone}},
			{8 * s, Connected, nil},
			{8 * s, Ready, []Action{Join}},
		}},
		"the one in use dies while another is asked": {joined, script{
			{s, Others, nil},
			{s, Leaving, []Action{Seek}},
			{2 * s, Broken, nil},
			{3 * s, OtherReady, []Action{Switch, Join}},
		}},
		"and that fails": {joined, script{
			{s, Others, nil},
			{s, Leaving, []Action{Seek}},
			{2 * s, Broken, nil},
			{3 * s, OtherFailed, []Action{Dial}},
		}},
		"none is left": {joined, script{
			{s, Others, nil},
			{2 * s, Heard, nil},
			{2 * s, NoOthers, nil},
			{2 * s, Broken, []Action{GoAlone}},
			{3 * s, Tick, []Action{Dial}},
		}},
		"a full replica keeps its place in the queue until another is ready": {asked, script{
			{0, Others, nil},
			{s / 4, Full, []Action{Seek}},
			{s / 2, Full, nil},
			{s, OtherReady, []Action{Switch, Join}},
		}},
		"or until it has one itself": {asked, script{
			{0, Others, nil},
			{s / 4, Busy, []Action{Seek}},
			{s, Ready, []Action{Drop, Join}},
			{2 * s, OtherReady, nil},
		}},
		"all are full": {asked, script{
			{0, Others, nil},
			{s / 4, Full, []Action{Seek}},
			{s / 2, NoOthers, nil},
			{s / 2, OtherFailed, nil},
			{s, Full, []Action{GoAlone}},
			{20 * s, Ready, []Action{Join}},
		}},
		"one that ends hands over while it still works": {joined, script{
			{s, Others, nil},
			{2 * s, Leaving, []Action{Seek}},
			{2 * s, Heard, nil},
			{3 * s, Agreed, nil},
			{4 * s, OtherReady, []Action{Switch, Join}},
			{5 * s, Heard, nil},
		}},
		"one that ends refuses a question": {asked, script{
			{0, Others, nil},
			{s, TurnedAway, []Action{Dial}},
			{2 * s, Connected, nil},
			{3 * s, Ready, []Action{Join}},
		}},
		"one that gives its place to others, long after the device began to wait": {joined, script{
			{s, Others, nil},
			{2 * s, Heard, nil},
			{4 * s, Heard, nil},
			{6 * s, Heard, nil},
			{6 * s, Agreed, nil},
			{7 * s, TurnedAway, []Action{Dial}},
			{8 * s, Connected, nil},
			{9 * s, Ready, []Action{Join}},
		}},
		"and its successor takes it": {asked, script{
			{s, TurnedAway, []Action{GoAlone}},
			{2 * s, Tick, []Action{Dial}},
			{2 * s, Connected, nil},
			{3 * s, Ready, []Action{Join}},
		}},
		"a silent one speaks before the other is ready": {joined, script{
			{s, Others, nil},
			{2500 * time.Millisecond, Tick, []Action{Seek, Migrate}},
			{2600 * time.Millisecond, Heard, []Action{Drop}},
			{3 * s, OtherReady, nil},
		}},
		"the other takes long to read": {joined, script{
			{s, Others, nil},
			{2 * s, Tick, []Action{Seek, Migrate}},
			{3 * s, OtherAsked, nil},
			{4 * s, Tick, nil},
			{9 * s, Tick, []Action{Migrate}},
			{10 * s, OtherReady, []Action{Switch, Join}},
		}},
		"the other is not there either": {joined, script{
			{s, Others, nil},
			{2 * s, Tick, []Action{Seek, Migrate}},
			{6 * s, Tick, []Action{Migrate}},
			{7 * s, Tick, []Action{GoAlone}},
		}},
		"the other is never ready: it is given up, and asked again after a while": {joined, script{
			{s, Others, nil},
			{2 * s, Tick, []Action{Seek, Migrate}},
			{3 * s, OtherAsked, nil},
			{16 * s, Tick, []Action{Migrate}},
			{17 * s, Tick, []Action{Drop, GoAlone}},
			{17*s + firstBackoff - 1, Tick, nil},
			{17*s + firstBackoff, Tick, []Action{Seek}},
		}},
		"a silent one is left": {joined, script{
			{s, Others, nil},
			{2 * s, Tick, []Action{Seek, Migrate}},
			{2500 * time.Millisecond, OtherReady, []Action{Switch, Join}},
		}},
		"a cloud that does not fit is not asked again": {nil, script{
			{0, Tick, []Action{Dial}},
			{s, Mismatch, []Action{GoAlone}},
			{99 * s, Tick, nil},
		}},
		"nor when it hangs up after its refusal, or takes that back": {nil, script{
			{0, Tick, []Action{Dial}},
			{s, Connected, nil},
			{2 * s, Mismatch, []Action{GoAlone}},
			{2 * s, Broken, nil},
			{9 * s, Tick, nil},
			{9 * s, Failed, nil},
			{19 * s, Tick, nil},
			{20 * s, Connected, nil},
			{20 * s, Ready, nil},
			{21 * s, Heard, nil},
			{22 * s, Mismatch, nil},
			{99 * s, Tick, nil},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(patience, 0)
			for i, line := range slices.Concat(c.begins, c.goesOn) {
				if got := p.Step(line.at, line.e); !slices.Equal(got, line.want) {
					t.Fatalf("line %d at %v: event %d gave %v, want %v", i, line.at, line.e, got, line.want)
				}
			}
		})
	}
}

// A cloud without a place is worth waiting for as long as the device waits for a busy one, or for any if it sets no such time.
func TestNoPlace(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		p     Patience
		about time.Duration
		want  Event
	}{
		{Patience{Join: 5 * s, Busy: 2 * s}, 0, Busy},
		{Patience{Join: 5 * s, Busy: 2 * s}, 2 * s, Busy},
		{Patience{Join: 5 * s, Busy: 2 * s}, 3 * s, Full},
		{Patience{Join: 5 * s}, 5 * s, Busy},
		{Patience{Join: 5 * s}, 6 * s, Full},
		{Patience{}, 0, Busy},
		{Patience{}, 1, Full},
	} {
		if got := c.p.NoPlace(c.about); got != c.want {
			t.Errorf("%+v, a place in about %v: %v, want %v", c.p, c.about, got, c.want)
		}
	}
}
