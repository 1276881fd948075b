package main

import (
	"errors"
	"slices"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/examples"
	"tandem/model"
	"tandem/model/remote"
	"tandem/node"
)

// side is what the cloud answers with.
type side struct {
	node.Local
	docs    library
	from    origin
	model   string // its name
	closers []func() error
}

// close closes everything that the side has opened, last first.
func (s side) close() error {
	var errs []error
	for _, c := range slices.Backward(s.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// side opens what the cloud answers with. The side is to be closed, whatever the error.
func (c *serveCmd) side(a *cli.App, m *model.Model, engine *remote.Server) (s side, err error) {
	if err := warm(a, m); err != nil {
		return s, err
	}
	adapter, err := c.MountAdapter(a, m)
	if err != nil {
		return s, err
	}
	if adapter != nil {
		c.By = "decoder" // a span reader has no adapters
	}
	reader, err := c.OpenSpan(c.ModelFlags)
	if err != nil {
		return s, err
	}
	if reader != nil {
		c.Related = reader.Related
	} else if c.Model == "" {
		c.PassageFlags = c.PassageFlags.BySentence()
	}
	rerank, done, err := c.OpenScorer(a, c.ModelFlags)
	if err != nil {
		return s, err
	}
	c.Rerank, s.closers = rerank, append(s.closers, done)
	if err := c.openDocuments(a, &s); err != nil {
		return s, err
	}
	kv := c.OpenKV(a, reader)
	if kv != nil {
		s.closers = append(s.closers, kv.Close)
	}
	if err := c.UseBucket(a, kv); err != nil {
		return s, err
	}
	s.Local, s.model = modelcmd.NewLocal(m, reader, s.docs, kv), modelcmd.AnswererName(m, reader)
	s.Adapter = adapter
	if engine != nil {
		s.Passes = engine
	}
	if s.from == fromSamples {
		s.Mark = indexcmd.SampleMark
	}
	err = c.guess(a, &s)
	return s, err
}

// warm prepares a device other than the processor, so that the first question need not wait for it.
func warm(a *cli.App, m *model.Model) error {
	if m.Processor() {
		return nil
	}
	a.Progress("warming up %s", m.Device())
	defer a.Clear()
	return m.Warm(a)
}

// openDocuments opens the side's documents, and refuses to give away others than the samples.
func (c *serveCmd) openDocuments(a *cli.App, s *side) (err error) {
	if s.docs, s.from, err = c.documents(a); err != nil {
		return err
	}
	s.closers = append(s.closers, s.docs.Close)
	if c.AllowDocuments && s.from != fromSamples {
		return errors.New("--allow-documents: only the sample documents may be fetched, and this cloud serves others: serve the samples with --sample")
	}
	return nil
}

// guess makes the side guess the next tokens as the flags say.
func (c *serveCmd) guess(a *cli.App, s *side) (err error) {
	if s.Draft, err = c.DraftersFor(s.Reader); err != nil {
		return err
	}
	s.Resources, err = c.DraftFlags.Resources(a, s.Model)
	return err
}

// origin is where the documents of a cloud come from.
type origin string

const (
	fromFolder  origin = "folder"
	fromIndex   origin = "index"
	fromSamples origin = "samples"
	fromCluster origin = "cluster"
)

// library is what a cloud answers from.
type library interface {
	node.Searcher
	Close() error
}

// documents opens the documents that the cloud answers from. The samples are served if that is asked for, or until something
// was indexed once: they are invented, so they never stand in for documents that were removed.
func (c *serveCmd) documents(a *cli.App) (x library, from origin, err error) {
	switch {
	case c.Sample && c.Public != "", c.Index != "" && (c.Sample || c.Public != ""):
		return nil, from, errors.New("--sample, --public and --index: give only one of them")
	case c.Index != "":
		x, err = c.OpenCluster(a, c.PassageFlags)
		return x, fromCluster, err
	case c.Public != "":
		if from = fromFolder; indexcmd.SameFiles(c.Public, examples.Public, "public") {
			from = fromSamples
		}
		x, err = indexcmd.ReadFolder(a, c.Public, c.PassageFlags)
		return x, from, err
	case !c.Sample:
		if own, err := indexcmd.Open(a, c.PassageFlags); own != nil || err != nil {
			return own, fromIndex, err
		}
	}
	x, err = indexcmd.ReadSamples(a, examples.Public, c.PassageFlags)
	return x, fromSamples, err
}
