package search

// Skip is a file or folder that was not indexed, and why.
type Skip struct {
	Path   string
	Kind   Kind
	Reason string
}

// Kind is a kind of reason for a Skip.
type Kind string

// The kinds.
const (
	Hidden      Kind = "hidden"
	Special     Kind = "special"     // a symbolic link, a device, a lock file of an office program
	Unsupported Kind = "unsupported" // of a type that is not read
	TooLarge    Kind = "too large"
	Unreadable  Kind = "unreadable" // its passages, if it had any, stay
	Unusable    Kind = "unusable"   // damaged, or not what its name says
	NoText      Kind = "no text"
	Excluded    Kind = "excluded" // removed from the index by hand, or left out by a pattern
)

// Report is the outcome of a write.
type Report struct {
	Added, Updated, Removed, Unchanged int    // files
	Passages                           int    // in the index afterwards
	Skipped                            []Skip // in the order of the walk
}

// Progress is what Add and Refresh report after each file of a folder.
type Progress struct {
	Path              string // the file just visited
	Done, Files       int    // files visited so far, and in all
	Bytes, TotalBytes int64  // bytes in these files
}
