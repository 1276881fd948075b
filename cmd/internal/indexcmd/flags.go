package indexcmd

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/retrieval/search/weaviate"
)

// PassageFlags say how files are cut into passages.
type PassageFlags struct {
	PassageWords int `help:"Cut files into passages of about this many words; 0 for 64, or for one sentence each if the built-in decoder reads them." default:"0"`

	exclude []string       // of search.Options
	Related search.Related `kong:"-"` // likewise
	Rerank  search.Rerank  `kong:"-"` // likewise
	waiting func()         // likewise
}

// Validate is called by kong.
func (f PassageFlags) Validate() error {
	if f.PassageWords < 0 {
		return fmt.Errorf("--passage-words %d: want 0 (the default) or more", f.PassageWords)
	}
	return nil
}

// BySentence returns the flags with another default: a sentence each, which the built-in decoder was trained on.
func (f PassageFlags) BySentence() PassageFlags {
	f.PassageWords = cmp.Or(f.PassageWords, passages.SentenceWords)
	return f
}

func (f PassageFlags) options() search.Options {
	return search.Options{Words: f.PassageWords, Exclude: f.exclude, Related: f.Related, Rerank: f.Rerank, Waiting: f.waiting}
}

// ExcludeFlag says what is left out of folders.
type ExcludeFlag struct {
	Exclude []string `help:"Leave out files and folders of these names, such as '*.log', drafts/ or /old/**; may be repeated. It has the syntax of .gitignore, as has a file .tandemignore in the folder." sep:"none" env:"-" placeholder:"GLOB"`
}

// Check refuses patterns if there is no folder that they are for. where says how to give one.
func (f ExcludeFlag) Check(folder bool, where string) error {
	if len(f.Exclude) > 0 && !folder {
		return fmt.Errorf("--exclude %s: it is for a folder: %s", f.Exclude[0], where)
	}
	return nil
}

// IndexFlag names where the documents are, if not in the index on this machine's disk.
type IndexFlag struct {
	Index string `help:"Keep the documents in a Weaviate cluster (1.39 or later) instead of the index on disk: weaviate://HOST[:PORT],…[/CLASS], or weaviates:// for TLS. The variable WEAVIATE_API_KEY may hold a key." placeholder:"ADDRESS"`
}

// index is a set of indexed files, on disk or in a cluster.
type index interface {
	AddAll(ctx context.Context, paths []string, progress func(search.Progress)) ([]search.Report, error)
	Refresh(ctx context.Context, progress func(search.Progress)) (search.Report, error)
	RemoveAll(ctx context.Context, paths []string) ([]search.Report, error)
	List() ([]search.SourceInfo, error)
	Close() error
}

// OpenCluster opens the documents in the cluster.
func (f IndexFlag) OpenCluster(ctx context.Context, cut PassageFlags) (*weaviate.Index, error) {
	x, err := weaviate.Open(ctx, f.Index, os.Getenv("WEAVIATE_API_KEY"), cut.PassageWords)
	if err != nil {
		return nil, err
	}
	x.Exclude, x.Related, x.Rerank = cut.exclude, cut.Related, cut.Rerank
	return x, nil
}

// openWritable opens the documents for writing.
func (f IndexFlag) openWritable(a *cli.App, cut PassageFlags) (index, error) {
	if f.Index != "" {
		return f.OpenCluster(a, cut)
	}
	cut.waiting = waiting(a)
	return OpenWritable(a, cut)
}

// open opens the documents for reading. It returns nil if nothing was ever indexed.
func (f IndexFlag) open(a *cli.App) (index, error) {
	if f.Index != "" {
		return f.OpenCluster(a, PassageFlags{})
	}
	x, err := Open(a, PassageFlags{})
	if x == nil {
		return nil, err
	}
	return x, err
}

// CountFiles returns how many files some documents come from; 0 if that is not known.
func CountFiles(ctx context.Context, documents any) int {
	switch x := documents.(type) {
	case *weaviate.Index: // to list them would read them all
		n, err := x.Files(ctx)
		if err == nil {
			return n
		}
	case *search.Index:
		if list, err := x.List(); err == nil {
			return len(list)
		}
	}
	return 0
}
