package answers

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing/fstest"

	"tandem/model/chat"
	"tandem/node"
	"tandem/retrieval/documents"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Index is where documents are searched.
type Index interface {
	node.Searcher
	AddFS(ctx context.Context, fsys fs.FS, root string) (search.Report, error)
	Close() error
}

// Options say how documents are indexed.
type Options struct {
	search.Options
	// Cluster, if not nil, makes an empty index, instead of one in memory, for all documents but the device's.
	Cluster func(ctx context.Context, o search.Options) (Index, error)
}

// Library is a world's documents, indexed as a user's are: those of each side, and all together.
type Library struct {
	Device, Cloud, All Index
	Windows            Index // all documents, in passages of several sentences, for Span
	Sentences          *BM25
	WindowsByBM25      *BM25 // the passages of Windows with their titles

	parsed map[string]string             // by document: its text as it was parsed
	cut    map[string][]passages.Passage // by document
}

// Open indexes a world. Without a length of passages, they are a sentence each, and Windows has the default length. Documents
// of a type that is not read are left out, as a user's are.
func Open(ctx context.Context, w World, o Options) (l *Library, err error) {
	words := cmp.Or(o.Words, passages.SentenceWords)
	l = &Library{Sentences: &BM25{}, WindowsByBM25: &BM25{}, parsed: map[string]string{}, cut: map[string][]passages.Passage{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	both := slices.Concat(w.Sides[0], w.Sides[1])
	for _, d := range both {
		doc, err := documents.Parse(ctx, d.Name, d.Data)
		if ctx.Err() != nil {
			return l, ctx.Err()
		}
		if err != nil {
			continue // a type that is not read: the stage of the loss is parsing
		}
		l.add(doc, d.Name, words)
	}
	for _, of := range []struct {
		to    *Index
		docs  []Document
		words int
	}{{&l.Device, w.Sides[0], words}, {&l.Cloud, w.Sides[1], words}, {&l.All, both, words}, {&l.Windows, both, windowWords(words)}} {
		if of.to == &l.Windows && of.words == words {
			l.Windows = l.All
			break
		}
		x, err := o.open(ctx, of.words, of.to != &l.Device)
		if err != nil {
			return l, err
		}
		*of.to = x
		tree := fstest.MapFS{}
		for _, d := range of.docs {
			tree[d.Name] = &fstest.MapFile{Data: d.Data}
		}
		if len(tree) == 0 {
			continue
		}
		if _, err := x.AddFS(ctx, tree, "."); err != nil {
			return l, err
		}
	}
	return l, nil
}

// open makes an empty index for passages of some number of words.
func (o Options) open(ctx context.Context, words int, shared bool) (Index, error) {
	o.Words = words
	if shared && o.Cluster != nil {
		return o.Cluster(ctx, o.Options)
	}
	return search.Memory(o.Options)
}

// add records a document's text after parsing and its passages after cutting.
func (l *Library) add(doc documents.Document, name string, words int) {
	l.cut[name] = passages.Cut(doc, name, words)
	for _, w := range readTexts(passages.Cut(doc, name, windowWords(words))) {
		l.WindowsByBM25.add("", w)
	}
	var all []string
	section := ""
	for _, b := range doc.Blocks {
		all = append(all, b.Text)
		if b.Kind == documents.Heading {
			section = b.Text
		}
		for _, s := range sentencesOf(b.Text) {
			l.Sentences.add(doc.Title+" "+section, s)
		}
	}
	l.parsed[name] = strings.Join(all, "\n")
}

// windowWords returns the length of the passages of Windows, given that of the others.
func windowWords(words int) int {
	if words <= passages.SentenceWords {
		return passages.DefaultWords
	}
	return words
}

// Close releases the indexes.
func (l *Library) Close() (err error) {
	open := []Index{l.Device, l.Cloud, l.All}
	if l.Windows != l.All {
		open = append(open, l.Windows)
	}
	for _, x := range open {
		if x != nil {
			err = errors.Join(err, x.Close())
		}
	}
	return err
}

func (q Question) node() node.Question { return AsNode(q.Text, q.Earlier) }

// AsNode returns a question as a conversation asks it.
func AsNode(text string, earlier []Turn) node.Question {
	out := node.Question{Text: text}
	for _, t := range earlier {
		out.History = append(out.History, chat.Message{Role: "user", Content: t.Question}, chat.Message{Role: "assistant", Content: t.Answer})
	}
	return out
}

// Depths are the numbers of passages for which recall is measured.
var Depths = []int{1, 4, 8, 16}

// Retrievals are the ways to retrieve whose recall is measured: the product from its passages, the product from Windows,
// and plain BM25 from sentences and from those windows.
var Retrievals = []string{"product", "windows", "bm25", "bm25-windows"}

// Recall reports for each of Retrievals and Depths whether all sentences that hold the answer are among what is retrieved
// from all documents. It is meant for questions whose sentences are known.
func (l *Library) Recall(ctx context.Context, q Question) ([][]bool, error) {
	query := q.node().Query()
	out := make([][]bool, len(Retrievals))
	for i, x := range []Index{l.All, l.Windows} {
		for _, k := range Depths {
			found, err := x.Search(ctx, query, k)
			if err != nil {
				return nil, err
			}
			out[i] = append(out[i], holdsSentences(q, readTexts(found)))
		}
	}
	for i, b := range []*BM25{l.Sentences, l.WindowsByBM25} {
		ranked := b.Best(query.Before+" "+query.Text, slices.Max(Depths))
		for _, k := range Depths {
			out[2+i] = append(out[2+i], holdsSentences(q, ranked[:min(k, len(ranked))]))
		}
	}
	return out, nil
}

// readTexts returns passages as they are read: with their titles.
func readTexts(ps []passages.Passage) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Title+"\n"+p.Text)
	}
	return out
}

// Stage is a stage of the pipeline from files to answers.
type Stage string

const (
	LostInParsing   Stage = "parsing"   // the sentence is not in what was made of the file
	LostInCutting   Stage = "cutting"   // no passage holds it whole
	LostInRetrieval Stage = "retrieval" // no passage that was read holds it
	LostInReading   Stage = "reading"   // it was read
)

// Stages are all stages in order.
var Stages = []Stage{LostInParsing, LostInCutting, LostInRetrieval, LostInReading}

// Lost returns the stage at which the answer to a question was lost, for a question that was not answered correctly. It
// is empty if the set does not say which sentence holds the answer.
func (l *Library) Lost(q Question, s Score) Stage {
	if !q.KnowsSentences() {
		return ""
	}
	if s.Read {
		return LostInReading
	}
	var parsed, cut []string
	for name, text := range l.parsed {
		if len(q.Names) == 0 || slices.Contains(q.Names, name) {
			parsed, cut = append(parsed, text), append(cut, readTexts(l.cut[name])...)
		}
	}
	switch {
	case !holdsSentences(q, parsed):
		return LostInParsing
	case !holdsSentences(q, cut):
		return LostInCutting
	}
	return LostInRetrieval
}
