//go:build race

package node

// journeys are fewer under the race detector: its records of so many timers in so many bubbles of virtual time
// bring it down.
const journeys = 100
