package main

import (
	"errors"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/examples"
	"tandem/node"
	"tandem/retrieval/search"
)

// ownDocuments are what the device answers from.
type ownDocuments struct {
	index  *search.Index // nil for none
	sample bool          // these are the samples
	empty  bool          // everything was removed from the index
}

// openDocuments opens the documents of the device: the folder of --notes, the index, or the samples. It returns nil if only
// the cloud answers.
func (s *session) openDocuments() (node.Searcher, error) {
	if s.flags.Side == "cloud" {
		return nil, nil
	}
	own, err := s.flags.ownDocuments(s.app)
	if own.index != nil {
		s.closers.add(own.index)
	}
	if err != nil {
		return nil, err
	}
	s.own = own
	return own.index, nil
}

// ownDocuments opens what the flags ask for. After an error, an index that it returns must be closed all the same.
func (f answerFlags) ownDocuments(a *cli.App) (own ownDocuments, err error) {
	if f.Notes != "" {
		own.sample = indexcmd.SameFiles(f.Notes, examples.Notes, "notes")
		own.index, err = indexcmd.ReadFolder(a, f.Notes, f.PassageFlags, f.ExcludeFlag)
		return own, err
	}
	if !f.Sample {
		if own.index, err = indexcmd.Open(a, f.PassageFlags); err != nil {
			return own, err
		}
		if own.index != nil {
			own.empty, err = own.index.Empty()
			return own, err
		}
	}
	own.sample = true
	own.index, err = indexcmd.ReadSamples(a, examples.Notes, f.PassageFlags)
	return own, err
}

// checkEmpty says that the device's index is empty. It is an error if nobody else is asked.
func (s *session) checkEmpty() error {
	const add = "add documents with: edge index add FOLDER, or ask the samples with --sample"
	switch {
	case s.own.empty && s.device.Cloud == nil:
		return errors.New("nothing to answer from: everything was removed from your index, and no cloud is asked; " + add)
	case s.own.empty:
		s.app.Remark("Your index is empty: everything was removed from it; %s", add)
	}
	return nil
}
