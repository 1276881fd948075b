package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/decoder/extract"
	"tandem/lab/answers"
	"tandem/model"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/npu/native"
	"tandem/retrieval/search"
	"tandem/retrieval/search/weaviate"
)

type answersCmd struct {
	modelcmd.ModelFlags `group:"Model:"`
	Sets                []string `help:"What to ask, see above." default:"people/tune" placeholder:"SET"`
	Methods             []string `help:"Who answers, see above. Default: all that make sense for a set." placeholder:"METHOD"`
	N                   int      `help:"Questions of each set; 0 for all." aliases:"limit" default:"100"`
	Seed                uint64   `help:"Draws the questions of --n and deals the documents to the two sides." default:"1"`
	Show                []string `help:"wrong prints each answer that is not right, with what was read; doubted each below which something else is said; all prints every answer." enum:"wrong,doubted,all" placeholder:"WHICH"`
	Data                string   `help:"Folder with the sets xquad/… (data/qa/xquad.en.half.json) and reading/… (reading/qa/judge/*.jsonl.gz); without it, shared in this folder or one above it." type:"existingdir" placeholder:"DIR"`
	Set                 string   `help:"For the set generated: worlds of your own, as lab quality --set." type:"existingfile" placeholder:"FILE"`
	Replace             string   `help:"Read the files in this folder instead of the documents with the same names apart from the extension, such as a PDF of each." type:"existingdir" placeholder:"DIR"`
	Together            bool     `help:"Ask each question among the documents of all the sets, as one set."`
	Withhold            bool     `help:"Ask each answerable question without the documents that answer it, so that refusing is right."`
	Misspell            int      `help:"Misspell up to this many words of each question." placeholder:"WORDS"`

	Documents int `help:"Passages that each side retrieves; 0 for 8, or 4 where the decoder answers." default:"0"`
	indexcmd.PassageFlags
	modelcmd.ScorerFlag
	Index string `help:"Keep all documents but the device's in a Weaviate cluster, as cloud serve --index: weaviate://HOST[:PORT],…[/CLASS]. The classes, whose names begin with CLASS, are removed at the end." placeholder:"ADDRESS"`

	By        string `name:"reader" help:"What answers: ${enum}." enum:"span,decoder" default:"span"`
	Span      string `help:"A span reader's file instead of the built-in one." type:"existingfile" placeholder:"FILE"`
	Constants string `help:"A file with the span reader's constants, as --fit prints them." placeholder:"FILE"`
	Weights   string `help:"Document weights, where the decoder answers." default:"reader"`
	Grounded  bool   `help:"The decoder writes only words of the question, function words and spans of its passages, as in the programs." default:"true" negatable:""`
	Tokens    int    `help:"Maximum number of tokens in an answer." default:"96"`
	Support   int    `help:"Maximum number of tokens in a draft's distribution, as edge ask --support." default:"256"`

	Fit      bool   `help:"Instead fit the span reader's constants to the questions of one part." env:"-"`
	Found    bool   `help:"Instead print the questions of one part with the passages that both sides find for them, a line of JSON each: what train/span can train a reader with." env:"-"`
	Markdown bool   `help:"Print the rates as tables in Markdown."`
	File     string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *answersCmd) Help() string { return answersHelp }

const answersHelp = `Examples:
  lab answers
  lab answers --sets people/tune --n 0 --methods pair --show wrong
  lab answers --sets people/tune --n 0 --methods pair --withhold
  lab answers --sets people/tune,people/first,people/third --together
  lab answers --sets people/tune --n 0 --span models/span.gguf --methods pair,quote,span
  lab answers --sets xquad/open,reading --n 60 --methods pair,quote --json figures.json
  lab answers --sets mine --n 0 --methods pair --show all
  lab answers --sets xquad/open,generated,reading --n 200 --fit > fitted.json && lab answers --constants fitted.json
  lab answers --sets mine --n 0 --found > mine.jsonl

Documents are cut, indexed and searched as a user's would be, and dealt to the two sides at random. All answers are greedy.

Sets:
  people/tune, people/judge
                     documents of invented people, written by a language
                     model; judge is for reporting only
  people/first to people/nineteenth
                     the same, written later
  people/tune/talks  conversations
  people/technical   READMEs, references, runbooks and prose
  people/contrasts, people/contrasts2
                     many questions that no document answers, though it says
                     something near
  people/tongues     German, French and Spanish
  xquad/open, reading, reading/SOURCE
                     public questions, see --data
  xquad/gold, reading/gold, reading/SOURCE/gold
                     each question is asked of its own paragraph alone
  generated          the worlds of lab quality, judged as the others are
  a folder, such as mine above
                     your own, with files in documents/ and questions in
                     questions.jsonl

A line of questions.jsonl: {"id": "1", "question": "…", "kind": "fact", "documents": ["file.md"], "answers": ["as the document spells it", "another way"], "sentence": "the sentence or line that says it"}. Only question, kind and answers are needed. The kinds list (with "items": […], all wanted), yesno (its answer is yes or no), why and how (the sentence answers too) and unanswerable (no answers) are judged in their own ways; other names only group the figures. A follow-up names the question before it: "after": "1".

Methods:
  pair           both sides
  device, cloud  that side alone
  one-side       all documents in one index
  quote          BM25's best sentence, no model
  span           a span reader that points at words of the 8 best windows by
                 BM25, all documents together

Columns, in per cent of the answerable questions unless they say otherwise, with 95 % confidence intervals in brackets:
  right       the answer contains an accepted answer as whole words
  exact, F1   after SQuAD's normalisation
  sentence    the sentence that says it is in the answer or in a cited
              passage
  first       it is the answer, or the first sentence that is shown with it
  invented    of all: a word that is neither in the question, nor in a
              closed list of function words, nor in a passage that was read
  wrong       of all: words of a document, but not the answer
  unknown     it says that it does not know what a document says
  refused     of the unanswerable ones: it says that it does not know
  read        the sentence was among the passages that were read
  doubted     of the right answers: a sentence that says something else is
              shown below
  spared      of the wrong answers: such a sentence holds the right one

With --fit: the curves that say how likely a passage's text is right, fitted to the passages found for the questions of one part, each set with the same weight, and what they make of each set. --constants FILE measures with what --fit printed.`

func (c *answersCmd) Run(a *cli.App) error {
	if err := c.check(a); err != nil {
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
		return c.fit(a, product, sets)
	}
	if c.Found {
		return c.printFound(a, reader, sets)
	}
	methods, err := c.methods(product, reader)
	if err != nil {
		return err
	}
	return c.measure(a, m.Config().Name, sets, reader, methods)
}

// measure asks the questions of all sets and prints the results, or writes them as JSON.
func (c *answersCmd) measure(a *cli.App, name string, sets []answers.Set, reader *span.Reader, methods []answers.Method) error {
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
		return a.JSONTo(c.File, map[string]any{"model": name, "results": results, "recall": recalls, "seconds": took.Seconds(), "command": commandLine()})
	}
	if c.Markdown {
		return tabulate(newTables(a), results)
	}
	fmt.Fprintf(a.Out, "%s, greedy, %d passages a side, seed %d, %v\n", name, c.Documents, c.Seed, took.Round(time.Second))
	printResults(a.Out, results)
	printKinds(a.Out, results)
	printRecalls(a.Out, recalls)
	printInvented(a.Out, results)
	return nil
}

// check refuses flags that make no sense, and fills in what depends on others.
func (c *answersCmd) check(a *cli.App) error {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	if c.Markdown && a.Globals.JSON {
		return errors.New("--markdown: leave it out with --json, which has the same rates")
	}
	if c.spanReaderAnswers() {
		c.Documents = cmp.Or(c.Documents, modelcmd.SpanDocuments)
	}
	c.Documents = cmp.Or(c.Documents, modelcmd.DecoderDocuments)
	if c.N < 0 || c.Documents < 1 || c.Tokens < 1 || c.Misspell < 0 {
		return fmt.Errorf("--n %d, --misspell %d, --documents %d, --tokens %d: want 0 or more questions and words, 1 passage and 1 token or more", c.N, c.Misspell, c.Documents, c.Tokens)
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
	_, err := decoder.ParseWeights(c.Weights)
	return err
}

// product returns what answers as the product does.
func (c *answersCmd) product(m *model.Model, reader *span.Reader) (p answers.Product, err error) {
	weights, err := decoder.ParseWeights(c.Weights)
	if err != nil {
		return p, err
	}
	p = answers.Product{
		Config:    decoder.Config{Model: m, Scorer: search.Lexical(), Weights: weights, MaxTokens: c.Tokens, MaxSupport: c.Support, Grounded: c.Grounded},
		Documents: c.Documents,
	}
	if c.spanReaderAnswers() {
		constants, err := c.constants()
		if err != nil {
			return p, err
		}
		p.Extract = &extract.Config{Reader: reader, Tokenizer: m.Tokenizer(), Scorer: search.Lexical(), Constants: constants, MaxTokens: c.Tokens, MaxSupport: c.Support}
	}
	return p, nil
}

// spanReaderAnswers reports whether the span reader answers as the product.
func (c *answersCmd) spanReaderAnswers() bool { return c.By == "span" && c.Model == "" }

// methods returns the chosen ones of the methods that there are.
func (c *answersCmd) methods(product answers.Product, reader *span.Reader) ([]answers.Method, error) {
	available := product.Methods()
	if reader != nil {
		available = append(available, answers.Span(reader))
	}
	if c.Withhold {
		available = slices.DeleteFunc(available, func(m answers.Method) bool { return m.Name == "quote" })
	}
	return chooseMethods(available, c.Methods)
}

// methodsFor returns the methods that make sense for a set: one paragraph cannot be dealt to two sides.
func (c *answersCmd) methodsFor(set answers.Set, methods []answers.Method) []answers.Method {
	if len(c.Methods) > 0 || !strings.HasSuffix(set.Name, "/gold") {
		return methods
	}
	return slices.DeleteFunc(slices.Clone(methods), func(m answers.Method) bool { return m.Name != "pair" && m.Name != "quote" && m.Name != "span" })
}

// chooseMethods returns the methods that were asked for, or all.
func chooseMethods(all []answers.Method, names []string) ([]answers.Method, error) {
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

// reader opens the span reader, unless the decoder answers.
func (c *answersCmd) reader() (*span.Reader, error) {
	if c.Span == "" {
		return modelcmd.ReaderFlags{By: c.By}.OpenSpan(c.ModelFlags)
	}
	f, err := gguf.Open(c.Span)
	if err != nil {
		return nil, err
	}
	return span.New(f, native.New(1), c.Threads) // both stay open until the program ends
}

// constants returns the span reader's constants: the program's, or those of a file.
func (c *answersCmd) constants() (k extract.Constants, err error) {
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

// printFound prints the questions of one part with the passages found for them.
func (c *answersCmd) printFound(a *cli.App, reader *span.Reader, sets []answers.Set) error {
	if slices.Contains(c.Sets, "people/judge") {
		return errors.New("--found: people/judge stays unread, so that no reader is trained with it")
	}
	lines := json.NewEncoder(a.Out)
	lines.SetEscapeHTML(false)
	for _, s := range sets {
		if err := answers.FoundPassages(a, s, c.Documents, c.indexing(reader), func(f answers.Found) error { return lines.Encode(f) }); err != nil {
			return err
		}
	}
	return nil
}

// fit fits the span reader's curves to the questions of one part, and prints what they make of each set before and after.
func (c *answersCmd) fit(a *cli.App, p answers.Product, sets []answers.Set) error {
	if p.Extract == nil || slices.Contains(c.Sets, "people/judge") {
		return errors.New("--fit: only the span reader's constants can be fitted, and none to people/judge")
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
