package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tandem"
	"tandem/aggregator"
	"tandem/pair"
	"tandem/retrieval/passages"
	"tandem/transport"
)

// This file has the baselines of DRAGON §7.2 that are not placements. They exist to be measured: they do not go on
// without the cloud, and two of them fetch its documents.

// baseline answers by the method that s.Want stands for.
func (d *Device) baseline(a *deviceAnswer, q Question, s tandem.Settings) (Answer, error) {
	if d.Cloud == nil {
		return Answer{}, fmt.Errorf("%w: this method needs one", ErrNoCloud)
	}
	if s.Want == tandem.WantAnswer {
		return d.sequence(a, q, s)
	}
	return d.fetch(a, q, s)
}

// fetched holds the cloud's passages.
type fetched struct {
	passages []passages.Passage
	saved    [][]byte // their KV caches, with DRCG/KV
}

// fetch answers by DRCG: the device alone, over its own passages and the cloud's. As text, all passages are read into one
// context (context aggregation). A KV cache is valid only behind its own prefix, so with DRCG/KV each passage keeps its
// context.
func (d *Device) fetch(a *deviceAnswer, q Question, s tandem.Settings) (Answer, error) {
	var got fetched
	failed := make(chan error, 1)
	go func() {
		var err error
		got, err = d.fetchPassages(a, q, s)
		failed <- err
	}()
	passages, err := d.Local.search(a.ctx, q, s)
	if err := errors.Join(<-failed, err); err != nil {
		return a.finish(), err
	}
	own := len(passages)
	passages = append(passages, got.passages...)
	saved := append(make([][]byte, own), got.saved...)
	s.Contexts = 0
	local := d.Local
	if s.Want == tandem.WantText {
		s.Contexts, local.KV = 1, nil // no stored caches: another question combines other passages
	}
	read, err := local.prefill(a.ctx, q, s, passages, saved)
	if err != nil {
		return a.finish(), err
	}
	defer read.Close()
	a.answer.Prefill[tandem.Device] = read.took
	a.answer.Read = [2]int{own, len(got.passages)}
	for _, title := range read.Prefill().Truncated {
		a.remark("%s", local.shortened(title))
	}
	err = a.run(read)
	a.answer.Documents = [2][]Source{read.sourcesOf(0, own), read.sourcesOf(own, len(passages))}
	return a.finish(), err
}

// fetchPassages asks the cloud for its passages.
func (d *Device) fetchPassages(a *deviceAnswer, q Question, s tandem.Settings) (f fetched, err error) {
	up, err := d.Cloud.open(a.ctx, beginOf(q, s))
	if err != nil {
		return f, errors.Join(ErrNoCloud, err)
	}
	a.conn, a.statsBefore = up.conn, up.statsBefore
	defer up.exchange.Close()
	m, err := receive[transport.Passages](a.ctx, up.exchange)
	if err != nil {
		return f, err
	}
	for _, p := range m.Passages {
		f.passages = append(f.passages, passages.Passage{Title: p.Title, Text: p.Text})
	}
	total := 0
	for _, n := range m.Saved {
		total += n
	}
	all, err := transport.ReceiveBulk(a.ctx, up.exchange, total)
	if err != nil {
		return f, fmt.Errorf("fetch the cloud's caches: %w", err)
	}
	for _, n := range m.Saved {
		f.saved, all = append(f.saved, all[:n:n]), all[n:]
	}
	return f, up.exchange.Send(transport.End{Reason: "fetched"})
}

// receivePast receives the next message that is no news of the cloud's places: the question waits for one.
func receivePast(ctx context.Context, exchange exchange) (transport.Message, error) {
	for {
		m, err := exchange.Receive(ctx)
		switch m.(type) {
		case transport.Busy, transport.Leaving:
			continue
		}
		return m, err
	}
}

// receive receives a message that must be an M.
func receive[M transport.Message](ctx context.Context, exchange exchange) (M, error) {
	var want M
	m, err := receivePast(ctx, exchange)
	if err != nil {
		return want, errors.Join(ErrNoCloud, err)
	}
	switch m := m.(type) {
	case M:
		return m, nil
	case transport.Fail:
		return want, errors.New("the cloud refused: " + m.Text)
	}
	return want, fmt.Errorf("the cloud answered with %T: it does not know this method", m)
}

// sequence answers by DRDG/SW: both sides write a whole answer, alone and at once; the cloud's crosses, and
// the one that its side holds for likelier, times the side's weight η, is the answer (RAG-Sequence with fast
// decoding). Nothing is shown before that.
func (d *Device) sequence(a *deviceAnswer, q Question, s tandem.Settings) (Answer, error) {
	type side struct {
		drafts []tandem.Draft
		err    error
	}
	cfg := sharedPairConfig(s, tandem.Device, d.Local.Model)
	cloud := make(chan side, 1)
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	go func() {
		drafts, err := d.receiveCloudAnswer(ctx, a, q, s, cfg)
		if err != nil {
			cancel() // no other answer comes
		}
		cloud <- side{drafts, err}
	}()
	var own side
	read, err := d.Local.read(ctx, q, s)
	if err == nil {
		defer read.Close()
		a.answer.Prefill[tandem.Device], a.answer.Read[tandem.Device] = read.took, len(read.passages)
		own.drafts, own.err = writeAlone(ctx, read, cfg)
		a.answer.Documents[tandem.Device] = read.sources()
	} else {
		own.err = err
		cancel()
	}
	other := <-cloud
	if other.err != nil && (own.err == nil || errors.Is(own.err, context.Canceled)) {
		return a.finish(), other.err
	}
	if own.err != nil {
		return a.finish(), own.err
	}
	winner, tokens := likelierAnswer([2][]tandem.Draft{own.drafts, other.drafts}, cfg.Stop)
	for _, t := range tokens {
		a.record.target(pair.Emit{Target: t})
		a.show(pair.Emit{Target: t})
	}
	a.answer.Reason = pair.ReasonStop
	if cfg.MaxTokens > 0 && len(tokens) >= cfg.MaxTokens {
		a.answer.Reason = pair.ReasonLength
	}
	a.log.Debug("sequence-wise", "by", winner)
	return a.finish(), nil
}

// receiveCloudAnswer receives the cloud's answer.
func (d *Device) receiveCloudAnswer(ctx context.Context, a *deviceAnswer, q Question, s tandem.Settings, cfg pair.Config) ([]tandem.Draft, error) {
	up, err := d.Cloud.open(ctx, beginOf(q, s))
	if err != nil {
		return nil, errors.Join(ErrNoCloud, err)
	}
	a.conn, a.statsBefore = up.conn, up.statsBefore
	defer up.exchange.Close()
	return receiveAnswer(ctx, up.exchange, cfg, &a.answer)
}

// receiveAnswer receives what Cloud.writeAnswer sends.
func receiveAnswer(ctx context.Context, exchange exchange, cfg pair.Config, answer *Answer) ([]tandem.Draft, error) {
	ready, err := receive[transport.Ready](ctx, exchange)
	if err != nil {
		return nil, err
	}
	answer.Prefill[tandem.Cloud], answer.Read[tandem.Cloud] = ready.Prefill, ready.Documents
	var drafts []tandem.Draft
	prefix := tandem.NoPrefix
	for {
		m, err := receivePast(ctx, exchange)
		if err != nil {
			return nil, errors.Join(ErrNoCloud, err)
		}
		switch m := m.(type) {
		case tandem.Draft:
			if m.Step != tandem.Step(len(drafts)) || m.Prefix != prefix || len(drafts) >= cfg.MaxTokens || m.Dist.Check(cfg.Vocab) != nil || m.Dist.Weight(m.Token) == 0 {
				return nil, fmt.Errorf("the cloud's draft of step %d makes no sense after %d others", m.Step, len(drafts))
			}
			drafts, prefix = append(drafts, m), prefix.Then(m.Token)
		case transport.Sources:
			answer.Documents[tandem.Cloud] = sourcesOf(m.Sources)
		case transport.Fail:
			return nil, errors.New("the cloud refused: " + m.Text)
		case transport.End:
			return drafts, exchange.Send(transport.End{Reason: "taken"})
		default:
			return nil, fmt.Errorf("the cloud sent %T during its answer", m)
		}
	}
}

// writeAlone lets a side write a whole answer by itself and returns its drafts. The last one may be of a stop token.
func writeAlone(ctx context.Context, read producer, cfg pair.Config) ([]tandem.Draft, error) {
	rule := cfg.Rule()
	var drafts []tandem.Draft
	prefix, keep, last := tandem.NoPrefix, 0, []tandem.Token(nil)
	for len(drafts) < cfg.MaxTokens {
		out, err := read.Next(ctx, keep, last)
		if err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		step := tandem.Step(len(drafts))
		d := tandem.Draft{Step: step, Prefix: prefix, Token: rule.Draft(cfg.Self, step, out.Dist), Dist: out.Dist, H: out.H, Decode: out.Took}
		drafts, prefix = append(drafts, d), prefix.Then(d.Token)
		if slices.Contains(cfg.Stop, d.Token) {
			break
		}
		keep, last = keep+len(last), []tandem.Token{d.Token}
	}
	return drafts, nil
}

// likelierAnswer returns the likelier of two answers, with the side's weight before the first token as its prior
// (RAG-Sequence's p(d|x)), as targets. The device's is taken where they are alike.
func likelierAnswer(drafts [2][]tandem.Draft, stop []tandem.Token) (winner tandem.Side, out []tandem.Target) {
	var score [2]float64
	for side, list := range drafts {
		for _, d := range list {
			score[side] += math.Log(float64(d.Dist.Weight(d.Token)) / tandem.Mass)
		}
		if len(list) == 0 {
			score[side] = math.Inf(-1)
		}
	}
	if len(drafts[0]) > 0 && len(drafts[1]) > 0 {
		eta := aggregator.Eta(drafts[tandem.Device][0].H, drafts[tandem.Cloud][0].H)
		score[tandem.Device] += math.Log(float64(eta) / tandem.Mass)
		score[tandem.Cloud] += math.Log(1 - float64(eta)/tandem.Mass)
	}
	if score[tandem.Cloud] > score[tandem.Device] {
		winner = tandem.Cloud
	}
	own, other := drafts[winner], drafts[winner.Other()]
	for i, d := range own {
		if slices.Contains(stop, d.Token) {
			break
		}
		by := tandem.ByNeither.With(winner)
		if i < len(other) && other[i].Prefix == d.Prefix && other[i].Token == d.Token {
			by = tandem.ByBoth
		}
		out = append(out, tandem.Target{Step: d.Step, Prefix: d.Prefix, Token: d.Token, By: by})
	}
	return winner, out
}

// awaitEnd waits for the device to end the exchange.
func awaitEnd(ctx context.Context, exchange exchange) error {
	for ctx.Err() == nil { // a device that sends without end must not keep what it waits for
		m, err := exchange.Receive(ctx)
		if err != nil {
			return err
		}
		if _, ok := m.(transport.End); ok {
			return nil
		}
	}
	return context.Cause(ctx)
}
