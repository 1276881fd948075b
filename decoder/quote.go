package decoder

// quoteMargin is the largest difference in relevance, in nats, between the best quote and another quote that is still
// worth showing.
const quoteMargin = 4.0

// MinShare is the smallest share of an answer for which a document is cited.
const MinShare = 0.1

// WorthShowing reports whether a quote is worth showing: its share of the answer is at least MinShare, or its relevance is
// within quoteMargin of the best.
func WorthShowing(share, relevance, best float64) bool {
	return share >= MinShare || relevance > best-quoteMargin
}

// Quote is a sentence of a passage that an answer draws on or comes close to. For an answer that says that it does not know,
// it is the passage.
type Quote struct {
	Passage   int     // its index in the request
	Text      string  // byte for byte
	From, To  int     // the bytes of Text that answer, or a passage's likeliest sentence; equal if that is not known
	Column    string  // the name of the column that answers, in a table's row
	Weight    float64 // the passage's share of this side's distribution for the answer
	Relevance float64 // of the passage to the question, in nats; comparable between sides
}
