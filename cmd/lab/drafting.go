package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/lab"
	"tandem/lab/quality"
	"tandem/retrieval/passages"
	"tandem/specdec"
)

type draftsCmd struct {
	Drafts []string      `help:"Drafters of both sides and the most rows of a pass, as in auto/32 or pld/4. The others are compared with the first." default:"pld/4;auto/32" sep:";" placeholder:"SET/ROWS;…"`
	RTT    time.Duration `name:"rtt" help:"Round-trip time." default:"100ms"`
	Decode []string      `help:"Minimum times of a pass on device and cloud." default:"30ms/30ms,150ms/30ms"`
	Worlds int           `help:"Instead of questions about the sample documents, ask this many generated questions of each kind about documents of their own."`
	Rounds int           `help:"How often each question is asked with each of the drafters, in turns. Its median time counts." default:"1"`
	experimentFlags
	File string `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *draftsCmd) Help() string {
	return `Examples:
  lab drafts --questions 20
  lab drafts --worlds 40 --rounds 5 --json rows.json
  lab drafts --drafts "off/1;pld/4;pld,sam/32;all/32" --decode native

A device and a cloud in this process answer questions over an emulated network, with the built-in decoder, at temperature 0, as edge ask does. All variants answer a question before the next one is asked, and all must say the same. With up to 8 rows, a pass decodes one chain of guesses, as long as the pair expects to pay off, and each answer learns that again. With more rows, the drafters' own estimates and the measured times of passes decide. Guesses then branch, and estimates and times are kept from one answer to the next.

The time is from an answer's first token to its last, the median of --rounds. worst is the lowest ratio of a question; slowest is that of the worst single round, which any pause of the machine makes worse.`
}

// variants parses --drafts.
func (c *draftsCmd) variants() (out []lab.Drafters, err error) {
	for _, text := range strings.Split(strings.Join(c.Drafts, ";"), ";") {
		set, rows, ok := strings.Cut(text, "/")
		v := lab.Drafters{Name: set}
		if v.Set, err = specdec.ParseSet(set); err != nil {
			return nil, fmt.Errorf("--drafts: %w", err)
		}
		if v.Rows, err = strconv.Atoi(rows); !ok || err != nil || v.Rows < 1 || v.Rows > tandem.MaxRows {
			return nil, fmt.Errorf("--drafts %q: want drafters and 1 to %d rows, as in auto/32", text, tandem.MaxRows)
		}
		out = append(out, v)
	}
	return out, nil
}

func (c *draftsCmd) Run(a *cli.App) (err error) {
	variants, err := c.variants()
	if err != nil {
		return err
	}
	decode, err := parseDelays(c.Decode)
	if err = errors.Join(err, checkRTTs([]time.Duration{c.RTT}), a.CheckJSONFile(c.File)); c.Rounds < 1 && err == nil {
		err = errors.New("--rounds must be 1 or more")
	}
	if err != nil {
		return err
	}
	b, closing, err := c.experimentFlags.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	b.Settings.Lookahead, b.Settings.Grounded, b.Settings.PassPlaces = 0, true, 4
	b.Settings.Sampling.Temperature = 0
	if c.Worlds > 0 {
		if err := useGeneratedQuestions(a, &b, c.Worlds); err != nil {
			return err
		}
	}
	var rows []lab.DraftingResult
	for _, d := range decode {
		more, err := lab.Drafting{Setup: b, Of: c.modelFile(), RTT: c.RTT, Decode: d, Variants: variants, Rounds: c.Rounds}.Run(a, progress(a, "drafts"))
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	a.Clear()
	if a.Globals.JSON {
		return a.JSONTo(c.File, map[string]any{"rows": rows})
	}
	fmt.Fprintf(a.Out, "live, mirror, RTT %v, %d questions; the text is always the same\n\n%-16s %-16s %-20s %4s %7s %9s %6s %6s %8s %7s %6s %7s\n",
		c.RTT, len(b.Questions), "acceptance of", "costs of", "drafters", "rows", "tokens", "ms/token", "ratio", "worst", "slowest", "passes", "rows", "guesses")
	for _, r := range rows {
		fmt.Fprintf(a.Out, "%-16s %-16s %-20s %4d %7d %9.1f %6.2f %6.2f %8.2f %7.2f %6.1f %5.0f %%\n", r.Model, r.CostsOf, r.Drafters, r.Rows,
			r.Tokens, r.TokenMs, r.Ratio, r.Worst, r.Slowest, r.Shares.Passes, r.Shares.Contexts, 100*r.Shares.Guesses)
	}
	return nil
}

// useGeneratedQuestions replaces the questions and documents by generated ones.
func useGeneratedQuestions(ctx context.Context, b *lab.Setup, each int) error {
	worlds, err := quality.ReadWorlds("")
	if err != nil {
		return err
	}
	trials, err := quality.Selection{Sets: []string{"one-part", "two-part"}, Most: each, Documents: b.Settings.Documents}.Trials(ctx, worlds)
	if err != nil {
		return err
	}
	var sides [2]searchResults
	for i := range sides {
		sides[i] = searchResults{}
		b.Documents[i] = sides[i]
	}
	b.Questions = nil
	for _, t := range trials {
		if sides[0][t.Question.Text] != nil {
			continue // asked about other documents, too
		}
		for i := range sides {
			sides[i][t.Question.Text] = t.Sides[i]
		}
		b.Questions = append(b.Questions, t.Question.Text)
	}
	return nil
}

// searchResults are what a side found for each question.
type searchResults map[string][]passages.Passage

// Search implements node.Searcher.
func (f searchResults) Search(_ context.Context, q passages.Query, k int) ([]passages.Passage, error) {
	list := f[q.Text]
	return list[:min(k, len(list))], nil
}
