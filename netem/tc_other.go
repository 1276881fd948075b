//go:build !linux

package netem

import (
	"fmt"
	"runtime"
)

// Apply returns an error, because it requires Linux.
func (k Kernel) Apply(Config) error { return k.missing() }

// Clear returns an error, because it requires Linux.
func (k Kernel) Clear() error { return k.missing() }

// Show returns an error, because it requires Linux.
func (k Kernel) Show() (KernelState, error) { return KernelState{Interface: k.Interface}, k.missing() }

func (k Kernel) missing() error {
	return fmt.Errorf("netem: %w on %s: only Linux has netem; use a relay", ErrNoKernel, runtime.GOOS)
}
