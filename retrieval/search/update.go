package search

import "tandem/retrieval/passages"

// update is one write: what the index remembers of its files, and where the changes go.
type update struct {
	records
	words   int      // length of passages
	exclude []string // see Options
	report  Report
	sink    sink
}

// sink takes the changes of an update.
type sink interface {
	put(r record, old *record, ps []passages.Passage) error // old is nil for a file that is new
	drop(r record) error
	setRoots(s rootSet) error
}

func (u *update) setRoots(s rootSet) error {
	if s.equal(u.roots) {
		return nil
	}
	if err := u.sink.setRoots(s); err != nil {
		return err
	}
	u.roots = s
	return nil
}

// put replaces the record and passages of a file.
func (u *update) put(r record, ps []passages.Passage) error {
	var old *record
	if o, ok := u.files[r.Path]; ok {
		old = &o
	}
	if err := u.sink.put(r, old, ps); err != nil {
		return err
	}
	u.files[r.Path] = r
	return nil
}

// drop removes the record and passages of a file.
func (u *update) drop(r record) error {
	if err := u.sink.drop(r); err != nil {
		return err
	}
	delete(u.files, r.Path)
	if len(r.Passages) > 0 {
		u.report.Removed++
	}
	return nil
}
