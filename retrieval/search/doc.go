// Package search finds the passages that may answer a question, and says how relevant each one is.
//
// Index is a BM25 index on disk; it finds candidates. Another engine can replace it, as search/weaviate does: node needs only a
// method Search. An engine that is a Finder is ranked as Index is (Rank), and one that is a Store takes files as Index does
// (Corpus). Compound handles compound questions and follow-ups for any engine, and searchtest tests any engine.
//
// Lexical is the scorer of DRAGON §2.2: its relevances R(d) weigh the documents of both sides against each other. BM25
// scores cannot do that, since two corpora have different document frequencies. A scorer sees the question and one passage,
// and nothing of the corpus.
//
// The package reads the files that it is given, writes only below the directories that it is given, and follows no link
// out of them.
package search
