package pair

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"tandem"
	"tandem/aggregator"
)

// TestScripts plays the scripts in testdata on single machines: each command is an event, its output the
// actions. Temperature is 0, so the draft is the heaviest token of
// dist=(token:weight,…). After a change, run with -rewrite and read the difference.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var m *Machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				m = New(scriptConfig(t, d))
				return ""
			}
			if d.Cmd == "stats" {
				return fmt.Sprintf("%+v\n", m.Stats())
			}
			var b strings.Builder
			for _, a := range m.Step(scriptEvent(t, d, m)) {
				b.WriteString(describe(a))
				b.WriteByte('\n')
			}
			if b.Len() == 0 {
				return "nothing\n"
			}
			return b.String()
		})
	})
}

func scriptConfig(t *testing.T, d *datadriven.TestData) Config {
	cfg := Config{Settings: tandem.Settings{MaxTokens: 20, Lookahead: 4}, Vocab: 100}
	var side, placement string
	var stop int
	d.ScanArgs(t, "self", &side)
	if side == "cloud" {
		cfg.Self = tandem.Cloud
	}
	d.ScanArgs(t, "placement", &placement)
	var err error
	if cfg.Placement, err = tandem.ParsePlacement(placement); err != nil {
		t.Fatal(err)
	}
	d.MaybeScanArgs(t, "lookahead", &cfg.Lookahead)
	d.MaybeScanArgs(t, "max", &cfg.MaxTokens)
	if d.MaybeScanArgs(t, "stop", &stop) {
		cfg.Stop = []tandem.Token{tandem.Token(stop)}
	}
	return cfg
}

func scriptEvent(t *testing.T, d *datadriven.TestData, m *Machine) Event {
	u32 := func(name string, otherwise uint32) uint32 {
		if v, ok := scriptArg(d, name); ok {
			n, err := strconv.ParseUint(v[0], 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			return uint32(n)
		}
		return otherwise
	}
	ids := func(name string) (out []tandem.Token) {
		v, _ := scriptArg(d, name)
		for _, s := range v {
			if n, err := strconv.Atoi(s); err == nil {
				out = append(out, tandem.Token(n))
			}
		}
		return out
	}
	step := tandem.Step(u32("step", uint32(m.front())))
	prefix := m.prefix
	if d.HasArg("after") {
		prefix = tandem.PrefixOf(ids("after"))
		step = tandem.Step(len(ids("after")))
	}
	step = tandem.Step(u32("step", uint32(step)))
	switch d.Cmd {
	case "start":
		return Start{Alone: d.HasArg("alone")}
	case "ready":
		return PeerReady{}
	case "lost":
		return PeerLost{}
	case "cancel":
		return Cancel{}
	case "need-sync":
		return PeerNeedSync{}
	case "measured":
		return Measured{RTT: time.Duration(u32("ms", 0)) * time.Millisecond}
	case "handover":
		v := m.versions()
		return PeerHandover{tandem.Handover{
			Epoch: u32("epoch", m.epoch), Step: step, Prefix: prefix,
			Versions: [2]uint32{u32("device", v[0]), u32("cloud", v[1])}, Accept: [2]float64{0.5, 0.5},
		}}
	case "sync":
		return PeerSync{Epoch: u32("epoch", m.epoch+1), Tokens: ids("tokens")}
	case "decoded":
		return Decoded{ID: uint64(u32("id", uint32(m.running.ID))), Dist: scriptDist(t, d), H: tandem.Fixed(u32("h", 0)), Took: time.Millisecond}
	case "draft":
		dist := scriptDist(t, d)
		token := aggregator.Rule{Greedy: true}.Draft(0, step, dist)
		return PeerDraft{tandem.Draft{
			Epoch: u32("epoch", m.epoch), Step: step, Version: u32("version", m.peer.Version()), Prefix: prefix,
			Token: tandem.Token(u32("token", uint32(token))), Dist: dist, H: tandem.Fixed(u32("h", 0)),
		}}
	case "target":
		return PeerTarget{tandem.Target{
			Epoch: u32("epoch", m.epoch), Step: step, Prefix: prefix, Token: tandem.Token(u32("token", 0)), By: tandem.By(u32("by", 3)),
		}}
	}
	t.Fatalf("no event %q", d.Cmd)
	return nil
}

func scriptArg(d *datadriven.TestData, name string) ([]string, bool) {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return a.Vals, true
		}
	}
	return nil, false
}

// scriptDist reads dist=(3,5:20000): token 5 weighs 20000, the one without a weight has the rest.
func scriptDist(t *testing.T, d *datadriven.TestData) (out tandem.Dist) {
	vals, _ := scriptArg(d, "dist")
	heir, rest := -1, uint32(tandem.Mass)
	for i, v := range vals {
		id, weight, ok := strings.Cut(v, ":")
		n, err := strconv.Atoi(id)
		if err != nil {
			t.Fatal(err)
		}
		w, err := strconv.Atoi(weight)
		if ok && err != nil {
			t.Fatal(err)
		}
		if !ok {
			heir = i
		}
		out.IDs, out.Weights = append(out.IDs, tandem.Token(n)), append(out.Weights, uint32(w))
		rest -= uint32(w)
	}
	if heir >= 0 {
		out.Weights[heir] += rest
	}
	return out
}

func describe(a Action) string {
	switch a := a.(type) {
	case Decode:
		return fmt.Sprintf("decode %d: keep %d, append %v", a.ID, a.Keep, a.Append)
	case SendDraft:
		return fmt.Sprintf("send draft: epoch %d, step %d, version %d, token %d", a.Epoch, a.Step, a.Version, a.Token)
	case SendTarget:
		return fmt.Sprintf("send target: epoch %d, step %d, token %d, by %v", a.Epoch, a.Step, a.Token, a.By)
	case SendSync:
		return fmt.Sprintf("send sync: epoch %d, tokens %v", a.Epoch, a.Tokens)
	case SendNeedSync:
		return "send need-sync"
	case SendHandover:
		return fmt.Sprintf("send handover: epoch %d, step %d, versions %v, acceptance %.2f", a.Epoch, a.Step, a.Versions, a.Accept)
	case Emit:
		s := fmt.Sprintf("emit: step %d, token %d, by %v", a.Step, a.Token, a.By)
		if a.Alone {
			s += ", alone"
		}
		return s
	case Finish:
		return fmt.Sprintf("finish: %v", a.Reason)
	case Note:
		return fmt.Sprintf("note: %v, %v, step %d", a.Kind, a.Side, a.Step)
	}
	return fmt.Sprintf("%T", a)
}
