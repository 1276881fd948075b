package pair

import (
	"fmt"

	"tandem"
)

// MaxStrikes is how often the pair may diverge at one step.
const MaxStrikes = maxStrikes

// CheckBounds returns an error if the machine keeps more than it may.
func (m *Machine) CheckBounds() error {
	limit := 2 * m.cfg.Lookahead
	if m.own.Len() > m.cfg.Lookahead || m.peer.Len() > limit || m.targets.Len() > limit {
		return fmt.Errorf("queues of %d, %d and %d", m.own.Len(), m.peer.Len(), m.targets.Len())
	}
	if m.hedges.Len() > limit*tandem.MaxPassPlaces || len(m.ahead.dists) > maxKnown {
		return fmt.Errorf("%d hedges and %d distributions kept", m.hedges.Len(), len(m.ahead.dists))
	}
	return nil
}
