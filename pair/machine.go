package pair

// Machine is one side of a pair. It is not safe for concurrent use.
type Machine struct {
	cfg   Config
	stats Stats
}

// New returns a machine that waits for Start (or, in the cloud, PeerSync).
func New(cfg Config) *Machine { return &Machine{cfg: cfg} }

// Step tells the machine what happened and returns what to do about it, in order.
func (m *Machine) Step(e Event) []Action { return nil }

// Stats returns the counts so far.
func (m *Machine) Stats() Stats { return m.stats }
