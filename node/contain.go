package node

import (
	"fmt"
	"runtime/debug"
)

// Fault is a panic during an answer, in any package. It ends that answer and no other.
type Fault struct {
	What  string // what was being done
	Panic any
	Stack []byte
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: internal fault: %v", f.What, f.Panic) }

// contain, deferred, turns a panic into an error.
func contain(what string, err *error) {
	if p := recover(); p != nil {
		*err = &Fault{what, p, debug.Stack()}
	}
}
