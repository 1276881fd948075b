package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/retrieval/passages"
	"tandem/transport"
)

// baseline serves a device's baseline and waits until the device ends the exchange.
func (c *Cloud) baseline(ctx context.Context, a *cloudAnswer, begin transport.Begin) error {
	q, s, err := questionOf(begin)
	if err != nil {
		return a.refuse(err)
	}
	if begin.Want == tandem.WantAnswer {
		return c.writeAnswer(ctx, a, q, s, begin.ShareTitles)
	}
	if !c.GiveDocuments {
		return a.refuse(errors.New("it does not give away documents; for a comparison over sample documents, its operator can start it with --allow-documents"))
	}
	passages, err := a.local.search(ctx, q, s)
	if err != nil {
		return a.refuse(err)
	}
	var m transport.Passages
	for _, p := range passages {
		m.Passages = append(m.Passages, transport.Passage{Title: p.Title, Text: p.Text})
	}
	var saved [][]byte
	if begin.Want == tandem.WantKV {
		if saved, err = a.local.caches(ctx, q, s, passages); err != nil {
			return a.refuse(err)
		}
		for _, b := range saved {
			m.Saved = append(m.Saved, len(b))
		}
	}
	if err := a.exchange.Send(m); err != nil {
		return a.refuse(err)
	}
	device := timedExchange{a.exchange}
	if err := transport.SendBulk(ctx, device, slices.Concat(saved...)); err != nil {
		return err
	}
	return awaitEnd(ctx, device)
}

// caches returns the KV caches of passages, from the store or computed.
func (l Local) caches(ctx context.Context, q Question, s tandem.Settings, passages []passages.Passage) ([][]byte, error) {
	cfg, err := l.DecoderConfig(s)
	if err != nil {
		return nil, err
	}
	return decoder.Prefixes(ctx, cfg, decoder.Request{Question: q.Text, History: q.History, Passages: passages})
}

// writeAnswer writes a whole answer and sends it.
func (c *Cloud) writeAnswer(ctx context.Context, a *cloudAnswer, q Question, s tandem.Settings, titles bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan error, 1)
	go func() { // stop writing if the device goes away
		err := awaitEnd(ctx, a.exchange)
		a.ended.Store(err == nil)
		over <- err
		cancel()
	}()
	read, err := a.local.read(ctx, q, s)
	if err != nil {
		return a.refuse(err)
	}
	defer read.Close()
	if err := a.exchange.Send(transport.Ready{Documents: len(read.passages), Prefill: read.took}); err != nil {
		return err
	}
	drafts, err := writeAlone(ctx, read, sharedPairConfig(s, tandem.Cloud, c.Local.Model))
	if err != nil {
		return a.refuse(err)
	}
	for _, d := range drafts {
		if err := a.exchange.Send(d); err != nil {
			return err
		}
	}
	if c.Titles && titles {
		if err := a.exchange.Send(sourcesMessage(read.sources(), nil, true, false)); err != nil {
			return err
		}
	}
	if err := a.exchange.Send(transport.End{Reason: "written"}); err != nil {
		return err
	}
	select {
	case err := <-over:
		return err
	case <-time.After(idle):
		return errIdle
	}
}

// timedExchange is an exchange whose device must send something within the time idle: it is its turn.
type timedExchange struct{ exchange }

func (e timedExchange) Receive(ctx context.Context) (transport.Message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, idle, errIdle)
	defer cancel()
	return e.exchange.Receive(ctx)
}
