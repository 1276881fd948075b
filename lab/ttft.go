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

// firsts are the methods to compare. The first is the device alone, the second mirror.
var firsts = []Strategy{
	{Method: "device-alone", Label: "device alone", Alone: true, Color: 7, Dashed: true},
	{Method: "tandem", Placement: "mirror", Label: "tandem, mirror", Color: 2},
	{Method: "drcg-text", Label: "DRCG/Text", Want: tandem.WantText, Color: 1},
	{Method: "drcg-kv", Label: "DRCG/KV", Want: tandem.WantKV, Color: 3},
	{Method: "drdg-sw-fast", Label: "DRDG/SW, drafts", Want: tandem.WantAnswer, Color: 6, Dashed: true},
}

// reading is how long it takes to prepare an answer, as the mean over the questions.
type reading struct {
	own      [2]time.Duration // a side's own passages, with caches
	together time.Duration    // all passages in one context, without caches (DRCG/Text)
	rows     time.Duration    // all passages, with caches (DRCG/KV)
	text, kv int              // bytes of the cloud's passages, and of their caches
}

// Run measures or plays every method at every round trip.
func (x TTFT) Run(ctx context.Context, progress report.Progress) (report.Report, error) {
	r := report.Report{
		Name: fileName("ttft", x.Simulated), Title: "Time to the first token", Simulated: x.Simulated,
		About: fmt.Sprintf("Mean over %d questions about the sample documents, %d passages a side, cached where a side has read them before; decoding %v / %v, reading %v / %v for a token of a prompt (0: as fast as it goes), device and cloud (the paper's Figure 7).",
			len(x.Questions), x.Settings.Documents, x.Delays[0], x.Delays[1], x.Read[0], x.Read[1]),
	}
	lines := make([]chart.Line, len(firsts))
	for i, s := range firsts {
		lines[i] = chart.Line{Name: s.Label, Color: s.Color, Dashed: s.Dashed}
	}
	run, sizes, texts := x.live, map[string]float64{}, map[string]string{}
	if x.Simulated {
		m, err := x.prepare(ctx)
		if err != nil {
			return r, err
		}
		run = func(ctx context.Context, rtt time.Duration, _ map[string]float64, _ map[string]string) ([]time.Duration, error) {
			return x.play(ctx, m, rtt)
		}
		r.About += fmt.Sprintf(" The pair is played in virtual time; DRCG (%d bytes as text, %d as caches) and DRDG/SW are computed, with a connection in slow start from 12 kB.", m.text, m.kv)
		r.Findings = append(r.Findings, fmt.Sprintf("Reading takes %v on the device and %v in the cloud; all passages in one context %v on the device, with the cloud's caches %v.",
			m.own[0].Round(time.Millisecond), m.own[1].Round(time.Millisecond), m.together.Round(time.Millisecond), m.rows.Round(time.Millisecond)))
	} else {
		r.About += " Live, over QUIC and an emulated path without a limit to its rate. DRCG/Text reads the fetched text and the device's own into one context, without caches; fetching is paced to keep queues short."
	}
	for i, rtt := range x.RTTs {
		took, err := run(ctx, rtt, sizes, texts)
		if err != nil {
			return r, err
		}
		for l, s := range firsts {
			row := label(report.Result{TTFT: report.Ms(took[l]), Text: texts[s.Method], Simulated: x.Simulated}, "ttft", s, rtt, x.Delays)
			r.Results = append(r.Results, row)
			lines[l].Points = append(lines[l].Points, chart.Point{X: rtt.Seconds() * 1000, Y: row.TTFT.Value})
		}
		if i == len(x.RTTs)-1 {
			of := func(l int) float64 { return took[l].Seconds() / took[0].Seconds() }
			r.Findings = append(r.Findings, fmt.Sprintf("At a round trip of %v: mirror %d ms, %.2f of the device alone (%d ms); DRCG/Text %.2f, DRCG/KV %.2f, DRDG/SW %.2f of it.",
				rtt, took[1].Milliseconds(), of(1), took[0].Milliseconds(), of(2), of(3), of(4)))
		}
		progress(i+1, len(x.RTTs))
	}
	if !x.Simulated {
		r.Findings = append(r.Findings, fmt.Sprintf("Received in an answer: DRCG/Text %.1f kB, DRCG/KV %.0f kB, mirror %.1f kB.", sizes["drcg-text"]/1000, sizes["drcg-kv"]/1000, sizes["tandem"]/1000))
	}
	if x.Delays[0] > 0 {
		r.Name += fmt.Sprintf("-%d-%d", x.Delays[0].Milliseconds(), x.Delays[1].Milliseconds())
	}
	r.Figures = []report.Figure{{Name: r.Name, SVG: chart.Plot{
		Title: fmt.Sprintf("Time to the first token (%s)", howTaken(x.Simulated)), X: "round-trip time (ms)", Y: "ms", Lines: lines,
	}.SVG()}}
	return r, nil
}

// play simulates or computes the methods of firsts. The question travels to the cloud while the device reads.
func (x TTFT) play(ctx context.Context, m reading, rtt time.Duration) ([]time.Duration, error) {
	path := steady(rtt, 0, 1)
	cfg := Strategy{}.config()
	cfg.MaxTokens, cfg.Sampling.Temperature = 2, 1
	set := sim.Setting{
		Pair: cfg, Source: pairtest.Sharing(1, 1), Link: path.Link,
		Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
		Begin:  [2]time.Duration{m.own[0], rtt/2 + m.own[1]},
	}
	both, err := sim.Run(ctx, set)
	if err != nil {
		return nil, err
	}
	set.Alone = true
	one, err := sim.Run(ctx, set)
	if err != nil {
		return nil, err
	}
	text := rtt + slowStart(m.text, rtt) + m.together + x.Delays[0]
	kv := rtt + slowStart(m.kv, rtt) + m.rows + x.Delays[0]
	n := time.Duration(x.Settings.MaxTokens)
	whole := max(m.own[0]+n*x.Delays[0], rtt+m.own[1]+n*x.Delays[1])
	return []time.Duration{one.Tokens[0].At, both.Tokens[0].At, text, kv, whole}, nil
}

// live measures the methods of firsts on this machine, with the bytes that they receive and their texts.
func (x TTFT) live(ctx context.Context, rtt time.Duration, sizes map[string]float64, texts map[string]string) ([]time.Duration, error) {
	l := Latency{Setup: x.Setup, Methods: firsts}
	cells, err := l.measure(ctx, steady(rtt, 0, 1), rtt, x.Delays, func() {})
	if err != nil {
		return nil, err
	}
	out := make([]time.Duration, len(firsts))
	for i, c := range cells {
		out[i] = time.Duration(mean(c.first) * 1e6)
		sizes[firsts[i].Method], texts[firsts[i].Method] = mean(c.received), c.result().Text
	}
	return out, nil
}

// prepare measures how long reading takes, or computes it from the pace.
func (x TTFT) prepare(ctx context.Context) (m reading, err error) {
	c := x.Model.Config()
	for _, q := range x.Questions {
		var found [2][]passages.Passage
		for side := range m.own {
			passages, err := x.Documents[side].Search(ctx, passages.Query{Text: q}, x.Settings.Documents)
			if err != nil {
				return m, fmt.Errorf("search the documents: %w", err)
			}
			found[side] = passages
			if _, err := x.read(ctx, tandem.Side(side), q, found[side], x.Settings.Contexts, x.KV[side]); err != nil { // fills the cache
				return m, err
			}
			took, err := x.read(ctx, tandem.Side(side), q, found[side], x.Settings.Contexts, x.KV[side])
			if err != nil {
				return m, err
			}
			m.own[side] += took
		}
		both := slices.Concat(found[0], found[1])
		together, err := x.read(ctx, tandem.Device, q, both, 1, nil)
		if err != nil {
			return m, err
		}
		if _, err := x.read(ctx, tandem.Device, q, found[1], 0, x.KV[0]); err != nil {
			return m, err
		}
		rows, err := x.read(ctx, tandem.Device, q, both, 0, x.KV[0])
		if err != nil {
			return m, err
		}
		m.together, m.rows = m.together+together, m.rows+rows
		for _, p := range found[tandem.Cloud] {
			m.text += len(p.Title) + len(p.Text)
			tokens := len(x.Model.Tokenizer().Encode(p.Title+"\n"+p.Text, tokenizer.Options{}))
			m.kv += tokens * c.Layers * c.KVHeads * c.HeadDim * 2 * 2 // keys and values, 16 bits each
		}
	}
	n := len(x.Questions)
	for _, d := range []*time.Duration{&m.own[0], &m.own[1], &m.together, &m.rows} {
		*d /= time.Duration(n)
	}
	m.text, m.kv = m.text/n, m.kv/n
	return m, nil
}

// read prefills a question with passages on a side and returns how long that takes there.
func (x TTFT) read(ctx context.Context, side tandem.Side, question string, passages []passages.Passage, rows int, kv *kvstore.Store) (time.Duration, error) {
	settings := x.Settings
	settings.Contexts = rows
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
