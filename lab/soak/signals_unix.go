//go:build unix

package soak

import (
	"os"
	"syscall"
)

// stop stops a process until goOn. A process that has ended does not matter.
func stop(p *os.Process) { p.Signal(syscall.SIGSTOP) }

func goOn(p *os.Process) { p.Signal(syscall.SIGCONT) }
