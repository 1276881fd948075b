package spec

import (
	"slices"

	"tandem"
	"tandem/specdec"
)

// Drafters of llama.cpp, written from its rules (docs/speculative.md, common/ngram-map.cpp and ngram-cache.cpp,
// early 2026), with its defaults: keys of 12 tokens, at most 16 tokens of a draft. They are peers to measure against.
const (
	peerKey   = 12 // --spec-ngram-size-n
	peerValue = 48 // --spec-ngram-size-m
	peerDraft = 16 // --draft-max
)

// peerText is the text that a peer has read. It drafts one chain.
type peerText struct{ text []tandem.Token }

func (p *peerText) Committed(tokens []tandem.Token) { p.text = append(p.text, tokens...) }
func (p *peerText) Rewind(n int)                    { p.text = p.text[:min(n, len(p.text))] }
func (p *peerText) Settle(*specdec.Verdict)         {}

// latest returns where the last n tokens occurred before, at the latest with after tokens behind them, or -1. Like the peer, it
// leaves out the beginning of the text.
func (p *peerText) latest(n, after int) int {
	key := p.text[len(p.text)-n:]
	for at := len(p.text) - n - max(1, after); at > 0; at-- {
		if slices.Equal(p.text[at:at+n], key) {
			return at
		}
	}
	return -1
}

// ngramSimple drafts what followed the last key, if that is at least as long as a key.
type ngramSimple struct{ peerText }

func (p *ngramSimple) Propose(t *specdec.Tree) {
	if len(p.text) <= peerKey+peerValue+2 {
		return
	}
	at := p.latest(peerKey, 1)
	if at < 0 {
		return
	}
	after := p.text[at+peerKey:]
	if after = after[:min(len(after), peerValue)]; len(after) >= peerKey {
		t.Chain(-1, after[:min(len(after), peerDraft)], specdec.FromPrompt, peerKey)
	}
}

// ngramMap (ngram-map-k) drafts the 48 tokens that followed a key, cut to the longest draft. A key with fewer behind it does
// not count.
type ngramMap struct{ peerText }

func (p *ngramMap) Propose(t *specdec.Tree) {
	if len(p.text) < 2*peerKey+peerValue+1 {
		return
	}
	if at := p.latest(peerKey, peerValue); at >= 0 {
		t.Chain(-1, p.text[at+peerKey:][:peerDraft], specdec.FromPrompt, peerKey)
	}
}

// ngramCache drafts token by token what most often followed the last 4 to 1 tokens in the text, as long as it is frequent
// enough (the "lax" thresholds for the context; there are no caches of other texts).
type ngramCache struct {
	peerText
	follow [4]map[[4]tandem.Token]map[tandem.Token]int // by length less one
	read   int
}

var (
	laxSeen    = [4]int{2, 2, 1, 1}
	laxPercent = [4]int{66, 50, 50, 50}
)

func ngramOf(text []tandem.Token, n int) (k [4]tandem.Token) {
	copy(k[:], text[len(text)-n:])
	return k
}

// Rewind implements specdec.Drafter. It counts again from the beginning.
func (p *ngramCache) Rewind(n int) {
	p.peerText.Rewind(n)
	p.read, p.follow = 0, [4]map[[4]tandem.Token]map[tandem.Token]int{}
}

func (p *ngramCache) count() {
	for ; p.read < len(p.text); p.read++ {
		for n := 1; n <= min(4, p.read); n++ {
			if p.follow[n-1] == nil {
				p.follow[n-1] = map[[4]tandem.Token]map[tandem.Token]int{}
			}
			key := ngramOf(p.text[:p.read], n)
			if p.follow[n-1][key] == nil {
				p.follow[n-1][key] = map[tandem.Token]int{}
			}
			p.follow[n-1][key][p.text[p.read]]++
		}
	}
}

// after returns the token to draft after a text, and the length of the run that led to it, 0 for none.
func (p *ngramCache) after(text []tandem.Token) (best tandem.Token, n int) {
	for n = min(4, len(text)); n > 0; n-- {
		sum, most := 0, 0
		for token, count := range p.follow[n-1][ngramOf(text, n)] {
			if sum += count; count > most || count == most && token < best {
				best, most = token, count
			}
		}
		if sum > 0 && sum >= laxSeen[n-1] && 100*most >= laxPercent[n-1]*sum {
			return best, n
		}
	}
	return 0, 0
}

func (p *ngramCache) Propose(t *specdec.Tree) {
	p.count()
	text, at := slices.Clone(p.text), -1
	for range peerDraft {
		token, n := p.after(text)
		if n == 0 {
			return
		}
		if at = t.Add(at, token, 1, specdec.ClassOf(specdec.FromNgrams, n)); at < 0 {
			return
		}
		text = append(text, token)
	}
}
