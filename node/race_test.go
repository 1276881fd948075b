//go:build race

package node

// journeys is smaller under the race detector. Go 1.26 keeps the detector's state of a bubble's timers when the bubble ends
// (runtime/synctest.go never calls racectxend), and the detector crashes now and then when hundreds of them are left. So tests
// with many conversations have them in one bubble.
const journeys = 100
