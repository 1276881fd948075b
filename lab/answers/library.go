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
	onDevice := o
	onDevice.Cluster = nil
	if l.Device, err = onDevice.index(ctx, w.Sides[0], words); err != nil {
		return l, err
	}
	if l.Cloud, err = o.index(ctx, w.Sides[1], words); err != nil {
		return l, err
	}
	if l.All, err = o.index(ctx, both, words); err != nil {
		return l, err
	}
	if windowWords(words) == words {
		l.Windows = l.All
		return l, nil
	}
	l.Windows, err = o.index(ctx, both, windowWords(words))
	return l, err
}

// index is Index with passages of some number of words.
func (o Options) index(ctx context.Context, docs []Document, words int) (Index, error) {
	o.Words = words
	return o.Index(ctx, docs)
}

// Index returns an index of documents, which may be none.
func (o Options) Index(ctx context.Context, docs []Document) (x Index, err error) {
	if o.Cluster != nil {
		x, err = o.Cluster(ctx, o.Options)
	} else {
		x, err = search.Memory(o.Options)
	}
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return x, nil
	}
	tree := fstest.MapFS{}
	for _, d := range docs {
		tree[d.Name] = &fstest.MapFile{Data: d.Data}
	}
	if _, err := x.AddFS(ctx, tree, "."); err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// add records a document's text after parsing and its passages after cutting.
func (l *Library) add(doc documents.Document, name string, words int) {
	l.cut[name] = passages.Cut(doc, name, words)
	for _, w := range textsWithTitles(passages.Cut(doc, name, windowWords(words))) {
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
			parsed, cut = append(parsed, text), append(cut, textsWithTitles(l.cut[name])...)
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
