package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"tandem/internal/llamacpp"
)

// peer is llama.cpp as an engine: weights repacked, flash attention, F16 caches, threads that stay.
type peer struct {
	model          *llamacpp.Model
	vocab, threads int

	session *llamacpp.Session // for tests of this many rows and positions
	rows    int
	room    int
}

// openPeer opens the same file with the llama.cpp library.
func openPeer(path string, vocab, threads int) (*peer, error) {
	if path == "" {
		return nil, errors.New("--against needs --model FILE: the built-in model is no file that another engine can open")
	}
	lib, err := llamacpp.Load()
	if err != nil {
		return nil, fmt.Errorf("--against llama.cpp: %w", err)
	}
	m, err := lib.OpenFast(path)
	if err != nil {
		return nil, err
	}
	return &peer{model: m, vocab: vocab, threads: threads}, nil
}

func (p *peer) Close() {
	if p.session != nil {
		p.session.Close()
	}
	p.model.Close()
}

// fresh returns an empty session, the one before where it fits.
func (p *peer) fresh(rows, room int) (*llamacpp.Session, error) {
	if p.session != nil && p.rows == rows && p.room >= room {
		p.session.Clear()
		return p.session, nil
	}
	if p.session != nil {
		p.session.Close()
	}
	var err error
	p.rows, p.room = rows, room
	p.session, err = p.model.NewSession(p.threads, room, rows)
	return p.session, err
}

func (p *peer) measure(_ context.Context, t engineTest, prompt, steps int) (float64, error) {
	s, err := p.fresh(max(1, t.rows), prompt+max(steps, 64)+1)
	if err != nil {
		return 0, err
	}
	if t.rows == 0 {
		begun := time.Now()
		err := p.prefill(s, prompt)
		return float64(prompt) / time.Since(begun).Seconds(), err
	}
	if t.after > 0 {
		if err := p.prefill(s, t.after); err != nil {
			return 0, err
		}
		for i := 1; i < t.rows; i++ {
			s.Copy(0, int32(i))
		}
	}
	n := t.rows
	tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
	return timeSteps(t, steps, func(step int) error {
		for i := range n {
			tokens[i], pos[i], seqs[i], want[i] = int32(anyTokens(p.vocab, step+i, 1)[0]), int32(t.after+step), int32(i), 1
		}
		return s.Decode(tokens, pos, seqs, want)
	})
}

// prefill decodes the prompt as sequence 0.
func (p *peer) prefill(s *llamacpp.Session, n int) error {
	tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
	for i, token := range anyTokens(p.vocab, 0, n) {
		tokens[i], pos[i] = int32(token), int32(i)
	}
	want[n-1] = 1
	return s.Decode(tokens, pos, seqs, want)
}

// busyScript counts until the process whose id it is given is gone.
const busyScript = `while kill -0 "$0" 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done`

// startBusy starts a process that never rests.
func startBusy() (stop func(), err error) {
	cmd := exec.Command("sh", "-c", busyScript, strconv.Itoa(os.Getpid()))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("--busy needs a shell: %w", err)
	}
	return func() {
		cmd.Process.Kill()
		cmd.Wait()
	}, nil
}
