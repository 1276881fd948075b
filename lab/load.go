package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/lab/report"
	"tandem/model"
	"tandem/node"
	"tandem/node/batch"
	"tandem/transport"
)

// Load measures one cloud under many devices, live over loopback. The devices have no documents and decode nothing, so
// that this machine's time is the cloud's. Each asks its questions one after the other.
type Load struct {
	Setup
	Devices []int
	PerEach int            // questions of a device
	Places  map[string]int // answers at once, by how the cloud computes: alone, batch
}

// Ways in which a cloud computes the passes of several answers.
const (
	LoadAlone = "alone" // each answer its own
	LoadBatch = "batch" // those of all answers together, with shared passages
)

// sharedMemory bounds the KV caches that answers share.
const sharedMemory = 256 << 20

// LoadResult is what a cloud gives to some number of devices.
type LoadResult struct {
	Method    string  `json:"method"`
	Devices   int     `json:"devices"`
	Places    int     `json:"places"` // answers at once
	Answers   int     `json:"answers"`
	Failed    int     `json:"failed"`
	Cause     string  `json:"cause,omitempty"` // why one failed
	Degraded  int     `json:"degraded"`        // answers with tokens that the device decided alone
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"answers_per_second"`
	Tokens    float64 `json:"tokens_per_second"`
	First     float64 `json:"first_ms"` // median time to the first token
	First99   float64 `json:"first_p99_ms"`
	Gap       float64 `json:"gap_ms"` // median time between tokens
	Gap99     float64 `json:"gap_p99_ms"`
	Rows      float64 `json:"rows_per_pass,omitempty"`
	RowsEach  float64 `json:"rows_per_token,omitempty"` // of prompts too
	Together  float64 `json:"answers_per_pass,omitempty"`
	Memory    float64 `json:"memory_mb"`    // most of the heap in use, devices included
	Live      float64 `json:"live_mb"`      // most of it that was still needed, as the garbage collector found
	Held      float64 `json:"held_mb"`      // most that the cloud's keys, values and logits held, counted (model.Memory)
	HeldLeft  float64 `json:"held_left_mb"` // of it after the last answer: 0
	Left      int     `json:"goroutines_left"`
	Text      string  `json:"text_sha256"`         // of the answers of the first device
	Simulated string  `json:"simulated,omitempty"` // the machine, in virtual time; empty for a live cloud
}

// Run measures each number of devices with each way to compute, alternating.
func (x Load) Run(ctx context.Context, progress report.Progress) ([]LoadResult, error) {
	var results []LoadResult
	for method := range x.Places { // files are read, caches filled
		if _, err := x.measure(ctx, method, 1); err != nil {
			return nil, err
		}
	}
	for _, n := range x.Devices {
		for _, method := range []string{LoadAlone, LoadBatch} {
			if x.Places[method] < 1 {
				continue
			}
			r, err := x.measure(ctx, method, n)
			if err != nil {
				return results, fmt.Errorf("%d devices, %s: %w", n, method, err)
			}
			results = append(results, r)
			if progress != nil {
				progress(len(results), len(x.Devices)*len(x.Places))
			}
		}
	}
	return results, nil
}

// measure lets n devices ask.
func (x Load) measure(ctx context.Context, method string, n int) (r LoadResult, err error) {
	before := runtime.NumGoroutine()
	r = LoadResult{Method: method, Devices: n, Places: x.Places[method]}
	ids := make([]transport.Identity, n)
	peers := make([]transport.ID, n)
	for i := range ids {
		if ids[i], err = transport.Ephemeral(); err != nil {
			return r, err
		}
		peers[i] = ids[i].ID
	}
	c, err := x.startCloud(method, peers)
	if err != nil {
		return r, err
	}
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, c.close())
		}
	}()
	memory := watchMemory()
	sums := make([]loadSum, n)
	start := time.Now()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { sums[i] = x.device(ctx, ids[i], c, i) })
	}
	all.Wait()
	r.Seconds = time.Since(start).Seconds()
	r.Memory, r.Live = memory()
	r.Held = float64(c.memory.Most()) / 1e6
	r.add(sums)
	if c.batch != nil {
		s := c.batch.Stats()
		r.Rows, r.Together = float64(s.Rows)/float64(s.Passes), float64(s.Jobs)/float64(s.Passes)
		r.RowsEach = float64(s.Rows) / (r.Tokens * r.Seconds)
	}
	closed = true
	err = c.close()
	r.HeldLeft = float64(c.memory.Bytes()) / 1e6
	for wait := 0; runtime.NumGoroutine() > before && wait < 50; wait++ {
		time.Sleep(20 * time.Millisecond)
	}
	r.Left = max(runtime.NumGoroutine()-before, 0)
	return r, errors.Join(err, ctx.Err())
}

// loadSum is what the answers of a device were like.
type loadSum struct {
	answers, failed, degraded, tokens int
	cause                             string    // why one failed
	first, gaps                       []float64 // ms
	texts                             []string
}

// add sums up the devices.
func (r *LoadResult) add(sums []loadSum) {
	var first, gaps []float64
	tokens := 0
	for _, s := range sums {
		r.Answers, r.Failed, r.Degraded = r.Answers+s.answers, r.Failed+s.failed, r.Degraded+s.degraded
		tokens, r.Cause = tokens+s.tokens, cmp.Or(r.Cause, s.cause)
		first, gaps = append(first, s.first...), append(gaps, s.gaps...)
	}
	r.PerSecond, r.Tokens = float64(r.Answers)/r.Seconds, float64(tokens)/r.Seconds
	r.First, r.First99 = report.Quantile(first, .5), report.Quantile(first, .99)
	r.Gap, r.Gap99 = report.Quantile(gaps, .5), report.Quantile(gaps, .99)
	r.Text = joinHashes(sums[0].texts)
}

// device asks the i-th device's questions.
func (x Load) device(ctx context.Context, id transport.Identity, c *loadCloud, i int) (s loadSum) {
	d := &node.Device{Local: x.local(tandem.Device, 0), Mute: true, Require: true, Patience: node.DefaultPatience}
	d.Patience = node.Patience{Join: time.Hour, Silent: d.Patience.Silent, Slow: time.Hour, Busy: time.Hour} // waiting is what is measured
	d.Cloud = node.NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		return transport.Dial(ctx, c.address, transport.ClientConfig{
			Identity: id, Peer: c.id, Hello: d.Local.Hello(tandem.Device, "lab", fmt.Sprintf("device %d", i)),
		})
	}, 0, "the cloud")
	defer d.Close()
	for k := range x.PerEach {
		settings := x.Settings
		settings.Seed += uint64(i*x.PerEach + k)
		q := x.Questions[(i+k)%len(x.Questions)]
		a, err := d.Ask(ctx, node.Question{ID: fmt.Sprintf("load-%d-%d", i, k), Text: q}, settings, func(node.Token) {})
		if err != nil {
			s.failed, s.cause = s.failed+1, err.Error()
			continue
		}
		var one cell
		one.add(a)
		s.answers++
		s.tokens += len(a.Tokens)
		s.first, s.gaps, s.texts = append(s.first, one.first...), append(s.gaps, one.gaps...), append(s.texts, one.texts...)
		if one.alone > 0 {
			s.degraded++
		}
	}
	return s
}

// loadCloud is a cloud under load.
type loadCloud struct {
	address string
	id      transport.ID
	batch   *batch.Batch // nil if each answer is computed alone
	memory  *model.Memory
	close   func() error
}

func (x Load) startCloud(method string, devices []transport.ID) (*loadCloud, error) {
	id, err := transport.Ephemeral()
	if err != nil {
		return nil, err
	}
	memory := new(model.Memory)
	cfg := node.CloudConfig{Local: x.local(tandem.Cloud, 0), Limit: x.Places[method]}
	cfg.Local.Memory = memory
	if method == LoadBatch {
		cfg.Batch, cfg.Local.Shared = batch.New(x.Model, batch.Config{}), decoder.NewShared(sharedMemory)
		cfg.Batch.CountIn(memory)
	}
	limits := transport.Limits{Conns: max(64, len(devices))} // refusals are not what is measured
	address, stop, err := serve(cfg, id, limits, devices...)
	if err != nil {
		return nil, err
	}
	return &loadCloud{address: address, id: id.ID, batch: cfg.Batch, memory: memory, close: func() error {
		defer cfg.Local.Shared.Release()
		return stop()
	}}, nil
}

// watchMemory reads now and then how much of the heap is in use, and how much the last garbage collection found to be needed. The
// returned function ends that, and returns the most of each in MB.
func watchMemory() (most func() (used, live float64)) {
	runtime.GC()
	stop, peak := make(chan struct{}), make(chan [2]uint64)
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		var top [2]uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			metrics.Read(live)
			top = [2]uint64{max(top[0], m.HeapInuse), max(top[1], live[0].Value.Uint64())}
			select {
			case <-tick.C:
			case <-stop:
				peak <- top
				return
			}
		}
	}()
	return func() (used, live float64) {
		close(stop)
		top := <-peak
		return float64(top[0]) / 1e6, float64(top[1]) / 1e6
	}
}
