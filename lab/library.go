package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/lab/report"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
)

// Library measures the index of a side over many passages: the time to make it, its size, and the time of searches. The
// passages are synthetic, in files below Dir. Each states one fact, with a combination of words that no other passage has,
// among common words with Zipf-distributed frequencies. A question asks for a fact.
type Library struct {
	Dir       string // for documents and index; it must be empty or not exist
	Passages  int
	PerFile   int // passages of a file
	Questions int
	AtOnce    []int // questions at the same time
	Seed      uint64
}

// LibraryResult is what an index over some number of passages does.
type LibraryResult struct {
	Passages int             `json:"passages"` // in the index
	Files    int             `json:"files"`
	Text     float64         `json:"text_mb"`
	Index    float64         `json:"index_mb"`            // on disk
	PerSec   float64         `json:"passages_per_second"` // while it is made
	Refresh  float64         `json:"refresh_seconds"`     // with nothing changed
	List     float64         `json:"list_seconds"`
	Open     float64         `json:"open_seconds"` // and the first search
	Searches []LibrarySearch `json:"searches"`
}

// LibrarySearch is how long searches take, of which some run at the same time.
type LibrarySearch struct {
	AtOnce    int     `json:"at_once"`
	Questions int     `json:"questions"`
	Median    float64 `json:"median_ms"`
	P99       float64 `json:"p99_ms"`
	PerSecond float64 `json:"per_second"`
	Found     float64 `json:"found"` // share of questions whose passage is among the first searchDepth
}

// searchDepth is how many passages a search returns.
const searchDepth = 8

// Run makes the documents and the index and measures them. The files stay.
func (x Library) Run(ctx context.Context, progress report.Progress) (r LibraryResult, err error) {
	if entries, err := os.ReadDir(x.Dir); err == nil && len(entries) > 0 {
		return r, fmt.Errorf("%s is not empty", x.Dir)
	}
	documents, index := filepath.Join(x.Dir, "documents"), filepath.Join(x.Dir, "index")
	facts, err := x.write(documents)
	if err != nil {
		return r, err
	}
	r.Text = folderMB(documents)
	idx, err := search.Open(index, search.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, idx.Close()) }()
	start := time.Now()
	report, err := idx.Add(ctx, documents, func(p search.Progress) { progress(p.Done, p.Files) })
	if err != nil {
		return r, err
	}
	r.PerSec = float64(report.Passages) / time.Since(start).Seconds()
	r.Passages, r.Files, r.Index = report.Passages, report.Added, folderMB(index)
	if r.Refresh, err = seconds(func() error { _, err := idx.Refresh(ctx, nil); return err }); err != nil {
		return r, err
	}
	if r.List, err = seconds(func() error { _, err := idx.List(); return err }); err != nil {
		return r, err
	}
	again, err := search.Open(index, search.Options{ReadOnly: true})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, again.Close()) }()
	if r.Open, err = seconds(func() error {
		_, err := again.Search(ctx, passages.Query{Text: facts[0].question()}, searchDepth)
		return err
	}); err != nil {
		return r, err
	}
	for _, n := range x.AtOnce {
		s, err := x.search(ctx, again, facts, n)
		if err != nil {
			return r, err
		}
		r.Searches = append(r.Searches, s)
	}
	return r, nil
}

// search asks all questions, n at a time.
func (x Library) search(ctx context.Context, idx *search.Index, facts []fact, n int) (LibrarySearch, error) {
	var mu sync.Mutex
	var times []float64
	found, start := 0, time.Now()
	err := atOnce(ctx, n, x.Questions, nil, func(ctx context.Context, i int) error {
		f := facts[i%len(facts)]
		began := time.Now()
		list, err := idx.Search(ctx, passages.Query{Text: f.question()}, searchDepth)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		times = append(times, float64(time.Since(began))/float64(time.Millisecond))
		for _, p := range list {
			if strings.Contains(p.Text, f.value) {
				found++
				break
			}
		}
		return nil
	})
	took := time.Since(start).Seconds()
	return LibrarySearch{AtOnce: n, Questions: len(times), Median: report.Quantile(times, .5), P99: report.Quantile(times, .99),
		PerSecond: float64(len(times)) / took, Found: float64(found) / float64(max(1, len(times)))}, err
}

// seconds returns how long f takes.
func seconds(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	return time.Since(start).Seconds(), err
}

// folderMB returns the megabytes of the files below a folder. What is gone meanwhile does not count.
func folderMB(dir string) float64 {
	sum := int64(0)
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return float64(sum) / (1 << 20)
}

// fact is what a passage says and nothing else does.
type fact struct{ kind, of, value string }

func (f fact) question() string { return fmt.Sprintf("What is the %s of %s?", f.kind, f.of) }
func (f fact) sentence() string { return fmt.Sprintf("The %s of %s is %s.", f.kind, f.of, f.value) }

// factKinds are what facts are about.
var factKinds = []string{"door code", "phone number", "opening time", "wifi password", "departure platform", "table number", "licence plate", "locker"}

// write writes the documents and returns the facts that are asked for, spread evenly over the passages.
func (x Library) write(dir string) (asked []fact, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(x.Seed, 1))
	words := randomWords(rng, 30_000)
	common := rand.NewZipf(rng, 1.1, 8, uint64(len(words)-1))
	every := max(1, x.Passages/max(1, x.Questions))
	var text strings.Builder
	for i := range x.Passages {
		f := fact{factKinds[rng.IntN(len(factKinds))], title(words[rng.IntN(len(words))]) + " " + title(words[rng.IntN(len(words))]), fmt.Sprintf("%s-%d", words[rng.IntN(len(words))], i)}
		if i%every == 0 && len(asked) < x.Questions {
			asked = append(asked, f)
		}
		paragraph(&text, rng, f, func() string { return words[common.Uint64()] })
		if (i+1)%x.PerFile > 0 && i+1 < x.Passages {
			continue
		}
		folder := filepath.Join(dir, fmt.Sprintf("%03d", i/x.PerFile/1000)) // of a thousand files each
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%07d.txt", i/x.PerFile)), []byte(text.String()), 0o600); err != nil {
			return nil, err
		}
		text.Reset()
	}
	return asked, nil
}

// paragraph writes about as many words as a passage has: the fact between sentences of common words.
func paragraph(out *strings.Builder, rng *rand.Rand, f fact, word func() string) {
	const sentences, each = 5, 11
	at := rng.IntN(sentences)
	for s := range sentences {
		if s == at {
			out.WriteString(f.sentence() + " ")
			continue
		}
		list := make([]string, each)
		for i := range list {
			list[i] = word()
		}
		list[0] = title(list[0])
		out.WriteString(strings.Join(list, " ") + ". ")
	}
	out.WriteString("\n\n")
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// randomWords returns n different words of two or three syllables.
func randomWords(rng *rand.Rand, n int) []string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	seen := map[string]bool{}
	for len(seen) < n {
		var w strings.Builder
		for range 2 + rng.IntN(2) {
			w.WriteByte(consonants[rng.IntN(len(consonants))])
			w.WriteByte(vowels[rng.IntN(len(vowels))])
		}
		w.WriteByte(consonants[rng.IntN(len(consonants))])
		seen[w.String()] = true
	}
	list := make([]string, 0, n)
	for w := range seen {
		list = append(list, w)
	}
	slices.Sort(list) // the order of a map is another one each time
	rng.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
