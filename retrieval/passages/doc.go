// Package passages cuts documents into passages: pieces small enough to be one context for a model (DRAGON §2.1).
//
// A passage is a window: a few whole sentences, lines or rows of a table, with the headings above them in its title. A reader
// that handles no more than a sentence gets passages of one sentence each (SentenceWords). A sentence that says "it" or "the
// hall" is useless without the one that names the hall, so this kind of cutting resolves references with simple rules of
// English.
package passages
