package retrieval

// A Scorer gives the relevance R(d) of a passage to a query (DRAGON §2.2). It depends on nothing but its
// arguments and what ships with the program, so that the same passage has the same relevance on both
// sides. Relevances are log-weights in nats: documents are weighed by softmax R, sides by logsumexp R.
//
// The query may be a question, or a question followed by the sentence that is being written; its last
// word may be unfinished. Score must not fail and must not depend on the order or number of calls.
type Scorer interface {
	// Name identifies the scorer and its version. Two sides that pair must have scorers of the same name.
	Name() string
	// Score returns R(d) in nats.
	Score(query string, p Passage) float64
}

// A Preparer is a Scorer that can do the passages' part of the work ahead of the queries.
type Preparer interface {
	Scorer
	Prepare(ps []Passage) Prepared
}

// Prepared scores queries against passages fixed in advance. It is safe for concurrent use.
type Prepared interface {
	// Scores appends to dst the relevance of each passage, in order: exactly what Score returns for each.
	Scores(dst []float64, query string) []float64
}

// Prepare fixes the passages that s will score. Scoring a query against all of them is then fast enough
// to be done for every token when s is a Preparer, as Lexical is.
func Prepare(s Scorer, ps []Passage) Prepared {
	if p, ok := s.(Preparer); ok {
		return p.Prepare(ps)
	}
	return unprepared{s, ps}
}

type unprepared struct {
	scorer   Scorer
	passages []Passage
}

func (u unprepared) Scores(dst []float64, query string) []float64 {
	for _, p := range u.passages {
		dst = append(dst, u.scorer.Score(query, p))
	}
	return dst
}
