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

// local is what this cloud answers with, and what to close afterwards.
type local struct {
	node.Local
	docs    searcher
	from    origin
	model   string // the name of what answers
	closers []func() error
}

// close closes everything that openLocal has opened, last first.
func (l local) close() error {
	var errs []error
	for _, c := range slices.Backward(l.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// openLocal opens what the cloud answers with, by a model. Its result must be closed, whatever the error.
func (c *serveCmd) openLocal(a *cli.App, m *model.Model, engine *remote.Server) (l local, err error) {
	if err := warm(a, m); err != nil {
		return l, err
	}
	adapter, err := c.MountAdapter(a, m)
	if err != nil {
		return l, err
	}
	if adapter != nil {
		c.By = "decoder" // a span reader has no adapters
	}
	reader, err := c.OpenSpan(c.ModelFlags)
	if err != nil {
		return l, err
	}
	if reader != nil {
		c.Related = reader.Related
	} else if c.Model == "" {
		c.PassageFlags = c.PassageFlags.BySentence()
	}
	rerank, done, err := c.OpenScorer(a, c.ModelFlags)
	if err != nil {
		return l, err
	}
	c.Rerank, l.closers = rerank, append(l.closers, done)
	if err := c.openDocuments(a, &l); err != nil {
		return l, err
	}
	kv := c.OpenKV(a, reader)
	if kv != nil {
		l.closers = append(l.closers, kv.Close)
	}
	if err := c.UseBucket(a, kv); err != nil {
		return l, err
	}
	l.Local, l.model = modelcmd.NewLocal(m, reader, l.docs, kv), modelcmd.AnswererName(m, reader)
	l.Adapter = adapter
	if engine != nil {
		l.Passes = engine
	}
	if l.from == fromSamples {
		l.Mark = indexcmd.SampleMark
	}
	err = c.guess(a, &l)
	return l, err
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

// openDocuments opens the cloud's documents, and refuses to give away others than the samples.
func (c *serveCmd) openDocuments(a *cli.App, l *local) (err error) {
	if l.docs, l.from, err = c.documents(a); err != nil {
		return err
	}
	l.closers = append(l.closers, l.docs.Close)
	if c.AllowDocuments && l.from != fromSamples {
		return errors.New("--allow-documents: only the sample documents may be fetched, and this cloud serves others: serve the samples with --sample")
	}
	return nil
}

// guess makes the cloud guess the next tokens as the flags say.
func (c *serveCmd) guess(a *cli.App, l *local) (err error) {
	if l.Draft, err = c.DraftersFor(l.Reader); err != nil {
		return err
	}
	l.Resources, err = c.DraftFlags.Resources(a, l.Model)
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

// searcher is an index of the documents that a cloud answers from.
type searcher interface {
	node.Searcher
	Close() error
}

// documents opens the documents that the cloud answers from. The samples are served if that is asked for, or until something
// was indexed once: they are invented, so they never stand in for documents that were removed.
func (c *serveCmd) documents(a *cli.App) (x searcher, from origin, err error) {
	if err := c.Check(c.Public != "", "give it with --public, or use cloud index add --exclude"); err != nil {
		return nil, from, err
	}
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
		x, err = indexcmd.ReadFolder(a, c.Public, c.PassageFlags, c.ExcludeFlag)
		return x, from, err
	case !c.Sample:
		if own, err := indexcmd.Open(a, c.PassageFlags); own != nil || err != nil {
			return own, fromIndex, err
		}
	}
	x, err = indexcmd.ReadSamples(a, examples.Public, c.PassageFlags)
	return x, fromSamples, err
}
