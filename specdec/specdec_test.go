package specdec

import (
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

// The state of a suffix is the one of its longest earlier occurrence, and edges lead to what followed it, all
// as looking through the whole text finds them.
func TestAutomatonIsLookingThroughTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tokens(t, 60, rapid.SampledFrom([]int{1, 2, 3, 20}).Draw(t, "vocabulary"), "text")
		a := newAutomaton()
		for i, token := range text {
			a.extend(token)
			s, length := a.suffix()
			want, ends := longestSuffix(text[:i+1])
			if length != want {
				t.Fatalf("after %d the suffix has %d tokens, not %d", text[:i+1], length, want)
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
					t.Fatalf("%d is said to follow in %d", a.edges[e-1].token, text[:i+1])
				}
			}
			if n != len(follow) {
				t.Fatalf("%d tokens follow, not %d", n, len(follow))
			}
			if latest := ends[len(ends)-1]; a.states[s].count <= countUp && int(a.states[s].latest) != latest && len(text) < countUp {
				t.Fatalf("the latest of %d is %d, not %d", text[:i+1], a.states[s].latest, latest)
			}
		}
		// Another text against it.
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
				t.Fatalf("%d of %d occur in %d, not %d", m.length, other[:i+1], text, want)
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

// longestSuffix returns the length of the longest suffix that occurs before, and where those occurrences end.
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

// Amortised constant time: a text of 200,000 tokens takes at most two states and three edges a token.
func TestAutomatonIsLinear(t *testing.T) {
	for _, vocabulary := range []int{1, 2, 1000} {
		a, r := newAutomaton(), rand.New(rand.NewPCG(1, 2))
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

// draft is the likeliest path of what a drafter proposes behind a text.
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
			t.Errorf("%T drafts %q, not %q", c.d, got, c.want)
		}
	}
	if got := draft("abcabdabc", &Ngrams{Most: 3}); got == "" || got[0] != 'a' {
		t.Errorf("n-grams draft %q", got)
	}
	tree := NewTree(100, nil)
	s := &SAM{Tree: true}
	s.Committed(ids("ab1ab1ab2ab3ab"))
	s.Propose(tree)
	if tree.Child(-1, '1') < 0 || tree.Child(-1, '2') < 0 || tree.Child(-1, '3') < 0 || tree.Nodes[tree.Child(-1, '1')].P <= tree.Nodes[tree.Child(-1, '2')].P {
		t.Errorf("branches are %+v", tree.Nodes)
	}
}

// The best nodes come with their parents, whatever was added in whatever order.
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
			t.Fatalf("%d of %d nodes", len(best), len(tree.Nodes))
		}
		for i, b := range best {
			if p := tree.Nodes[b].Parent; p >= 0 && !slices.Contains(best[:i], p) {
				t.Fatalf("node %d without its parent %d", b, p)
			}
			if i > 0 && chances[i] > chances[i-1] {
				t.Fatal("chances rise")
			}
		}
		seen := map[[2]int]bool{}
		for _, x := range tree.Nodes {
			k := [2]int{x.Parent, int(x.Token)}
			if seen[k] {
				t.Fatal("a child twice")
			}
			seen[k] = true
		}
	})
}

// sd.npu Eq. 3: of x and y the longest run of agreement is kept, and proposed where the text comes to it.
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
	r.Committed(ids("e"))
	tree := NewTree(100, nil)
	r.Propose(tree)
	if got := path(tree); got != "fg" {
		t.Errorf("behind e it proposes %q", got)
	}
	// Appended to a draft, while that is short.
	r = &Reuse{Limit: 5}
	settle(r, "abcdefgh", "xbcxefgx")
	tree = NewTree(100, nil)
	tree.Chain(-1, ids("123"), FromPrompt, 9)
	r.Propose(tree)
	if e := tree.Child(2, 'e'); e < 0 || tree.Child(e, 'f') < 0 || tree.Child(tree.Child(e, 'f'), 'g') >= 0 {
		t.Errorf("behind 123: %+v", tree.Nodes)
	}
	// It is proposed in Life steps, also where what comes has nothing of it, and in no further one.
	for _, life := range []int{0, 1, 3} {
		r := &Reuse{Life: life}
		settle(r, "abcdefgh", "xbcxefgx")
		for step := range or(life, 4) + 1 {
			r.Committed(ids("z"))
			tree := NewTree(100, nil)
			r.Propose(tree)
			if got, want := path(tree) == "efg", step < or(life, 4); got != want {
				t.Errorf("life %d, step %d: proposed %v", life, step, got)
			}
			settle(r, "q", "x")
		}
	}
}

func TestReuseCases(t *testing.T) {
	for _, c := range []struct {
		came string
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
		r.Committed(ids(c.came))
		if r.Cases() != c.want {
			t.Errorf("%q: %+v, not %+v", c.came, r.Cases(), c.want)
		}
	}
}

// Whatever drafts promise and whatever comes of them, all passes of an answer together take at most 1 % longer
// than plain decoding, beyond what so short an answer may borrow.
func TestChooserNeverLosesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slope := rapid.Float64Range(0, 1).Draw(t, "slope")
		var real Costs
		for i := range 64 {
			real = append(real, 1+slope*float64(i))
		}
		if rapid.Bool().Draw(t, "stairs") {
			real = Staircase(rapid.SampledFrom([]int{8, 32}).Draw(t, "tile"), 1, 64)
		}
		c, surprise := &Chooser{Costs: real}, 0.0
		if rapid.Bool().Draw(t, "learn") {
			c, surprise = &Chooser{Learn: true}, 1 // what a row more costs shows once
		}
		drafting := rapid.Float64Range(0, 0.3).Draw(t, "drafting")
		luck := rapid.Float64Range(0, 1).Draw(t, "luck")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		spent, given := 0.0, 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			rows, right, took := 0, 0, 0.0
			if c.Afford(drafting) {
				chances, p := []float64{}, 1.0
				for range r.IntN(31) {
					p *= r.Float64()
					chances = append(chances, p)
				}
				rows, took = c.Rows(chances, drafting), drafting*(.5+r.Float64())
			}
			for right < rows && r.Float64() < luck {
				right++
			}
			c.Observe(rows+1, time.Duration(real.At(rows+1)*1e9))
			c.Settle(rows, right+1, took)
			spent, given = spent+real.At(rows+1)+took, given+right+1
		}
		if bound := 1.01*float64(given) + 0.01*credit + drafting/2 + surprise + 1e-6; spent > bound {
			t.Fatalf("%d tokens took %.2f plain steps, more than %.2f", given, spent, bound)
		}
	})
}

// A model that copies is drafted for, though nothing was measured before and drafting costs a tenth of a step.
func TestDraftingStarts(t *testing.T) {
	c, passes, tokens := &Chooser{Learn: true}, 0, 0
	for tokens < 100 {
		rows, took := 0, 0.0
		if c.Afford(.1) {
			rows, took = c.Rows([]float64{.95, .9, .86, .81}, .1), .1
		}
		c.Observe(rows+1, time.Duration(1e9+1e8*float64(rows)))
		c.Settle(rows, rows+1, took)
		passes, tokens = passes+1, tokens+rows+1
	}
	if passes > 50 {
		t.Errorf("%d passes for %d tokens", passes, tokens)
	}
}

// Rows that cost nothing are all used; rows whose chance does not pay are not.
func TestChooserUsesWhatPays(t *testing.T) {
	chances := []float64{.9, .8, .7, .01, .01}
	if n := (&Chooser{Costs: Staircase(32, 1, 64)}).Rows(chances, 0); n != 5 {
		t.Errorf("on a staircase %d rows, not 5", n)
	}
	c := &Chooser{Costs: Costs{1, 1.1, 1.2, 1.3, 1.4, 1.5}, Loss: 1}
	if n := c.Rows(chances, 0); n != 3 {
		t.Errorf("at a tenth each %d rows, not 3", n)
	}
	if n := c.Rows([]float64{.05}, 0); n != 0 {
		t.Errorf("an unlikely one gets %d rows", n)
	}
	if n := (&Chooser{Costs: Costs{1, 2, 3, 4, 5, 6}}).Rows(chances, 0); n != 0 {
		t.Errorf("with nothing to stake, %d rows", n)
	}
}

// What is measured replaces the starting value, from what came alone.
func TestAcceptanceIsMeasured(t *testing.T) {
	a := &Acceptance{}
	c := ClassOf(FromPrompt, 5)
	for i := range 400 {
		tree := NewTree(10, a)
		tree.Chain(-1, ids("ab"), FromPrompt, 5)
		came := ids("ax")
		if i%4 == 0 {
			came = ids("ab")
		}
		a.Learn(tree, came)
	}
	if p := a.Of(c, 1); math.Abs(p-.63) > .1 { // a is always right, b in a quarter of cases
		t.Errorf("measured %.2f", p)
	}
}

func TestEagleHasThePublishedAcceptLength(t *testing.T) {
	text := make([]tandem.Token, 4000)
	for i := range text {
		text[i] = tandem.Token(i * 7 % 1000)
	}
	e := NewEagle(text, 5.5)
	e.Committed(nil) // a prompt
	e.Committed(text[:1])
	steps, at := 0, 1
	for at < len(text)-12 {
		tree := NewTree(32, nil)
		e.Propose(tree)
		from := at
		for _, n := range tree.Nodes {
			if n.Token != text[at] {
				break
			}
			at++
		}
		at++
		e.Committed(text[from:at])
		steps++
	}
	if got := float64(at) / float64(steps); math.Abs(got-5.5) > .4 {
		t.Errorf("accept length %.2f", got)
	}
}

// Calibration goes where the model expects to go: here it always expects the token after next.
func TestCalibrationFollowsTheModel(t *testing.T) {
	prompt := ids("abcdefgh.a")
	c := &Calibration{}
	among := c.Among(prompt)
	for i := range prompt {
		scores := make([]float32, len(among))
		for j, token := range among {
			if i+2 < len(prompt) && token == prompt[i+2] {
				scores[j] = 10
			}
		}
		c.See(i, scores)
	}
	if got := draft(string([]byte("abcdefgh.a")), c); len(got) < 3 || got[:3] != "ceg" {
		t.Errorf("it drafts %q", got)
	}
}

// Where the model expected something else than the prompt goes on with, both are drafted, and the prompt's words go on behind either.
func TestCalibrationBranchesOffTheCopy(t *testing.T) {
	prompt := ids("abcdefgh.a")
	c := &Calibration{}
	among := c.Among(prompt)
	for i := range prompt {
		scores := make([]float32, len(among))
		for j, token := range among {
			switch {
			case i == 2 && token == ids("g")[0]: // behind "c" it expected "g"
				scores[j] = 10
			case i != 2 && i+1 < len(prompt) && token == prompt[i+1]:
				scores[j] = 10
			}
		}
		c.See(i, scores)
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
			t.Fatalf("what the model expected ends before token %d: %v", i, tree.Nodes)
		}
	}
}
