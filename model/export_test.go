package model

import "io"

// ReadSeq is ReadSeqWith without an adapter.
func (m *Model) ReadSeq(r io.Reader) (*Seq, error) { return m.ReadSeqWith(r, nil) }
