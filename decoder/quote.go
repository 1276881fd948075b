package decoder

// NearQuotes is how much less relevant than the best quote another one may be and still be worth showing, in nats.
const NearQuotes = 4.0

// LeastShare is the smallest share of an answer for which a document is cited.
const LeastShare = 0.1

// Worth reports whether a quote with a share of the answer and a relevance is worth showing: it says the answer, or it is
// nearly as relevant as the best.
func Worth(share, relevance, best float64) bool {
	return share >= LeastShare || relevance > best-NearQuotes
}

// Quote is a sentence of a passage that an answer draws on or comes close to. For an answer that says that it does not know,
// it is the passage.
type Quote struct {
	Passage   int     // its index in the request
	Text      string  // byte for byte
	From, To  int     // the bytes of Text that answer, or a passage's likeliest sentence; equal if that is not known
	Weight    float64 // the passage's share of this side's distribution for the answer
	Relevance float64 // of the passage to the question, in nats; comparable between sides
}
