// Package decoder produces one side's next-token distributions: output aggregation over the side's own documents (DRAGON
// §2.1–2.2).
//
// A context is one retrieved passage, or a group of them, followed by the question and the answer so far. The contexts
// share the model's weights and run as one batch. Their distributions are mixed by document relevance:
//
//	ω̃(d) = softmax_d R(d)            over this side's passages
//	p^s   = Σ_d ω̃(d) p(·|d, x<t)     the side's distribution, cut to its nucleus and rounded to integers
//	h^s   = logsumexp_d R(d)         the side's aggregation weight against the other side
//
// R may change with every token (Weights). It is a function of the question, the passages and the answer so far, so a
// rollback restores it exactly.
//
// The package takes no part in the agreement between sides: its caller gives it the answer so far and gets the distribution
// of the next token. It knows nothing of the other side, of sockets or of placements. The beginning of a context depends only
// on its passages, so its KV cache is kept in a store (package kvstore) and read back instead of being computed again (DRAGON
// §3).
package decoder
