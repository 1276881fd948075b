package engine

import (
	"context"
	"fmt"
	"time"

	"tandem/internal/llamacpp"
)

// peer is llama.cpp as an engine, on the same device: flash attention, F16 caches and, on a processor, repacked weights and
// a persistent thread pool.
type peer struct {
	model          *llamacpp.Model
	vocab, threads int
	now            func() time.Duration // for measure
	variant        string               // of ggml's library for processors, or ""

	session *llamacpp.Session // holds rows sequences of at most room positions
	rows    int
	room    int
	prompt  int // tokens with which each sequence of the session begins
}

// openPeer opens the model file with the llama.cpp library, on the device that ggml calls by that name.
func openPeer(path, device string, vocab, threads int) (*peer, error) {
	lib, err := llamacpp.Load()
	if err != nil {
		return nil, fmt.Errorf("--against llama.cpp: %w", err)
	}
	m, err := lib.OpenFast(path, device)
	if err != nil {
		return nil, fmt.Errorf("--against llama.cpp: %w", err)
	}
	return &peer{model: m, vocab: vocab, threads: threads, variant: lib.Variant()}, nil
}

func (p *peer) Close() {
	if p.session != nil {
		p.session.Close()
	}
	p.model.Close()
}

// after returns a session whose sequences each begin with a prompt of n tokens. It reuses the previous session if that
// fits.
func (p *peer) after(rows, n, room int) (*llamacpp.Session, error) {
	if p.session == nil || p.rows != rows || p.room < room {
		if p.session != nil {
			p.session.Close()
		}
		var err error
		p.rows, p.room, p.prompt = rows, room, 0
		if p.session, err = p.model.NewSession(p.threads, room, rows); err != nil {
			return nil, err
		}
	}
	s := p.session
	if n > 0 && p.prompt == n && truncate(s, rows, n) {
		return s, nil
	}
	s.Clear()
	p.prompt = n
	if n == 0 {
		return s, nil
	}
	err := p.prefill(s, n)
	for i := 1; i < rows; i++ {
		s.Copy(0, int32(i))
	}
	return s, err
}

// truncate cuts all sequences to n positions. Models with short convolutions keep no earlier state: they cannot.
func truncate(s *llamacpp.Session, rows, n int) bool {
	for i := range rows {
		if !s.Truncate(int32(i), int32(n)) {
			return false
		}
	}
	return true
}

func (p *peer) measure(_ context.Context, t test, prompt, steps int) (float64, error) {
	room := prompt + max(steps, 64) + 1
	if t.rows == 0 {
		s, err := p.after(1, 0, room)
		if err != nil {
			return 0, err
		}
		begun := p.now()
		err = p.prefill(s, prompt)
		return float64(prompt) / (p.now() - begun).Seconds(), err
	}
	s, err := p.after(t.rows, t.after, room)
	if err != nil {
		return 0, err
	}
	n := t.rows
	tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
	return timeSteps(t, steps, p.now, func(step int) error {
		for i := range n {
			tokens[i], pos[i], seqs[i], want[i] = int32(anyTokens(p.vocab, step+i, 1)[0]), int32(t.after+step), int32(i), 1
		}
		return s.Decode(tokens, pos, seqs, want)
	})
}

// prefill computes a prompt of n tokens as sequence 0.
func (p *peer) prefill(s *llamacpp.Session, n int) error {
	tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
	for i, token := range anyTokens(p.vocab, 0, n) {
		tokens[i], pos[i] = int32(token), int32(i)
	}
	want[n-1] = 1
	return s.Decode(tokens, pos, seqs, want)
}
