package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem"
	"tandem/node"
	"tandem/profiler"
	"tandem/transport"
)

// Answerer is a model or span reader that answers, by what its delays depend on.
type Answerer struct {
	Name    string // for people
	Key     string // identifies its weights, in letters that a file's name may have
	Device  string // what computes it
	Threads int    // as --threads says; 0 for all
}

// DecodeProfile holds a model's decoding delays on this machine (DRAGON §5.2), as saved on disk.
type DecodeProfile struct {
	Model  string    `json:"model"`
	Device string    `json:"device"` // what computes the model
	Made   time.Time `json:"made"`   // when it was fitted
	// From says what was measured: dummy documents or, if these took too long, answers.
	From   string               `json:"from"`
	Decode profiler.DecodeDelay `json:"decode"` // delay over the tokens in all contexts together
	Length int                  `json:"length"` // tokens in all contexts at the end of the last answer
	// FourRows is what a pass of four rows took, in passes of one; 0 if unknown.
	FourRows float64 `json:"four_rows,omitempty"`
}

// The sources of a DecodeProfile.
const (
	FromDocuments = "dummy documents"
	FromAnswers   = "answers"
)

// LinkProfile holds what was measured of the network to a cloud, as saved on disk.
type LinkProfile struct {
	RTTMs   float64   `json:"rtt_ms"`
	Address string    `json:"address,omitempty"` // where the cloud was reached
	Seen    time.Time `json:"seen"`
	// Replicas are round-trip times in ms by address, where the cloud has several.
	Replicas map[string]float64 `json:"replicas,omitempty"`
	// Missed is when the cloud was first found missing, if it was not reached since.
	Missed time.Time `json:"missed,omitzero"`
}

// profilePath returns the file of an answerer's profile.
func (a *App) profilePath(by Answerer) (string, error) {
	dirs, err := a.Dirs()
	if err != nil {
		return "", err
	}
	device := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, by.Device)
	name := fmt.Sprintf("%s-%s-%d.json", by.Key, device[:min(len(device), 32)], by.Threads)
	return filepath.Join(dirs.State, "profiles", name), nil
}

func (a *App) linkPath(id transport.ID) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.State, "links", id.String()+".json"), err
}

// LoadProfile returns the saved profile of an answerer, and whether there is one. A file that cannot be read or is out of
// range counts as absent, so that the profile is measured again.
func (a *App) LoadProfile(by Answerer) (DecodeProfile, bool) {
	path, err := a.profilePath(by)
	p, err := readState[DecodeProfile](path, err)
	if err == nil && (!p.Decode.Valid() || p.Length < 0) {
		err = errors.New("values out of range")
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.Log.Info("no profile of the model", "error", err)
		}
		return DecodeProfile{}, false
	}
	return p, true
}

// SaveProfile saves p, all of it or nothing.
func (a *App) SaveProfile(by Answerer, p DecodeProfile) error {
	path, err := a.profilePath(by)
	return writeState(path, p, err)
}

// NewProfile returns a profile of an answerer as of now.
func NewProfile(by Answerer, from string, fit profiler.DecodeDelay) DecodeProfile {
	return DecodeProfile{Model: by.Name, Device: by.Device, Made: time.Now().UTC().Truncate(time.Second), From: from, Decode: fit}
}

// MeasureProfile profiles what answers in r with dummy documents until ctx ends. It is an error if that is too early for a fit.
func MeasureProfile(ctx context.Context, r node.Local, by Answerer, s tandem.Settings) (DecodeProfile, []profiler.Sample, error) {
	fit, samples, err := r.Measure(ctx, s)
	if err != nil {
		return DecodeProfile{}, samples, err
	}
	p := NewProfile(by, FromDocuments, fit)
	p.Length = samples[len(samples)-1].Length
	return p, samples, nil
}

// RTT returns the round-trip time, or 0 if none is known.
func (l LinkProfile) RTT() time.Duration { return time.Duration(l.RTTMs * float64(time.Millisecond)) }

// Distances returns the round-trip times by address.
func (l LinkProfile) Distances() map[string]time.Duration {
	out := map[string]time.Duration{}
	if l.Address != "" {
		out[l.Address] = l.RTT()
	}
	for addr, ms := range l.Replicas {
		if ms > 0 && ms < 60_000 {
			out[addr] = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return out
}

// LoadLink returns what is known of the network to a cloud.
func (a *App) LoadLink(id transport.ID) LinkProfile {
	path, err := a.linkPath(id)
	l, err := readState[LinkProfile](path, err)
	if err != nil {
		return LinkProfile{}
	}
	if !(l.RTTMs > 0 && l.RTTMs < 60_000) {
		l.RTTMs, l.Address = 0, ""
	}
	return l
}

// SaveLink saves the round-trip time to a cloud, the address where it was reached, and the times to all addresses.
func (a *App) SaveLink(id transport.ID, rtt time.Duration, address string, all map[string]time.Duration) error {
	path, err := a.linkPath(id)
	l := LinkProfile{RTTMs: float64(rtt.Microseconds()) / 1000, Address: address, Seen: time.Now().UTC().Truncate(time.Second)}
	if len(all) > 1 {
		l.Replicas = map[string]float64{}
		for addr, d := range all {
			l.Replicas[addr] = float64(d.Microseconds()) / 1000
		}
	}
	return writeState(path, l, err)
}

// SaveMissed saves that a cloud was found missing at when, or with the zero time, that it was reached again.
func (a *App) SaveMissed(id transport.ID, when time.Time) error {
	path, err := a.linkPath(id)
	l := a.LoadLink(id)
	l.Missed = when.UTC()
	return writeState(path, l, err)
}

// maxState is the most bytes of a state file that are read.
const maxState = 1 << 16

func readState[T any](path string, err error) (v T, _ error) {
	if err != nil {
		return v, err
	}
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// writeState replaces the file at path by v in one step. If err is not nil, it does nothing and returns err.
func writeState(path string, v any, err error) error {
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return WriteFile(path, append(data, '\n'))
}
