//go:build !race

package node

// journeys is how many answers TestJourneys sends through random faults.
const journeys = 1000
