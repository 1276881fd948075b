package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/lab/answers"
	"tandem/lab/quality"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/retrieval/search/weaviate"
)

// setFlags are those of quality for sets of documents with questions that others wrote.
type setFlags struct {
	Data string   `help:"Folder with the sets xquad/… (data/qa/xquad.en.half.json) and reading/… (reading/qa/judge/*.jsonl.gz); without it, shared in this folder or one above it." type:"existingdir" placeholder:"DIR"`
	Seed uint64   `help:"With such sets: draws the questions of --n and deals the documents to the two sides." default:"1"`
	Show []string `help:"With such sets: wrong prints each answer that is not right, with what was read; doubted each below which something else is said; all prints every answer." enum:"wrong,doubted,all" placeholder:"WHICH"`
	Span string   `help:"With such sets: a span reader's file instead of the built-in one." type:"existingfile" placeholder:"FILE"`

	Index string `help:"With such sets: keep all documents but the device's in a Weaviate cluster, as cloud serve --index: weaviate://HOST[:PORT],…[/CLASS]. The classes, whose names begin with CLASS, are removed at the end." placeholder:"ADDRESS"`

	Replace string `help:"With such sets: read the files in this folder instead of the documents with the same names apart from the extension, such as a PDF of each." type:"existingdir" placeholder:"DIR"`

	Withhold bool `help:"With such sets: ask each answerable question without the documents that answer it, so that refusing is right."`
	Misspell int  `help:"With such sets: misspell up to this many words of each question." placeholder:"WORDS"`

	Grounded  bool   `help:"With such sets: the decoder writes only words of the question, function words and spans of its passages, as in the programs." default:"true" negatable:""`
	By        string `name:"reader" help:"With such sets: what answers: ${enum}." enum:"span,decoder" default:"span"`
	Constants string `help:"With such sets: a file with the span reader's constants, as --fit prints them." placeholder:"FILE"`
}

const setsHelp = `Sets that others wrote: people/tune, people/tune/talks (conversations), people/first, people/second, people/third, people/fourth, people/fifth, people/sixth, people/seventh, people/eighth, people/ninth and people/judge (documents of invented households, written by a language model; judge is for reporting only), people/technical (READMEs, references, runbooks and prose), people/tongues (German, French and Spanish), xquad/open, xquad/gold, reading,
reading/SOURCE, reading/SOURCE/gold, generated (the generated worlds, judged the same way), and any folder of yours, given by a path with a slash: its files in documents/ and its questions.jsonl (see below). Documents are dealt to the two sides at random; gold asks each question of
its own paragraph alone. Methods: pair, device, cloud, one-side (all documents in one index), quote (BM25's best sentence, no model), span (with --span: a reader that points at words of the 8 best windows by BM25, all
documents together; models/span.gguf is one).
  lab quality --sets people/tune --n 0 --show wrong
  lab quality --sets people/tune --n 0 --span models/span.gguf --methods pair,quote,span
  lab quality --sets xquad/open,reading --n 60 --methods pair,quote --json figures.json
  lab quality --sets people/tune --n 0 --methods pair --withhold
  lab quality --sets ./mine --n 0 --methods pair --show all
  lab quality --sets xquad/open,generated,reading --n 200 --fit

A line of questions.jsonl: {"id": "1", "question": "…", "kind": "fact", "documents": ["file.md"], "answers": ["as the document spells it", "another way"], "sentence": "the sentence or line that says it"}. Only question, kind and answers
are needed. The kinds list (with "items": […], all wanted), yesno (its answer is yes or no), why and how (the sentence answers too) and unanswerable (no answers) are judged in their own ways; other names only group the figures. A follow-up names the question before it: "after": "1".

With --fit: the curves that say how likely a passage's text is right, fitted to the passages found for the questions of one part, each set with the same weight, and what they make of each set. --constants FILE measures with what --fit printed.

right: it contains an accepted answer as whole words. exact, F1: after SQuAD's normalisation. sentence: the sentence that says it is in the answer or in a cited
passage; first: it is the answer, or the first sentence that is shown with it. invented: a word that is neither in the question, nor in a closed list of function words, nor in a passage that was read. wrong: words of a document,
but not the answer. unknown: it says that it does not know what a document says; refused: what none says. read: the sentence was among the passages
that were read. doubted: a sentence that says something else is shown below a right answer; spared: below a wrong one, such a sentence holds the right one. In brackets, 95 % confidence intervals. invented and wrong are of all questions, refused of the unanswerable ones, doubted and spared of the right and the wrong answers, the rest of the answerable ones.`

// ofOthers reports whether a set was written by others, or is judged like such sets.
func ofOthers(set string) bool {
	return strings.Contains(set, "/") || set == "reading" || set == "generated" || filepath.IsAbs(set) || strings.HasPrefix(set, ".")
}

// recallRow is how often retrieval finds the sentences that hold an answer.
type recallRow struct {
	Set    string               `json:"set"`
	Method string               `json:"method"` // one of answers.Retrievals
	At     map[int]answers.Rate `json:"at"`     // by the number of passages
}

// runSets asks the questions of sets that others wrote.
func (c *qualityCmd) runSets(a *cli.App) error {
	if err := c.checkSets(a); err != nil {
		return err
	}
	sets, err := c.openSets(a)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	rerank, done, err := c.OpenScorer(a, c.ModelFlags)
	if err != nil {
		return err
	}
	defer done()
	c.Rerank = rerank
	reader, err := c.reader()
	if err != nil {
		return err
	}
	product, err := c.product(m, reader)
	if err != nil {
		return err
	}
	if c.Fit {
		return c.fitSets(a, product, sets)
	}
	methods, err := c.methods(product, reader)
	if err != nil {
		return err
	}
	begun := time.Now()
	var results []answers.Result
	recalls := []recallRow{} // an empty list in JSON
	for _, set := range sets {
		r, recall, err := c.askSet(a, set, reader, c.methodsFor(set, methods))
		if err != nil {
			return err
		}
		results, recalls = append(results, r...), append(recalls, recall...)
	}
	took := time.Since(begun)
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"model": m.Config().Name, "results": results, "recall": recalls, "seconds": took.Seconds(), "command": commandLine()})
	}
	fmt.Fprintf(a.Out, "%s, greedy, %d passages a side, seed %d, %v\n", m.Config().Name, c.Documents, c.Seed, took.Round(time.Second))
	printResults(a.Out, results)
	printKinds(a.Out, results)
	printRecalls(a.Out, recalls)
	printInvented(a.Out, results)
	return nil
}

// methods returns the chosen ones of the methods that there are.
func (c *qualityCmd) methods(product answers.Product, reader *span.Reader) ([]answers.Method, error) {
	available := product.Methods()
	if reader != nil {
		available = append(available, answers.Span(reader))
	}
	if c.Withhold {
		available = slices.DeleteFunc(available, func(m answers.Method) bool { return m.Name == "quote" })
	}
	return chosen(available, c.Methods)
}

// methodsFor returns the methods that make sense for a set: one paragraph cannot be dealt to two sides.
func (c *qualityCmd) methodsFor(set answers.Set, methods []answers.Method) []answers.Method {
	if len(c.Methods) > 0 || !strings.HasSuffix(set.Name, "/gold") {
		return methods
	}
	return slices.DeleteFunc(slices.Clone(methods), func(m answers.Method) bool { return m.Name != "pair" && m.Name != "quote" && m.Name != "span" })
}

// checkSets refuses flags that make no sense for sets, and fills in what depends on others.
func (c *qualityCmd) checkSets(a *cli.App) error {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	if c.points() {
		c.Documents = cmp.Or(c.Documents, cli.SpanDocuments)
	}
	c.Documents = cmp.Or(c.Documents, cli.DecoderDocuments)
	if c.N < 0 || c.Documents < 1 || c.Tokens < 1 || c.Misspell < 0 {
		return fmt.Errorf("--n %d, --misspell %d, --documents %d, --tokens %d: want 0 or more questions and words, 1 passage and 1 token or more", c.N, c.Misspell, c.Documents, c.Tokens)
	}
	if i := slices.IndexFunc(c.Sets, func(s string) bool { return !ofOthers(s) }); i >= 0 {
		return fmt.Errorf("--sets %s: it cannot be asked together with %s", c.Sets[i], strings.Join(c.Sets, ","))
	}
	if len(c.Show) > 0 && slices.Contains(c.Sets, "people/judge") {
		return errors.New("--show: the misses of people/judge stay unread, so that nothing is fitted to them; look at people/tune")
	}
	if c.Withhold && slices.Contains(c.Methods, "quote") {
		return errors.New("--withhold: quote cannot refuse, so there is nothing to measure: use other --methods")
	}
	if c.Index != "" {
		if _, _, err := weaviate.Parse(c.Index); err != nil {
			return fmt.Errorf("--index: %w", err)
		}
	}
	_, err := c.weights()
	return err
}

// product returns what answers as the product does.
func (c *qualityCmd) product(m *model.Model, reader *span.Reader) (p answers.Product, err error) {
	weights, err := c.weights()
	if err != nil {
		return p, err
	}
	p = answers.Product{
		Config:    decoder.Config{Model: m, Scorer: search.Lexical(), Weights: weights[0], MaxTokens: c.Tokens, MaxSupport: c.Support, Grounded: c.Grounded},
		Documents: c.Documents,
	}
	if c.points() {
		constants, err := c.constants()
		if err != nil {
			return p, err
		}
		p.Extract = &extract.Config{Reader: reader, Tokenizer: m.Tokenizer(), Scorer: search.Lexical(), Constants: constants, MaxTokens: c.Tokens, MaxSupport: c.Support}
	}
	return p, nil
}

// points reports whether the span reader answers as the product.
func (c *qualityCmd) points() bool { return c.By == "span" && c.Model == "" }

// passageWords returns the length of passages: by default, what the answering reader reads best.
func (c *qualityCmd) passageWords() int {
	if c.points() {
		return cmp.Or(c.PassageWords, passages.DefaultWords)
	}
	return c.PassageWords
}

// indexing returns how documents are cut and searched: as in the programs, where the span reader answers.
func (c *qualityCmd) indexing(r *span.Reader) answers.Options {
	o := answers.Options{Options: search.Options{Words: c.passageWords(), Rerank: c.Rerank}}
	if c.points() {
		o.Related = r.Related
	}
	if c.Index != "" {
		o.Cluster = c.cluster
	}
	return o
}

// cluster makes an empty index in a class of its own.
func (c *qualityCmd) cluster(ctx context.Context, o search.Options) (answers.Index, error) {
	_, class, err := weaviate.Parse(c.Index)
	if err != nil {
		return nil, err
	}
	own := cli.EngineFlag{Index: fmt.Sprintf("%s/%sLab%x", strings.TrimSuffix(c.Index, "/"+class), class, rand.Uint64())}
	x, err := own.Cluster(ctx, cli.PassageFlags{PassageWords: o.Words, Related: o.Related, Rerank: o.Rerank})
	return inCluster{x}, err
}

// inCluster is an index in a cluster whose documents are erased when it is closed.
type inCluster struct{ *weaviate.Index }

func (x inCluster) Close() error {
	return errors.Join(x.Erase(context.Background()), x.Index.Close())
}

// reader opens the span reader, unless the decoder answers.
func (c *qualityCmd) reader() (*span.Reader, error) {
	if c.Span == "" {
		return cli.ReaderFlags{By: c.By}.OpenSpan(c.ModelFlags)
	}
	f, err := gguf.Open(c.Span)
	if err != nil {
		return nil, err
	}
	return span.New(f, native.New(1), c.Threads) // both stay open until the program ends
}

// constants returns the span reader's constants: the program's, or those of a file.
func (c *qualityCmd) constants() (k extract.Constants, err error) {
	if c.Constants == "" {
		return extract.DefaultConstants, nil
	}
	data, err := os.ReadFile(c.Constants)
	if err != nil {
		return k, fmt.Errorf("--constants: %w", err)
	}
	fitted := struct {
		After *extract.Constants `json:"after"`
	}{&k}
	if err := json.Unmarshal(data, &fitted); err != nil || fitted.After == nil || k == (extract.Constants{}) {
		return k, errors.Join(fmt.Errorf("--constants %s: want {\"after\": …} as --fit prints it", c.Constants), err)
	}
	return k, nil
}

// fitSets fits the span reader's curves to the questions of one part, and prints what they make of each set before and after.
func (c *qualityCmd) fitSets(a *cli.App, p answers.Product, sets []answers.Set) error {
	if p.Extract == nil || slices.Contains(c.Sets, "people/judge") {
		return errors.New("--fit: only the span reader's constants can be fitted to such sets, and none to people/judge")
	}
	var cases []answers.Case
	for _, s := range sets {
		more, err := answers.Cases(a, *p.Extract, s, c.Documents, c.indexing(p.Extract.Reader))
		if err != nil {
			return err
		}
		cases = append(cases, more...)
	}
	before := p.Extract.Constants
	after := answers.Fit(before, cases)
	return a.JSON(map[string]any{
		"before": before, "made_before": answers.Apply(before, cases), "after": after, "made_after": answers.Apply(after, cases),
	})
}

// chosen returns the methods that were asked for, or all.
func chosen(all []answers.Method, names []string) ([]answers.Method, error) {
	if len(names) == 0 {
		return all, nil
	}
	var out []answers.Method
	var known []string
	for _, m := range all {
		known = append(known, m.Name)
	}
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("--methods %s: these sets have %s", name, strings.Join(known, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// openSets reads the sets that were asked for. Those whose data are not there are left out with a remark.
func (c *qualityCmd) openSets(a *cli.App) ([]answers.Set, error) {
	var sets []answers.Set
	for _, name := range c.Sets {
		opened, err := c.openSet(name)
		if errors.Is(err, fs.ErrNotExist) {
			a.Remark("%s is left out: %v (name the folder with --data)", name, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, s := range opened {
			if c.Replace != "" {
				n, err := s.Replace(os.DirFS(c.Replace))
				if err != nil {
					return nil, err
				}
				a.Remark("%s: %d documents of %s are read instead", s.Name, n, c.Replace)
			}
			if c.Withhold {
				s = s.Withheld()
			}
			sets = append(sets, s.Sample(c.N, c.Seed).Misspelt(c.Misspell, c.Seed))
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("nothing to ask of the sets %s", strings.Join(c.Sets, ", "))
	}
	return sets, nil
}

// openSet reads one set, or all of a family.
func (c *qualityCmd) openSet(name string) ([]answers.Set, error) {
	parts := strings.Split(name, "/")
	gold := len(parts) > 1 && parts[len(parts)-1] == "gold"
	switch {
	case name == "generated":
		s, err := c.generated()
		return []answers.Set{s}, err
	case slices.Contains(answers.PeopleNames(), name):
		s, err := answers.People(name, c.Seed)
		return []answers.Set{s}, err
	case name == "xquad/open", name == "xquad/gold":
		return c.readSet(name, "data/qa/xquad.en.half.json", func(in io.Reader) (answers.Set, error) { return answers.SQuAD(name, in, gold, c.Seed) })
	case name == "reading", name == "reading/gold":
		return c.openReading(gold)
	case parts[0] == "reading" && (len(parts) == 2 || len(parts) == 3 && gold) && fs.ValidPath(parts[1]):
		path := "reading/qa/judge/" + parts[1] + ".jsonl.gz"
		return c.readSet(name, path, func(in io.Reader) (answers.Set, error) { return answers.Reading(name, in, gold, c.Seed) })
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return c.openFolder(name)
	}
	return nil, fmt.Errorf("--sets %s: there is no such set (%s, xquad/open, xquad/gold, reading/SOURCE, generated), nor is it a folder", name, strings.Join(answers.PeopleNames(), ", "))
}

// openFolder reads a set of the user's own.
func (c *qualityCmd) openFolder(dir string) ([]answers.Set, error) {
	s, err := answers.Folder(dir, os.DirFS(dir), "questions.jsonl", c.Seed)
	if errors.Is(err, fs.ErrNotExist) { // a set that is left out has nothing to do with files of the user's own
		return nil, fmt.Errorf("--sets %s: want a folder with documents/ and questions.jsonl: %v", dir, err)
	}
	return []answers.Set{s}, err
}

// openReading reads the sets of all sources.
func (c *qualityCmd) openReading(gold bool) ([]answers.Set, error) {
	dir, err := c.dataFile("reading/qa/judge")
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s/*.jsonl.gz: %w", dir, fs.ErrNotExist)
	}
	var out []answers.Set
	for _, f := range files {
		name := "reading/" + strings.TrimSuffix(filepath.Base(f), ".jsonl.gz")
		if gold {
			name += "/gold"
		}
		s, err := c.openSet(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s...)
	}
	return out, nil
}

func (c *qualityCmd) readSet(name, path string, read func(io.Reader) (answers.Set, error)) ([]answers.Set, error) {
	path, err := c.dataFile(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := read(f)
	return []answers.Set{s}, err
}

// dataFile returns the path of a file or folder of test data.
func (c *qualityCmd) dataFile(name string) (string, error) {
	if c.Data == "" {
		return sharedFile(name)
	}
	path := filepath.Join(c.Data, filepath.FromSlash(name))
	_, err := os.Stat(path)
	return path, err
}

// generated makes a set of the generated worlds. They do not say in which sentence an answer stands.
func (c *qualityCmd) generated() (answers.Set, error) {
	worlds, err := quality.ReadWorlds(c.Set)
	if err != nil {
		return answers.Set{}, err
	}
	out := answers.Set{Name: "generated"}
	for _, w := range worlds {
		var to answers.World
		for i, files := range [][]quality.File{w.Device, w.Cloud} {
			for _, f := range files {
				name := fmt.Sprintf("%d/%s", i, f.Name) // the sides may have files of the same name
				to.Sides[i] = append(to.Sides[i], answers.Document{Name: name, Data: []byte(f.Text)})
			}
		}
		for _, q := range w.Questions {
			next := answers.Question{Kind: q.Kind, Text: q.Text, Earlier: q.Earlier}
			for _, v := range q.Values {
				next.Parts = append(next.Parts, answers.Part{Answers: []string{v}})
			}
			if len(q.Values) > 0 {
				next.Answers = q.Right()
			}
			to.Questions = append(to.Questions, next)
		}
		out.Worlds = append(out.Worlds, to)
	}
	return out, nil
}

// askSet asks a set's questions by each method.
func (c *qualityCmd) askSet(a *cli.App, set answers.Set, r *span.Reader, methods []answers.Method) ([]answers.Result, []recallRow, error) {
	bar, begun := progress(a, set.Name), time.Now()
	tallies := make([]*answers.Tally, len(methods))
	for i, m := range methods {
		tallies[i] = answers.NewTally(set.Name, m.Name)
	}
	recall := make([][4]int, len(answers.Retrievals))
	known, done := 0, 0
	for _, w := range set.Worlds {
		err := c.askWorld(a, w, r, func(l *answers.Library, q answers.Question) error {
			if time.Since(begun) > 2*time.Second {
				bar(done, set.Count())
			}
			done++
			if q.KnowsSentences() {
				known++
				by, err := l.Recall(a, q)
				if err != nil {
					return err
				}
				for i, found := range by {
					for k, ok := range found {
						if ok {
							recall[i][k]++
						}
					}
				}
			}
			for i, m := range methods {
				if err := c.askOne(a, l, q, m, tallies[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", set.Name, err)
		}
	}
	a.Clear()
	var results []answers.Result
	for _, t := range tallies {
		results = append(results, t.Result(c.Seed))
	}
	var rows []recallRow
	for i, name := range answers.Retrievals {
		if known == 0 {
			break
		}
		row := recallRow{set.Name, name, map[int]answers.Rate{}}
		for k, depth := range answers.Depths {
			row.At[depth] = answers.Share(recall[i][k], known)
		}
		rows = append(rows, row)
	}
	return results, rows, nil
}

// askWorld indexes a world and calls each with its questions.
func (c *qualityCmd) askWorld(a *cli.App, w answers.World, r *span.Reader, each func(*answers.Library, answers.Question) error) (err error) {
	l, err := answers.Open(a, w, c.indexing(r))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for _, q := range w.Questions {
		if err := each(l, q); err != nil {
			return err
		}
	}
	return nil
}

// askOne asks a question by a method and counts the answer.
func (c *qualityCmd) askOne(a *cli.App, l *answers.Library, q answers.Question, m answers.Method, t *answers.Tally) error {
	ask := func(q answers.Question) (answers.Answer, error) { return m.Answer(a, l, q) }
	q, err := q.Replay(ask)
	if err != nil {
		return err
	}
	answer, err := ask(q)
	if err != nil {
		return err
	}
	score := answers.Judge(q, answer)
	stage := l.Lost(q, score)
	t.Add(q, answer, score, stage)
	if slices.Contains(c.Show, "all") || slices.Contains(c.Show, "wrong") && (score.Outcome != answers.Right || len(score.Invented) > 0) || slices.Contains(c.Show, "doubted") && score.Doubted {
		a.Clear()
		showAnswer(a.Out, q, m.Name, answer, score, stage)
	}
	return nil
}

// showAnswer prints an answer with what a right one says and what was read.
func showAnswer(w io.Writer, q answers.Question, method string, a answers.Answer, s answers.Score, stage answers.Stage) {
	lost := ""
	if stage != "" && s.Outcome != answers.Right {
		lost = ", lost in " + string(stage)
	}
	if s.Sentence {
		lost += ", sentence shown"
	}
	fmt.Fprintf(w, "%s %s, %s: %v%s\n  question  %s\n  answer    %s\n", q.ID, q.Kind, method, s.Outcome, lost, q.Text, cli.Plain(a.Text))
	if len(s.Invented) > 0 {
		fmt.Fprintf(w, "  invented  %s\n", cli.Plain(strings.Join(s.Invented, ", ")))
	}
	for _, other := range a.Other {
		fmt.Fprintf(w, "  otherwise %s\n", cli.Plain(other))
	}
	for _, p := range q.Parts {
		fmt.Fprintf(w, "  expected  %s\n", strings.Join(p.Answers, " | "))
		if p.Sentence != "" {
			fmt.Fprintf(w, "  sentence  %s\n", p.Sentence)
		}
	}
	for _, p := range a.Read {
		fmt.Fprintf(w, "  read      %s\n", cli.Plain(strings.ReplaceAll(p, "\n", " / ")))
	}
	fmt.Fprintln(w)
}

// percent prints a rate.
func percent(r answers.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*r.Mean)
}

// interval prints a rate with its interval.
func interval(r answers.Rate) string {
	if r.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f (%.0f–%.0f)", 100*r.Mean, 100*r.Low, 100*r.High)
}

var resultHeads = []any{"right", "exact", "F1", "sentence", "first", "invented", "wrong", "unknown", "refused", "read", "doubted", "spared"}

// rates are the columns of a result, in the order of resultHeads.
func rates(r answers.Result) []answers.Rate {
	return []answers.Rate{r.Holds, r.Exact, r.F1, r.Sentence, r.First, r.Invented, r.Wrong, r.WronglyUnknown, r.RightlyUnknown, r.Read, r.Doubted, r.Spared}
}

func printResults(w io.Writer, results []answers.Result) {
	fmt.Fprintf(w, "\n%-28s %-9s %4s"+strings.Repeat(" %14s", len(resultHeads))+" %7s\n", slices.Concat([]any{"set (%)", "method", "n"}, resultHeads, []any{"s each"})...)
	for _, r := range results {
		fmt.Fprintf(w, "%-28s %-9s %4d", r.Set, r.Method, r.N)
		for _, rate := range rates(r) {
			fmt.Fprintf(w, " %14s", interval(rate))
		}
		fmt.Fprintf(w, " %7.3f\n", r.Median)
	}
}

// printKinds prints the results by kind of question.
func printKinds(w io.Writer, results []answers.Result) {
	for _, r := range results {
		if len(r.Kinds) > 0 {
			fmt.Fprintf(w, "\n%-28s %4s"+strings.Repeat(" %8s", len(resultHeads))+"\n", slices.Concat([]any{r.Set + ", " + r.Method, "n"}, resultHeads)...)
		}
		for _, k := range r.Kinds {
			fmt.Fprintf(w, "  %-26s %4d", k.Kind, k.N)
			for _, rate := range rates(k) {
				fmt.Fprintf(w, " %8s", percent(rate))
			}
			fmt.Fprintln(w)
		}
	}
	printSureness(w, results)
	fmt.Fprintln(w, "\nAnswerable questions that were not answered rightly, by where the answer was lost:")
	for _, r := range results {
		fmt.Fprintf(w, "%-28s %-9s", r.Set, r.Method)
		for _, stage := range answers.Stages {
			fmt.Fprintf(w, "  %s %d", stage, r.Lost[stage])
		}
		fmt.Fprintln(w)
	}
}

// printSureness prints, by claimed probability, how often answers are right.
func printSureness(w io.Writer, results []answers.Result) {
	head := "\nAnswers (%) by the confidence that they claim:\n"
	for _, r := range results {
		for _, s := range r.Sure {
			fmt.Fprintf(w, "%s%-28s %-9s  %3.0f to %3.0f: claimed %.0f, right %s of %d\n", head, r.Set, r.Method, 100*s.Low, 100*s.High, 100*s.Claim, interval(s.Right), s.Right.N)
			head = ""
		}
	}
}

// printRecalls prints how often the sentences that hold the answer are retrieved.
func printRecalls(w io.Writer, recalls []recallRow) {
	if len(recalls) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%-28s %-12s %4s", "recall (%) by passages", "by", "n")
	for _, k := range answers.Depths {
		fmt.Fprintf(w, " %14d", k)
	}
	fmt.Fprintln(w)
	for _, r := range recalls {
		fmt.Fprintf(w, "%-28s %-12s %4d", r.Set, r.Method, r.At[1].N)
		for _, k := range answers.Depths {
			fmt.Fprintf(w, " %14s", interval(r.At[k]))
		}
		fmt.Fprintln(w)
	}
}

// printInvented lists the words that were invented.
func printInvented(w io.Writer, results []answers.Result) {
	for _, r := range results {
		if len(r.Words) > 0 {
			words := slices.Sorted(maps.Keys(r.Words))
			fmt.Fprintf(w, "\ninvented by %s on %s: %s\n", r.Method, r.Set, cli.Plain(strings.Join(words, ", ")))
		}
	}
}
