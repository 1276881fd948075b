package lab

import (
	"context"
	"fmt"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/lab/chart"
	"tandem/lab/sim"
	"tandem/model/tokenizer"
	"tandem/retrieval"
)

// TTFT measures the time to the first token (DRAGON §7.3, Figure 7).
type TTFT struct {
	Bench
	Delays  [2]time.Duration // paced decoding
	RTTs    []time.Duration
	Prefill [2]time.Duration // what a side takes to read its documents in simulation; 0 for as measured here
	// Simulated plays all of it in virtual time, with the reading taken from Prefill or measured.
	Simulated bool
}

// reading is what preparing the first question's kind of answers takes on this machine.
type reading struct {
	own  [2]time.Duration // retrieval and prefill of a side's own documents
	both time.Duration    // prefill of the documents of both sides on the device, the KV of its own at hand
	text int              // bytes of the cloud's passages
	kv   int              // bytes of their keys and values
}

// Run measures or plays every method at every round trip.
func (x TTFT) Run(ctx context.Context, progress Progress) (Result, error) {
	r := Result{
		Name: fileName("ttft", x.Simulated), Title: "Time to the first token", Simulated: x.Simulated,
		About: fmt.Sprintf("Mean over %d questions about the sample documents, %d passages a side (the paper's Figure 7).", len(x.Questions), x.Settings.Documents),
	}
	m, err := x.prepare(ctx)
	if err != nil {
		return r, err
	}
	r.About += fmt.Sprintf(" DRCG is computed, not run: the device fetches the cloud's passages, %d bytes as text or %d as keys and values, by a connection in slow start from 12 kB, and reads them (text) or not (KV).", m.text, m.kv)
	for s, p := range x.Prefill {
		if p > 0 && x.Simulated {
			scale := p.Seconds() / m.own[s].Seconds()
			if m.own[s] = p; s == int(tandem.Device) {
				m.both = time.Duration(float64(m.both) * scale)
			}
		}
	}
	lines := []chart.Line{{Name: "device alone", Color: 7, Dashed: true}, {Name: "tandem, mirror", Color: 2}, {Name: "DRCG/Text (computed)", Color: 1}, {Name: "DRCG/KV (computed)", Color: 3}}
	for i, rtt := range x.RTTs {
		rows, err := x.at(ctx, m, rtt)
		if err != nil {
			return r, err
		}
		for l, row := range rows {
			row.Experiment, row.RTT, row.Device, row.Cloud = "ttft", Ms(rtt), Ms(x.Delays[0]), Ms(x.Delays[1])
			r.Rows = append(r.Rows, row)
			lines[l].Points = append(lines[l].Points, chart.Point{X: rtt.Seconds() * 1000, Y: row.TTFT.Value})
		}
		if i == len(x.RTTs)-1 {
			alone := rows[0].TTFT.Value
			r.Findings = append(r.Findings, fmt.Sprintf("At a round trip of %v: mirror %.0f ms, %.2f of the device alone (%.0f ms); DRCG/Text %.2f, DRCG/KV %.2f of it (computed).",
				rtt, rows[1].TTFT.Value, rows[1].TTFT.Value/alone, alone, rows[2].TTFT.Value/alone, rows[3].TTFT.Value/alone))
		}
		progress(i+1, len(x.RTTs))
	}
	r.Findings = append(r.Findings, fmt.Sprintf("Reading the documents takes %v on the device and %v in the cloud; the device would read those of both in %v.",
		m.own[0].Round(time.Millisecond), m.own[1].Round(time.Millisecond), m.both.Round(time.Millisecond)))
	r.Figures = []Figure{{r.Name, chart.Plot{
		Title: fmt.Sprintf("Time to the first token (%s)", howTaken(x.Simulated)), X: "round-trip time (ms)", Y: "ms", Lines: lines,
	}.SVG()}}
	return r, nil
}

// at returns the rows of one round trip: the device alone, mirror, DRCG/Text, DRCG/KV.
func (x TTFT) at(ctx context.Context, m reading, rtt time.Duration) ([]Row, error) {
	run := x.live
	if x.Simulated {
		run = x.play
	}
	alone, mirror, err := run(ctx, m, rtt)
	if err != nil {
		return nil, err
	}
	text := rtt + slowStart(m.text, rtt) + m.both + x.Delays[0]
	kv := rtt + slowStart(m.kv, rtt) + m.own[0] + x.Delays[0]
	return []Row{
		{Method: "device-alone", TTFT: Ms(alone), Simulated: x.Simulated},
		{Method: "tandem", Placement: "mirror", TTFT: Ms(mirror), Simulated: x.Simulated},
		{Method: "drcg-text", TTFT: Ms(text), Simulated: true},
		{Method: "drcg-kv", TTFT: Ms(kv), Simulated: true},
	}, nil
}

// play simulates the beginning of an answer. The question travels while the device reads.
func (x TTFT) play(ctx context.Context, m reading, rtt time.Duration) (alone, mirror time.Duration, err error) {
	path := steady(rtt, 0, 1)
	cfg := Strategy{}.config()
	cfg.MaxTokens = 2
	set := sim.Setting{
		Pair: cfg, Source: sim.Sharing(1, 1), Link: path.Link,
		Decode: [2]sim.Delay{sim.Every(x.Delays[0]), sim.Every(x.Delays[1])},
		Begin:  [2]time.Duration{m.own[0], rtt/2 + m.own[1]},
	}
	both, err := sim.Run(ctx, set)
	if err != nil {
		return 0, 0, err
	}
	set.Alone = true
	one, err := sim.Run(ctx, set)
	if err != nil {
		return 0, 0, err
	}
	return one.Tokens[0].At, both.Tokens[0].At, nil
}

// live measures on this machine.
func (x TTFT) live(ctx context.Context, _ reading, rtt time.Duration) (alone, mirror time.Duration, err error) {
	methods := []Strategy{{Label: "device alone", Alone: true}, {Label: "mirror"}}
	l := Latency{Bench: x.Bench, Methods: methods}
	cells, err := l.measure(ctx, steady(rtt, 0, 1), rtt, x.Delays, func() {})
	if err != nil {
		return 0, 0, err
	}
	first := func(c cell) time.Duration { return time.Duration(mean(c.first) * 1e6) }
	return first(cells[0]), first(cells[1]), nil
}

// prepare measures what reading takes, on average over the questions.
func (x TTFT) prepare(ctx context.Context) (m reading, err error) {
	c := x.Model.Config()
	for _, q := range x.Questions {
		var passages [2][]retrieval.Passage
		for side := range m.own {
			start := time.Now()
			hits, err := x.Documents[side].Search(ctx, q, x.Settings.Documents)
			if err != nil {
				return m, fmt.Errorf("search the documents: %w", err)
			}
			for _, h := range hits {
				passages[side] = append(passages[side], h.Passage)
			}
			if err := x.read(ctx, q, passages[side]); err != nil {
				return m, err
			}
			m.own[side] += time.Since(start)
		}
		start := time.Now()
		if err := x.read(ctx, q, append(passages[0], passages[1]...)); err != nil {
			return m, err
		}
		m.both += time.Since(start)
		for _, p := range passages[tandem.Cloud] {
			m.text += len(p.Title) + len(p.Text)
			tokens := len(x.Model.Tokenizer().Encode(p.Title+"\n"+p.Text, tokenizer.Options{}))
			m.kv += tokens * c.Layers * c.KVHeads * c.HeadDim * 2 * 2 // keys and values, 16 bits each
		}
	}
	n := len(x.Questions)
	for s := range m.own {
		m.own[s] /= time.Duration(n)
	}
	m.both, m.text, m.kv = max(m.both/time.Duration(n), m.own[tandem.Device]), m.text/n, m.kv/n
	return m, nil
}

// read prefills a question with passages.
func (x TTFT) read(ctx context.Context, question string, passages []retrieval.Passage) error {
	d, err := decoder.New(ctx, decoder.Config{
		Model: x.Model, Scorer: retrieval.Lexical(), Rows: x.Settings.Rows, TopP: x.Settings.Nucleus, MaxSupport: x.Settings.Support,
		MaxTokens: x.Settings.MaxTokens, Sampling: x.Settings.Sampling, Weights: x.Settings.Weights,
	}, decoder.Request{Question: question, Passages: passages})
	if err != nil {
		return err
	}
	return d.Close()
}
