package node

import (
	"errors"
	"sync"
	"time"

	"tandem"
	"tandem/specdec"
	"tandem/transport"
)

// withDrafters returns l with the drafters that a question asks for.
func (l Local) withDrafters(q Question) (Local, error) {
	if q.Draft == 0 {
		return l, nil
	}
	if err := l.CanDraft(q.Draft); err != nil {
		return l, err
	}
	l.Draft = q.Draft
	return l, nil
}

// CanDraft returns an error that names a drafter of a set for which the side lacks what it needs.
func (l Local) CanDraft(s specdec.Set) error {
	if needs := s.Has(specdec.WithHistory | specdec.WithForecast); needs && l.Reader != nil {
		return errors.New("the drafters history and forecast need a model that decodes, and this reader points at words")
	}
	return l.Resources.Check(s)
}

// remember adds an answer to the side's history, if its drafters read one.
func (l Local) remember(answer []tandem.Token) error {
	if l.Resources.History == nil || !l.Draft.Has(specdec.WithHistory) || len(answer) == 0 {
		return nil
	}
	return l.Resources.History.Add("answer", answer, time.Now())
}

// histories keeps what a cloud answered each device, in memory and apart from each other, so that no device's answers can show
// in the times of another's. It forgets a device for which it has no room. The zero value is ready for use.
type histories struct {
	mu   sync.Mutex
	kept map[transport.ID]*specdec.History
	used []transport.ID // the latest last
}

// Bounds of histories.
const (
	maxHistories = 64
	historyBytes = 32 << 10 // of a device: about 16,000 tokens
)

// forDevice returns a device's history.
func (h *histories) forDevice(device transport.ID) *specdec.History {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, id := range h.used {
		if id == device {
			h.used = append(append(h.used[:i:i], h.used[i+1:]...), device)
			return h.kept[device]
		}
	}
	if len(h.used) == maxHistories {
		delete(h.kept, h.used[0])
		h.used = h.used[1:]
	}
	if h.kept == nil {
		h.kept = map[transport.ID]*specdec.History{}
	}
	h.kept[device] = specdec.NewHistory(historyBytes)
	h.used = append(h.used, device)
	return h.kept[device]
}
