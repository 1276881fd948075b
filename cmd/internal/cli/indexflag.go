package cli

import (
	"context"
	"os"

	"tandem/retrieval/search"
	"tandem/retrieval/search/weaviate"
)

// IndexFlag names where the documents are, if not in the index on this machine's disk.
type IndexFlag struct {
	Index string `help:"Keep the documents in a Weaviate cluster (1.39 or later) instead of the index on disk: weaviate://HOST[:PORT],…[/CLASS], or weaviates:// for TLS. The variable WEAVIATE_API_KEY may hold a key." placeholder:"ADDRESS"`
}

// Library is a set of indexed files: an index on disk, or in a cluster.
type Library interface {
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
	x.Related, x.Rerank = cut.Related, cut.Rerank
	return x, nil
}

// edit opens the documents for writing.
func (f IndexFlag) edit(a *App, cut PassageFlags) (Library, error) {
	if f.Index != "" {
		return f.OpenCluster(a, cut)
	}
	cut.waiting = a.waitsForIndex
	return a.EditIndex(cut)
}

// read opens the documents for reading. It returns nil if nothing was ever indexed.
func (f IndexFlag) read(a *App) (Library, error) {
	if f.Index != "" {
		return f.OpenCluster(a, PassageFlags{})
	}
	x, err := a.OpenOwnIndex(PassageFlags{})
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
