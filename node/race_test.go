//go:build race

package node

// journeys is smaller under the race detector, which crashes when it has to track the timers of too
// many bubbles of virtual time.
const journeys = 100
