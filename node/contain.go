package node

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// internalFault is a panic during an answer, in any package. It ends that answer and no other.
type internalFault struct {
	doing string // what was being done
	value any    // of the panic
	stack []byte
}

func (f *internalFault) Error() string {
	return fmt.Sprintf("%s: internal fault: %v", f.doing, f.value)
}

// logFault logs where the internal fault of an answer happened, if it ended with one: that is not part of the error's text.
func logFault(log *slog.Logger, err error) {
	var f *internalFault
	if errors.As(err, &f) {
		log.Error("internal fault", "error", f, "stack", string(f.stack))
	}
}

// contain, deferred, turns a panic into an error.
func contain(doing string, err *error) {
	if p := recover(); p != nil {
		*err = &internalFault{doing, p, debug.Stack()}
	}
}
