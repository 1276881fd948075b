package tandem

// Pass is the work of one decoding pass: the place in the answer whose distribution is needed, and other places that may be
// decoded with it.
type Pass struct {
	Keep     int      // tokens of the answer that stay; the rest is truncated
	Append   []Token  // tokens that follow them; the pass gives the distribution after the last one
	Branches []Branch // other ways in which the answer may continue; a branch comes after the one that it continues
	Drafts   []Token  // after Append: what the other side has drafted, one after the other
	Guess    int      // after Drafts: how many tokens the decoder may guess at most, in one chain or several

	// Guesses are chosen by the time of passes over 1, 2, … places in any unit (nil if unknown), and by the probability that all
	// of Drafts are right (0 means 1).
	Costs  []float64
	Chance float64
}

// Branch is a token after a part of the answer, or after another branch.
type Branch struct {
	Token Token
	After int // the number, counted from 1, of the branch that it continues; 0 if it continues a part of the answer
	Back  int // then, how many of the answer's last tokens that part lacks: at least 1, and all of them among Append
}

// Step is the step whose distribution the pass must give.
func (p Pass) Step() Step { return Step(p.Keep + len(p.Append)) }

// More reports whether the pass may decode more than the one place.
func (p Pass) More() bool { return len(p.Branches)+len(p.Drafts)+p.Guess > 0 }

// Continuation is a place that a pass decoded in addition to the one asked for.
type Continuation struct {
	Token Token // its last
	After int   // the number, counted from 1, of the one that it continues; 0 if it continues the answer
	Dist  Dist
	H     Fixed
}
