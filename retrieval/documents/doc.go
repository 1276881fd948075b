// Package retrieval turns files into passages, finds the passages that may answer a question, says how
// relevant each one is, and keeps the KV caches of passages that were read before.
//
// It is the retriever of DRAGON §2.1: files become passages of a sentence each (DefaultWords; longer ones by Options),
// a BM25 index on disk finds candidates, and a Scorer gives the relevance R(d) that weighs the documents of both
// sides against each other (DRAGON §2.2). BM25 scores are no relevances: two corpora have different
// document frequencies, so their scores do not mean the same. A Scorer sees the question and one passage,
// nothing of the corpus.
//
// The package knows nothing of models, prompts, sockets or the other side. It reads the files it is
// pointed at, writes only below the directories it is given, and follows no link out of them.
package documents
