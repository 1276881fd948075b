package decoder

// Quote is a sentence of a passage that an answer draws on, or that comes nearest to the question.
type Quote struct {
	Passage   int     // its index in the request
	Text      string  // the sentence or line, byte for byte
	From, To  int     // the bytes of Text that answer; equal if that is not known
	Title     bool    // Text is the passage's title
	Whole     bool    // the answer is the whole of Text, not a value in it
	Weight    float64 // the passage's share of this side's distribution for the answer
	Relevance float64 // of the passage to the question, in nats; comparable between sides
}
