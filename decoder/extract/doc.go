// Package extract produces one side's next-token distributions from a span reader (package model/span), which points at
// words of a passage and cannot write others.
//
// A context is one passage and one part of the question. The reader gives a posterior P(i, j) over the passage's spans,
// and P(no answer). Each span stands for a text: itself, or the sentence around it. A text is a sequence of tokens, so
// the distribution of the next token is exact:
//
//	p_d(x | prefix) = Σ P(text) over texts that go on with x / Σ P(text) over texts that begin with the prefix
//
// Relevances follow the answer as DRAGON's Eq. 1 has it: what a context thinks of the prefix is its likelihood,
//
//	R_t(d) = R_0(d) + log Σ P(text) over texts that begin with the prefix
//
// where R_0 is the log-odds that the passage's likeliest text is right (Constants), which mean the same on both sides. One
// more context, without a passage, says that it does not know; it leads where no passage answers.
//
// A small reader is helped by rules about words. What a question wants of its answer lowers spans that cannot be it (misfits). What it
// names as one does who looks something up, such as a cell, an option or a release, is found by its name (named). Of two values of one
// thing, the one that is said to have replaced another counts more (supersedes), or takes its place (replace, newer). A value that the text
// takes back is said with the words that do so (withWhatUndoes). A value out of another subject's clause gives way to the subject's own
// (inItsClause), and a sentence about another name does not answer (ofAnotherName). What happened on a day of a diary is said with that
// day (underDays).
//
// Everything is a function of the question, the passages and the answer so far, so a rollback costs nothing. The package
// knows nothing of the other side, of sockets or of placements.
package extract
