package batch

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"tandem/model"
)

// job is the inputs of one call, on their way through passes.
type job struct {
	ctx     context.Context
	inputs  []model.Input
	before  []int // positions of the sequences when the job came
	rows    int
	whole   bool // a draft tree cannot be cut
	granted int  // rows that passes have had so far
	done    chan struct{}

	running bool          // a pass has rows of it
	into    *model.Logits // the caller's memory
	wanted  int           // logits that were requested
	logits  [][]float32   // they, in that memory; nil until a pass has some: jobs that wait need no memory
	filled  int           // how many of them passes have given
	err     error
}

// newJob returns a job without rows if the inputs are not fit for a pass.
func newJob(ctx context.Context, inputs []model.Input, into *model.Logits) *job {
	j := &job{ctx: ctx, inputs: inputs, into: into, done: make(chan struct{})}
	for _, in := range inputs {
		if in.Seq == nil || len(in.Tokens) == 0 {
			j.rows = 0
			return j
		}
		j.before = append(j.before, in.Seq.Len())
		j.rows += len(in.Tokens)
		j.whole = j.whole || in.Parents != nil
		if j.wanted++; in.All {
			j.wanted += len(in.Tokens) - 1
		}
	}
	return j
}

// restore makes the sequences as they were before the job.
func (j *job) restore() {
	for i, in := range j.inputs {
		in.Seq.Truncate(j.before[i])
	}
}

// part is what one pass computes of a job.
type part struct {
	id     uint64
	job    *job
	rows   int
	inputs []model.Input
	wanted []bool // for each logits of the pass, whether the job requested them
}

// next returns the next rows of a job.
func (j *job) next(g Grant) part {
	p := part{id: g.ID, job: j, rows: g.Rows}
	from, end := j.granted, j.granted+g.Rows
	j.granted = end
	first := 0 // row of the input's first token
	for _, in := range j.inputs {
		n := len(in.Tokens)
		lo, hi := max(from-first, 0), min(end-first, n)
		first += n
		if lo >= hi {
			continue
		}
		cut := in
		cut.Tokens = in.Tokens[lo:hi]
		if in.OnScores != nil && lo > 0 {
			cut.OnScores = func(i int, scores []float32) { in.OnScores(lo+i, scores) }
		}
		p.inputs = append(p.inputs, cut)
		if in.All {
			p.wanted = append(p.wanted, slices.Repeat([]bool{true}, hi-lo)...)
		} else {
			p.wanted = append(p.wanted, hi == n)
		}
	}
	return p
}

// logitsCopy is logits of a pass and where their job keeps them.
type logitsCopy struct{ to, from []float32 }

// copies returns which logits at the front of those of a pass the job keeps, and the rest of the pass's.
func (p part) copies(out [][]float32) (list []logitsCopy, rest [][]float32) {
	if p.job.logits == nil && len(out) > 0 {
		p.job.logits = p.job.into.Take(p.job.wanted, len(out[0]))
	}
	for i, wanted := range p.wanted {
		if wanted {
			list = append(list, logitsCopy{p.job.logits[p.job.filled], out[i]})
			p.job.filled++
		}
	}
	return list, out[len(p.wanted):]
}

// copyAll copies logits, on several threads if there are many: those of 64 rows of a large vocabulary take one thread as long as
// they take a GPU.
func copyAll(list []logitsCopy) {
	const each, most = 1 << 18, 8 // numbers of a thread, threads
	numbers := 0
	for _, k := range list {
		numbers += len(k.from)
	}
	n := max(1, min(len(list), numbers/each, runtime.GOMAXPROCS(0), most))
	var wg sync.WaitGroup
	for i := range n {
		do := func() {
			for _, k := range list[len(list)*i/n : len(list)*(i+1)/n] {
				copy(k.to, k.from)
			}
		}
		if i == n-1 {
			do()
		} else {
			wg.Go(do)
		}
	}
	wg.Wait()
}
