package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// store is a class of passages, and a class with the records of their files.
type store struct {
	client *client
	class  string

	mu      sync.Mutex // guards the fields below: what is to be written
	objects []object   // passages
	after   []object   // records of their files: written after the passages
	gone    []string   // passages, removed after that
	lost    []string   // files, forgotten at last
	bytes   int
}

// files is the class of files.
func (s *store) files() string { return s.class + "File" }

// object is an object as Weaviate takes it.
type object struct {
	Class      string            `json:"class"`
	ID         string            `json:"id"`
	Properties map[string]string `json:"properties"`
}

// Bounds on a batch.
const (
	batchBytes  = 1 << 20
	batchNumber = 200
	page        = 200
)

// rootsPath stands for what was added. No file has this path.
const rootsPath = ""

// catchUp makes replicas look soon for what they missed, in milliseconds: the least that a cluster takes for the first two.
var catchUp = map[string]int{"frequency": 5000, "frequencyWhilePropagating": 1000, "propagationDelay": 5000}

// prepare makes the classes that do not exist yet.
func (s *store) prepare(ctx context.Context, replicas int) error {
	stored := func(name, tokenization string, searchable, filterable bool) map[string]any {
		return map[string]any{"name": name, "dataType": []string{"text"}, "tokenization": tokenization, "indexSearchable": searchable, "indexFilterable": filterable}
	}
	for class, properties := range map[string][]map[string]any{
		s.class: {
			stored(propID, "field", false, true), stored(propSource, "field", false, false),
			stored(propTitle, "field", false, false), stored(propText, "field", false, false),
			stored(propTitleTerms, "whitespace", true, true), stored(propTextTerms, "whitespace", true, true),
		},
		s.files(): {stored(propPath, "field", false, true), stored(propMemory, "field", false, false)},
	} {
		var refused *statusError
		err := s.client.do(ctx, http.MethodGet, "/v1/schema/"+class, nil, nil)
		if errors.As(err, &refused) && refused.status == http.StatusNotFound {
			err = s.client.do(ctx, http.MethodPost, "/v1/schema", map[string]any{
				"class": class, "vectorizer": "none", "properties": properties,
				"invertedIndexConfig": map[string]any{"stopwords": map[string]any{"preset": "none"}},
				"replicationConfig":   map[string]any{"factor": replicas, "asyncConfig": catchUp},
				"shardingConfig":      map[string]any{"desiredCount": shards},
			}, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Load implements search.Store. It reads a page at a time. What an earlier flush could not write is written first: else the
// records would not show it, and a later flush could remove a file that was added meanwhile.
func (s *store) Load(ctx context.Context, f func(file []byte) error) (roots []byte, err error) {
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	after := ""
	for {
		var got struct{ Objects []object }
		path := fmt.Sprintf("/v1/objects?class=%s&limit=%d&after=%s", url.QueryEscape(s.files()), page, url.QueryEscape(after))
		if err := s.client.do(ctx, http.MethodGet, path, nil, &got); err != nil {
			return nil, err
		}
		for _, o := range got.Objects {
			memory := []byte(o.Properties[propMemory])
			if o.Properties[propPath] == rootsPath {
				roots = memory
			} else if err := f(memory); err != nil {
				return nil, err
			}
			after = o.ID
		}
		if len(got.Objects) == 0 {
			return roots, nil
		}
	}
}

// Put implements search.Store. It writes the new passages before the file's record, and removes old passages after that, so a
// process that is killed leaves at worst too many passages.
func (s *store) Put(ctx context.Context, path string, file []byte, old []string, ps []passages.Passage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]bool{}
	for _, p := range ps {
		kept[p.ID] = true
		s.objects = append(s.objects, object{s.class, uuid("passage", p.ID), map[string]string{
			propID: p.ID, propSource: p.Source, propTitle: p.Title, propText: p.Text,
			propTitleTerms: strings.Join(slices.Concat(search.Terms(p.Title), search.NameTerms(p)), " "), propTextTerms: strings.Join(search.Terms(p.Text), " "),
		}})
		s.bytes += 2 * (len(p.Title) + len(p.Text))
	}
	for _, id := range old {
		if !kept[id] {
			s.gone = append(s.gone, id)
		}
	}
	// Removals come last, so what was dropped before and is here again must not be among them.
	s.gone = slices.DeleteFunc(s.gone, func(id string) bool { return kept[id] })
	s.lost = slices.DeleteFunc(s.lost, func(lost string) bool { return lost == path })
	s.remember(path, file)
	return s.spill(ctx)
}

// Drop implements search.Store.
func (s *store) Drop(ctx context.Context, path string, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.lost = append(s.gone, ids...), append(s.lost, path)
	return s.spill(ctx)
}

// SaveRoots implements search.Store.
func (s *store) SaveRoots(ctx context.Context, roots []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(rootsPath, roots)
	return s.spill(ctx)
}

// Flush implements search.Store.
func (s *store) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(ctx)
}

func (s *store) remember(path string, memory []byte) {
	s.after = append(s.after, object{s.files(), uuid("file", path), map[string]string{propPath: path, propMemory: string(memory)}})
	s.bytes += len(memory)
}

func (s *store) spill(ctx context.Context) error {
	if s.bytes < batchBytes && len(s.objects)+len(s.after)+len(s.gone)+len(s.lost) < batchNumber {
		return nil
	}
	return s.flush(ctx)
}

// flush writes what is to be written. What fails stays for the next time.
func (s *store) flush(ctx context.Context) error {
	for _, list := range []*[]object{&s.objects, &s.after} {
		for len(*list) > 0 {
			n := min(len(*list), batchNumber)
			if err := s.write(ctx, (*list)[:n]); err != nil {
				return err
			}
			*list = (*list)[n:]
		}
	}
	for _, gone := range []struct {
		list            *[]string
		class, property string
	}{{&s.gone, s.class, propID}, {&s.lost, s.files(), propPath}} {
		for len(*gone.list) > 0 {
			n := min(len(*gone.list), batchNumber)
			if err := s.remove(ctx, gone.class, gone.property, (*gone.list)[:n]); err != nil {
				return err
			}
			*gone.list = (*gone.list)[n:]
		}
	}
	s.bytes = 0
	return nil
}

// write stores objects on most replicas of their shards.
func (s *store) write(ctx context.Context, objects []object) error {
	var results []struct {
		ID     string
		Result struct {
			Errors *struct{ Error []struct{ Message string } }
		}
	}
	if err := s.client.do(ctx, http.MethodPost, "/v1/batch/objects?consistency_level=QUORUM", map[string]any{"objects": objects}, &results); err != nil {
		return err
	}
	if len(results) != len(objects) {
		return fmt.Errorf("the cluster answers for %d of %d objects", len(results), len(objects))
	}
	for _, r := range results {
		if e := r.Result.Errors; e != nil && len(e.Error) > 0 {
			return fmt.Errorf("the cluster refuses an object: %s", e.Error[0].Message)
		}
	}
	return nil
}

// remove deletes the objects of a class whose property has one of the values.
func (s *store) remove(ctx context.Context, class, property string, values []string) error {
	var done struct {
		Results struct{ Failed int }
	}
	err := s.client.do(ctx, http.MethodDelete, "/v1/batch/objects?consistency_level=QUORUM", map[string]any{"match": map[string]any{
		"class": class, "where": map[string]any{"path": []string{property}, "operator": "ContainsAny", "valueTextArray": values},
	}}, &done)
	if err == nil && done.Results.Failed > 0 {
		err = fmt.Errorf("the cluster could not remove %d objects", done.Results.Failed)
	}
	return err
}

// answer is the cluster's answer to a query in GraphQL.
type answer struct {
	Data   map[string]map[string]json.RawMessage
	Errors []struct{ Message string }
}

// class returns the part of an answer that is about a class.
func (a answer) class(verb, class string, out any) error {
	if len(a.Errors) > 0 {
		return fmt.Errorf("the cluster refuses a query: %.200s", a.Errors[0].Message)
	}
	part, ok := a.Data[verb][class]
	if !ok {
		return fmt.Errorf("the cluster's answer to a query lacks %s %s", verb, class)
	}
	return json.Unmarshal(part, out)
}

// query asks one query.
func (s *store) query(ctx context.Context, text, verb, class string, out any) error {
	var a answer
	if err := s.client.do(ctx, http.MethodPost, "/v1/graphql", map[string]string{"query": text}, &a); err != nil {
		return err
	}
	return a.class(verb, class, out)
}

// counts returns how many objects a class has, and how many pass each filter, in one request.
func (s *store) counts(ctx context.Context, class string, filters []string) ([]uint64, error) {
	queries := []map[string]string{}
	for _, f := range append([]string{""}, filters...) {
		queries = append(queries, map[string]string{"query": fmt.Sprintf("{Aggregate{%s%s{meta{count}}}}", class, f)})
	}
	var answers []answer
	if err := s.client.do(ctx, http.MethodPost, "/v1/graphql/batch", queries, &answers); err != nil {
		return nil, err
	}
	if len(answers) != len(queries) {
		return nil, fmt.Errorf("the cluster answers %d of %d queries", len(answers), len(queries))
	}
	out := make([]uint64, len(answers))
	for i, a := range answers {
		var found []struct{ Meta struct{ Count uint64 } }
		if err := a.class("Aggregate", class, &found); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			out[i] = found[0].Meta.Count
		}
	}
	return out, nil
}
