package grammar

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"tandem"
	"tandem/model/vocabulary"
)

// Bounds of what a Matcher keeps.
const (
	// maxStacks is the most ways in which a text may be read at once.
	maxStacks = 1 << 12
	// maxSteps is the most places that are looked at for one set of tokens, about half a second's work.
	maxSteps = 1 << 22
	// maxWays is how many ways from state to state are kept at least from one token to the next. A way takes 8 bytes.
	maxWays = 1 << 20
	// maxFrames is the most frames that are kept; with half of them, none stay for the next token. A frame takes some 80 bytes.
	maxFrames = 1 << 18
	// maxMasks is the most sets of tokens that are kept. A set takes 19 kB for 152,000 tokens.
	maxMasks = 1 << 6
)

var (
	// ErrAmbiguous is the error about a grammar that takes too much work, since it reads a text in too many ways.
	ErrAmbiguous = errors.New("the grammar takes too long to follow, since it reads a text in too many ways: make its rules exclude each other")
	// ErrStuck is the error about a text after which the vocabulary has no token that the grammar allows.
	ErrStuck = errors.New("the grammar demands characters that the model's vocabulary cannot write")
)

// A Matcher says how texts of a grammar may go on, in the tokens of a vocabulary. It keeps what it has worked out, so it is not safe
// for concurrent use.
type Matcher struct {
	grammar    *Grammar
	vocabulary *vocabulary.Vocabulary

	frames map[frame]*frame
	states map[string]*state
	left   []*state // those that have ways
	masks  map[*state]vocabulary.Mask
	made   uint32 // frames ever made
	steps  int    // places looked at for one result
}

// A State is what matters of a text for how it may go on. It is immutable, and belongs to a Matcher.
type State struct {
	*state
	err error // why there is none
}

// Lost reports whether no text of the grammar begins like this.
func (s State) Lost() bool { return s.state == nil && s.err == nil }

// MayEnd reports whether the grammar derives the text.
func (s State) MayEnd() bool { return s.state != nil && s.ends }

// A frame is a place in a rule, and the frame at which to go on when the rule ends; nil for root.
type frame struct {
	at    int32
	id    uint32 // 0 in keys
	below *frame
}

type state struct {
	frames []*frame // sorted by id, all at bytes
	ends   bool     // the text may end
	ways   []*state // where each kind of bytes leads, nil if that is not known yet; nil if no byte was read here
}

// nowhere is where bytes lead that may not come next.
var nowhere = new(state)

// NewMatcher returns a matcher.
func NewMatcher(g *Grammar, v *vocabulary.Vocabulary) *Matcher {
	m := &Matcher{grammar: g, vocabulary: v}
	m.forget()
	return m
}

// forget drops what is kept. States that others hold stay valid.
func (m *Matcher) forget() {
	for _, s := range m.left {
		s.ways = nil
	}
	m.frames, m.states, m.left, m.masks = map[frame]*frame{}, map[string]*state{}, nil, map[*state]vocabulary.Mask{}
}

// Start returns the state of the empty text.
func (m *Matcher) Start() State {
	m.steps = 0
	c := m.closure()
	c.add(frame{at: m.grammar.starts[0]})
	s, err := c.state()
	return State{s, err}
}

// Next returns the state after more text, which is lost if no text of the grammar goes on so.
func (m *Matcher) Next(s State, text []byte) State {
	m.steps = 0
	if len(m.left)*m.grammar.kinds() > maxWays || len(m.frames) > maxFrames/2 {
		m.forget()
	}
	for _, b := range text {
		if s.state == nil {
			break
		}
		s.state, s.err = m.after(s.state, b)
	}
	return s
}

// Allowed returns the tokens that may come next: those with which the text is still the beginning of one that the grammar
// derives and, where it may end, those that end it. The set must not be changed. It has no tokens if the state is lost.
func (m *Matcher) Allowed(s State) (vocabulary.Mask, error) {
	if s.err != nil {
		return nil, s.err
	}
	if mask, ok := m.masks[s.state]; ok {
		return mask, nil
	}
	m.steps = 0
	mask := vocabulary.NewMask(m.vocabulary.Size)
	if s.Lost() {
		return mask, nil
	}
	if err := m.walk(0, s.state, mask); err != nil {
		return nil, err
	}
	if s.ends {
		for _, t := range m.vocabulary.Ends {
			mask.Add(t)
		}
	}
	if mask.Size() == 0 {
		return nil, ErrStuck
	}
	if len(m.masks) >= maxMasks {
		clear(m.masks)
	}
	m.masks[s.state] = mask
	return mask, nil
}

// walk adds the tokens below a node of the vocabulary that may follow a state.
func (m *Matcher) walk(node int32, from *state, found vocabulary.Mask) error {
	first, end := m.vocabulary.Tokens.Children(node)
	for n := first; n < end; n++ {
		next, err := m.after(from, m.vocabulary.Tokens.Label(n))
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		for _, t := range m.vocabulary.Tokens.At(n) {
			found.Add(tandem.Token(t))
		}
		if err := m.walk(n, next, found); err != nil {
			return err
		}
	}
	return nil
}

// after returns the state to which a byte leads, or nil.
func (m *Matcher) after(from *state, b byte) (*state, error) {
	if from.ways == nil {
		from.ways, m.left = make([]*state, m.grammar.kinds()), append(m.left, from)
		m.steps += len(from.ways)
	}
	kind := m.grammar.alike[b]
	switch next := from.ways[kind]; next {
	case nowhere:
		return nil, nil
	case nil:
	default:
		return next, nil
	}
	m.steps += len(from.frames)
	c := m.closure()
	for _, f := range from.frames {
		if n := m.grammar.nodes[f.at]; n.low <= b && b <= n.top {
			c.add(frame{at: n.next, below: f.below})
		}
	}
	next, err := c.state()
	if err == nil {
		from.ways[kind] = cmp.Or(next, nowhere)
	}
	return next, err
}

// closure is a state in the making.
type closure struct {
	*Matcher
	seen   map[frame]bool
	frames []*frame
	ends   bool
}

func (m *Matcher) closure() *closure { return &closure{Matcher: m, seen: map[frame]bool{}} }

// add adds a frame, or those that it leads to without a byte.
func (c *closure) add(f frame) {
	for todo := []frame{f}; len(todo) > 0 && len(c.seen) <= maxStacks; {
		f := todo[len(todo)-1]
		if todo = todo[:len(todo)-1]; c.seen[f] {
			continue
		}
		c.seen[f] = true
		c.steps++
		switch n := c.grammar.nodes[f.at]; n.op {
		case oneByte:
			c.frames = append(c.frames, c.keep(f))
		case fork:
			todo = append(todo, frame{at: n.other, below: f.below}, frame{at: n.next, below: f.below})
		case call:
			below := f.below
			if c.grammar.nodes[n.next].op != done { // else the rule ends with the one that it calls
				below = c.keep(frame{at: n.next, below: f.below})
			}
			todo = append(todo, frame{at: c.grammar.starts[n.rule], below: below})
		case done:
			if f.below == nil {
				c.ends = true
			} else {
				todo = append(todo, frame{at: f.below.at, below: f.below.below})
			}
		}
	}
}

// keep returns the one frame that is kept for equal ones.
func (m *Matcher) keep(f frame) *frame {
	kept, ok := m.frames[f]
	if !ok {
		m.made++
		kept = &frame{f.at, m.made, f.below}
		m.frames[f] = kept
	}
	return kept
}

// state returns the state that was made, or nil for none.
func (c *closure) state() (*state, error) {
	if len(c.seen) > maxStacks || c.steps > maxSteps || len(c.Matcher.frames) > maxFrames {
		return nil, ErrAmbiguous
	}
	if len(c.frames) == 0 && !c.ends {
		return nil, nil
	}
	slices.SortFunc(c.frames, func(a, b *frame) int { return cmp.Compare(a.id, b.id) })
	key := make([]byte, 1, 1+4*len(c.frames))
	if c.ends {
		key[0] = 1
	}
	for _, f := range c.frames {
		key = binary.LittleEndian.AppendUint32(key, f.id)
	}
	s, ok := c.states[string(key)]
	if !ok {
		s = &state{frames: c.frames, ends: c.ends}
		c.states[string(key)] = s
	}
	return s, nil
}
