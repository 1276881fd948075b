// Package weaviate keeps a side's passages in a Weaviate cluster, for documents that outgrow one machine.
//
// Weaviate finds candidates by BM25. Package search divides questions, ranks and interleaves as it does over its own index.
// Weaviate has no stemmer, so passages are stored together with their terms (search.Terms), in fields that Weaviate splits only
// at white space. The package speaks HTTP and GraphQL itself. It writes with the consistency level QUORUM and reads with ONE.
// If a node does not answer, it tries the next one. It refuses versions that can miss passages just written.
package weaviate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Index is the passages of a class in a cluster. It is safe for concurrent use; one process at a time may write.
type Index struct {
	search.Corpus
	store   *store
	Related search.Related // of search.Options; set it before the first search
	Rerank  search.Rerank  // likewise
}

// replicas and shards are those of a class that Open makes.
const (
	replicas = 3
	shards   = 3
)

// Open connects to the nodes that an address names (Parse). It makes the class if need be; a class is replicated on three nodes,
// or on as many as there are. key authenticates the program to the cluster, "" for none. words is the length of passages.
func Open(ctx context.Context, address, key string, words int) (*Index, error) {
	nodes, class, err := Parse(address)
	if err != nil {
		return nil, err
	}
	s := &store{client: newClient(nodes, key), class: class}
	if err := s.client.checkVersions(ctx); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, min(replicas, len(nodes))); err != nil {
		return nil, fmt.Errorf("%s: prepare the class %s: %w", address, class, err)
	}
	return &Index{Corpus: search.Corpus{Store: s, Words: words}, store: s}, nil
}

// Close frees the connections.
func (x *Index) Close() error {
	x.store.client.http.CloseIdleConnections()
	return nil
}

// Erase removes all passages and the records of their files, with their classes. The Index must not be used afterwards.
func (x *Index) Erase(ctx context.Context) error {
	var errs []error
	for _, class := range []string{x.store.class, x.store.files()} {
		errs = append(errs, x.store.client.do(ctx, http.MethodDelete, "/v1/schema/"+class, nil, nil))
	}
	return errors.Join(errs...)
}

// Search implements node.Searcher.
func (x *Index) Search(ctx context.Context, q passages.Query, k int) ([]passages.Passage, error) {
	found, err := search.Compound(ctx, q, k, func(ctx context.Context, text string, n int) ([]passages.Passage, error) {
		return x.Rerank.Best(ctx, text, n, func(n int) ([]passages.Passage, error) {
			return search.Rank(ctx, x, text, n, x.Related)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// Files returns how many files the cluster remembers, also those without text.
func (x *Index) Files(ctx context.Context) (int, error) {
	n, err := x.store.counts(ctx, x.store.files(), nil)
	if err != nil {
		return 0, err
	}
	return int(max(n[0], 1) - 1), nil // one holds what was added
}

// Properties of a passage.
const (
	propID         = "pid"
	propSource     = "source"
	propTitle      = "title"
	propText       = "text"
	propTitleTerms = "titleTerms" // and those of the file's name
	propTextTerms  = "textTerms"

	// Of a file.
	propPath   = "path"
	propMemory = "memory"
)

// Count implements search.Finder.
func (x *Index) Count(ctx context.Context, terms []string) (total uint64, with []uint64, err error) {
	var filters []string
	for _, t := range terms {
		for _, field := range []string{propTitleTerms, propTextTerms} {
			filters = append(filters, fmt.Sprintf(`(where:{path:[%q],operator:Equal,valueText:%s})`, field, quote(t)))
		}
	}
	n, err := x.store.counts(ctx, x.store.class, filters)
	if err != nil {
		return 0, nil, err
	}
	for i := range terms {
		with = append(with, max(n[1+2*i], n[2+2*i]))
	}
	return n[0], with, nil
}

// repeats is how often a query has a term of the question. Other terms stand there less often, by their weight: Weaviate counts a
// term as often as the query has it.
const repeats = 4

// Find implements search.Finder. It finds nothing for misspelt terms, because Weaviate has no fuzzy search by term.
func (x *Index) Find(ctx context.Context, terms []search.Term, n int) ([]passages.Passage, error) {
	var words []string
	for _, t := range terms {
		if t.Typos == 0 {
			words = append(words, slices.Repeat([]string{t.Text}, max(1, int(math.Round(repeats*t.Weight))))...)
		}
	}
	if len(words) == 0 || n <= 0 {
		return nil, ctx.Err()
	}
	query := fmt.Sprintf(`{Get{%s(bm25:{query:%s,properties:[%q,%q]},limit:%d,consistencyLevel:ONE){%s %s %s %s _additional{score}}}}`,
		x.store.class, quote(strings.Join(words, " ")), fmt.Sprint(propTitleTerms, "^", titleBoost), propTextTerms, n,
		propID, propSource, propTitle, propText)
	var found []struct {
		ID         string                          `json:"pid"`
		Source     string                          `json:"source"`
		Title      string                          `json:"title"`
		Text       string                          `json:"text"`
		Additional struct{ Score json.RawMessage } `json:"_additional"`
	}
	if err := x.store.query(ctx, query, "Get", x.store.class, &found); err != nil {
		return nil, err
	}
	out := make([]passages.Passage, 0, len(found))
	score := map[string]string{}
	for _, f := range found {
		out = append(out, passages.Passage{ID: f.ID, Source: f.Source, Title: f.Title, Text: f.Text})
		score[f.ID] = string(f.Additional.Score)
	}
	// Those of one score are neighbours, in an order that differs between nodes.
	for i := 0; i < len(out); {
		end := i + 1
		for end < len(out) && score[out[end].ID] == score[out[i].ID] {
			end++
		}
		slices.SortFunc(out[i:end], func(a, b passages.Passage) int { return strings.Compare(a.ID, b.ID) })
		i = end
	}
	return out, nil
}

// titleBoost is what an occurrence in the title counts.
const titleBoost = 2

// Parse reads an address: weaviate://HOST[:PORT],…[/CLASS], or weaviates:// for TLS. It returns the nodes as URLs.
func Parse(address string) (nodes []string, class string, err error) {
	scheme, rest, ok := strings.Cut(address, "://")
	protocol, known := map[string]string{"weaviate": "http", "weaviates": "https"}[scheme]
	if !ok || !known {
		return nil, "", fmt.Errorf("%q: want weaviate://HOST[:PORT],…[/CLASS], or weaviates:// for TLS", address)
	}
	hosts, class, named := strings.Cut(rest, "/")
	if !named {
		class = "TandemPassage"
	}
	if !validClass(class) {
		return nil, "", fmt.Errorf("%q: the class %q must begin with a capital and hold letters and digits only", address, class)
	}
	for _, h := range strings.Split(hosts, ",") {
		if h = strings.TrimSpace(h); h == "" || strings.ContainsAny(h, "@?#/ ") {
			return nil, "", fmt.Errorf("%q: %q is not a host", address, h)
		}
		if !strings.Contains(h[strings.LastIndexByte(h, ']')+1:], ":") {
			h += ":8080"
		}
		nodes = append(nodes, protocol+"://"+h)
	}
	return nodes, class, nil
}

func validClass(name string) bool {
	for i, r := range name {
		letter := r >= 'A' && r <= 'Z' || i > 0 && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
		if !letter {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// quote writes a string of GraphQL, whose escapes are those of JSON.
func quote(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return `""` // a string never fails
	}
	return string(b)
}

// uuid returns an object's ID: a name-based one (RFC 9562, version 8) of what it stands for.
func uuid(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// ErrUnreachable is wrapped by errors while no node of the cluster answers.
var ErrUnreachable error = unreachable{errors.New("no node answers")}

// unreachable tells node that the documents are there but cannot be reached now.
type unreachable struct{ error }

// Unreachable implements what package node asks of such an error.
func (unreachable) Unreachable() bool { return true }
