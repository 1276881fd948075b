package span

import "sync"

// Limits of the encodings that a reader keeps: enough for the passages of the last few questions, at the usual lengths. The
// encoding of 110 words takes about 200 KB.
const (
	maxKept     = 64
	longestKept = 4096 // bytes
)

// kept is a cache of the passages that a reader was given last, so that they need not be encoded again for the next
// question.
type kept struct {
	mu       sync.Mutex
	passages map[string]*Passage
	order    []string // the oldest first
}

// find returns a passage's reading, or nil.
func (k *kept) find(text string) *Passage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.passages[text]
}

// add keeps a passage's reading, forgets the oldest if there are too many, and returns the one that is kept of this text.
func (k *kept) add(text string, p *Passage) *Passage {
	k.mu.Lock()
	defer k.mu.Unlock()
	if first := k.passages[text]; first != nil {
		return first
	}
	if len(text) > longestKept {
		return p
	}
	if k.passages == nil {
		k.passages = map[string]*Passage{}
	}
	if len(k.order) == maxKept {
		delete(k.passages, k.order[0])
		k.order = k.order[1:]
	}
	k.passages[text], k.order = p, append(k.order, text)
	return p
}
