package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tandem/lab/chart"
	"tandem/lab/report"
	"tandem/specdec"
)

// Result is what one way of drafting gave on the inputs of one task.
type Result struct {
	Task   string `json:"task"`
	Method string `json:"method"`
	Model  string `json:"model"` // that gives acceptance: it wrote the answers, or reads those of Words
	Words  string `json:"words"` // whose the answers are: see Words
	// Others is the share of a reference's tokens that the model would have said differently.
	Others report.Number `json:"disagreement,omitzero"`
	Inputs int           `json:"inputs"`
	Tokens int           `json:"tokens"` // of all answers
	// AcceptLength, the shares and the drafter's time are those of passes of 32 rows: sd.npu's decoding graph.
	AcceptLength  float64 `json:"accept_length"` // tokens a pass
	Valid         float64 `json:"valid"`
	Wasted        float64 `json:"wasted"`
	Underutilised float64 `json:"underutilised"`
	DrafterMs     float64 `json:"drafter_ms"` // a pass
	// Ratio is plain decoding's time divided by the time with drafts whose length the costs choose; MinRatio is the worst
	// input's. A pass takes what the cost table says, drafting what it was measured to take.
	Ratio    float64 `json:"ratio"`
	MinRatio float64 `json:"min_ratio"`
	Chosen   float64 `json:"chosen_accept_length"` // with such lengths
	ChosenMs float64 `json:"chosen_drafter_ms"`    // the drafter's time then
	CostsOf  string  `json:"costs_of"`             // the model whose passes the costs are
	// Published is the Ratio of a peer as its authors run it, with drafts of one fixed length: the best length for the task, in
	// passes of PublishedRows. The peer's other figures use this project's choice of lengths.
	Published     report.Number `json:"published_ratio,omitzero"`
	PublishedRows int           `json:"published_rows,omitempty"`
	// OwnRatio is Ratio by the passes of Model itself, where CostsOf is another; else it is missing.
	OwnRatio report.Number `json:"own_ratio,omitzero"`
	// Prefill is the prompts' time divided by plain decoding's.
	Prefill   float64       `json:"prefill_ratio"`
	Cases     specdec.Cases `json:"reuse_cases"`
	Simulated bool          `json:"simulated,omitempty"`
}

// Figure draws the accept lengths, and says in its note which model they are of.
func Figure(results []Result) report.Figure {
	bars := chart.Bars{Title: "Accept length: tokens that one pass of 32 rows gives", X: "tokens a pass",
		Note: "EAGLE is simulated."}
	if len(results) > 0 && results[0].Model != "" {
		bars.Note = "Answers by " + results[0].Model + ", equal to plain decoding's. " + bars.Note
	}
	for _, r := range results {
		if len(bars.Groups) == 0 || bars.Groups[len(bars.Groups)-1].Name != r.Task {
			bars.Groups = append(bars.Groups, chart.Group{Name: r.Task})
		}
		g := &bars.Groups[len(bars.Groups)-1]
		color := 0
		switch {
		case strings.HasPrefix(r.Method, "sam"):
			color = 1
		case r.Method == "all":
			color = 2
		case r.Simulated:
			color = 3
		}
		g.Bars = append(g.Bars, chart.Bar{Name: r.Method, Value: r.AcceptLength, Color: color})
	}
	return report.Figure{Name: "spec", SVG: bars.SVG()}
}

// Findings names, for each task, the method with the best ratio where that is not "all", by the costs and by the
// model's own.
func Findings(results []Result) (out []string) {
	var tasks []string
	for _, r := range results {
		if !slices.Contains(tasks, r.Task) {
			tasks = append(tasks, r.Task)
		}
	}
	for _, task := range tasks {
		of := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return r.Task != task || r.Simulated })
		if len(of) == 0 {
			continue
		}
		out = append(out, beaten(of, func(r Result) report.Number { return report.Is(r.Ratio) }, of[0].CostsOf)...)
		out = append(out, beaten(of, func(r Result) report.Number { return r.OwnRatio }, of[0].Model)...)
	}
	return out
}

// beaten says which method beats "all", if one does.
func beaten(results []Result, ratio func(Result) report.Number, whose string) []string {
	at := slices.IndexFunc(results, func(r Result) bool { return r.Method == "all" })
	if at < 0 || !ratio(results[at]).Known {
		return nil
	}
	all := results[at]
	best := slices.MaxFunc(results, func(a, b Result) int { return cmp.Compare(ratio(a).Value, ratio(b).Value) })
	if ratio(best).Value <= ratio(all).Value {
		return nil
	}
	return []string{fmt.Sprintf("%s, by the passes of %s: all (%.2f) is slower than %s (%.2f), %d inputs.", all.Task, whose, ratio(all).Value, best.Method, ratio(best).Value, all.Inputs)}
}
