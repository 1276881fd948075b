// Package answers measures answers to questions about documents: it reads sets of questions, asks them by several methods,
// and judges the answers. Sets about documents of invented people are part of it (People); others come from files.
//
// The documents of a set take the same way as a user's: files, index, passages, retrieval, answer. They are dealt to the two
// sides of a pair, document by document. Only this package decides what an answer is worth, and it does so by words: no model
// judges another.
package answers
