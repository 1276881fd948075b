//go:build linux && amd64 && !static

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"tandem/internal/llamacpp"
	"tandem/model"
)

// BenchmarkAgainstLlamaCpp runs the tests of "edge bench engine" with llama.cpp in turns, in one process:
//
//	TANDEM_BENCH_MODEL=random.gguf TANDEM_BENCH_THREADS=2 go test ./cmd/edge -run - -bench Against -benchtime 5x
//
// It is here and not a flag of the command because the shipped program loads no library. Beside tokens/s
// it gives the ratio by processor time, which other programs at work disturb less (but spinning threads
// count as work).
func BenchmarkAgainstLlamaCpp(b *testing.B) {
	path := os.Getenv("TANDEM_BENCH_MODEL")
	if path == "" {
		b.Skip("TANDEM_BENCH_MODEL names no GGUF file")
	}
	threads, _ := strconv.Atoi(cmp.Or(os.Getenv("TANDEM_BENCH_THREADS"), "2"))
	lib, err := llamacpp.Load()
	if err != nil {
		b.Skip(err)
	}
	theirs, err := lib.Open(path, false)
	if err != nil {
		b.Fatal(err)
	}
	defer theirs.Close()
	m, err := model.Open(path, model.Options{Threads: threads})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	const prompt, steps = 512, 64
	for _, t := range engineTests([]int{1, 8}, prompt) {
		b.Run(fmt.Sprintf("%s/threads=%d", t.name, threads), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s, err := theirs.NewSession(threads, prompt+steps, max(1, t.rows))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			peer := &peer{s, m}
			peer.measure(b, t, prompt, 4) // its first run prepares
			var wall, busy [2][]float64
			for b.Loop() {
				for i, f := range []func() float64{
					func() float64 {
						v, err := t.measure(context.Background(), m, prompt, steps)
						if err != nil {
							b.Fatal(err)
						}
						return v
					},
					func() float64 { return peer.measure(b, t, prompt, steps) },
				} {
					before := processorTime()
					v := f()
					wall[i], busy[i] = append(wall[i], v), append(busy[i], (processorTime()-before).Seconds())
				}
			}
			median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
			ours, others := median(wall[0]), median(wall[1])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours, "ours-tokens/s")
			b.ReportMetric(others, "theirs-tokens/s")
			b.ReportMetric(ours/others, "ratio")
			b.ReportMetric(median(busy[1])/median(busy[0]), "ratio-by-cpu-time")
		})
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type peer struct {
	s *llamacpp.Session
	m *model.Model
}

// measure is engineTest.measure for llama.cpp.
func (p *peer) measure(b *testing.B, t engineTest, prompt, steps int) float64 {
	p.s.Clear()
	decode := func(from, n int, seq int32) {
		tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
		for i, token := range anyTokens(p.m, from, n) {
			tokens[i], pos[i], seqs[i] = int32(token), int32(i), seq
		}
		want[n-1] = 1
		if err := p.s.Decode(tokens, pos, seqs, want); err != nil {
			b.Fatal(err)
		}
	}
	if t.rows == 0 {
		begun := time.Now()
		decode(0, prompt, 0)
		return float64(prompt) / time.Since(begun).Seconds()
	}
	if t.after > 0 {
		for i := range t.rows {
			decode(0, t.after, int32(i))
		}
	}
	n := t.rows
	tokens, pos, seqs, want := make([]int32, n), make([]int32, n), make([]int32, n), make([]int8, n)
	begun := time.Now()
	for step := range steps {
		for i := range n {
			tokens[i], pos[i], seqs[i], want[i] = int32(anyTokens(p.m, step+i, 1)[0]), int32(t.after+step), int32(i), 1
		}
		if err := p.s.Decode(tokens, pos, seqs, want); err != nil {
			b.Fatal(err)
		}
	}
	return float64(steps*n) / time.Since(begun).Seconds()
}
