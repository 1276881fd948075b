package node

import (
	"errors"
	"fmt"

	"tandem/decoder"
	"tandem/model/chat"
	"tandem/model/sample"
	"tandem/pair"
	"tandem/transport"
)

// beginOf is the message that asks a cloud the question.
func beginOf(q Question, s Settings) transport.Begin {
	b := transport.Begin{
		ID:       q.ID,
		Question: q.Text,
		Seed:     s.Sampling.Seed,
		Sampling: transport.Sampling{
			Temperature:   s.Sampling.Temperature,
			TopK:          s.Sampling.TopK,
			TopP:          s.Sampling.TopP,
			MinP:          s.Sampling.MinP,
			RepeatPenalty: s.Sampling.RepeatPenalty,
			RepeatLast:    s.Sampling.RepeatLast,
		},
		Placement:   s.Placement,
		Coupling:    s.Coupling,
		Gamma:       s.Gamma,
		TopP:        s.Nucleus,
		MaxSupport:  s.Support,
		Lookahead:   s.Lookahead,
		MaxTokens:   s.MaxTokens,
		Documents:   s.Documents,
		Rows:        s.Rows,
		Weights:     s.Weights.String(),
		ShareTitles: true,
		Want:        s.Want,
		Contexts:    s.Contexts,
	}
	for _, m := range q.History {
		b.History = append(b.History, transport.Turn{Role: m.Role, Content: m.Content})
	}
	return b
}

// questionOf reads what a device asks. What it sent is checked here as a user's flags are.
func questionOf(b transport.Begin) (Question, Settings, error) {
	weights, err := decoder.ParseWeights(b.Weights)
	if err != nil {
		return Question{}, Settings{}, err
	}
	s := Settings{
		Placement: b.Placement,
		Coupling:  b.Coupling,
		Gamma:     b.Gamma,
		Sampling: sample.Params{
			Temperature:   b.Sampling.Temperature,
			TopK:          b.Sampling.TopK,
			TopP:          b.Sampling.TopP,
			MinP:          b.Sampling.MinP,
			RepeatPenalty: b.Sampling.RepeatPenalty,
			RepeatLast:    b.Sampling.RepeatLast,
			Seed:          b.Seed,
		},
		Nucleus:   b.TopP,
		Support:   b.MaxSupport,
		Lookahead: b.Lookahead,
		MaxTokens: b.MaxTokens,
		Documents: b.Documents,
		Rows:      b.Rows,
		Weights:   weights,
		Want:      b.Want,
		Contexts:  b.Contexts,
	}
	if err := s.Check(); err != nil {
		return Question{}, Settings{}, err
	}
	if s.Lookahead == 0 {
		return Question{}, Settings{}, errors.New("lookahead 0: the device must choose one")
	}
	q := Question{ID: b.ID, Text: b.Question}
	for i, t := range b.History {
		if t.Role != "user" && t.Role != "assistant" {
			return Question{}, Settings{}, fmt.Errorf("turn %d has role %q: want user or assistant", i, t.Role)
		}
		q.History = append(q.History, chat.Message{Role: t.Role, Content: t.Content})
	}
	return q, s, nil
}

// handoverMessage and handoverOf carry the pair's word for who aggregates.
func handoverMessage(h pair.Handover) transport.Handover {
	return transport.Handover{Epoch: h.Epoch, Step: h.Step, Prefix: h.Prefix, Versions: h.Versions, Accept: h.Accept}
}

func handoverOf(m transport.Handover) pair.PeerHandover {
	return pair.PeerHandover{Handover: pair.Handover{Epoch: m.Epoch, Step: m.Step, Prefix: m.Prefix, Versions: m.Versions, Accept: m.Accept}}
}

func linkStats(now, before transport.Stats) LinkStats {
	return LinkStats{
		BytesSent:     now.BytesSent - before.BytesSent,
		BytesReceived: now.BytesReceived - before.BytesReceived,
		Drafts:        uint64(now.Drafts + now.PeerDrafts - before.Drafts - before.PeerDrafts),
		DraftBytes:    uint64(now.DraftBytes + now.PeerDraftBytes - before.DraftBytes - before.PeerDraftBytes),
		RTT:           now.RTT,
	}
}
