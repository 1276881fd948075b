package weaviate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// cluster is several nodes in this process that speak Weaviate's protocol, as far as the package uses it, over one store. It
// refuses what Weaviate would refuse: unknown classes and fields, searches in fields that are not indexed for them.
type cluster struct {
	t       *testing.T
	version string
	nodes   []*httptest.Server
	key     string // that requests must have

	mu       sync.Mutex
	classes  map[string]*class
	requests map[string]int // by method and path
	broken   bool           // batches of objects fail
	stuck    bool           // removals fail
}

type class struct {
	Class               string
	Vectorizer          string
	Properties          []property
	InvertedIndexConfig struct{ Stopwords struct{ Preset string } }
	ReplicationConfig   struct {
		Factor      int
		AsyncConfig struct{ Frequency, FrequencyWhilePropagating, PropagationDelay int }
	}
	ShardingConfig struct{ DesiredCount int }

	objects map[string]map[string]string // by ID
}

type property struct {
	Name            string
	DataType        []string
	Tokenization    string
	IndexSearchable bool
	IndexFilterable bool
}

func newCluster(t *testing.T, nodes int) *cluster {
	c := &cluster{t: t, version: "1.39.2", classes: map[string]*class{}, requests: map[string]int{}}
	for range nodes {
		c.start()
	}
	return c
}

func (c *cluster) start() {
	s := httptest.NewServer(http.HandlerFunc(c.serve))
	c.t.Cleanup(s.Close)
	c.nodes = append(c.nodes, s)
}

// address names the nodes.
func (c *cluster) address() string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, strings.TrimPrefix(n.URL, "http://"))
	}
	return "weaviate://" + strings.Join(hosts, ",")
}

func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[r.Method+" "+r.URL.Path]++
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	fail := func(status int, text string, args ...any) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":[{"message":%q}]}`, fmt.Sprintf(text, args...))
	}
	read := func(into any) bool {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			c.t.Errorf("%s %s: %v", r.Method, r.URL, err)
			fail(http.StatusUnprocessableEntity, "%v", err)
			return false
		}
		return true
	}
	if c.key != "" && r.Header.Get("Authorization") != "Bearer "+c.key {
		fail(http.StatusUnauthorized, "anonymous access not enabled")
		return
	}
	name, ofClass := strings.CutPrefix(r.URL.Path, "/v1/schema/")
	switch {
	case r.URL.Path == "/v1/meta":
		json.NewEncoder(w).Encode(map[string]any{"version": c.version, "hostname": "http://[::]:8080", "modules": map[string]any{}})
	case ofClass && r.Method == http.MethodGet:
		if c.classes[name] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		json.NewEncoder(w).Encode(c.classes[name])
	case ofClass && r.Method == http.MethodDelete:
		delete(c.classes, name)
	case r.URL.Path == "/v1/schema" && r.Method == http.MethodPost:
		var k class
		if !read(&k) {
			return
		}
		if k.ReplicationConfig.Factor > len(c.nodes) || c.classes[k.Class] != nil {
			fail(http.StatusUnprocessableEntity, "class %s: not enough nodes, or it exists", k.Class)
			return
		}
		k.objects = map[string]map[string]string{}
		c.classes[k.Class] = &k
	case r.URL.Path == "/v1/objects" && r.Method == http.MethodGet:
		c.page(w, r)
	case r.URL.Path == "/v1/batch/objects" && r.URL.Query().Get("consistency_level") != "QUORUM":
		c.t.Errorf("a write with the consistency level %q", r.URL.Query().Get("consistency_level"))
	case r.URL.Path == "/v1/batch/objects" && r.Method == http.MethodPost:
		var batch struct{ Objects []object }
		if c.broken {
			fail(http.StatusInternalServerError, "no quorum")
		} else if read(&batch) {
			json.NewEncoder(w).Encode(c.put(batch.Objects))
		}
	case r.URL.Path == "/v1/batch/objects" && r.Method == http.MethodDelete && c.stuck:
		fail(http.StatusInternalServerError, "no quorum")
	case r.URL.Path == "/v1/batch/objects" && r.Method == http.MethodDelete:
		c.remove(w, read)
	case r.URL.Path == "/v1/graphql":
		var q struct{ Query string }
		if read(&q) {
			json.NewEncoder(w).Encode(c.graphql(q.Query))
		}
	case r.URL.Path == "/v1/graphql/batch":
		var list []struct{ Query string }
		if read(&list) {
			answers := []any{}
			for _, q := range list {
				answers = append(answers, c.graphql(q.Query))
			}
			json.NewEncoder(w).Encode(answers)
		}
	default:
		c.t.Errorf("%s %s", r.Method, r.URL)
		fail(http.StatusNotFound, "no such path")
	}
}

func (c *cluster) page(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	k := c.classes[q.Get("class")]
	limit, err := strconv.Atoi(q.Get("limit"))
	if k == nil || err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	var ids []string
	for id := range k.objects {
		if id > q.Get("after") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	list := []map[string]any{}
	for _, id := range ids[:min(len(ids), limit)] {
		list = append(list, map[string]any{"class": k.Class, "id": id, "properties": k.objects[id], "creationTimeUnix": 1})
	}
	json.NewEncoder(w).Encode(map[string]any{"objects": list, "totalResults": len(list)})
}

func (c *cluster) put(objects []object) (results []map[string]any) {
	for _, o := range objects {
		result := map[string]any{"status": "SUCCESS"}
		k := c.classes[o.Class]
		known := k != nil && regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(o.ID)
		for name := range o.Properties {
			known = known && slices.ContainsFunc(k.Properties, func(p property) bool { return p.Name == name })
		}
		if known {
			k.objects[o.ID] = o.Properties
		} else {
			result = map[string]any{"status": "FAILED", "errors": map[string]any{"error": []map[string]string{{"message": "invalid object"}}}}
		}
		results = append(results, map[string]any{"class": o.Class, "id": o.ID, "result": result})
	}
	return results
}

func (c *cluster) remove(w http.ResponseWriter, read func(any) bool) {
	var b struct {
		Match struct {
			Class string
			Where struct {
				Path           []string
				Operator       string
				ValueTextArray []string
			}
		}
	}
	if !read(&b) {
		return
	}
	k, where := c.classes[b.Match.Class], b.Match.Where
	if k == nil || where.Operator != "ContainsAny" || !k.has(where.Path[0], func(p property) bool { return p.IndexFilterable }) {
		c.t.Errorf("a wrong filter %+v", b)
		return
	}
	n := 0
	for id, o := range k.objects {
		if slices.Contains(where.ValueTextArray, o[where.Path[0]]) {
			delete(k.objects, id)
			n++
		}
	}
	json.NewEncoder(w).Encode(map[string]any{"results": map[string]int{"matches": n, "successful": n, "failed": 0}})
}

func (k *class) has(name string, is func(property) bool) bool {
	return slices.ContainsFunc(k.Properties, func(p property) bool { return p.Name == name && is(p) })
}

var (
	aggregate = regexp.MustCompile(`^\{Aggregate\{(\w+)(?:\(where:\{path:\["(\w+)"\],operator:Equal,valueText:("(?:[^"\\]|\\.)*")\}\))?\{meta\{count\}\}\}\}$`)
	get       = regexp.MustCompile(`^\{Get\{(\w+)\(bm25:\{query:("(?:[^"\\]|\\.)*"),properties:\["(\w+)\^2","(\w+)"\]\},limit:(\d+),consistencyLevel:ONE\)\{([\w ]+) _additional\{score\}\}\}\}$`)
)

func (c *cluster) graphql(query string) any {
	wrong := func(text string) any {
		return map[string]any{"data": nil, "errors": []map[string]string{{"message": text}}}
	}
	if m := aggregate.FindStringSubmatch(query); m != nil && c.classes[m[1]] != nil {
		k, n := c.classes[m[1]], 0
		term := text(m[3])
		for _, o := range k.objects {
			if m[2] == "" || slices.Contains(strings.Fields(o[m[2]]), term) {
				n++
			}
		}
		if m[2] != "" && !k.has(m[2], func(p property) bool { return p.IndexFilterable && p.Tokenization == "whitespace" }) {
			return wrong("not filterable")
		}
		return map[string]any{"data": map[string]any{"Aggregate": map[string]any{m[1]: []any{map[string]any{"meta": map[string]any{"count": n}}}}}}
	}
	m := get.FindStringSubmatch(query)
	if m == nil || c.classes[m[1]] == nil {
		c.t.Errorf("a query that the cluster does not know: %s", query)
		return wrong("syntax error")
	}
	limit, err := strconv.Atoi(m[5])
	if err != nil || limit > 10_000 {
		return wrong("limit")
	}
	return map[string]any{"data": map[string]any{"Get": map[string]any{m[1]: c.classes[m[1]].bm25(text(m[2]), m[3], m[4], limit, strings.Fields(m[6]))}}}
}

func text(quoted string) (s string) {
	json.Unmarshal([]byte(quoted), &s)
	return s
}

// bm25 ranks by BM25F over two fields; the first counts twice. A term counts as often as the query has it. Equal scores are in an
// order of its own.
func (k *class) bm25(query, title, body string, limit int, fields []string) []map[string]any {
	terms, average := strings.Fields(query), 0.0
	type hit struct {
		id    string
		score float64
	}
	frequency := map[string]int{}
	for _, o := range k.objects {
		all := strings.Fields(o[title] + " " + o[body])
		average += float64(len(all)) / float64(len(k.objects))
		for _, t := range slices.Compact(slices.Sorted(slices.Values(terms))) {
			if slices.Contains(all, t) {
				frequency[t]++
			}
		}
	}
	var hits []hit
	for id, o := range k.objects {
		count, length := map[string]float64{}, 0.0
		for _, t := range strings.Fields(o[title]) {
			count[t] += 2
			length++
		}
		for _, t := range strings.Fields(o[body]) {
			count[t]++
			length++
		}
		score := 0.0
		for _, t := range terms {
			n := float64(frequency[t])
			idf := math.Log(1 + (float64(len(k.objects))-n+0.5)/(n+0.5))
			score += idf * count[t] * 2.2 / (count[t] + 1.2*(0.25+0.75*length/average))
		}
		if score > 0 {
			hits = append(hits, hit{id, score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.id, a.id)) })
	out := []map[string]any{}
	for _, h := range hits[:min(len(hits), limit)] {
		o := map[string]any{"_additional": map[string]any{"score": fmt.Sprintf("%.6f", h.score)}}
		for _, f := range fields {
			o[f] = k.objects[h.id][f]
		}
		out = append(out, o)
	}
	return out
}
