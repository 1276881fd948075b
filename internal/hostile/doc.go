// Package hostile holds attacks on a pair, as tests: devices and clouds that break every rule of the protocol, many devices at
// once, and flipped bits in the files that a side reads. While a side is under attack, an honest device must get the same answer
// as without the attack. Afterwards nothing of the attack may remain, no goroutine and no memory. The tests use only the loopback
// interface and take seconds:
//
//	go test ./internal/hostile
//	go test ./internal/hostile -run Devices -hostile 10m
//
// With -hostile, each test continues for that time with other random bytes.
package hostile
