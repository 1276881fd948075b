package node

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/aggregator"
)

// A recording holds what a simulator needs: written out and read back, its drafts give its targets, and
// its decoding delays and round trips are those of the toys.
func TestRecordPlaysBack(t *testing.T) {
	for _, placement := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceGreedy} {
		synctest.Test(t, func(t *testing.T) {
			cfg := toyConfig(placement, tandem.CouplingShared, 4, false)
			var file bytes.Buffer
			c := &cable{delay: 40 * time.Millisecond, takes: 30 * time.Millisecond, record: func(l Line) {
				if err := json.NewEncoder(&file).Encode(l); err != nil {
					t.Error(err)
				}
			}}
			got, _ := converse(t, cfg, c, 20*time.Millisecond, nil)
			lines, err := ReadRecord(&file)
			if err != nil {
				t.Fatal(err)
			}
			var targets []tandem.Token
			local := map[string]map[tandem.Step]Line{"device": {}, "cloud": {}}
			kinds := map[string]int{}
			last := 0.0
			for _, l := range lines {
				if kinds[l.Event]++; l.Ms < last {
					t.Errorf("%v: %s at %v ms after %v ms", placement, l.Event, l.Ms, last)
				}
				last = l.Ms
				switch l.Event {
				case "decode", "draft":
					if len(l.IDs) > 0 && l.Version >= local[l.Side][l.Step].Version {
						local[l.Side][l.Step] = l
					}
					if want := map[string]float64{"device": 20, "cloud": 30}[l.Side]; l.TookMs != want {
						t.Errorf("%v: a draft of the %s took %v ms", placement, l.Side, l.TookMs)
					}
				case "rtt":
					if l.TookMs != 80 {
						t.Errorf("%v: round trip of %v ms", placement, l.TookMs)
					}
				case "target":
					targets = append(targets, l.Token)
				}
			}
			rule := aggregator.Rule{Seed: cfg.Seed}
			for step, token := range targets {
				d, c := local["device"][tandem.Step(step)], local["cloud"][tandem.Step(step)]
				x := rule.Target(tandem.Step(step), aggregator.Local{Dist: d.Dist(), H: d.H}, aggregator.Local{Dist: c.Dist(), H: c.H})
				if x != token {
					t.Errorf("%v: step %d: the drafts give %d, the target is %d", placement, step, x, token)
				}
			}
			if !slices.Equal(targets, got) || kinds["decode"] < len(got) || kinds["end"] != 1 || kinds["rtt"] != 1 || kinds["note"] == 0 {
				t.Errorf("%v: recorded %v and the targets %v of %v", placement, kinds, targets, got)
			}
		})
	}
}

func TestReadRecordRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":      "hello",
		"no weights":   `{"event":"draft","ids":[1]}`,
		"no ids":       `{"event":"decode"}`,
		"wrong sum":    `{"event":"draft","ids":[1],"weights":[5]}`,
		"unsorted ids": `{"event":"draft","ids":[2,1],"weights":[32768,32768]}`,
		"long line":    `{"event":"` + strings.Repeat("x", maxLine) + `"}`,
	} {
		if lines, err := ReadRecord(strings.NewReader("{}\n\n" + text)); err == nil || !strings.Contains(err.Error(), "line 3") {
			t.Errorf("%s: read as %+v, error %v", name, lines, err)
		}
	}
}

func FuzzReadRecord(f *testing.F) {
	f.Add([]byte(`{"ms":1.5,"event":"draft","side":"cloud","step":3,"token":7,"h":-12,"ids":[7,9],"weights":[60000,5536]}`))
	f.Add([]byte("{\"event\":\"begin\",\"gamma\":-1}\n{\"event\":\"target\",\"by\":\"both\"}\n\n{\"event\":\"end\",\"reason\":\"stop\"}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		lines, err := ReadRecord(bytes.NewReader(b))
		if err != nil {
			return
		}
		var file bytes.Buffer
		for _, l := range lines {
			if err := json.NewEncoder(&file).Encode(l); err != nil {
				t.Fatal(err)
			}
		}
		again, err := ReadRecord(&file)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(lines) {
			t.Fatalf("%d lines became %d", len(lines), len(again))
		}
		for i, l := range lines {
			if l.IDs, l.Weights, again[i].IDs, again[i].Weights = nil, nil, nil, nil; !reflect.DeepEqual(l, again[i]) {
				t.Fatalf("%+v became %+v", l, again[i])
			}
		}
	})
}

// What a device sends is what it set, with a hand-over and a chosen γ among it; what no device sends is
// refused.
func TestBeginCarriesSettings(t *testing.T) {
	s := tandem.Settings{
		Placement: tandem.PlaceGreedy, Coupling: tandem.CouplingSpeculative, Gamma: tandem.AutoGamma,
		Nucleus: 0.8, Support: 64, Lookahead: 20, MaxTokens: 32, Documents: 3,
	}
	s.Sampling.TopP, s.Sampling.RepeatPenalty, s.Seed, s.ShareTitles = 1, 1, 9, true
	q, got, err := questionOf(beginOf(Question{ID: "1", Text: "what?"}, s))
	if err != nil || q.Text != "what?" || got != s {
		t.Errorf("%+v became %+v, %v", s, got, err)
	}
	for name, change := range map[string]func(*tandem.Settings){
		"lookahead": func(s *tandem.Settings) { s.Lookahead = 0 },
		"gamma":     func(s *tandem.Settings) { s.Gamma = tandem.Mass + 1 },
		"placement": func(s *tandem.Settings) { s.Placement = tandem.PlaceGreedy + 1 },
	} {
		bad := s
		change(&bad)
		if _, _, err := questionOf(beginOf(Question{}, bad)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
