package pair

import "tandem"

// placement is what sets a tandem.Placement apart. The zero fields are those of most.
type placement struct {
	aggregates func(m *Machine, side tandem.Side) bool // whether side turns drafts into targets now
	moves      bool                                    // aggregation changes sides: both hear all drafts, and hand-overs count
	lockstep   bool                                    // nobody drafts ahead
}

// placements are the placements of tandem.Placement.
var placements = [...]placement{
	tandem.PlaceMirror: {aggregates: both},
	tandem.PlaceDevice: {aggregates: only(tandem.Device)},
	tandem.PlaceCloud:  {aggregates: only(tandem.Cloud)},
	tandem.PlaceSync:   {aggregates: only(tandem.Device), lockstep: true},
	tandem.PlaceGreedy: {aggregates: holder, moves: true},
}

func both(*Machine, tandem.Side) bool { return true }

func only(at tandem.Side) func(*Machine, tandem.Side) bool {
	return func(_ *Machine, side tandem.Side) bool { return side == at }
}

// holder is the side that was handed aggregation last.
func holder(m *Machine, side tandem.Side) bool { return side == m.greedy.aggregator }

// placement is the placement of this machine's pair.
func (m *Machine) placement() placement { return placements[m.cfg.Placement] }

// aggregates reports whether side turns drafts into targets.
func (m *Machine) aggregates(side tandem.Side) bool { return m.placement().aggregates(m, side) }

// hears reports whether side is sent the other's drafts: because it aggregates, or may have to.
func (m *Machine) hears(side tandem.Side) bool { return m.placement().moves || m.aggregates(side) }
