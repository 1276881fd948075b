// Package soak runs the programs for a while under faults: processes are killed or stopped, network paths stall or flip bits,
// bits flip in files, and disks fill up. It sees only what the programs print, and looks for losses: an answer that is wrong
// without being marked so, one that fails or never arrives without a cause, and documents, keys or pairings that are missing
// afterwards.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandem/examples"
)

// Config says what runs, and for how long.
type Config struct {
	Edge, Cloud string // the programs
	Dir         string // an empty folder to work in
	For         time.Duration
	Devices     int // that ask; one more adds documents
	Seed        uint64
	Log         io.Writer // receives a line for each fault and each loss; nil for nobody
}

// Result counts what happened. Nothing is lost if Lost is empty.
type Result struct {
	Seconds  float64        `json:"seconds"`
	Answers  int            `json:"answers"`  // the text of the pair, to the token
	Degraded int            `json:"degraded"` // answers with tokens that the device decided alone, marked so
	Refused  int            `json:"refused"`  // commands that ended with an error that a fault explains
	Killed   int            `json:"killed"`   // commands that were killed
	Added    int            `json:"added"`    // documents that were indexed, and found
	Healed   int            `json:"healed"`   // times that a side was right again after its files were damaged
	Faults   map[string]int `json:"faults"`
	Memory   float64        `json:"cloud_memory_mb"` // most that the cloud took
	Lost     []string       `json:"lost"`
}

// world is what a soak is made of.
type world struct {
	Config
	ctx     context.Context // ends with the time
	whole   context.Context // ends a moment later, when commands have ended
	start   time.Time
	cloud   *cloud
	devices []*device
	asks    []ask // what is asked, with what an undisturbed pair answers

	mu     sync.Mutex
	result Result
}

// Run sets up a cloud and devices, learns what they answer undisturbed, disturbs them, and looks whether all is well at the
// end. The error says why it could not run; what was lost is in the result.
func Run(ctx context.Context, c Config) (Result, error) {
	w := &world{Config: c, whole: ctx, start: time.Now(), result: Result{Faults: map[string]int{}, Lost: []string{}}}
	defer w.close()
	if err := w.setUp(); err != nil {
		return w.result, err
	}
	var end context.CancelFunc
	w.ctx, end = context.WithTimeout(ctx, c.For)
	defer end()
	var all sync.WaitGroup
	for i, d := range w.devices {
		all.Go(func() { d.life(rand.New(rand.NewPCG(c.Seed, uint64(i)))) })
	}
	all.Go(func() { w.cloud.life(rand.New(rand.NewPCG(c.Seed, 1<<32))) })
	all.Go(func() { w.adds(rand.New(rand.NewPCG(c.Seed, 1<<33))) })
	all.Wait()
	w.ending()
	w.result.Seconds = time.Since(w.start).Seconds()
	return w.result, ctx.Err()
}

// setUp makes the homes, starts the cloud, pairs the devices, and learns the answers.
func (w *world) setUp() (err error) {
	notes, public := filepath.Join(w.Dir, "documents", "notes"), filepath.Join(w.Dir, "documents", "public")
	for to, from := range map[string]fs.FS{notes: examples.Notes, public: examples.Public} {
		if err := os.CopyFS(to, from); err != nil {
			return err
		}
	}
	if w.asks, err = asks(); err != nil {
		return err
	}
	if w.cloud, err = w.newCloud(public); err != nil {
		return err
	}
	for i := range w.Devices {
		d, err := w.newDevice(fmt.Sprintf("device-%d", i), notes)
		if err != nil {
			return err
		}
		w.devices = append(w.devices, d)
	}
	for i := range w.asks {
		if err := w.devices[0].learn(&w.asks[i]); err != nil {
			return err
		}
	}
	return nil
}

// ending asks every device all questions once more, without faults: the answers must be as at the beginning.
func (w *world) ending() {
	if err := w.cloud.heal(); err != nil {
		w.lose("the cloud does not serve at the end: %v", err)
		return
	}
	for _, d := range w.devices {
		d.relay.Emulate(calm, calm)
		for _, q := range w.asks {
			if w.whole.Err() == nil {
				d.askRight(q, "at the end")
			}
		}
	}
}

func (w *world) close() {
	if w.cloud != nil {
		w.cloud.kill()
	}
	for _, d := range w.devices {
		d.relay.Close()
	}
}

// fault counts a fault and tells it.
func (w *world) fault(name, format string, args ...any) {
	w.mu.Lock()
	w.result.Faults[name]++
	w.mu.Unlock()
	w.say("%s: %s", name, fmt.Sprintf(format, args...))
}

// lose records a loss.
func (w *world) lose(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.mu.Lock()
	w.result.Lost = append(w.result.Lost, text)
	w.mu.Unlock()
	w.say("LOST: %s", text)
}

func (w *world) say(format string, args ...any) {
	if w.Log == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.Log, "%7.1f s  %s\n", time.Since(w.start).Seconds(), fmt.Sprintf(format, args...))
}

// count changes the result.
func (w *world) count(change func(*Result)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.result)
}

// pause waits for a random time up to most, and reports whether the soak continues.
func (w *world) pause(r *rand.Rand, most time.Duration) bool {
	select {
	case <-time.After(between(r, most)):
		return w.ctx.Err() == nil
	case <-w.ctx.Done():
		return false
	}
}

func between(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)) + 1)
}

var errNoFiles = errors.New("there is no file to damage")
