package npu

import "context"

// Programs are a model's blocks, compiled for one chunk size.
type Programs struct {
	Chunk  int
	Embed  Program   // tokens to the residual stream
	Layers []Program // the residual stream through one layer or several, in order
	Head   Program   // the residual stream to logits
	Whole  Program   // Layers and Head as one, for rows that all need logits; nil if that saves nothing
}

// Fitting returns the programs of the smallest chunk that holds the given number of rows, or else of the largest chunk. all must
// be in ascending order of chunk sizes.
func Fitting(all []*Programs, rows int) *Programs {
	for _, p := range all {
		if p.Chunk >= rows {
			return p
		}
	}
	return all[len(all)-1]
}

// Pass describes a forward pass of a model to a Scheduler.
type Pass struct {
	Tokens  int // of all sequences
	Longest int // positions of the longest sequence after the pass
	Decodes int // how many sequences are decoded next, a token each; 0 if that is not known
	// PerPass, if not nil, says that decoding verifies drafts. It returns the expected number of tokens, at least 1, that a
	// pass of the given number of rows yields for a sequence.
	PerPass func(rows int) float64
	// Bidirectional says that rows attend to rows before and after them (llada.cpp §2.1). A pass that is cut into chunks computes
	// all chunks but the last twice in each layer, so rows that fit in one chunk must not be cut.
	Bidirectional bool
}

// Scheduler chooses the programs that compute a model's passes. Devices have one on which a program must be loaded
// before it runs, and which cannot hold all programs at once. It may be used by several goroutines.
type Scheduler interface {
	// Keep returns the programs that are worth using, of all that the model has compiled. Both are in ascending order
	// of chunk sizes.
	Keep(all []*Programs) []*Programs
	// Schedule prepares the device for a pass with programs that Keep returned.
	Schedule(ctx context.Context, programs []*Programs, p Pass) (Schedule, error)
}

// Schedule says which programs compute a pass. The pass cuts its tokens into chunks, each at most as large as the
// programs for it, and takes one chunk after the other through all layers.
type Schedule interface {
	// Next returns the programs for the next chunk, when the given number of tokens is left.
	Next(tokens int) *Programs
	// Head returns the program for the logits of the given number of rows.
	Head(rows int) Program
	// End is called after the last chunk of a pass that has not failed.
	End(ctx context.Context) error
}
