package node

import (
	"fmt"
	"runtime/debug"
)

// internalFault is a panic during an answer, in any package. It ends that answer and no other.
type internalFault struct {
	What  string // what was being done
	Panic any
	Stack []byte
}

func (f *internalFault) Error() string { return fmt.Sprintf("%s: internal fault: %v", f.What, f.Panic) }

// contain, deferred, turns a panic into an error.
func contain(what string, err *error) {
	if p := recover(); p != nil {
		*err = &internalFault{what, p, debug.Stack()}
	}
}
