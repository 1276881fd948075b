package node

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"tandem"
	"tandem/pair"
)

// Line is one line of a recorded answer, as the device saw it. A recording holds what the simulator needs to replay the
// answer over another network. It has one JSON object per line; a missing field is 0.
//
//	event    fields besides ms
//	begin    placement, coupling, seed, gamma (-1: chosen by the scheduler), lookahead, max_tokens, model, adapter
//	decode   side (device), step, took_ms, length, fed, h, ids, weights: the device has a distribution. The
//	         last one for a step counts; preempted ones are not recorded
//	draft    side, epoch, step, version, token, took_ms; of the cloud also h, ids, weights: a draft was sent
//	         (device) or came (cloud). The one of the highest version for a step counts
//	target   epoch, step, token, by, alone
//	rtt      took_ms: the connection's round-trip time, when it changes
//	note     note, side, step: rejected, joined, alone, handover …
//	end      reason, step: the length of the answer
//
// With the placement cloud the device hears no drafts of the cloud, so none are recorded. Distributions are those that
// cross the network; they can reveal what a document says.
type Line struct {
	Ms    float64 `json:"ms"` // since the question
	Event string  `json:"event"`

	Side    string         `json:"side,omitempty"`
	Epoch   uint32         `json:"epoch,omitempty"`
	Step    tandem.Step    `json:"step,omitempty"`
	Version uint32         `json:"version,omitempty"`
	Token   tandem.Token   `json:"token,omitempty"`
	TookMs  float64        `json:"took_ms,omitempty"`
	H       tandem.Fixed   `json:"h,omitempty"`       // in units of 2^-16
	IDs     []tandem.Token `json:"ids,omitempty"`     // of the distribution
	Weights []uint32       `json:"weights,omitempty"` // parallel to ids, out of 65,536
	Length  int            `json:"length,omitempty"`  // tokens in all contexts together
	Fed     int            `json:"fed,omitempty"`     // tokens computed in each context
	By      string         `json:"by,omitempty"`      // device, cloud, both, neither
	Alone   bool           `json:"alone,omitempty"`   // decided without the cloud
	Note    string         `json:"note,omitempty"`    // pair.NoteKind
	Reason  string         `json:"reason,omitempty"`  // pair.Reason

	Placement string  `json:"placement,omitempty"`
	Coupling  string  `json:"coupling,omitempty"`
	Seed      uint64  `json:"seed,omitempty"`
	Gamma     float64 `json:"gamma,omitempty"`
	Lookahead int     `json:"lookahead,omitempty"`
	MaxTokens int     `json:"max_tokens,omitempty"`
	Model     string  `json:"model,omitempty"`
	Adapter   string  `json:"adapter,omitempty"` // the fingerprint of the device's adapter
}

// Dist returns the distribution of a draft.
func (l Line) Dist() tandem.Dist { return tandem.Dist{IDs: l.IDs, Weights: l.Weights} }

// Bounds on recordings that ReadRecord accepts.
const (
	maxLine  = 1 << 20
	maxLines = 1 << 20
)

// ReadRecord reads a recording. It checks distributions as it would a peer's, and nothing else.
func ReadRecord(r io.Reader) ([]Line, error) {
	var lines []Line
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	number := 1 // of the line, as an editor counts
	for ; in.Scan(); number++ {
		if len(in.Bytes()) == 0 {
			continue
		}
		if len(lines) == maxLines {
			return nil, fmt.Errorf("recording: more than %d lines", maxLines)
		}
		var l Line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("recording, line %d: %w", number, err)
		}
		if l.Event == "decode" || l.Event == "draft" && l.Side == tandem.Cloud.String() || len(l.IDs)+len(l.Weights) > 0 {
			if err := l.Dist().Check(1 << 30); err != nil {
				return nil, fmt.Errorf("recording, line %d: %w", number, err)
			}
		}
		lines = append(lines, l)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("recording, line %d: %w", number, err)
	}
	return lines, nil
}

// recorder writes a line for each thing that happens in an answer. A nil recorder records nothing.
type recorder struct {
	to      func(Line)
	start   time.Time
	lastRTT time.Duration
}

func (r *recorder) line(l Line) {
	l.Ms = tandem.Milliseconds(time.Since(r.start))
	r.to(l)
}

func (r *recorder) begin(s tandem.Settings, model, adapter string) {
	if r == nil {
		return
	}
	gamma := float64(s.Gamma) / tandem.Mass
	if s.Gamma == tandem.AutoGamma {
		gamma = -1
	}
	r.line(Line{
		Event: "begin", Placement: s.Placement.String(), Coupling: s.Coupling.String(), Seed: s.Seed,
		Gamma: gamma, Lookahead: s.Lookahead, MaxTokens: s.MaxTokens, Model: model, Adapter: adapter,
	})
}

func (r *recorder) decode(d decoded) {
	if r == nil {
		return
	}
	r.line(Line{
		Event: "decode", Side: tandem.Device.String(), Step: d.step, TookMs: tandem.Milliseconds(d.out.Took), Length: d.out.Length, Fed: d.out.Fed,
		H: d.out.H, IDs: d.out.Dist.IDs, Weights: d.out.Dist.Weights,
	})
}

func (r *recorder) draft(side tandem.Side, d tandem.Draft) {
	if r == nil {
		return
	}
	l := Line{
		Event: "draft", Side: side.String(), Epoch: d.Epoch, Step: d.Step, Version: d.Version, Token: d.Token,
		TookMs: tandem.Milliseconds(d.Decode),
	}
	if side == tandem.Cloud { // those of the device are in its decode line
		l.H, l.IDs, l.Weights = d.H, d.Dist.IDs, d.Dist.Weights
	}
	r.line(l)
}

func (r *recorder) target(e pair.Emit) {
	if r == nil {
		return
	}
	r.line(Line{Event: "target", Epoch: e.Epoch, Step: e.Step, Token: e.Token, By: e.By.String(), Alone: e.Alone})
}

func (r *recorder) rtt(rtt time.Duration) {
	if r == nil || rtt == r.lastRTT {
		return
	}
	r.lastRTT = rtt
	r.line(Line{Event: "rtt", TookMs: tandem.Milliseconds(rtt)})
}

func (r *recorder) note(n pair.Note) {
	if r == nil {
		return
	}
	r.line(Line{Event: "note", Note: n.Kind.String(), Side: n.Side.String(), Step: n.Step})
}

func (r *recorder) end(a Answer) {
	if r == nil {
		return
	}
	r.line(Line{Event: "end", Reason: a.Reason.String(), Step: tandem.Step(a.Pair.Steps)})
}
