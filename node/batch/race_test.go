//go:build race

package batch

// calls is smaller under the race detector, which is slow.
const calls = 20
