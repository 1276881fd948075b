package sample

import "strings"

// A StopFilter passes on generated text up to the first of some strings. It holds back text that may be the beginning
// of one. The first is the one that ends first, so that the cut does not depend on how much text comes at once; of several
// that end together it is the longest.
type StopFilter struct {
	stops []string
	held  string
	by    string // the stop string that was reached, "" for none
}

// NewStopFilter returns a filter for some strings. Empty ones are ignored.
func NewStopFilter(stops []string) *StopFilter {
	f := &StopFilter{}
	for _, s := range stops {
		if s != "" {
			f.stops = append(f.stops, s)
		}
	}
	return f
}

// Write receives generated text. It returns the text that can be shown, and whether a stop string was reached. After
// that, all text is dropped.
func (f *StopFilter) Write(text string) (show string, stopped bool) {
	if f.Stopped() {
		return "", true
	}
	f.held += text
	if at, ok := f.find(); ok {
		show, f.held = f.held[:at], ""
		return show, true
	}
	keep := 0
	for _, s := range f.stops {
		for n := min(len(s)-1, len(f.held)); n > keep; n-- {
			if strings.HasSuffix(f.held, s[:n]) {
				keep = n
			}
		}
	}
	cut := len(f.held) - keep
	show, f.held = f.held[:cut], f.held[cut:]
	return show, false
}

// find returns where the first stop string in the held text begins, and reports whether there is one. It keeps which it is.
func (f *StopFilter) find() (at int, ok bool) {
	end := 0
	for _, s := range f.stops {
		i := strings.Index(f.held, s)
		if i < 0 {
			continue
		}
		if !ok || i+len(s) < end || i+len(s) == end && i < at {
			at, end, ok = i, i+len(s), true
			f.by = s
		}
	}
	return at, ok
}

// Stopped reports whether a stop string was reached.
func (f *StopFilter) Stopped() bool { return f.by != "" }

// StoppedBy returns the stop string that was reached, "" for none.
func (f *StopFilter) StoppedBy() string { return f.by }

// Flush returns the text that is held back. It is called at the end of a generation.
func (f *StopFilter) Flush() string {
	show := f.held
	f.held = ""
	return show
}
