// Package extract answers with the words of passages. It produces one side's next-token distributions from a span reader
// (package model/span), which points at words of a passage and cannot write others.
//
// The Decoder in extract.go divides a question into parts and follows the answer through them. Each part passes these
// stages, which readPart in part.go and evidence in evidence.go call in turn:
//
//	read     foreign.go, question.go       puts the question into English and tells what it wants of its answer
//	point    place.go                      takes the spans that the reader points at, as whole words, values and rows
//	reweigh  reweigh.go, misfit*.go        makes spans less likely that lack words of the question or cannot answer
//	find     find*.go                      looks up what the question names, such as a cell, instead
//	judge    odds.go, elsewhere.go         makes evidence for a passage the odds R_0; a value answers or its sentence
//	say      say.go                        makes spans texts
//	rewrite  rewrite*.go                   says a value otherwise that would be wrong if it stood alone
//	spell    spell.go                      makes texts tokens, as many as there is room for
//	replace  change.go                     answers with a sentence that says what became of the best value
//	decode   part.go                       gives the distribution of the next token, by the texts of all passages
//	quote    cite.go, otherwise.go         quotes the passages that say the answer, and one that says something else
//
// What all stages know has files of its own:
//
//	passage.go    a passage: its words, sentences, headings and questions
//	line.go       its lines: items of lists, code, speech, days of a diary
//	mail.go       the lines above a mail
//	table.go      its tables, and which column a question asks for
//	words.go      words and names
//	value.go      numbers, amounts and measures, and whether two values are the same
//	date.go       months, days and times
//	change.go     what says that a value is new, or no longer so
//	candidate.go  a span with its sentence, as the misfits see it
//
// Rules about words help the small reader. There are three kinds, each a table with an example above every row, in misfit.go,
// find.go and rewrite.go:
//
//	misfit   "When is the walk?" is not answered by "3 May" in "The walk on 3 May is cancelled."
//	finder   "What does E11 mean?" is answered by what stands after "E11: ", whatever the reader thinks
//	rewrite  "13 May" in "It was planned for 13 May. It has been moved." is said with both sentences
//
// A context is one passage and one part of the question. The reader gives it a posterior P(i, j) over the passage's spans,
// and P(no answer). Each span stands for a text: itself, or the sentence around it. A text is a sequence of tokens, so the
// distribution of the next token is exact:
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
// Everything is a function of the question, the passages and the answer so far, so a rollback costs nothing. The package
// knows nothing of the other side, of sockets or of placements.
package extract
