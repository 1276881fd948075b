// Package passages cuts documents into passages: pieces small enough to be one context for a model (DRAGON §2.1).
//
// A passage is a few whole sentences; with SentenceWords it is one. A sentence that says "it" or "the hall" is useless
// without the one that names the hall. So cutting resolves such references with simple rules of English: it keeps the
// two sentences together, or puts what the second one is about into the passage's title.
package passages
