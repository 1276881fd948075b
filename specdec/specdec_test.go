package specdec

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem"
)

func tokens(t *rapid.T, most int, vocabulary int, label string) []tandem.Token {
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(0, vocabulary-1), func(i int) tandem.Token { return tandem.Token(i) }), 0, most).Draw(t, label)
}

// The automaton finds the same longest earlier suffix, and the same tokens after it, as a search through the whole text.
func TestAutomatonIsASearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tokens(t, 60, rapid.SampledFrom([]int{1, 2, 3, 20}).Draw(t, "vocabulary"), "text")
		a := newAutomaton(0)
		for i, token := range text {
			a.extend(token)
			s, length := a.suffix()
			want, ends := longestSuffix(text[:i+1])
			if length != want {
				t.Fatalf("after %d the suffix has %d tokens, want %d", text[:i+1], length, want)
			}
			if want == 0 {
				continue
			}
			follow := map[tandem.Token]bool{}
			for _, e := range ends {
				follow[text[e+1]] = true
			}
			n := 0
			for e := a.states[s].edges; e > 0; e = a.edges[e-1].next {
				n++
				if !follow[a.edges[e-1].token] {
					t.Fatalf("%d does not follow in %d", a.edges[e-1].token, text[:i+1])
				}
			}
			if n != len(follow) {
				t.Fatalf("%d tokens follow the suffix, want %d", n, len(follow))
			}
			if latest := ends[len(ends)-1]; a.states[s].count <= maxCountedSuffixes && int(a.states[s].latest) != latest && len(text) < maxCountedSuffixes {
				t.Fatalf("the latest occurrence in %d ends at %d, want %d", text[:i+1], a.states[s].latest, latest)
			}
		}
		// Match another text.
		other, m := tokens(t, 40, 20, "other"), match{}
		for i, token := range other {
			a.advance(&m, token)
			want := 0
			for n := 1; n <= i+1; n++ {
				if contains(text, other[i+1-n:i+1]) {
					want = n
				}
			}
			if int(m.length) != want {
				t.Fatalf("the match of %[2]d in %[3]d has %[1]d tokens, want %[4]d", m.length, other[:i+1], text, want)
			}
		}
	})
}

func contains(text, part []tandem.Token) bool {
	for i := 0; i+len(part) <= len(text); i++ {
		if slices.Equal(text[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// longestSuffix returns the length of the longest suffix that occurred before, and where its occurrences end.
func longestSuffix(text []tandem.Token) (n int, ends []int) {
	for n = len(text) - 1; n > 0; n-- {
		for e := n - 1; e < len(text)-1; e++ {
			if slices.Equal(text[e+1-n:e+1], text[len(text)-n:]) {
				ends = append(ends, e)
			}
		}
		if ends != nil {
			return n, ends
		}
	}
	return 0, nil
}

// The automaton of a text of 200,000 tokens has at most two states and three edges per token.
func TestAutomatonIsLinear(t *testing.T) {
	for _, vocabulary := range []int{1, 2, 1000} {
		a, r := newAutomaton(0), rand.New(rand.NewPCG(1, 2))
		for range 200_000 {
			a.extend(tandem.Token(r.IntN(vocabulary)))
		}
		if len(a.states) > 2*200_000 || len(a.edges) > 3*200_000+len(a.states) {
			t.Errorf("%d states, %d edges", len(a.states), len(a.edges))
		}
	}
}

func ids(s string) (out []tandem.Token) {
	for _, b := range []byte(s) {
		out = append(out, tandem.Token(b))
	}
	return out
}

// draft returns the likeliest path that drafters propose after a text.
func draft(text string, ds ...Drafter) string {
	t := NewTree(100, nil)
	for _, d := range ds {
		d.Committed(ids(text))
		d.Propose(t)
	}
	return path(t)
}

func path(t *Tree) string {
	out, at := "", -1
	for {
		best := -1
		for i := t.firstChild(at); i > 0; i = t.Nodes[i-1].next {
			if best < 0 || t.Nodes[i-1].P > t.Nodes[best].P {
				best = i - 1
			}
		}
		if best < 0 {
			return out
		}
		out += string(rune(t.Nodes[best].Token))
		at = best
	}
}

func TestDraftersByHand(t *testing.T) {
	text := "the cat sat on the mat. the dog sat on t"
	for _, c := range []struct {
		d    Drafter
		want string
	}{
		{&Lookup{}, "he mat. th"},
		{&Lookup{Length: 3}, "he "},
		{&SAM{}, "he mat. the dog sat on t"},
		{&SAM{Length: 4}, "he m"},
		{&SAM{Tree: true}, "he mat. the dog sat on t"},
	} {
		if got := draft(text, c.d); got != c.want {
			t.Errorf("%T drafts %q, want %q", c.d, got, c.want)
		}
	}
	if got := draft("abcabdabc", &Ngrams{MaxNgram: 3}); got == "" || got[0] != 'a' {
		t.Errorf("n-grams draft %q", got)
	}
	tree := NewTree(100, nil)
	s := &SAM{Tree: true}
	s.Committed(ids("ab1ab1ab2ab3ab"))
	s.Propose(tree)
	if tree.Child(-1, '1') < 0 || tree.Child(-1, '2') < 0 || tree.Child(-1, '3') < 0 || tree.Nodes[tree.Child(-1, '1')].P <= tree.Nodes[tree.Child(-1, '2')].P {
		t.Errorf("branches %+v", tree.Nodes)
	}
}

// Best returns parents before their children, whatever the order in which nodes were added.
func TestBestIsClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := NewTree(50, &Acceptance{})
		for range rapid.IntRange(0, 60).Draw(t, "nodes") {
			parent := rapid.IntRange(-1, len(tree.Nodes)-1).Draw(t, "parent")
			tree.Add(parent, tandem.Token(rapid.IntRange(0, 3).Draw(t, "token")), rapid.Float64Range(0, 1).Draw(t, "share"),
				ClassOf(Source(rapid.IntRange(0, int(sources)-1).Draw(t, "source")), rapid.IntRange(0, 9).Draw(t, "match")))
		}
		n := rapid.IntRange(0, 60).Draw(t, "best")
		best, chances := tree.Best(n)
		if len(best) != min(n, len(tree.Nodes)) || len(chances) != len(best) || len(tree.Nodes) > 50 {
			t.Fatalf("got %d of %d nodes", len(best), len(tree.Nodes))
		}
		for i, b := range best {
			if p := tree.Nodes[b].Parent; p >= 0 && !slices.Contains(best[:i], p) {
				t.Fatalf("node %d without its parent %d", b, p)
			}
			if i > 0 && chances[i] > chances[i-1] {
				t.Fatal("the probabilities are not in descending order")
			}
		}
		seen := map[[2]int]bool{}
		for _, x := range tree.Nodes {
			k := [2]int{x.Parent, int(x.Token)}
			if seen[k] {
				t.Fatal("a node has two children with one token")
			}
			seen[k] = true
		}
	})
}

// Reuse keeps the longest run with x_i = y_i (sd.npu Eq. 3) and proposes its rest where the text reaches it.
func TestReuseKeepsTheLongestAgreement(t *testing.T) {
	settle := func(r *Reuse, x, y string) {
		tree := NewTree(100, nil)
		tree.Chain(-1, ids(x), FromPrompt, 3)
		all, _ := tree.Best(100)
		r.Settle(&Verdict{Tree: tree, Verified: all, Likeliest: func(n int) tandem.Token { return tandem.Token(y[n+1]) }})
	}
	r := &Reuse{}
	settle(r, "abcdefgh", "xbcxefgx")
	if len(r.segments) != 1 || !slices.Equal(r.segments[0].tokens, ids("efg")) {
		t.Fatalf("kept %+v", r.segments)
	}
	first := &Reuse{}
	settle(first, "abcdefgh", "xbcdxfgx")
	if len(first.segments) != 1 || !slices.Equal(first.segments[0].tokens, ids("bcd")) {
		t.Fatalf("kept %+v, want the longest, which comes first", first.segments)
	}
	r.Committed(ids("e"))
	tree := NewTree(100, nil)
	r.Propose(tree)
	if got := path(tree); got != "fg" {
		t.Errorf("after e: draft %q, want \"fg\"", got)
	}
	// A segment extends a short draft.
	r = &Reuse{Limit: 5}
	settle(r, "abcdefgh", "xbcxefgx")
	tree = NewTree(100, nil)
	tree.Chain(-1, ids("123"), FromPrompt, 9)
	r.Propose(tree)
	if e := tree.Child(2, 'e'); e < 0 || tree.Child(e, 'f') < 0 || tree.Child(tree.Child(e, 'f'), 'g') >= 0 {
		t.Errorf("after 123: %+v", tree.Nodes)
	}
	// A draft that reaches the limit stays as it is (sd.npu §5.1: 32).
	r = &Reuse{Limit: 3}
	settle(r, "abcdefgh", "xbcxefgx")
	for _, draft := range []string{"123", "1234"} {
		tree = NewTree(100, nil)
		last := tree.Chain(-1, ids(draft), FromPrompt, 9)
		r.Propose(tree)
		if tree.Child(last, 'e') >= 0 {
			t.Errorf("limit 3: %s is extended", draft)
		}
	}
	// Reuse proposes a segment for Life steps, even if none of it occurs in the text.
	for _, life := range []int{0, 1, 3} {
		r := &Reuse{Life: life}
		settle(r, "abcdefgh", "xbcxefgx")
		for step := range cmp.Or(life, 4) + 1 {
			r.Committed(ids("z"))
			tree := NewTree(100, nil)
			r.Propose(tree)
			if got, want := path(tree) == "efg", step < cmp.Or(life, 4); got != want {
				t.Errorf("life %d, step %d: proposed %v", life, step, got)
			}
			settle(r, "q", "x")
		}
	}
}

// stairs returns the costs of graphs that compute tile rows at a time.
func stairs(tile int) (c Costs) {
	for i := range 64 {
		c = append(c, float64(i/tile+1))
	}
	return c
}

func TestReuseCases(t *testing.T) {
	for _, c := range []struct {
		said string
		want Cases
	}{
		{"newwords abcd and so on", Cases{Missing: 1}},
		{"xbcd and other words...", Cases{Synonym: 1}},
		{"nothing of it at all....", Cases{Redundant: 1}},
	} {
		r := &Reuse{}
		tree := NewTree(100, nil)
		tree.Chain(-1, ids("abcd"), FromPrompt, 3)
		r.Settle(&Verdict{Tree: tree, Verified: []int{0, 1, 2, 3}, Likeliest: func(int) tandem.Token { return 'z' }})
		r.Committed(ids(c.said))
		if r.Cases() != c.want {
			t.Errorf("%q: %+v, want %+v", c.said, r.Cases(), c.want)
		}
	}
}

// However good the drafts are, the passes of an answer together take at most 2 % longer than plain decoding, plus the
// credit of a short answer and half of what drafts had proven.
func TestChooserNeverLosesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := rapid.Float64Range(0, 1).Draw(t, "slope")
		var real Costs
		for i := range 64 {
			real = append(real, 1+slope*float64(i))
		}
		if rapid.Bool().Draw(t, "stairs") {
			real = stairs(rapid.SampledFrom([]int{8, 32}).Draw(t, "tile"))
		}
		c, surprise := &Chooser{Costs: real}, 0.0
		if rapid.Bool().Draw(t, "learn") {
			c, surprise = &Chooser{Learn: true}, 1 // the cost of more rows is not known in advance
		}
		drafting := rapid.Float64Range(0, 0.3).Draw(t, "drafting")
		luck := rapid.Float64Range(0, 1).Draw(t, "luck")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		c.begin(rapid.Float64Range(minProven, maxProven).Draw(t, "proven"))
		spent, given, proven := 0.0, 0, 0.0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			rows, right, took := 0, 0, 0.0
			proven = max(proven, c.proven)
			if c.affordDraft(drafting) {
				chances, p := []float64{}, 1.0
				for range r.IntN(31) {
					p *= r.Float64()
					chances = append(chances, p)
				}
				rows, took = c.choose(chances, drafting), drafting*(.5+r.Float64())
			}
			for right < rows && r.Float64() < luck {
				right++
			}
			c.observe(rows+1, time.Duration(real.At(rows+1)*1e9))
			c.settle(rows, right+1, took)
			if took > 0 && c.overBudget {
				c.learnFromHeld(r.Float64() < luck)
			}
			spent, given = spent+real.At(rows+1)+took, given+right+1
		}
		carried := min(proven/2, 1+.15*float64(given))
		if bound := 1.02*float64(given) + 0.02*credit + carried + drafting/2 + surprise + 1e-6; spent > bound {
			t.Fatalf("%d tokens took %.2f steps of plain decoding, want at most %.2f", given, spent, bound)
		}
	})
}

// However much drafts have saved before, a short answer in which all are wrong takes little longer than without them. A long one
// may spend more of what they have saved.
func TestShortAnswersLoseLittle(t *testing.T) {
	for tokens, most := range map[int]float64{16: 4, 64: maxProven/2 + 1.5} {
		c, spent := &Chooser{Costs: Costs{1, 1.3, 1.6, 1.9, 2.2, 2.5, 2.8, 3.1}}, 0.0
		c.begin(maxProven)
		for range tokens {
			rows := c.choose([]float64{.95, .9, .86, .81, .77}, 0)
			c.settle(rows, 1, 0)
			c.proven = maxProven // as if each draft that is held were right
			spent += c.Costs.At(rows + 1)
		}
		if lost := spent - float64(tokens); lost > most || lost < 2 {
			t.Errorf("%d tokens took %.2f passes longer, want 2 to %.2f", tokens, lost, most)
		}
	}
}

// A pause in the first pass of some rows does not keep later passes from having as many. Rows that always take so long
// are given up.
func TestChooserForgetsPauses(t *testing.T) {
	for _, slow := range []bool{false, true} {
		c := &Chooser{Learn: true, Loss: math.Inf(1)}
		pass := func(rows int, paused bool) {
			took := 10*time.Millisecond + time.Duration(rows)*time.Millisecond/10
			if paused || slow && rows > 1 {
				took += 5 * time.Second
			}
			c.observe(rows, took)
		}
		rows := func() int { return 1 + c.choose([]float64{.95, .9, .86, .81}, 0) }
		pass(1, false)
		pass(rows(), true)
		pass(1, false)
		many := rows()
		if pass(many, false); many == 1 || rows() > 1 == slow {
			t.Errorf("slow %v: %d rows after a long pass, %d after another", slow, many, rows())
		}
		if pass(2*many, true); !slow && rows() == 1 {
			t.Error("one row after a second pause")
		}
	}
}

// For a model that copies, drafting starts although nothing was measured and a draft costs a tenth of a step.
func TestDraftingStarts(t *testing.T) {
	c, passes, tokens := &Chooser{Learn: true}, 0, 0
	for tokens < 100 {
		rows, took := 0, 0.0
		if c.afford(.1) {
			rows, took = c.choose([]float64{.95, .9, .86, .81}, .1), .1
		}
		c.observe(rows+1, time.Duration(1e9+1e8*float64(rows)))
		c.settle(rows, rows+1, took)
		passes, tokens = passes+1, tokens+rows+1
	}
	if passes > 50 {
		t.Errorf("%d passes for %d tokens, want at most 50", passes, tokens)
	}
}

// Drafts that the budget does not cover prove themselves without being verified: right ones soon are, in the next answer from its
// first token on, and wrong ones never.
func TestDraftsProveThemselves(t *testing.T) {
	costs := Costs{1, 1.4, 1.8, 2.2}
	for _, right := range []bool{true, false} {
		c, rows := &Chooser{Costs: costs}, 0
		for range 8 {
			if rows = c.choose([]float64{.9}, .01); rows > 0 {
				break
			}
			c.settle(0, 1, .01)
			if !c.overBudget {
				t.Fatal("a draft that seems to pay is not held")
			}
			c.learnFromHeld(right)
		}
		if rows > 0 != right {
			t.Errorf("guesses right: %v, %d rows verified", right, rows)
		}
		c.settle(0, 1, 0)
		c.begin(c.proven)
		if rows = c.choose([]float64{.9}, .01); rows > 0 != right {
			t.Errorf("in the next answer, guesses right: %v, %d rows verified", right, rows)
		}
	}
	c := &Chooser{Costs: costs}
	if c.choose([]float64{.3}, .01); c.overBudget {
		t.Error("a draft that does not pay is held")
	}
}

// The Chooser uses all rows that cost nothing, and of the others only those whose probability pays for them.
func TestChooserUsesWhatPays(t *testing.T) {
	chances := []float64{.9, .8, .7, .01, .01}
	if n := (&Chooser{Costs: stairs(32)}).choose(chances, 0); n != 5 {
		t.Errorf("on a staircase: %d rows, want 5", n)
	}
	c := &Chooser{Costs: Costs{1, 1.1, 1.2, 1.3, 1.4, 1.5}, Loss: 1}
	if n := c.choose(chances, 0); n != 3 {
		t.Errorf("at a tenth of a pass per row: %d rows, want 3", n)
	}
	if n := c.choose([]float64{.05}, 0); n != 0 {
		t.Errorf("for an unlikely node: %d rows, want 0", n)
	}
	if n := (&Chooser{Costs: Costs{1, 2, 3, 4, 5, 6}}).choose(chances, 0); n != 0 {
		t.Errorf("without a budget: %d rows, want 0", n)
	}
}

// Rows are as many as raise the tokens for the time.
func TestRowsRaiseTheRate(t *testing.T) {
	flat, dear := Costs{1, 1, 1, 1}, Costs{1, 1.5, 2, 2.5}
	stair := Costs{1, 2, 2, 2, 2, 2, 2, 2}
	sure := []float64{.9, .9, .9, .9, .9, .9, .9}
	for _, c := range []struct {
		what    string
		chances []float64
		costs   Costs
		before  float64
		want    int
	}{
		{"free rows", []float64{.9, .1, .01}, flat, 1, 3},
		{"rows that cost half a pass", []float64{.9, .4, .1}, dear, 1, 1},
		{"what comes before them is unlikely", []float64{.9, .4, .1}, dear, .3, 0},
		{"unlikely", []float64{.2, .1}, dear, 1, 0},
		{"a stair that many guesses pay", sure, stair, 1, 7},
		{"a stair that one guess does not pay", sure[:1], stair, 1, 0},
	} {
		if got := (&Chooser{Costs: c.costs, Loss: math.Inf(1), Chance: c.before}).choose(c.chances, 0); got != c.want {
			t.Errorf("%s: %d rows, want %d", c.what, got, c.want)
		}
	}
}

// Measured acceptance replaces the starting value, even if no guess was verified.
func TestAcceptanceIsMeasured(t *testing.T) {
	a := &Acceptance{}
	c := ClassOf(FromPrompt, 5)
	for i := range 400 {
		tree := NewTree(10, a)
		tree.Chain(-1, ids("ab"), FromPrompt, 5)
		said := ids("ax")
		if i%4 == 0 {
			said = ids("ab")
		}
		a.Learn(tree, said)
	}
	if p := a.chance(c, 1); math.Abs(p-.63) > .1 { // a is always right, b in a quarter of cases
		t.Errorf("measured acceptance %.2f, want about 0.63", p)
	}
}

// Calibration follows the model's expectations. Here the model always expects the token after the next.
func TestCalibrationFollowsTheModel(t *testing.T) {
	prompt := ids("abcdefgh.a")
	c := &Calibration{}
	among := c.Begin(prompt)
	for i := range prompt {
		scores := make([]float32, len(among))
		for j, token := range among {
			if i+2 < len(prompt) && token == prompt[i+2] {
				scores[j] = 10
			}
		}
		c.Observe(i, scores)
	}
	if got := draft(string([]byte("abcdefgh.a")), c); len(got) < 3 || got[:3] != "ceg" {
		t.Errorf("draft %q, want it to start with \"ceg\"", got)
	}
}

// Where the model expected a different token from the one in the prompt, Calibration drafts both, each with what follows
// it in the prompt.
func TestCalibrationBranchesOffTheCopy(t *testing.T) {
	prompt := ids("abcdefgh.a")
	c := &Calibration{}
	among := c.Begin(prompt)
	for i := range prompt {
		scores := make([]float32, len(among))
		for j, token := range among {
			switch {
			case i == 2 && token == ids("g")[0]: // after "c" it expected "g"
				scores[j] = 10
			case i != 2 && i+1 < len(prompt) && token == prompt[i+1]:
				scores[j] = 10
			}
		}
		c.Observe(i, scores)
	}
	c.Committed(prompt)
	tree := NewTree(64, nil)
	c.Propose(tree)
	at := -1
	for i, want := range ids("bcdefgh") {
		if at = tree.Child(at, want); at < 0 {
			t.Fatalf("the copy ends before token %d: %v", i, tree.Nodes)
		}
		source := FromAgreed
		if i == 2 {
			source = FromPlaces
		}
		if got := tree.Nodes[at].Class.Source; got != source {
			t.Errorf("token %d comes from %v, want %v", i, got, source)
		}
	}
	at = -1
	for i, want := range ids("bcgh") {
		if at = tree.Child(at, want); at < 0 {
			t.Fatalf("the branch that the model expected ends before token %d: %v", i, tree.Nodes)
		}
	}
}

// A drafter that costs more than it brings gives way, and is tried again later, once drafts have saved what that takes.
func TestDrafterGivesWay(t *testing.T) {
	c := &Chooser{Costs: stairs(32), account: 10, plain: 100, proven: 10}
	dear := &worth{proposeTime: 0.5, gain: 0.2, seen: minWorthSeen, lastTried: 5}
	cheap := &worth{proposeTime: 0.1, gain: 0.2, seen: minWorthSeen, lastTried: 5}
	fresh := &worth{proposeTime: 0.5}
	for _, x := range []struct {
		what  string
		w     *worth
		first bool
		step  int
		spent float64
		want  bool
	}{
		{"it brings more than it costs", cheap, false, 6, 0.1, true},
		{"it costs more than it brings", dear, false, 6, 0.5, false},
		{"after a while", dear, false, 5 + retryAfter, 0.5, true},
		{"not tried yet", fresh, false, 6, 0.5, true},
		{"not tried yet, and too dear for what was saved", fresh, false, 6, 5, false},
		{"the first, whatever it brings", dear, true, 6, 0.5, true},
		{"the first, beyond the budget", dear, true, 6, 50, false},
	} {
		if got := x.w.pays(c, x.first, x.step, x.spent); got != x.want {
			t.Errorf("%s: %v", x.what, got)
		}
	}
}

// watched counts what a drafter is asked to do.
type watched struct {
	Lookup
	read, proposed, settled int
}

func (w *watched) Committed(tokens []tandem.Token) { w.read += len(tokens); w.Lookup.Committed(tokens) }
func (w *watched) Propose(t *Tree)                 { w.proposed++; w.Lookup.Propose(t) }
func (w *watched) Settle(*Verdict)                 { w.settled++ }

// A drafter that has given way does nothing: it does not even read the text, until it is tried again.
func TestDrafterThatGaveWayRests(t *testing.T) {
	text := ids("the cat sat on the mat and the cat sat")
	a, p, w := &Acceptance{}, Panel{}, &watched{}
	a.worth[1] = worth{proposeTime: 1, gain: .1, seen: minWorthSeen, lastTried: 1}
	a.steps = 1
	p.Begin([]Drafter{&Lookup{}, w}, a, text, WallTime)
	c := &Chooser{Costs: stairs(32), proven: maxProven}
	for range retryAfter - 1 {
		p.Draft(poolSize, 31, a, c)
		p.Settle(&Verdict{Tree: &p.tree, Emitted: ids(".")})
		p.Append(ids("."))
	}
	if w.read+w.proposed+w.settled > 0 {
		t.Errorf("it read %d tokens, proposed %d times, settled %d times", w.read, w.proposed, w.settled)
	}
	p.Draft(poolSize, 31, a, c)
	p.Settle(&Verdict{Tree: &p.tree, Emitted: ids(".")})
	if w.read != len(p.Text()) || w.proposed != 1 || w.settled != 1 {
		t.Errorf("tried again: it read %d of %d tokens, proposed %d times, settled %d times", w.read, len(p.Text()), w.proposed, w.settled)
	}
}

// What a drafter saves is what it adds to those before it. A node that pays for no row saves nothing.
func TestWorthIsWhatADrafterAdds(t *testing.T) {
	text := ids("the cat sat on the mat and the cat sat on the hat and the cat sat")
	for _, costs := range []Costs{stairs(32), {1, 2, 3, 4}} {
		a, p := &Acceptance{}, Panel{}
		p.Begin([]Drafter{&Lookup{Length: 31}, &SAM{}}, a, text, WallTime)
		p.Draft(poolSize, 31, a, &Chooser{Costs: costs, account: 1e6, plain: 1e6, proven: maxProven})
		if first, second := a.worth[0].gain, a.worth[1].gain; (first > 1) != (costs.At(2) == 1) || first < 0 || second != 0 {
			t.Errorf("passes of 1, 2 rows take %v, %v: the first saves %v passes, the second, which says the same, %v", costs.At(1), costs.At(2), first, second)
		}
	}
}

// Recycle drafts what the model said after the same two tokens, also in rows that were rejected, or else after the same one; what
// was said last counts.
func TestRecycle(t *testing.T) {
	said := map[tandem.Token]tandem.Token{'a': 'b', 'b': 'c', 'c': 'd', 'x': 'y', 'y': 'z'} // after each token
	verdict := func(tree *Tree, after int) *Verdict {
		v := &Verdict{Tree: tree, After: after}
		for i := range tree.Nodes {
			v.Verified = append(v.Verified, i)
		}
		v.Next = func(node, n int) []Likely {
			last := tandem.Token('a')
			if node >= 0 {
				last = tree.Nodes[node].Token
			}
			return []Likely{{said[last], .75}, {'?', .24}, {'!', .01}}[:min(n, 3)]
		}
		return v
	}
	r := &Recycle{}
	r.Committed(ids("-a"))
	tree := NewTree(32, nil)
	if r.Propose(tree); len(tree.Nodes) > 0 {
		t.Fatalf("it drafts %v before the model said anything", tree.Nodes)
	}
	guess := NewTree(32, nil) // of another drafter: b is right, x and y are not
	guess.Chain(-1, ids("b"), FromPrompt, 1)
	guess.Chain(-1, ids("xy"), FromPrompt, 1)
	r.Settle(verdict(guess, 2))
	path := func(text string) (out []tandem.Token) {
		t.Helper()
		r.Rewind(2)
		r.Committed(ids(text))
		tree := NewTree(32, nil)
		r.Propose(tree)
		for at := -1; ; {
			best := -1
			for i, n := range tree.Nodes {
				if n.Parent == at && (best < 0 || n.P > tree.Nodes[best].P) {
					best = i
				}
				if n.Token == '!' {
					t.Errorf("after %q it drafts what is not likely", text)
				}
			}
			if at = best; at < 0 {
				return out
			}
			out = append(out, tree.Nodes[at].Token)
		}
	}
	for text, want := range map[string]string{"": "bc", "b": "c", "..x": "yz", "..a": "bc"} {
		if got := path(text); !slices.Equal(got, ids(want)) {
			t.Errorf("after %q: %v, want %q", "-a"+text, got, want)
		}
	}
	said['x'] = 'w'
	r.Settle(verdict(guess, 2))
	if got := path("..x"); len(got) == 0 || got[0] != 'w' {
		t.Errorf("after x it drafts %v, not what was said last", got)
	}
}

// The likeliest of logits come in order, with their probabilities among themselves.
func TestTopOf(t *testing.T) {
	got := topOf([]float32{1, 3, float32(math.NaN()), 2, -1, 3}, 3)
	if len(got) != 3 || got[0].Token != 1 || got[1].Token != 5 || got[2].Token != 3 || math.Abs(got[0].P-got[1].P) > 1e-9 || math.Abs(got[0].P+got[1].P+got[2].P-1) > 1e-9 || got[2].P >= got[1].P {
		t.Errorf("%v", got)
	}
	if got := topOf([]float32{5}, 4); len(got) != 1 || got[0] != (Likely{0, 1}) {
		t.Errorf("of one: %v", got)
	}
}
