// Package pair is the protocol by which a device and a cloud agree on every token of an answer (Speculative
// Aggregation, DRAGON §4). It is one pure state machine: Step takes an event and returns actions for its owner to carry
// out. The live node and the simulator drive the same machine.
//
// The machine reads no clock, starts no goroutine, does no I/O and holds no lock. All randomness comes from the seed, so
// two machines that see the same events return the same actions.
//
// The device owns the answer. It opens an epoch by sending the agreed tokens (SendSync). Within an epoch both sides
// draft ahead. The side that aggregates, or both (tandem.Placement), turns the two drafts of a step into its target. A
// side whose draft was rejected rolls back and drafts again from the target. When the cloud is lost, the device's own
// drafts become targets. When the cloud is back, a new epoch starts from the answer that the device has by then.
//
// A placement is a line of a table (placement.go), and a coupling is one of package aggregator's.
package pair

import (
	"fmt"
	"time"

	"tandem"
	"tandem/aggregator"
	"tandem/profiler"
	"tandem/scheduler"
)

// DefaultLookahead is the Lookahead of a Config that names none.
const DefaultLookahead = 12

// Config configures one side's machine. Settings, Stop and Vocab must be equal on both sides; the rest is this side's own.
type Config struct {
	Self tandem.Side
	tandem.Settings
	Stop   []tandem.Token // tokens that end the answer; they are not part of it
	Vocab  int            // size of the vocabulary, against which drafts are checked; 0 for no check of ids
	Switch Switch         // placement greedy: who aggregates next; nil for the paper's rule

	// PassRows is the largest number of rows of a pass on this side, if that is more than PassPlaces. Guesses get the rows that
	// the answer, hedges and checks leave, and the decoder chooses among the guesses by Pass.Costs. The other side need not
	// know it.
	PassRows int
	// Past holds this side's estimates of its passes and drafts after earlier answers (Machine.Learned).
	Past profiler.PassPlanner
}

// Switch decides after each target which side aggregates next (placement greedy). Only the side that aggregates asks it.
type Switch interface {
	Aggregator(now tandem.Side, e scheduler.Estimate, m scheduler.Moment) tandem.Side
}

// Rule returns how the pair draws drafts and targets.
func (c Config) Rule() aggregator.Rule {
	return aggregator.Rule{Coupling: c.Coupling, Seed: c.Seed, Greedy: c.Sampling.Greedy(), Gamma: c.Gamma, Lead: tandem.FirstLead}
}

// Event is something that happened to a side. The set of events is closed. The machine keeps the slices of an event, and
// its owner may keep those of an action, so neither must change them.
type Event interface{ event() }

type (
	// Start lets a side begin to draft. With Alone the device does not wait for the cloud: until PeerReady its drafts
	// are targets at once. Without Alone they wait for PeerReady or PeerLost. A cloud drafts from the empty answer and
	// sends its drafts in the first epoch. The device begins with that epoch too, unless it has started alone.
	Start struct{ Alone bool }

	// Decoded is the result of the Decode action with that ID. Results of superseded actions are ignored.
	Decoded struct {
		ID       uint64
		Dist     tandem.Dist
		H        tandem.Fixed
		Took     time.Duration
		Branches []tandem.Continuation // for those of Decode; the decoder may leave some out
		Guessed  []tandem.Continuation // for Decode.Drafts in order, and then for what the decoder guessed
		Fed      int                   // tokens of the answer that the pass computed; 0 if unknown
		// Forecasts is the number of further rows in the pass, which are not places: they predict tokens for later
		// guesses.
		Forecasts int
		// Costs are the times of passes over 1, 2, … places, in seconds, if the decoder knows them. Otherwise the
		// machine estimates them from Took.
		Costs []float64
	}

	// PeerDraft is a draft of the other side. It may come twice, late or early.
	PeerDraft struct{ tandem.Draft }

	// PeerTarget is a target from the side that aggregates.
	PeerTarget struct{ tandem.Target }

	// PeerSync tells the cloud that a new epoch begins after these tokens.
	PeerSync struct {
		Epoch  uint32
		Tokens []tandem.Token
		Lead   tandem.Side // who leads at the step after them (tandem.CouplingLeader)
	}

	// PeerNeedSync tells the device that the cloud lost track and wants a new epoch.
	PeerNeedSync struct{}

	// PeerHandover makes this side the one that aggregates (placement greedy).
	PeerHandover struct{ tandem.Handover }

	// Measured is the link's round-trip time now. Placement greedy decides by it; without it the device keeps
	// aggregating.
	Measured struct{ RTT time.Duration }

	// PeerReady tells the device that the cloud can join, for the first time or again. From then on the answer ends at
	// MaxTokens tokens, if that is over 0 and below the device's own limit. It must be over the length of the answer so far.
	PeerReady struct{ MaxTokens int }

	// PeerLost says that the exchange with the other side is gone. The device continues alone. The cloud stops and keeps
	// its state for a later PeerSync. PeerLost must come before anything that arrives over a new exchange.
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

// Action is something that a machine asks its owner to do. The set of actions is closed. The owner carries out the
// actions of one Step in order.
type Action interface{ action() }

type (
	// Decode asks for a pass. It supersedes any Decode still running, which the owner should preempt. Whether that one
	// had any effect does not matter: Keep never reaches into its tokens. Append is empty only for the empty answer,
	// where Keep is 0.
	Decode struct {
		ID uint64
		tandem.Pass
	}

	// SendDraft, SendTarget, SendSync, SendNeedSync and SendHandover go to the other side, where they are PeerDraft and
	// so on. All must arrive, in any order, but those of an older epoch may be dropped.
	SendDraft  struct{ tandem.Draft }
	SendTarget struct{ tandem.Target }
	SendSync   struct {
		Epoch  uint32
		Tokens []tandem.Token
		Lead   tandem.Side
	}
	SendNeedSync struct{}
	SendHandover struct{ tandem.Handover }

	// Emit is the next token of the answer. The device emits each step exactly once, in order. The cloud emits what it
	// learns, for its log; after a PeerSync it may repeat steps in a later epoch. Alone marks tokens that the device
	// decided without the cloud. Own is the probability of the token in this side's own distribution, out of tandem.Mass. 0
	// means that only the other side's distribution has the token.
	Emit struct {
		tandem.Target
		Alone bool
		Own   uint32
	}

	// Finish is the last action of a machine. A cloud that finishes must keep its exchange open until the device ends the
	// answer too, because the device may still need what it sent last. If the device was cut off from that, a PeerSync
	// makes a finished cloud begin again, so its owner keeps passing events on.
	Finish struct{ Reason Reason }

	// Note reports something for traces and metrics. NoteDistrust is more: the user must know of it, and where the cloud
	// is required the answer must end.
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
	NoteJoined                   // an epoch began; the two sides continue together from Step
	NoteAlone                    // the device continues without the cloud from Step
	NoteStopped                  // the cloud stopped drafting at Step, until the next PeerSync
	NoteDiverged                 // a message of Side contradicts what was agreed before Step: the pair starts a new epoch
	NoteDistrust                 // the cloud diverged again and again at Step: the device continues without it
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

// Stats counts what a machine has done and seen. Arrays are indexed by tandem.Side.
type Stats struct {
	Steps       int    // tokens agreed, alone ones included (a stop token is not counted)
	Alone       int    // tokens that the device decided alone
	Together    int    // targets of two drafts, a stop token included
	Accepted    [2]int // of Together, those that equal the side's draft
	Rejected    [2]int // of Together, those that do not
	Drafted     int    // drafts made by this side
	Wasted      int    // of Drafted, dropped unused after a rejection or a new epoch
	Preempted   int    // decodes that were superseded
	Ahead       int    // of Drafted, those that took no pass because their distribution was known already
	OfHedges    int    // of Together and Alone, those whose own draft came from a place on a branch
	OfChecks    int    // the same, after drafts of the other side
	OfGuesses   int    // the same, after guesses
	Passes      int    // of the decoder, without superseded ones
	Room        int    // places that the passes could have decoded
	Places      int    // places that they decoded, including those asked for
	Hedged      int    // of Places, those on branches, and the answer's that were computed again for these
	Checked     int    // of Places, those after drafts of the other side
	Guessed     int    // of Places, those after guesses
	Forecasts   int    // of Places, rows that predict tokens for later guesses
	Hedges      int    // hedges of the other side that became its draft
	Handovers   int    // by this side
	Takeovers   int    // hand-overs of the other side that took effect here
	Divergences int
	Dropped     int // malformed or out-of-bounds messages
	Epoch       uint32
}

// Rows returns what became of the places that the passes had room for (sd.npu §3.2, where they are the rows of a
// static graph). Valid ones gave a step its draft, wasted ones did not, and underutilised ones stayed empty.
func (s Stats) Rows() (valid, wasted, underutilised int) {
	valid = min(s.Together+s.Alone, s.Places)
	return valid, s.Places - valid, s.Room - s.Places
}

// Acceptance returns the share of a side's drafts that were accepted, 0 when there were none.
func (s Stats) Acceptance(side tandem.Side) float64 {
	if s.Together == 0 {
		return 0
	}
	return float64(s.Accepted[side]) / float64(s.Together)
}
