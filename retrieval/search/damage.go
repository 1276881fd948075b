package search

import (
	"fmt"
)

// DamagedError says that the files of an index are not what a writer left. Rebuild makes the index again.
type DamagedError struct {
	Dir  string // of the index
	File string // the damaged file, if it is known
	Err  error
}

func (e *DamagedError) Error() string {
	where := e.Dir
	if e.File != "" {
		where = e.File
	}
	return fmt.Sprintf("index is damaged: %s: %v (index rebuild makes it again from the files)", where, e.Err)
}

// Public describes the damage without naming the files, for others than the owner of the index.
func (e *DamagedError) Public() string { return "the index of the documents is damaged" }

func (e *DamagedError) Unwrap() error { return e.Err }

// Names of what guards an index.
const (
	sumsName    = "sums"    // in a generation: checksums of its other files
	sourcesName = "sources" // next to the generations: what Rebuild reads
)

// recoverDamage turns a panic of the index library into an error. The library trusts the files that it maps from disk, so
// damage can make it panic.
func recoverDamage(dir string, err *error) {
	if p := recover(); p != nil {
		*err = &DamagedError{Dir: dir, Err: fmt.Errorf("the index library gave up: %v", p)}
	}
}
