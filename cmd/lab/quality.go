package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/decoder"
	"tandem/lab/quality"
	"tandem/model"
	"tandem/retrieval/search"
)

type qualityCmd struct {
	modelcmd.ModelFlags `group:"Model:"`
	Sets                []string `help:"What to ask: one-part, two-part, unanswerable, follow-up (generated worlds), xquad. Sets of documents have a command of their own, lab answers." default:"one-part,two-part,unanswerable,follow-up" placeholder:"SET"`
	Methods             []string `help:"Who answers, see above. Default: all but given; with --wikitext, all." placeholder:"METHOD"`
	Weights             []string `help:"Document weights; the pair is measured with each, the other methods with the first." default:"reader" sep:";" placeholder:"WEIGHTS"`
	Set                 string   `help:"Worlds of your own, as JSON lines, gzipped or not. Default: those that ship with the program." type:"existingfile" placeholder:"FILE"`
	Xquad               string   `help:"Questions in the format of SQuAD for the set xquad. Default: shared/data/qa/xquad.en.half.json, if it exists." type:"existingfile" placeholder:"FILE"`
	Wikitext            bool     `help:"Instead measure bits per byte on WikiText-2 (in shared/data/wikitext2) with 0 to 16 documents; --n limits the windows of text."`
	N                   int      `help:"Questions of each set; 0 for all." aliases:"limit" default:"100"`
	Documents           int      `help:"Passages that each side retrieves; 0 for 4." default:"0"`
	indexcmd.PassageFlags
	Fit     bool   `help:"Instead fit the constants of the reader weights on the questions." env:"-"`
	Wrong   bool   `help:"Print the pair's wrong answers."`
	Tokens  int    `help:"Maximum number of tokens in an answer." default:"96"`
	Support int    `help:"Maximum number of tokens in a draft's distribution, as edge ask --support." default:"256"`
	File    string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *qualityCmd) Help() string { return qualityHelp }

const qualityHelp = `Examples:
  lab quality
  lab quality --n 0 --json quality.json
  lab quality --wikitext --n 50
  lab quality --methods pair --weights "static;rescore:1,0;rescore;sentence;likelihood;sentence+likelihood;reader"
  lab quality --sets xquad --model qwen2.5-1.5b-instruct-q4_k_m.gguf --passage-words 64
  python3 -m train.heldout --worlds 60 --seed mine mine.jsonl.gz && lab quality --set mine.jsonl.gz --fit

Documents are cut, indexed and searched as a user's would be. All answers are greedy.

Methods:
  device, cloud  that side alone
  pair           both, in lock step
  one-side       the passages of both sides on one side, each in a context
                 (output aggregation)
  device-context, cloud-context
                 one side alone, its passages in one context (CRCG)
  one-context    the passages of both sides in one context (DRCG)
  sequence-thorough, sequence-fast
                 each side writes a whole answer alone, and one of the two
                 is taken (DRDG/SW; RAG-Sequence has both rules). Thorough
                 takes the answer to which both sides together give more
                 probability. Fast lets the side that wrote an answer judge
                 it, which costs one message; "edge ask --method drdg-sw"
                 does this.
  given          the pair, with only those retrieved passages that hold the
                 answer; it shows what better retrieval and weights could
                 gain

The built-in decoder was trained on contexts of one passage, and some of two. The methods with one context show it longer ones.

Of the --weights, rescore:1,0 is DRAGON's own: it scores the passages again before each token. rescore alone scores them every 8 tokens, with momentum 0.5.

Columns:
  exact_match  the answer is an expected one, or the question is
               unanswerable and the answer says so
  f1           token overlap with the nearest expected answer, after SQuAD's
               normalisation
  holds        the answer contains all expected values
  refused      it says that it does not know

For xquad, exact_match also uses SQuAD's normalisation; its passages go to the two sides in turn.

With --wikitext, one-context has all documents in one context (DRCG), device-context and cloud-context one side's half of them (CRCG). output mixes them token by token, as a pair does (DRAGON), sequence mixes the probabilities of whole texts (DRDG/SW, thorough). If the documents exceed the model's context, the least relevant are cut.

A line of --set: {"device": [{"name","text"}], "cloud": [...], "questions": [{"kind","where","question","answer","values"}]}. A question of the set follow-up also has "earlier": [{"question","answer"}].`

func (c *qualityCmd) Run(a *cli.App) error {
	if err := c.check(a); err != nil {
		return err
	}
	if c.Wikitext {
		return c.wikitext(a)
	}
	weights, err := c.weights()
	if err != nil {
		return err
	}
	worlds, err := c.worlds(a)
	if err != nil {
		return err
	}
	trials, err := quality.Selection{Sets: c.Sets, Most: c.N, Documents: c.Documents, Words: c.PassageWords}.Trials(a, worlds)
	if err != nil {
		return err
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	by := quality.Answerer{Config: decoder.Config{Model: m, Scorer: search.Lexical(), MaxTokens: c.Tokens, MaxSupport: c.Support}}
	if c.Fit {
		constants, err := by.Fit(a, trials, progress(a, "questions"))
		a.Clear()
		if err != nil {
			return err
		}
		return a.JSON(constants)
	}
	start := time.Now()
	results, err := c.ask(a, by, trials, weights)
	if err != nil {
		return err
	}
	return c.print(a, m, results, time.Since(start))
}

// ofDocuments reports whether a set is one of lab answers.
func ofDocuments(set string) bool {
	return set == "reading" || set == "generated" || strings.Contains(set, "/") || filepath.IsAbs(set)
}

// check checks the flags and sets the default methods.
func (c *qualityCmd) check(a *cli.App) error {
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	c.Documents = cmp.Or(c.Documents, modelcmd.DecoderDocuments)
	if c.N < 0 || c.Documents < 0 || c.Tokens < 1 {
		return fmt.Errorf("--n %d, --documents %d, --tokens %d: want 0 or more, and 1 token or more", c.N, c.Documents, c.Tokens)
	}
	if i := slices.IndexFunc(c.Sets, ofDocuments); i >= 0 {
		return fmt.Errorf("--sets %s: this command asks about generated worlds; for sets of documents use: lab answers --sets %s", c.Sets[i], strings.Join(c.Sets, ","))
	}
	possible, usual := quality.Methods, quality.Methods[:len(quality.Methods)-1]
	if c.Wikitext {
		possible, usual = quality.WikitextMethods, quality.WikitextMethods
	}
	if len(c.Methods) == 0 {
		c.Methods = usual
	}
	for _, m := range c.Methods {
		if !slices.Contains(possible, m) {
			return fmt.Errorf("--methods %s: use %s", m, strings.Join(possible, ", "))
		}
	}
	return nil
}

func (c *qualityCmd) weights() ([]decoder.Weights, error) {
	var out []decoder.Weights
	for _, name := range c.Weights {
		w, err := decoder.ParseWeights(name)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// worlds reads the documents and questions of the sets.
func (c *qualityCmd) worlds(a *cli.App) (worlds []quality.World, err error) {
	if slices.ContainsFunc(c.Sets, func(s string) bool { return s != "xquad" }) {
		if worlds, err = quality.ReadWorlds(c.Set); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(c.Sets, "xquad") {
		return worlds, nil
	}
	path := c.Xquad
	if path == "" {
		path, err = sharedFile("data/qa/xquad.en.half.json")
		if errors.Is(err, fs.ErrNotExist) {
			a.Remark("xquad is left out: %v (name a file with --xquad)", err)
			return worlds, nil
		}
		if err != nil {
			return nil, err
		}
	}
	w, err := quality.ReadSQuAD(path)
	return append(worlds, w), err
}

// ask asks every question by every method: of the pair with all weights, of the others with the first.
func (c *qualityCmd) ask(a *cli.App, by quality.Answerer, trials []quality.Trial, weights []decoder.Weights) ([]quality.Result, error) {
	start, bar := time.Now(), progress(a, "questions")
	sums := map[[3]string]*quality.Result{}
	var order [][3]string
	for i, t := range trials {
		if time.Since(start) > 2*time.Second {
			bar(i, len(trials))
		}
		for _, method := range c.Methods {
			for j, w := range weights {
				if j > 0 && method != "pair" {
					break
				}
				by.Config.Weights = w
				answer, err := by.Answer(a, t, method)
				if err != nil {
					return nil, fmt.Errorf("%q, %s: %w", t.Text, method, err)
				}
				key := [3]string{t.Kind, method, c.Weights[j]}
				if sums[key] == nil {
					sums[key] = &quality.Result{Set: t.Kind, Method: method, Weights: w.String()}
					order = append(order, key)
				}
				right := sums[key].Add(t.Question, answer)
				if c.Wrong && !right && (method == "pair" || method == "given") {
					a.Clear()
					t.PrintWrong(a.Out, method, answer)
				}
			}
		}
	}
	a.Clear()
	results := []quality.Result{}
	for _, key := range order {
		results = append(results, sums[key].Mean())
	}
	return results, nil
}

// print prints the results, or writes them as JSON.
func (c *qualityCmd) print(a *cli.App, m *model.Model, results []quality.Result, took time.Duration) error {
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"model": m.Config().Name, "rows": results, "seconds": took.Seconds(), "command": commandLine()})
	}
	fmt.Fprintf(a.Out, "%s, greedy, %d passages a side, %v\n\n", m.Config().Name, c.Documents, took.Round(time.Second))
	fmt.Fprintf(a.Out, "%-14s %-17s %-24s %5s %7s %7s %7s %8s\n", "set", "method", "weights", "n", "exact", "f1", "holds", "refused")
	for _, r := range results {
		fmt.Fprintf(a.Out, "%-14s %-17s %-24s %5d %7.3f %7.3f %7.3f %8.3f\n", r.Set, r.Method, shownWeights(r.Weights), r.N, r.Exact, r.F1, r.Holds, r.Refused)
	}
	if oneContext := func(r quality.Result) bool { return strings.HasSuffix(r.Method, "-context") }; c.Model == "" && slices.ContainsFunc(results, oneContext) {
		fmt.Fprintf(a.Out, "\nThe built-in reader was trained on contexts of one or two passages; with %d on a side, the methods with one context show it more.\n", c.Documents)
	}
	return nil
}

// shownWeights returns the name of weights for the table, with their source if it is not ours.
func shownWeights(name string) string {
	if name == "rescore:1,0" {
		return name + " (DRAGON)"
	}
	return name
}

// wikitext measures bits per byte on WikiText-2.
func (c *qualityCmd) wikitext(a *cli.App) error {
	dir, err := sharedFile("data/wikitext2")
	if err != nil {
		return fmt.Errorf("--wikitext: %w: put wiki.test.raw and wiki.valid.raw there", err)
	}
	m, err := c.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	w := quality.Wikitext{Dir: dir, Windows: c.N, Words: c.PassageWords, Methods: c.Methods}
	results, windows, err := w.Measure(a, m, progress(a, "windows"))
	a.Clear()
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"model": m.Config().Name, "rows": results, "command": commandLine()})
	}
	fmt.Fprintf(a.Out, "%s, WikiText-2 test with passages of valid, %d windows\n\n%-14s %9s %14s\n", m.Config().Name, windows, "method", "documents", "bits per byte")
	for _, r := range results {
		fmt.Fprintf(a.Out, "%-14s %9d %14.3f\n", r.Method, r.Documents, r.BitsPerByte)
	}
	return nil
}
