// Package pair is the protocol by which a device and a cloud agree on every token of an answer
// (Speculative Aggregation, DRAGON §4; DESIGN §3). It is one pure state machine: Step takes an event and
// returns the actions that it asks for. The live node and the simulator drive the same machine.
//
// It reads no clock, starts no goroutine, does no I/O and holds no lock. Randomness is keyed by the seed,
// so two machines that are told the same things say the same things.
//
// The device owns the answer. It opens an epoch by sending the agreed tokens (SendSync); within an epoch
// both sides draft ahead, and whoever aggregates (both sides, one of them: tandem.Placement) turns the two
// drafts of a step into its target. A side whose draft was rejected rolls back and drafts again from the
// target. When the cloud is lost, the device's own drafts become targets; when it is back, a new epoch
// starts from what the device has by then.
package pair

import (
	"fmt"
	"tandem/aggregator"
	"tandem/scheduler"
	"time"

	"tandem"
)

// DefaultLookahead is the Lookahead of a Config that names none.
const DefaultLookahead = 12

// Config is what both machines of a pair must agree on, except for Self.
type Config struct {
	Self tandem.Side
	tandem.Settings
	Greedy bool           // temperature 0: the target is the likeliest token
	Stop   []tandem.Token // tokens that end the answer; they are not part of it
	Vocab  int            // size of the vocabulary, against which drafts are checked; 0 for no check of ids
	Switch Switch         // placement greedy: who aggregates next; nil for the paper's rule
}

// Switch decides after each target which side aggregates next (placement greedy). It is asked on the side that
// aggregates now.
type Switch interface {
	Aggregator(now tandem.Side, e scheduler.Estimate, m scheduler.Moment) tandem.Side
}

// Rule returns how the pair draws drafts and targets.
func (c Config) Rule() aggregator.Rule {
	return aggregator.Rule{Coupling: c.Coupling, Seed: c.Seed, Greedy: c.Greedy, Gamma: c.Gamma}
}

// Event is something that happened to a side. The set of events is closed. A machine keeps the slices of an
// event: they must not change afterwards. The same goes for the owner and the slices of actions.
type Event interface{ event() }

type (
	// Start lets a side begin to draft. With Alone the device does not wait for the cloud: its drafts are
	// targets at once, until PeerReady. Without it, drafts wait for PeerReady or PeerLost. A cloud drafts
	// from the empty answer and sends its drafts, in the epoch that the device begins with too unless it has
	// gone on alone by then.
	Start struct{ Alone bool }

	// Decoded answers the Decode action of that ID. Answers to superseded actions are ignored.
	Decoded struct {
		ID      uint64
		Dist    tandem.Dist
		H       tandem.Fixed
		Took    time.Duration
		Also    []tandem.Further // what follows each token of Decode.Also; fewer or none, as the decoder likes
		Guessed []tandem.Further // what follows the tokens of Decode.Drafts and then guessed ones, each behind the one before it
	}

	// PeerDraft is a draft of the other side. Copies, late ones and early ones do no harm.
	PeerDraft struct{ tandem.Draft }

	// PeerTarget is a target from the side that aggregates.
	PeerTarget struct{ tandem.Target }

	// PeerSync tells the cloud that a new epoch begins after these tokens.
	PeerSync struct {
		Epoch  uint32
		Tokens []tandem.Token
	}

	// PeerNeedSync tells the device that the cloud lost track and wants a new epoch.
	PeerNeedSync struct{}

	// PeerHandover makes this side the one that aggregates (placement greedy).
	PeerHandover struct{ Handover }

	// Measured is the link's present round-trip time, by which the placement greedy decides. Without it
	// the device keeps aggregating.
	Measured struct{ RTT time.Duration }

	// PeerReady tells the device that the cloud can join, for the first time or again.
	PeerReady struct{}

	// PeerLost sends the device on alone. It stops the cloud, which keeps its state for a later PeerSync.
	// It must come before anything that arrives over a new link.
	PeerLost struct{}

	// Cancel ends the answer.
	Cancel struct{}
)

func (Start) event()        {}
func (Decoded) event()      {}
func (PeerDraft) event()    {}
func (PeerTarget) event()   {}
func (PeerSync) event()     {}
func (PeerNeedSync) event() {}
func (PeerHandover) event() {}
func (Measured) event()     {}
func (PeerReady) event()    {}
func (PeerLost) event()     {}
func (Cancel) event()       {}

// Action is something that a machine asks its owner to do. The set of actions is closed. The actions of
// one Step are carried out in order.
type Action interface{ action() }

type (
	// Decode asks for the distribution after a pass. It supersedes any Decode still running, which should be
	// preempted; whether that one had any effect does not matter, because Keep never reaches into its tokens. Append is
	// empty only for the empty answer, where Keep is 0.
	Decode struct {
		ID uint64
		tandem.Pass
	}

	// SendDraft, SendTarget, SendSync, SendNeedSync and SendHandover go to the other side, as PeerDraft and
	// so on. They must arrive, in any order; those of an older epoch may be dropped.
	SendDraft  struct{ tandem.Draft }
	SendTarget struct{ tandem.Target }
	SendSync   struct {
		Epoch  uint32
		Tokens []tandem.Token
	}
	SendNeedSync struct{}
	SendHandover struct{ Handover }

	// Emit is the next token of the answer. On the device each step comes exactly once, in order. The cloud
	// emits what it learns, for its log: after a PeerSync it may repeat steps, in a later epoch. Alone marks
	// tokens that the device decided without the cloud.
	Emit struct {
		tandem.Target
		Alone bool
	}

	// Finish is the last action of a machine. A cloud that finishes must keep its link open until the
	// device ends the answer too: what it sent last may still be needed there. If the device was cut off
	// from that, a PeerSync makes a finished cloud begin again: keep telling it what comes.
	Finish struct{ Reason Reason }

	// Note reports something for traces and metrics. Only NoteDistrust is for more: who asked must know, and where
	// the cloud is required the answer must end.
	Note struct {
		Kind NoteKind
		Side tandem.Side // whose draft or message it is about
		Step tandem.Step
	}
)

func (Decode) action()       {}
func (SendDraft) action()    {}
func (SendTarget) action()   {}
func (SendSync) action()     {}
func (SendNeedSync) action() {}
func (SendHandover) action() {}
func (Emit) action()         {}
func (Finish) action()       {}
func (Note) action()         {}

// Handover passes aggregation to the other side, from Step on (greedy scheduling, DRAGON §5.1). It carries
// what only the side that aggregated knows, and what both must agree on.
type Handover struct {
	Epoch    uint32
	Step     tandem.Step   // the first step without a target
	Prefix   tandem.Prefix // of all tokens before Step
	Versions [2]uint32     // of both sides' drafts, indexed by tandem.Side
	Accept   [2]float64    // moving averages of the acceptance rates, indexed by tandem.Side
}

// Reason says why an answer ended.
type Reason uint8

const (
	ReasonStop      Reason = iota // a target was a stop token
	ReasonLength                  // MaxTokens were agreed
	ReasonCancelled               // Cancel
	ReasonDecoder                 // the decoder gave a malformed distribution
)

var reasonNames = [...]string{"stop", "length", "cancelled", "decoder"}

func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// NoteKind is the kind of a Note.
type NoteKind uint8

const (
	NoteRejected NoteKind = iota // a draft of Side for Step was not the target; with it, all its drafts after Step
	NoteJoined                   // an epoch began; the two sides go on together from Step
	NoteAlone                    // the device goes on without the cloud from Step
	NoteStopped                  // the cloud stopped drafting at Step, until the next PeerSync
	NoteDiverged                 // a message of Side contradicts what was agreed before Step: the pair starts a new epoch
	NoteDistrust                 // the cloud diverged again and again at Step: the device goes on without it
	NoteDropped                  // a message of Side for Step was malformed or out of bounds
	NoteHandover                 // Side aggregates from Step on (placement greedy)
)

var noteNames = [...]string{"rejected", "joined", "alone", "stopped", "diverged", "distrust", "dropped", "handover"}

func (k NoteKind) String() string {
	if int(k) < len(noteNames) {
		return noteNames[k]
	}
	return fmt.Sprintf("note(%d)", uint8(k))
}

// Stats counts what a machine has seen. Arrays are indexed by tandem.Side.
type Stats struct {
	Steps       int    // tokens agreed, alone ones included (a stop token is not counted)
	Alone       int    // tokens that the device decided alone
	Together    int    // targets of two drafts, a stop token included
	Accepted    [2]int // of Together, those that equal the side's draft
	Rejected    [2]int // of Together, those that do not
	Drafted     int    // drafts made by this side
	Wasted      int    // of them, thrown away unseen after a rejection or a new epoch
	Preempted   int    // decodes that were superseded
	Ahead       int    // of Drafted, those whose distribution was there already: they took no pass
	OfHedges    int    // of Together and Alone, those whose own draft came of a context decoded behind a runner-up,
	OfChecks    int    // behind drafts of the other side,
	OfGuesses   int    // and behind guesses: none of these took a pass
	Passes      int    // of the decoder, but for those that were superseded
	Room        int    // contexts that they could have decoded
	Contexts    int    // contexts that they decoded, the wanted ones among them
	Hedged      int    // of Contexts, those behind runners-up,
	Checked     int    // behind drafts of the other side,
	Guessed     int    // and behind guesses
	Hedges      int    // of the other side's, those that became its draft
	Handovers   int    // by this side
	Takeovers   int    // by this side: hand-overs of the other that took effect
	Divergences int
	Dropped     int // malformed or out-of-bounds messages
	Epoch       uint32
}

// Rows returns what became of the contexts that the passes had room for (sd.npu §3.2, where they are the rows of a
// static graph): valid ones gave a step its draft, wasted ones did not, underutilised ones were left empty.
func (s Stats) Rows() (valid, wasted, underutilised int) {
	valid = min(s.Together+s.Alone, s.Contexts)
	return valid, s.Contexts - valid, s.Room - s.Contexts
}

// Acceptance returns the share of side s's drafts that were accepted, 0 when there were none.
func (s Stats) Acceptance(side tandem.Side) float64 {
	if s.Together == 0 {
		return 0
	}
	return float64(s.Accepted[side]) / float64(s.Together)
}
