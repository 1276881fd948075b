//go:build !unix

package main

// inputWaits reports false: it is not known.
func inputWaits() bool { return false }
