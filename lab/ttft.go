package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/decoder/kvstore"
	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/model/tokenizer"
	"tandem/node"
	"tandem/pair/pairtest"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// TTFT measures the time to the first token (DRAGON §7.3, Figure 7).
type TTFT struct {
	Setup
	Delays [2]time.Duration // paced decoding; reading is paced by Setup.Read
	RTTs   []time.Duration
	// Simulated plays the pair in virtual time and computes the other methods. Reading takes the time of Setup.Read, or as
	// long as it is measured to take here.
	Simulated bool
}

// ttftMethods are the methods to compare. The first is the device alone, the second mirror.
var ttftMethods = [5]Strategy{
	{Method: "device-alone", Label: "device alone", Alone: true, Color: 7, Dashed: true},
	{Method: "tandem", Placement: "mirror", Label: "tandem, mirror", Color: 2},
	{Method: "drcg-text", Label: "DRCG/Text", Want: tandem.WantText, Color: 1},
	{Method: "drcg-kv", Label: "DRCG/KV", Want: tandem.WantKV, Color: 3},
	{Method: "drdg-sw-fast", Label: "DRDG/SW, drafts", Want: tandem.WantAnswer, Color: 6, Dashed: true},
}

// readingTimes is how long it takes to prepare an answer, as the mean over the questions.
type readingTimes struct {
	own        [2]time.Duration // a side's own passages, with caches
	together   time.Duration    // all passages in one context, without caches (DRCG/Text)
	withCaches time.Duration    // all passages, with caches (DRCG/KV)
	text, kv   int              // bytes of the cloud's passages, and of their caches
}

// add adds the times for another question.
func (m *readingTimes) add(o readingTimes) {
	for side := range m.own {
		m.own[side] += o.own[side]
	}
	m.together, m.withCaches = m.together+o.together, m.withCaches+o.withCaches
	m.text, m.kv = m.text+o.text, m.kv+o.kv
}

// Run measures or plays every method at every round trip.
func (x TTFT) Run(ctx context.Context, progress report.Progress) (report.Report, error) {
	r := report.Report{
		Name: fileName("ttft", x.Simulated), Title: "Time to the first token", Simulated: x.Simulated,
		About: fmt.Sprintf("Mean over %d questions about the sample documents, %d passages a side, cached where a side has read them before; decoding %v / %v, reading %v / %v for a token of a prompt (0: as fast as it goes), device and cloud (the paper's Figure 7).",
			len(x.Questions), x.Settings.Documents, x.Delays[0], x.Delays[1], x.Read[0], x.Read[1]),
	}
	lines := make([]chart.Line, len(ttftMethods))
	for i, s := range ttftMethods {
		lines[i] = chart.Line{Name: s.Label, Color: s.Color, Dashed: s.Dashed}
	}
	run := x.live
	if x.Simulated {
		m, err := x.prepare(ctx)
		if err != nil {
			return r, err
		}
		run = func(ctx context.Context, rtt time.Duration) (firstTokens, error) { return x.play(ctx, m, rtt) }
		r.About += fmt.Sprintf(" The pair is played in virtual time; DRCG (%d bytes as text, %d as caches) and DRDG/SW are computed, with a connection in slow start from 12 kB.", m.text, m.kv)
		r.Findings = append(r.Findings, fmt.Sprintf("Reading takes %v on the device and %v in the cloud; all passages in one context %v on the device, with the cloud's caches %v.",
			m.own[0].Round(time.Millisecond), m.own[1].Round(time.Millisecond), m.together.Round(time.Millisecond), m.withCaches.Round(time.Millisecond)))
	} else {
		r.About += " Live, over QUIC and an emulated path without a limit to its rate. DRCG/Text reads the fetched text and the device's own into one context, without caches; fetching is paced to keep queues short."
	}
	for i, rtt := range x.RTTs {
		first, err := run(ctx, rtt)
		if err != nil {
			return r, err
		}
		for k, s := range ttftMethods {
			row := label(report.Result{TTFT: report.Ms(first.took[k]), Text: first.texts[k], Simulated: x.Simulated}, "ttft", s, rtt, x.Delays)
			r.Results = append(r.Results, row)
			lines[k].Points = append(lines[k].Points, chart.Point{X: rtt.Seconds() * 1000, Y: row.TTFT.Value})
		}
		if i == len(x.RTTs)-1 {
			r.Findings = append(r.Findings, first.findings(rtt, x.Simulated)...)
		}
		progress(i+1, len(x.RTTs))
	}
	if x.Delays[0] > 0 {
		r.Name += fmt.Sprintf("-%d-%d", x.Delays[0].Milliseconds(), x.Delays[1].Milliseconds())
	}
	r.Figures = []report.Figure{{Name: r.Name, SVG: chart.Plot{
		Title: fmt.Sprintf("Time to the first token (%s)", liveOrSimulated(x.Simulated)), X: "round-trip time (ms)", Y: "ms", Lines: lines,
	}.SVG()}}
	return r, nil
}

// firstTokens says how ttftMethods did, in their order.
type firstTokens struct {
	took     [5]time.Duration
	received [5]float64 // bytes in an answer; 0 if simulated
	texts    [5]string  // their hashes; empty if simulated
}

// findings compares the methods at a round trip.
func (f firstTokens) findings(rtt time.Duration, simulated bool) []string {
	ofAlone := func(k int) float64 { return f.took[k].Seconds() / f.took[0].Seconds() }
	out := []string{fmt.Sprintf("At a round trip of %v: mirror %d ms, %.2f of the device alone (%d ms); DRCG/Text %.2f, DRCG/KV %.2f, DRDG/SW %.2f of it.",
		rtt, f.took[1].Milliseconds(), ofAlone(1), f.took[0].Milliseconds(), ofAlone(2), ofAlone(3), ofAlone(4))}
	if !simulated {
		out = append(out, fmt.Sprintf("Received in an answer: DRCG/Text %.1f kB, DRCG/KV %.0f kB, mirror %.1f kB.", f.received[2]/1000, f.received[3]/1000, f.received[1]/1000))
	}
	return out
}

// play simulates or computes ttftMethods. The question travels to the cloud while the device reads.
func (x TTFT) play(ctx context.Context, m readingTimes, rtt time.Duration) (f firstTokens, err error) {
	path := steadyPath(rtt, 0, 1)
	cfg := Strategy{}.config()
	cfg.MaxTokens, cfg.Sampling.Temperature = 2, 1
	set := sim.Setting{
		Pair: cfg, Source: pairtest.Sharing(1, 1), Link: path.Link,
		Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
		Begin:  [2]time.Duration{m.own[0], rtt/2 + m.own[1]},
	}
	both, err := sim.Run(ctx, set)
	if err != nil {
		return f, err
	}
	set.Alone = true
	alone, err := sim.Run(ctx, set)
	if err != nil {
		return f, err
	}
	text := rtt + slowStart(m.text, rtt) + m.together + x.Delays[0]
	kv := rtt + slowStart(m.kv, rtt) + m.withCaches + x.Delays[0]
	n := time.Duration(x.Settings.MaxTokens)
	whole := max(m.own[0]+n*x.Delays[0], rtt+m.own[1]+n*x.Delays[1])
	f.took = [5]time.Duration{alone.Tokens[0].At, both.Tokens[0].At, text, kv, whole}
	return f, nil
}

// live measures ttftMethods on this machine.
func (x TTFT) live(ctx context.Context, rtt time.Duration) (f firstTokens, err error) {
	l := Latency{Setup: x.Setup, Methods: ttftMethods[:]}
	cells, err := l.measure(ctx, steadyPath(rtt, 0, 1), rtt, x.Delays, func() {})
	if err != nil {
		return f, err
	}
	for k, c := range cells {
		f.took[k] = time.Duration(mean(c.first) * 1e6)
		f.received[k], f.texts[k] = mean(c.received), c.result().Text
	}
	return f, nil
}

// prepare measures how long reading takes, or computes it from the pace.
func (x TTFT) prepare(ctx context.Context) (m readingTimes, err error) {
	for _, q := range x.Questions {
		one, err := x.readQuestion(ctx, q)
		if err != nil {
			return m, err
		}
		m.add(one)
	}
	n := len(x.Questions)
	for _, d := range []*time.Duration{&m.own[0], &m.own[1], &m.together, &m.withCaches} {
		*d /= time.Duration(n)
	}
	m.text, m.kv = m.text/n, m.kv/n
	return m, nil
}

// readQuestion measures the readings for one question.
func (x TTFT) readQuestion(ctx context.Context, q string) (m readingTimes, err error) {
	var found [2][]passages.Passage
	for i := range found {
		side := tandem.Side(i)
		if found[i], err = x.Documents[i].Search(ctx, passages.Query{Text: q}, x.Settings.Documents); err != nil {
			return m, fmt.Errorf("search the documents: %w", err)
		}
		if _, err := x.read(ctx, side, q, found[i], x.Settings.Contexts, x.KV[i]); err != nil { // fills the cache
			return m, err
		}
		if m.own[i], err = x.read(ctx, side, q, found[i], x.Settings.Contexts, x.KV[i]); err != nil {
			return m, err
		}
	}
	both := slices.Concat(found[0], found[1])
	if m.together, err = x.read(ctx, tandem.Device, q, both, 1, nil); err != nil {
		return m, err
	}
	if _, err := x.read(ctx, tandem.Device, q, found[tandem.Cloud], 0, x.KV[tandem.Device]); err != nil { // fills the device's cache
		return m, err
	}
	if m.withCaches, err = x.read(ctx, tandem.Device, q, both, 0, x.KV[tandem.Device]); err != nil {
		return m, err
	}
	c := x.Model.Config()
	for _, p := range found[tandem.Cloud] {
		m.text += len(p.Title) + len(p.Text)
		tokens := len(x.Model.Tokenizer().Encode(p.Title+"\n"+p.Text, tokenizer.Options{}))
		m.kv += tokens * c.Layers * c.KVHeads * c.HeadDim * 2 * 2 // keys and values, 16 bits each
	}
	return m, nil
}

// read prefills a question with passages on a side and returns how long that takes there.
func (x TTFT) read(ctx context.Context, side tandem.Side, question string, passages []passages.Passage, contexts int, kv *kvstore.Store) (time.Duration, error) {
	settings := x.Settings
	settings.Contexts = contexts
	cfg, err := node.Local{Model: x.Model, Scorer: search.Lexical(), KV: kv}.DecoderConfig(settings)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	d, err := decoder.New(ctx, cfg, decoder.Request{Question: question, Passages: passages})
	if err != nil {
		return 0, err
	}
	took := max(time.Since(start), x.Read[side]*time.Duration(d.Prefill().Tokens))
	return took, d.Close()
}
