// Package decoder produces one side's next-token distributions: output aggregation over the side's own
// documents (DRAGON §2.1–2.2).
//
// Every retrieved passage, or group of passages, is a row: [prompt with the passage][question][answer so
// far]. The rows share the weights and run as one batch. Their distributions are mixed by document
// relevance,
//
//	ω̃(d) = softmax_d R(d)            over this side's passages
//	p^s   = Σ_d ω̃(d) p(·|d, x<t)     the side's distribution, cut to its nucleus and rounded to integers
//	h^s   = logsumexp_d R(d)         the side's aggregation weight against the other side
//
// R may change with every token (Weights). It is a pure function of the question, the passages and the
// answer so far, so that a rollback restores it exactly.
//
// The package decides nothing about agreement: it is told what the answer is and says what may come next.
// It must not know of the other side, of sockets or of placements. The prefix of a row depends on its
// passages alone; its KV cache is kept in a store and read back instead of being computed (DRAGON §3).
package decoder
