// Package answers measures what is answered to questions about documents: it reads sets of questions, asks them by several
// methods, and judges the answers.
//
// The documents of a set go the way that a user's go: files, index, passages, retrieval, answer. They are dealt to the two
// sides of a pair by document. What an answer is worth is decided here alone, by words: no model judges another.
package answers
