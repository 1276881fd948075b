package lab

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/kvstore"
	"tandem/internal/tinymodel"
	"tandem/lab/report"
	"tandem/model"
	"tandem/netem"
	"tandem/node"
	"tandem/npu/native"
	"tandem/pair/pairtest"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/scheduler"
)

const ms = time.Millisecond

func quiet(int, int) {}

// DRAGON Figure 8: latency costs lock step most. Greedy placement is no slower than the better fixed side, and mirror is the
// fastest.
func TestDRAGON_Figure8(t *testing.T) {
	x := Schedule{Tokens: 100, Records: 12, Delays: [][2]time.Duration{{60 * ms, 30 * ms}, {30 * ms, 30 * ms}}, RTTs: []time.Duration{50 * ms, 300 * ms}, Horizon: scheduler.DefaultHorizon}
	r, err := x.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ device, rtt float64 }
	cells := map[key]map[string]report.Result{}
	for _, row := range r.Results {
		k := key{row.Device.Value, row.RTT.Value}
		if cells[k] == nil {
			cells[k] = map[string]report.Result{}
		}
		cells[k][row.Placement] = row
		if row.Text != r.Results[0].Text || !row.Simulated {
			t.Errorf("%+v: another text than %s, or not marked simulated", row, r.Results[0].Text)
		}
	}
	for k, c := range cells {
		per := func(p string) float64 { return c[p].PerToken.Value }
		fixed := min(per("device"), per("cloud"))
		if !(per("mirror") <= per("greedy") && per("greedy") <= 1.01*fixed && max(per("device"), per("cloud")) < per("sync")) {
			t.Errorf("%+v: mirror %.1f, greedy %.1f, device %.1f, cloud %.1f, sync %.1f ms a token", k, per("mirror"), per("greedy"), per("device"), per("cloud"), per("sync"))
		}
		if k.device == 30 && k.rtt == 300 && per("greedy") > 0.9*fixed {
			t.Errorf("greedy takes %.2f of the better fixed side", per("greedy")/fixed)
		}
	}
	if len(cells) != 4 || len(r.Figures) != 2 || len(r.Findings) != 4 {
		t.Errorf("%d cells, %d figures, findings %q", len(cells), len(r.Figures), r.Findings)
	}
}

// Simulated points are on Theorem 6.2's curve where the theorem applies, and never far below it.
func TestSpeedup(t *testing.T) {
	x := Speedup{Tokens: 400, Cloud: 30 * ms, RTT: 300 * ms, Accept: []float64{0.3, 0.9}, Device: []time.Duration{10 * ms, 100 * ms, 400 * ms}}
	r, err := x.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Accept {
		for d, device := range x.Device {
			rows := r.Results[2*(i*len(x.Device)+d):][:2]
			played, theory := rows[0].PerToken.Value/rows[1].PerToken.Value, x.theory(device, x.record(i))
			if device != 100*ms && math.Abs(played/theory-1) > 0.02 || played < 0.98*theory {
				t.Errorf("α %v, device %v: simulated %.3f, theory %.3f", x.Accept[i], device, played, theory)
			}
		}
	}
}

// setup makes two sides with a small random model.
func setup(t *testing.T) Setup {
	t.Helper()
	words := []string{"cabin", "museum", "harbour", "opens", "wifi"}
	data := tinymodel.GGUF(tinymodel.Spec{Words: words, Gain: 3, Seed: 3})
	m, err := model.OpenBytes("tiny", data, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	b := Setup{Model: m, Questions: []string{"When does the museum open?", "Where is the cabin?"}}
	for side, text := range []string{"The cabin is at the harbour.", "The museum opens at nine."} {
		x, err := search.Memory(search.Options{Words: passages.SentenceWords})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		if _, err := x.AddFS(t.Context(), fstest.MapFS{"note.txt": {Data: []byte(text)}}, "."); err != nil {
			t.Fatal(err)
		}
		b.Documents[side] = x
	}
	b.Settings = tandem.Settings{
		Nucleus: decoder.DefaultTopP, Support: 64, Lookahead: 12, MaxTokens: 12, Documents: 2,
		Seed: 5, Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1},
	}
	return b
}

// The same seed gives the same text in every cell of a coupling, simulated or live.
func TestSameTextSimulatedAndLive(t *testing.T) {
	b := setup(t)
	for _, coupling := range [][]string{
		{"drdg-tw", "tandem/device", "tandem/cloud", "tandem/greedy", "tandem/mirror", "device-alone"}, {"tandem/leader"}, {"tandem/private"}, {"tandem/support-1"},
	} {
		x := Latency{Setup: b, Delays: [][2]time.Duration{{2 * ms, ms}}, RTTs: []time.Duration{0, 20 * ms}}
		var err error
		if x.Methods, err = Methods(coupling); err != nil {
			t.Fatal(err)
		}
		texts, want := map[string]int{}, 0
		for _, x.Simulated = range []bool{true, false} {
			r, err := x.Run(t.Context(), quiet)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Results {
				if row.Simulated != x.Simulated {
					t.Errorf("%+v: simulated should be %v", row, x.Simulated)
				}
				if row.Method != "device-alone" {
					texts[row.Text]++
				}
			}
		}
		for _, m := range x.Methods {
			if m.Method != "device-alone" {
				want += 2 * len(x.RTTs)
			}
		}
		if len(texts) != 1 {
			t.Errorf("%q: %d different texts: %v", coupling, len(texts), texts)
		}
		for text, n := range texts {
			if text == "" || n != want {
				t.Errorf("%q: text %q in %d cells, want %d", coupling, text, n, want)
			}
		}
	}
}

// Losses and recorded networks do not change the text.
func TestSameTextOverBadNetworks(t *testing.T) {
	b := setup(t)
	loss := Loss{Setup: b, Delays: [][2]time.Duration{{30 * ms, 20 * ms}}, RTT: 80 * ms, Losses: []float64{0, 0.1}, Simulated: true}
	r, err := loss.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Findings[len(r.Findings)-1]; !strings.Contains(got, "same in all 4 cells") {
		t.Error(got)
	}
	dir := t.TempDir()
	ping := "64 bytes from x: icmp_seq=1 ttl=57 time=17.1 ms\n64 bytes from x: icmp_seq=2 ttl=57 time=9017 ms\n64 bytes from x: icmp_seq=3 ttl=57 time=30 ms\n64 bytes from x: icmp_seq=60 ttl=57 time=30 ms\n"
	for name, text := range map[string]string{"stall.txt": ping, "lte.up": "3\n9\n20\n31\n", "lte.down": "1\n2\n50\n60\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := TraceFiles(dir)
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	traces := Traces{Setup: b, Files: files, Windows: 1, Delays: [2]time.Duration{30 * ms, 20 * ms}, Simulated: true}
	if traces.Methods, err = Methods([]string{"drdg-tw", "tandem/mirror"}); err != nil {
		t.Fatal(err)
	}
	if r, err = traces.Run(t.Context(), quiet); err != nil {
		t.Fatal(err)
	}
	if got := r.Findings[len(r.Findings)-1]; !strings.Contains(got, "same in all 6 cells") {
		t.Error(got)
	}
}

// Live answers that end before the worst of a network say so.
func TestAnswersMissTheWorst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stall.txt")
	var ping strings.Builder
	for i := range 60 {
		fmt.Fprintf(&ping, "64 bytes from x: icmp_seq=%d ttl=57 time=%d ms\n", i+1, 8+2*(i/59))
	}
	if err := os.WriteFile(file, []byte(ping.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	x := Traces{Setup: setup(t), Files: []string{file}, Delays: [2]time.Duration{2 * ms, ms}}
	var err error
	if x.Methods, err = Methods([]string{"tandem/mirror", "device-alone"}); err != nil {
		t.Fatal(err)
	}
	r, err := x.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Findings, "\n"); strings.Count(all, "before the worst at 5s") != 1 {
		t.Errorf("findings: %s", all)
	}
}

// A part of a trace goes on at the trace's beginning when it passes the end.
func TestCut(t *testing.T) {
	whole := &netem.Trace{Period: 4 * time.Second, Points: []netem.Point{{Delay: 1}, {At: time.Second, Delay: 2}, {At: 3 * time.Second, Delay: 3}}}
	got := tracePart(whole, 2500*ms, 3*time.Second)
	want := []netem.Point{{Delay: 2}, {At: 500 * ms, Delay: 3}, {At: 1500 * ms, Delay: 1}, {At: 2500 * ms, Delay: 2}}
	if len(got.Points) != len(want) {
		t.Fatalf("%+v", got.Points)
	}
	for i := range want {
		if got.Points[i] != want[i] {
			t.Errorf("point %d: %+v, want %+v", i, got.Points[i], want[i])
		}
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	packets := tracePart(&netem.Trace{Period: time.Second, Packets: []time.Duration{100 * ms, 900 * ms}}, 500*ms, 1500*ms)
	if err := packets.Validate(); err != nil || len(packets.Packets) != 3 {
		t.Errorf("%v, %v", packets.Packets, err)
	}
}

// The worst of a network may be in either direction, and be a long delay or a long time without an opportunity to send.
func TestWorstOfATrace(t *testing.T) {
	calm := &netem.Trace{Period: 9 * time.Second, Points: []netem.Point{{Delay: 20 * ms}, {At: 4 * time.Second, Delay: 50 * ms}}}
	stalled := &netem.Trace{Period: 9 * time.Second, Points: []netem.Point{{Delay: 20 * ms}, {At: 7 * time.Second, Delay: 3 * time.Second}}}
	packets := &netem.Trace{Period: 5 * time.Second, Packets: []time.Duration{time.Second, 2 * time.Second, 4500 * ms}}
	for _, c := range []struct {
		up, down *netem.Trace
		want     time.Duration
	}{{calm, calm, 4 * time.Second}, {calm, stalled, 7 * time.Second}, {stalled, calm, 7 * time.Second}, {packets, &netem.Trace{}, 2 * time.Second}} {
		if at, ok := worstOf(c.up, c.down); !ok || at != c.want {
			t.Errorf("%v, %v; want %v", at, ok, c.want)
		}
	}
	if _, ok := worstOf(&netem.Trace{}, &netem.Trace{}); ok {
		t.Error("an empty trace has a worst")
	}
}

// The picture of a recording shows decoding, drafts on their way, and targets.
func TestReplay(t *testing.T) {
	r := Replay([]node.Line{
		{Event: "begin", Placement: "greedy", Coupling: "speculative"},
		{Ms: 1, Event: "rtt", TookMs: 100},
		{Ms: 40, Event: "draft", Side: "device", Step: 0, TookMs: 30},
		{Ms: 90, Event: "draft", Side: "cloud", Step: 0, TookMs: 20},
		{Ms: 90, Event: "note", Note: "rejected", Side: "cloud", Step: 0},
		{Ms: 90, Event: "target", Step: 0, By: "device"},
		{Ms: 91, Event: "note", Note: "handover", Side: "cloud", Step: 1},
	})
	wellFormed(t, r.Figures[0].SVG)
	if svg := string(r.Figures[0].SVG); !strings.Contains(svg, "hand-over at step 1 to the cloud") || !strings.Contains(svg, `fill-opacity=".35"><title>cloud drafts step 0`) {
		t.Error("hand-over or rejection is missing")
	}
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "1 rejections, 1 hand-overs") {
		t.Errorf("%q", r.Findings)
	}
	wellFormed(t, Replay(nil).Figures[0].SVG)
}

func wellFormed(t *testing.T, data []byte) {
	t.Helper()
	in := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := in.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %.2000s", err, data)
		}
	}
}

// The page has every report with its command, and needs no other file.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := report.Page(dir, "test"); err == nil {
		t.Error("a page without reports")
	}
	x := Schedule{Tokens: 10, Records: 2, Delays: [][2]time.Duration{{30 * ms, 30 * ms}}, RTTs: []time.Duration{50 * ms}, Horizon: 8}
	r, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Command, r.Taken = "lab schedule --decode <30ms>", time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	other := Replay(nil)
	if err := other.Save(dir); err != nil {
		t.Fatal(err)
	}
	page, n, err := report.Page(dir, "tandem test")
	if n != 2 {
		t.Errorf("%d reports", n)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lab schedule --decode &lt;30ms&gt;", "1 March 2026", "tandem test", "simulated", "<svg", report.Machine()} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "src=", "href="} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page holds %q", bad)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".new-") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

// In the simulated time to the first token, the question travels while the device reads.
func TestTTFT(t *testing.T) {
	b := setup(t)
	b.Read = [2]time.Duration{30 * ms, 6 * ms}
	for side := range b.KV {
		var err error
		if b.KV[side], err = kvstore.Open(t.TempDir(), 1<<24); err != nil {
			t.Fatal(err)
		}
	}
	x := TTFT{Setup: b, Delays: [2]time.Duration{30 * ms, 30 * ms}, RTTs: []time.Duration{0, 300 * ms}, Simulated: true}
	r, err := x.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 2*len(ttftMethods) {
		t.Fatalf("%d results", len(r.Results))
	}
	of := func(i int) map[string]float64 {
		out := map[string]float64{}
		for _, row := range r.Results[i*len(ttftMethods):][:len(ttftMethods)] {
			out[row.Method] = row.TTFT.Value
		}
		return out
	}
	near, far := of(0), of(1)
	if near["tandem"] > 1.01*near["device-alone"] || far["tandem"] > max(far["device-alone"], 1000)*1.15 || far["device-alone"] != near["device-alone"] {
		t.Errorf("near %v, far %v", near, far)
	}
	for _, m := range []string{"drcg-text", "drcg-kv", "drdg-sw-fast"} {
		if far[m] <= far["tandem"] || m != "drdg-sw-fast" && far[m] < near[m]+299 {
			t.Errorf("%s: near %v, far %v", m, near, far)
		}
	}
}

// The baselines run live in the same cells as the pair.
func TestBaselinesLive(t *testing.T) {
	x := TTFT{Setup: setup(t), RTTs: []time.Duration{20 * ms}}
	r, err := x.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Results {
		if row.Simulated || row.TTFT.Value <= 0 || row.Method != "device-alone" && row.TTFT.Value < 20 {
			t.Errorf("%+v", row)
		}
	}
	if !strings.Contains(strings.Join(r.Findings, ""), "Received in an answer: DRCG/Text") {
		t.Errorf("%q", r.Findings)
	}
}

// A recording gives its acceptances and delays to the simulator.
func TestRecorded(t *testing.T) {
	lines := []node.Line{
		{Event: "draft", Side: "device", TookMs: 30}, {Event: "draft", Side: "cloud", TookMs: 10},
		{Event: "target", By: "both"}, {Event: "target", Step: 1, By: "device", Alone: true}, {Event: "target", Step: 2, By: "cloud"},
	}
	r, err := ReadRecorded(lines)
	if err != nil || len(r.Accept) != 2 || r.Accept[0] != tandem.ByBoth || r.Accept[1] != tandem.ByCloud || r.delays()[tandem.Cloud](7) != 10*ms {
		t.Fatalf("%+v, %v", r, err)
	}
	x := Schedule{Tokens: 20, RTTs: []time.Duration{100 * ms}, Horizon: 8, Recorded: []Recorded{r}}
	res, err := x.Run(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if row := res.Results[1]; row.AcceptDevice.Value != 0.5 || row.AcceptCloud.Value != 1 || row.Device != report.Is(30) || row.Cloud != report.Is(10) {
		t.Errorf("%+v", row)
	}
	for _, bad := range [][]node.Line{nil, lines[2:], lines[:2]} {
		if _, err := ReadRecorded(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// Of two equal records, placement random draws a series for each.
func TestScheduleRandom(t *testing.T) {
	equal := Recorded{Accept: pairtest.Record{tandem.ByDevice, tandem.ByCloud, tandem.ByBoth}, Decode: [2][]time.Duration{{30 * ms}, {30 * ms}}}
	x := Schedule{Tokens: 100, Records: 1 << 40, Recorded: []Recorded{equal, equal}} // a record's share of them shifts its path: here by nothing
	for _, s := range scheduleStrategies {
		var took [2]time.Duration
		for i := range took {
			o, err := x.play(t.Context(), s, 300*ms, [2]time.Duration{}, i)
			if err != nil {
				t.Fatal(err)
			}
			took[i] = o.Took
		}
		if random := s.Placement == "random"; random == (took[0] == took[1]) {
			t.Errorf("%s takes %v", s.Placement, took)
		}
	}
}

// Names of methods are checked.
func TestMethods(t *testing.T) {
	all, err := Methods(nil)
	if err != nil || len(all) != len(MethodNames()) {
		t.Errorf("%d methods, %v", len(all), err)
	}
	one, err := Methods([]string{"tandem/mirror"})
	if err != nil || len(one) != 1 || one[0].Place != tandem.PlaceMirror {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := Methods([]string{"magic"}); err == nil || !strings.Contains(err.Error(), "tandem/mirror") {
		t.Errorf("error %v", err)
	}
}
