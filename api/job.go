package api

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"tandem/model/tokenizer"
	"tandem/node"
)

// job is a request that was understood: several choices of an answer.
type job struct {
	options
	queries  []Query
	chat     bool // chat completions were asked for
	logprobs bool
	top      int // alternatives to each token
	remarks  []string
	turns    []message
	prompt   int // tokens of the turns, once it has begun
	id       string
	created  int64 // Unix seconds
}

// prepare checks a request and makes its queries. The question is the last of the turns.
func (s *Server) prepare(model string, turns []message, o options) (*job, error) {
	if err := s.checkModel(model); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	j := &job{options: o, turns: turns, id: "tandem-" + newID(), created: time.Now().Unix()}
	question, history, system, err := conversation(turns)
	if err != nil {
		return nil, err
	}
	if system {
		j.remarks = append(j.remarks, "the system message was not used: answers come from documents")
	}
	n := 1
	if o.N != nil {
		n = int(*o.N)
	}
	for i := range n {
		q, err := s.query(o, question, history, i)
		if err != nil {
			return nil, err
		}
		j.queries = append(j.queries, q)
	}
	return j, nil
}

// checkModel refuses other models. Clients that cannot leave the model out may send "tandem".
func (s *Server) checkModel(model string) error {
	if model == "" || model == "tandem" || model == "tandem:latest" || s.cfg.Model.isCalled(model) {
		return nil
	}
	return noModel("model", model, s.cfg.Model.Name)
}

// waitAndCount waits for the job's turn, then counts the tokens of its prompt, which may be long.
func (s *Server) waitAndCount(ctx context.Context, j *job) (leave func(), err error) {
	if leave, err = s.waitForSlot(ctx); err != nil || s.cfg.Tokens == nil {
		return leave, err
	}
	for _, m := range j.turns {
		j.prompt += len(s.cfg.Tokens.Encode(string(m.Content), tokenizer.Options{}))
	}
	return leave, nil
}

// choiceOutcome is the outcome of one choice, with the likelihoods of its tokens if the request has them.
type choiceOutcome struct {
	outcome
	likely []logprob
}

// answerAll answers all choices of a job, in their order.
func (s *Server) answerAll(ctx context.Context, j *job) ([]choiceOutcome, error) {
	outs := make([]choiceOutcome, len(j.queries))
	return outs, s.eachChoice(ctx, len(outs), func(ctx context.Context, i int) error {
		lp := s.likelihoods(j)
		out, err := s.answerQuery(ctx, j, i, func(string, []node.Token) {}, recorder(lp, nil))
		if outs[i].outcome = out; err == nil && lp != nil {
			outs[i].likely = lp.take()
		}
		return err
	})
}

// eachChoice answers n choices: at the same time if Config.Together says so and others leave places free, else one after the other.
// Which way makes no difference to the texts. The first error ends all.
func (s *Server) eachChoice(ctx context.Context, n int, answer func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	work := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := answer(ctx, i); err != nil {
				stop(err)
				return
			}
		}
	}
	together := n > 1 && s.cfg.Together != nil && s.cfg.Together()
	var others sync.WaitGroup
	for range n - 1 {
		if !together || !s.takeFreeSlot() {
			break
		}
		others.Go(func() {
			defer func() { <-s.slots }()
			work()
		})
	}
	work()
	others.Wait()
	return context.Cause(ctx)
}

// takeFreeSlot takes one more place among the answers, if one is free.
func (s *Server) takeFreeSlot() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// extraOf is what Tandem says of one choice.
func (s *Server) extraOf(j *job, q Query, a node.Answer) extra {
	e := s.extra(q, a)
	e.Remarks = append(j.remarks[:len(j.remarks):len(j.remarks)], e.Remarks...)
	return e
}

func (s *Server) likelihoods(j *job) *likelihoods {
	if !j.logprobs {
		return nil
	}
	return newLikelihoods(s.cfg.Tokens, j.top)
}

// recorder returns what takes the lines of a recording, nil if nobody wants one.
func recorder(lp *likelihoods, more func(node.Line)) func(node.Line) {
	if lp == nil && more == nil {
		return nil
	}
	return func(l node.Line) {
		if lp != nil {
			lp.line(l)
		}
		if more != nil {
			more(l)
		}
	}
}
