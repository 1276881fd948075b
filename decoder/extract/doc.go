// Package extract produces one side's next-token distributions from a span reader (package model/span), which points at
// words of a passage and cannot write others.
//
// A context is one passage and one part of the question. The reader gives a posterior P(i, j) over the passage's spans,
// and P(no answer). Each span stands for a text: itself, or the sentence around it. A text is a sequence of tokens, so
// the distribution of the next token is exact (part.go):
//
//	p_d(x | prefix) = Σ P(text) over texts that go on with x / Σ P(text) over texts that begin with the prefix
//
// What a context thinks of the prefix is its likelihood, so its relevance is (DRAGON, Eq. 1)
//
//	R_t(d) = R_0(d) + log Σ P(text) over texts that begin with the prefix
//
// where R_0 is the log-odds that the passage's likeliest text is right. One more context, without a passage, says that it
// does not know; it leads where no passage answers.
//
// An answer to one part of the question passes these stages (evidence in odds.go, readPart in part.go):
//
//	read     foreign.go, question.go  the question in English, and what it wants of its answer
//	place    place.go                 the reader's spans are widened to whole words, values and rows, or dropped
//	reweigh  reweigh.go, misfit.go    a span loses if its sentence lacks words of the question, or it cannot answer
//	find     find.go                  what a question names, such as a cell, is looked up instead
//	judge    odds.go                  the evidence for a passage becomes R_0; the value answers or its sentence
//	say      say.go                   spans become texts
//	rewrite  rewrite.go               a value that alone would be wrong is said otherwise
//	spell    spell.go                 texts become tokens, as many as there is room for
//	replace  change.go                a sentence that says what became of the best value takes its place
//
// After the answer, cite.go quotes the passages that say it, and otherwise.go one that says something else. The Decoder in
// extract.go keeps the parts of the question and follows the answer through them.
//
// A small reader is helped by rules about words. There are three kinds, each a table with an example in every row:
//
//	misfit   "When is the walk?" is not answered by "3 May" in "The walk on 3 May is cancelled."
//	finder   "What does E11 mean?" is answered by what stands behind "E11: ", whatever the reader thinks
//	rewrite  "13 May" in "It was planned for 13 May. It has been moved." is said with both sentences
//
// They share what is known of a passage (passage.go, row.go), of a value (value.go) and of a change (change.go).
//
// Everything is a function of the question, the passages and the answer so far, so a rollback costs nothing. The package
// knows nothing of the other side, of sockets or of placements.
package extract
