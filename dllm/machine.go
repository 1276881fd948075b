package dllm

import "tandem"

// Status is how far a token is decided (llada.cpp §3.3).
type Status uint8

// The statuses.
const (
	Invisible Status = iota // masked, or drafted in a block to come
	Visible                 // context for other positions, but it may change
	Stable                  // final
)

func (s Status) String() string { return [...]string{"invisible", "visible", "stable"}[s%3] }

// A Cell is a position of the answer.
type Cell struct {
	Token      tandem.Token // the mask, if there is no guess
	Status     Status
	Draft      bool    // guessed before its block was current
	Confidence float32 // of the last guess that counted
}

// A Row is a position that a pass computes.
type Row struct {
	Position int // in the sequence of prompt and answer, and the slot of the row's key and value
	Token    tandem.Token
	Sees     int  // the row attends to the slots below, its own included
	Logits   bool // whether a guess is needed: for the row's position or, in a shifted model, the next
}

// A Guess is derived from a row's logits: a token and its probability.
type Guess struct {
	Token      tandem.Token
	Confidence float32
}

// Event is something that happened. The set of events is closed.
type Event interface{ event() }

type (
	// Begin starts the generation.
	Begin struct{}
	// Computed has the guesses of a Compute, one for each row with Logits, in order.
	Computed struct{ Guesses []Guess }
	// Refreshed has those of a Refresh. It may come before or after Computed.
	Refreshed struct{ Guesses []Guess }
	// Interrupt ends the generation with what is decided.
	Interrupt struct{}
)

func (Begin) event()     {}
func (Computed) event()  {}
func (Refreshed) event() {}
func (Interrupt) event() {}

// Action is something that the machine asks its owner to do. The set of actions is closed. Slices belong to the machine
// and are valid until the Step after the results came.
type Action interface{ action() }

type (
	// Compute asks for a pass over rows in ascending order. They write their keys and values, all before any attends.
	Compute struct{ Rows []Row }
	// Refresh asks for a sparse pass at the same time as the Compute before it. It reads the caches as they were before
	// that, and its results wait for Merge. Its rows see no slot that the Compute writes.
	Refresh struct{ Rows []Row }
	// Merge ends a step: the keys and values of the Refresh, if there was one, replace those in the cache. The slots from
	// Settled to End have become part of the prefix, which only a Refresh changes from now on.
	Merge struct{ Settled, End int }
	// Write is a run of final tokens, which follow those written before.
	Write struct{ Tokens []tandem.Token }
	// Finish ends the generation.
	Finish struct{ Reason EndReason }
)

func (Compute) action() {}
func (Refresh) action() {}
func (Merge) action()   {}
func (Write) action()   {}
func (Finish) action()  {}

// EndReason says why a generation ended.
type EndReason uint8

// The ends.
const (
	Complete    EndReason = iota // every position is decided
	StopToken                    // a stop token and everything before it is decided
	Interrupted                  // by Interrupt
)

// Machine is the state machine of one generation. It is not safe for concurrent use.
//
// Positions count from the prompt's first token. Rows below settled are the prefix: their keys and values were computed
// from decided tokens alone and stay as they are, unless refreshed. A step is one Compute and at most one Refresh. It
// ends when both results are there, whichever came first.
type Machine struct {
	cfg   Config
	cells []cell // of the whole sequence
	start int    // of the answer
	block int    // where the current block starts
	fresh bool   // the current block has not been computed yet

	settled int
	textEnd int
	version int // counts what may change a refreshed guess

	step                        int
	dense, sparse               []Row
	denseGuesses, sparseGuesses []Guess
	denseDone, sparseDone       bool // which results of the step are there
	drafted                     bool // the pass has drafts among the rows of the current block
	running, done               bool
}

// cell is a Cell with what the machine knows about its row.
type cell struct {
	Cell
	input       tandem.Token // with which the row was computed last; none before
	refreshed   int          // version of the last refresh
	refreshStep int          // step of the last refresh
}

// none is no token.
const none tandem.Token = -1

// New returns a machine at the beginning of a generation.
func New(cfg Config) (*Machine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Block == 0 {
		cfg.Block = cfg.Length
	}
	cfg.AtLeast = max(cfg.AtLeast, 1)
	if cfg.Slack == 0 {
		cfg.Slack = .1
	}
	m := &Machine{cfg: cfg, start: len(cfg.Prompt), block: len(cfg.Prompt), textEnd: len(cfg.Prompt), fresh: true, version: 1}
	for _, t := range cfg.Prompt {
		m.cells = append(m.cells, cell{Cell: Cell{Token: t, Status: Stable, Confidence: 1}, input: none})
	}
	for range cfg.Length {
		m.cells = append(m.cells, cell{Cell: Cell{Token: cfg.Mask}, input: none})
	}
	return m, nil
}

// Step takes an event and returns what to do, in order. Events that cannot occur now are ignored.
func (m *Machine) Step(e Event) []Action {
	if m.done {
		return nil
	}
	switch e := e.(type) {
	case Begin:
		if m.running {
			return nil
		}
		m.running = true
		return m.plan(nil)
	case Interrupt:
		m.done = true
		return m.finish(nil, Interrupted)
	case Computed:
		if !m.running || m.denseDone {
			return nil
		}
		m.denseGuesses, m.denseDone = e.Guesses, true
	case Refreshed:
		if len(m.sparse) == 0 || m.sparseDone {
			return nil
		}
		m.sparseGuesses, m.sparseDone = e.Guesses, true
	}
	if !m.denseDone || len(m.sparse) > 0 && !m.sparseDone {
		return nil
	}
	return m.endStep()
}

// plan begins a step.
func (m *Machine) plan(actions []Action) []Action {
	m.step++
	m.denseDone, m.sparseDone = false, false
	m.dense = m.denseRows(m.dense[:0])
	m.sparse = m.sparseRows(m.sparse[:0])
	actions = append(actions, Compute{m.dense})
	if len(m.sparse) > 0 {
		actions = append(actions, Refresh{m.sparse})
	}
	return actions
}

// endStep takes the results of both paths.
func (m *Machine) endStep() []Action {
	m.commit()
	m.revise()
	before := m.settled
	m.settle()
	actions := []Action{Merge{before, m.settled}}
	if ended, over := m.advance(); over {
		return m.finish(actions, ended)
	}
	if text := m.takeFinal(false); len(text) > 0 {
		actions = append(actions, Write{text})
	}
	return m.plan(actions)
}

// finish ends the generation with what is decided.
func (m *Machine) finish(actions []Action, ended EndReason) []Action {
	m.done = true
	if text := m.takeFinal(true); len(text) > 0 {
		actions = append(actions, Write{text})
	}
	return append(actions, Finish{ended})
}

// Cells returns the answer as it is now.
func (m *Machine) Cells() []Cell {
	cells := make([]Cell, 0, m.cfg.Length)
	for i := range m.cells[m.start:] {
		cells = append(cells, m.cells[m.start+i].Cell)
	}
	return cells
}

// Remaining returns the number of undecided positions of the current block.
func (m *Machine) Remaining() int {
	n := 0
	for i := m.block; i < m.blockEnd(m.block); i++ {
		if m.cells[i].Status == Invisible {
			n++
		}
	}
	return n
}

// shift is how far after its row a guess lies.
func (m *Machine) shift() int {
	if m.cfg.Shifted {
		return 1
	}
	return 0
}

// blockEnd returns the end of the block of a position. The prompt is a block.
func (m *Machine) blockEnd(position int) int {
	if position < m.start {
		return m.start
	}
	b := m.cfg.Block
	return min(m.start+((position-m.start)/b+1)*b, len(m.cells))
}

// firstOpen returns the first undecided position of the current block.
func (m *Machine) firstOpen() int {
	i := m.block
	for i < m.blockEnd(m.block)-1 && m.cells[i].Status != Invisible {
		i++
	}
	return i
}

// hasVisible reports whether there is a state between invisible and stable.
func (m *Machine) hasVisible() bool { return m.cfg.Visible < m.cfg.Stable }

// withoutNaN returns g with a NaN confidence replaced by -1.
func withoutNaN(g Guess) Guess {
	if g.Confidence != g.Confidence {
		g.Confidence = -1
	}
	return g
}
