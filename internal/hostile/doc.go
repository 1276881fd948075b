// Package hostile holds attacks on a pair, as tests: devices and clouds that break every rule of the protocol, many devices at
// once, and flipped bits in the files that a side reads. While a side is under attack, an honest one must get the answer that
// it gets in peace; afterwards nothing may be left of the attack, no goroutine and no memory. All of it stays on the loopback
// interface and takes seconds:
//
//	go test ./internal/hostile
//	go test ./internal/hostile -run Devices -hostile 10m
//
// With -hostile, each test goes on for that time with other random bytes.
package hostile
