package search

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"tandem/retrieval/passages"
)

// Rebuild makes the index in dir again from the files and folders that were added to it, whatever state it is in. Until
// it is complete, the index stays as it was. Without opt.Words, passages have the length that they had. A file or
// folder that is gone loses its passages; Refresh finds it when it is back.
func Rebuild(ctx context.Context, dir string, opt Options, progress func(Progress)) (report Report, err error) {
	if _, err := opt.length(); err != nil {
		return report, fmt.Errorf("rebuild index: %w", err)
	}
	if !Exists(dir) {
		return report, fmt.Errorf("rebuild index: nothing has been indexed in %s", dir)
	}
	x := &Index{dir: dir, opt: Options{Waiting: opt.Waiting}, batch: defaultBatch, checkpoint: math.MaxInt}
	defer x.Close()
	unlock, err := x.lock(ctx)
	if err != nil {
		return report, err
	}
	defer unlock()
	from, err := sourcesOf(ctx, dir)
	if err != nil {
		return report, err
	}
	x.opt.Words = cmp.Or(opt.Words, from.Words, passages.DefaultWords)
	w := &writer{x: x}
	u := &update{records: records{files: make(map[string]record)}, words: x.opt.Words, sink: w}
	if err = w.ensureBatch(); err == nil { // also if nothing is left to read
		err = u.setRoots(from.rootSet)
	}
	if err == nil {
		err = u.addRoots(ctx, func(string) string { return "; run index add when it is back" }, progress)
	}
	if err == nil {
		err = w.commit()
	}
	if err != nil {
		if w.gen != nil {
			w.gen.discard()
		}
		return u.report, fmt.Errorf("rebuild index: %w", err)
	}
	u.report.Passages = u.countPassages()
	return u.report, nil
}
