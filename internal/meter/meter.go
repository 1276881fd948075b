// Package meter measures the energy that a command uses, if a battery reports its power, and the command's peak memory. It
// estimates nothing: if energy cannot be measured, that is an error.
//
// Android and Linux show batteries in /sys/class/power_supply, where sd.npu §5.1 and llada.cpp §5.1 measure too. The power
// is that of the whole machine, including screen and radio, so callers subtract the power measured before the work.
package meter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Root is the folder where the kernel shows power supplies.
const Root = "/sys/class/power_supply"

// Every is how often power is sampled (sd.npu §5.1).
const Every = 100 * time.Millisecond

// Battery reads the power that a machine draws.
type Battery struct {
	name string
	fsys fs.FS
}

// FindBattery returns the first battery below root ("" for Root) that reports its power.
func FindBattery(root string) (*Battery, error) {
	if root == "" {
		root = Root
	}
	fsys := os.DirFS(root)
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("energy: no power supplies at %s (%w): only Linux and Android show them, and Android only to root and the adb shell", root, err)
	}
	var last error
	for _, e := range entries {
		b := &Battery{name: e.Name(), fsys: fsys}
		if kind, err := b.text("type"); err != nil || kind != "Battery" {
			continue
		}
		if _, err := b.Watts(); err != nil {
			last = err
			continue
		}
		return b, nil
	}
	if last != nil {
		return nil, last
	}
	return nil, fmt.Errorf("energy: no battery at %s: this machine does not report its power", root)
}

// Name returns the kernel's name of the battery.
func (b *Battery) Name() string { return b.name }

func (b *Battery) text(file string) (string, error) {
	data, err := fs.ReadFile(b.fsys, filepath.ToSlash(filepath.Join(b.name, file)))
	if err != nil {
		return "", fmt.Errorf("energy: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// micro reads a number in millionths.
func (b *Battery) micro(file string) (float64, error) {
	text, err := b.text(file)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("energy: %s of %s is %q, not a number", file, b.name, text)
	}
	return math.Abs(float64(n)) / 1e6, nil // drivers disagree about the sign of a discharge
}

// maxWatts is more than any battery delivers. A larger value must be in other units.
const maxWatts = 500

// Watts returns the current power.
func (b *Battery) Watts() (float64, error) {
	w, err := b.micro("power_now")
	if errors.Is(err, fs.ErrNotExist) {
		var v, a float64
		if v, err = b.micro("voltage_now"); err == nil {
			if a, err = b.micro("current_now"); err == nil {
				w = v * a
			}
		}
	}
	if err == nil && w > maxWatts {
		return 0, fmt.Errorf("energy: %s reports %.0f W: its driver uses other units than millionths", b.name, w)
	}
	return w, err
}

// Charging reports whether the battery is connected to a charger. Its power is then not what the machine draws.
func (b *Battery) Charging() bool {
	status, err := b.text("status")
	return err == nil && (status == "Charging" || status == "Full" || status == "Not charging")
}

// Reading is the power over a period.
type Reading struct {
	Samples int
	Watts   float64 // mean
	Joules  float64
	Took    time.Duration // up to the last sample
	Err     error         // of the first sample that could not be read
}

// Above returns the energy in joules beyond that of idling for the same time. It is at least 0.
func (r Reading) Above(idle Reading) float64 {
	return max(0, r.Joules-idle.Watts*r.Took.Seconds())
}

// Measure samples the power until the context ends.
func (b *Battery) Measure(ctx context.Context, every time.Duration) Reading {
	var r Reading
	begin := time.Now()
	before, last := begin, 0.0
	sample := func() {
		w, err := b.Watts()
		if err != nil {
			if r.Err == nil {
				r.Err = err
			}
			return
		}
		now := time.Now()
		if r.Samples == 0 {
			last = w // since the beginning
		}
		r.Joules += (last + w) / 2 * now.Sub(before).Seconds() // trapezoids
		before, last = now, w
		r.Samples++
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	sample()
	for {
		select {
		case <-tick.C:
			sample()
			continue
		case <-ctx.Done():
		}
		sample()
		r.Took = before.Sub(begin)
		if s := r.Took.Seconds(); s > 0 {
			r.Watts = r.Joules / s
		}
		return r
	}
}

// Start measures in the background until the returned function is called.
func (b *Battery) Start(ctx context.Context, every time.Duration) (stop func() Reading) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan Reading, 1)
	go func() { done <- b.Measure(ctx, every) }()
	return func() Reading {
		cancel()
		return <-done
	}
}

// PeakMemory returns the most memory that this process had resident so far. If the system does not report it, PeakMemory
// returns what the Go runtime has obtained, and exact is false.
func PeakMemory() (bytes int64, exact bool) {
	if data, err := os.ReadFile("/proc/self/status"); err == nil {
		if n, ok := highWater(string(data)); ok {
			return n, true
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys), false
}

// highWater finds VmHWM in /proc/self/status.
func highWater(status string) (int64, bool) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			f := strings.Fields(rest)
			if len(f) == 2 && f[1] == "kB" {
				n, err := strconv.ParseInt(f[0], 10, 64)
				return n << 10, err == nil && n > 0 && n < 1<<50
			}
		}
	}
	return 0, false
}
