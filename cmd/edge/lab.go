package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/examples"
	"tandem/lab"
	"tandem/model"
	"tandem/node"
	"tandem/pair"
	"tandem/retrieval"
)

// labCmd runs experiments about speed.
type labCmd struct {
	Schedule labSchedule `cmd:"" help:"Total time of an answer by placement and latency, simulated (the paper's Figure 8)."`
	Latency  labLatency  `cmd:"" help:"Time between tokens over the round-trip time, by method (Figure 6)."`
	TTFT     labTTFT     `cmd:"" name:"ttft" help:"Time to the first token over the round-trip time (Figure 7)."`
	Pipeline labPipeline `cmd:"" help:"One live answer as a timeline (Figure 9)."`
	Speedup  labSpeedup  `cmd:"" help:"Speedup over lock step: Theorem 6.2 with played answers on it (Figure 4)."`
	Traces   labTraces   `cmd:"" help:"Answers over recorded networks."`
	Loss     labLoss     `cmd:"" help:"Answers over paths that lose packets: repeated datagrams against a stream."`
	NPU      labNPU      `cmd:"" name:"npu" help:"A phone's NPU, simulated: switching graphs, little memory, published figures."`
	Hedge    labHedge    `cmd:"" help:"Several contexts in a pass: hedges, checks and guesses between the sides, simulated or live."`
	Report   labReport   `cmd:"" help:"Put the results of a folder on one page."`
}

func (c *labCmd) Help() string {
	return `Each experiment writes a table (CSV) and pictures (SVG) to a folder; "edge lab report" puts what is there on one page.

Examples:
  edge lab schedule
  edge lab latency --simulate --decode 150ms/30ms --json rows.json
  edge lab report`
}

// labOutput says where results go.
type labOutput struct {
	Out  string `help:"Folder for tables and pictures." default:"lab-results" type:"path" placeholder:"DIR"`
	File string `arg:"" optional:"" type:"path" help:"With --json: the file that the rows go to; without it, standard output."`
}

// finish saves a result, writes its rows where --json wants them, and says what was found.
func (o labOutput) finish(a *cli.App, r lab.Result) error {
	if err := o.save(a, &r); err != nil {
		return err
	}
	if a.Globals.JSON {
		return o.rows(a, r)
	}
	fmt.Fprintln(a.Out, r.Title)
	for _, f := range r.Findings {
		fmt.Fprintln(a.Out, "  "+f)
	}
	for _, f := range r.Figures {
		fmt.Fprintln(a.Out, filepath.Join(o.Out, f.Name+".svg"))
	}
	for _, t := range r.Tables {
		fmt.Fprintln(a.Out, filepath.Join(o.Out, t.Name+".csv"))
	}
	if len(r.Rows) > 0 || len(r.Tables) == 0 {
		fmt.Fprintln(a.Out, filepath.Join(o.Out, r.Name+".csv"))
	}
	return nil
}

// save saves a result with the command that made it.
func (o labOutput) save(a *cli.App, r *lab.Result) error {
	a.Clear()
	r.Taken, r.Command = time.Now(), commandLine()
	return r.Save(o.Out)
}

// rows writes {"rows": …}.
func (o labOutput) rows(a *cli.App, r lab.Result) error {
	whole := struct {
		Rows []lab.Row `json:"rows"`
	}{r.Rows}
	return a.JSONTo(o.File, whole)
}

func (o labOutput) check(a *cli.App) error { return a.RowsFile(o.File) }

// commandLine is the command that is running, as one would type it.
func commandLine() string {
	words := []string{"edge"}
	for _, w := range os.Args[1:] {
		if w == "" || strings.ContainsAny(w, " '\"$&;|<>*?\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// progress draws a bar.
func progress(a *cli.App, what string) lab.Progress {
	start := time.Now()
	return func(done, total int) {
		const width = 30
		full := width * done / max(total, 1)
		left := ""
		if done > 0 && done < total {
			left = ", " + (time.Since(start) / time.Duration(done) * time.Duration(total-done)).Round(time.Second).String() + " to go"
		}
		a.Progress("%s [%s%s] %d/%d%s", what, strings.Repeat("#", full), strings.Repeat(".", width-full), done, total, left)
	}
}

// delays reads pairs of decoding delays.
func delays(texts []string) ([][2]time.Duration, error) {
	var out [][2]time.Duration
	for _, t := range texts {
		device, cloud, found := strings.Cut(t, "/")
		var d [2]time.Duration
		var err [2]error
		d[0], err[0] = time.ParseDuration(device)
		d[1], err[1] = time.ParseDuration(cloud)
		if t == "native" {
			d, err, found = [2]time.Duration{}, [2]error{}, true
		}
		if !found || err[0] != nil || err[1] != nil || d[0] < 0 || d[1] < 0 || max(d[0], d[1]) > time.Minute {
			return nil, fmt.Errorf("--decode %q: want two delays of at most a minute, as in 150ms/30ms, or native", t)
		}
		out = append(out, d)
	}
	return out, nil
}

// trips checks round-trip times.
func trips(rtts []time.Duration) error {
	for _, r := range rtts {
		if r < 0 || r > time.Minute {
			return fmt.Errorf("--rtt %v: want 0 to 1m", r)
		}
	}
	return nil
}

type labSchedule struct {
	Tokens  int             `help:"Tokens of an answer." default:"100"`
	Records int             `help:"Acceptance records, each an answer." default:"50"`
	Replay  []string        `help:"Recordings of \"edge ask --record\" to take acceptances and delays from; several with commas." type:"existingfile" placeholder:"FILE,…"`
	Accept  string          `help:"Acceptance rates of the records: ${enum}. The paper's are 0.49 or 0.99 by side and answer; near ones 0.65 to 0.75." enum:"paper,near" default:"paper"`
	Decode  []string        `help:"Decoding delays of device and cloud; several with commas." default:"150ms/30ms,60ms/30ms,30ms/30ms"`
	RTT     []time.Duration `name:"rtt" help:"Round-trip times." default:"20ms,50ms,100ms,200ms,300ms"`
	Horizon int             `help:"Steps within which a hand-over of greedy must pay; 0 for as many as live pairs take." default:"0"`
	labOutput
}

func (c *labSchedule) Run(a *cli.App) error {
	d, err := delays(c.Decode)
	if err = errors.Join(err, trips(c.RTT), c.check(a)); err != nil {
		return err
	}
	if c.Tokens < 2 || c.Tokens > 100_000 || c.Records < 1 || c.Records > 100_000 || c.Horizon < 0 {
		return fmt.Errorf("want 2 to 100000 --tokens, 1 to 100000 --records and no negative --horizon")
	}
	if c.Horizon == 0 {
		c.Horizon = pair.DefaultHorizon
	}
	x := lab.Schedule{Tokens: c.Tokens, Records: c.Records, Delays: d, RTTs: c.RTT, Horizon: c.Horizon, Near: c.Accept == "near"}
	for _, file := range c.Replay {
		lines, err := readRecord(file)
		if err != nil {
			return err
		}
		recorded, err := lab.ReadRecorded(lines)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		x.Recorded = append(x.Recorded, recorded)
	}
	r, err := x.Run(a, progress(a, "schedule"))
	if err != nil {
		return err
	}
	return c.finish(a, r)
}

// labAnswers say what is asked in experiments with real answers.
type labAnswers struct {
	cli.ModelFlags
	Questions   int     `help:"How many questions about the sample documents, those first that need both sides." default:"5"`
	Seed        uint64  `help:"Seed of the first answer; each next one has the next." default:"1"`
	Temperature float64 `help:"0 for the likeliest token, 1 for the model's own distribution." default:"1"`
	MaxTokens   int     `help:"Most tokens of an answer." default:"64"`
}

// open prepares what answers are made of. The caller closes it.
func (f labAnswers) open(a *cli.App) (b lab.Bench, closing func() error, err error) {
	closing = func() error { return nil }
	weights, err := decoder.ParseWeights("reader")
	if err != nil {
		return b, closing, err
	}
	b.Settings = node.Settings{
		Gamma: pair.HalfGamma, Nucleus: decoder.DefaultTopP, Support: decoder.DefaultMaxSupport, Lookahead: pair.DefaultLookahead,
		Sampling:  model.Sampling{Temperature: f.Temperature, TopP: 1, RepeatPenalty: 1, Seed: f.Seed},
		MaxTokens: f.MaxTokens, Documents: 4, Weights: weights,
	}
	if err := b.Settings.Check(); err != nil {
		return b, closing, err
	}
	if b.Questions, err = twoSided(f.Questions); err != nil {
		return b, closing, err
	}
	if b.Model, err = f.Open(a); err != nil {
		return b, closing, err
	}
	closing = b.Model.Close
	for side := range b.Documents {
		corpus := examples.Notes
		if tandem.Side(side) == tandem.Cloud {
			corpus = examples.Public
		}
		x, err := cli.Sample(a, corpus, cli.PassageFlags{})
		if err != nil {
			return b, closing, errors.Join(err, closing())
		}
		b.Documents[side] = x
		rest := closing
		closing = func() error { return errors.Join(x.Close(), rest()) }
		dir, err := os.MkdirTemp("", "tandem-lab-*")
		if err != nil {
			return b, closing, errors.Join(err, closing())
		}
		if b.KV[side], err = retrieval.OpenKV(dir, 256<<20); err != nil {
			return b, closing, errors.Join(err, closing())
		}
		before := closing
		closing = func() error { return errors.Join(before(), os.RemoveAll(dir)) }
	}
	return b, closing, nil
}

// twoSided returns n of the sample questions, those first that need documents of both sides.
func twoSided(n int) ([]string, error) {
	var both, rest []string
	lines := bufio.NewScanner(bytes.NewReader(examples.Questions))
	for lines.Scan() {
		var q struct {
			Question      string
			Device, Cloud bool
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("sample questions: %w", err)
		}
		if q.Device && q.Cloud {
			both = append(both, q.Question)
		} else {
			rest = append(rest, q.Question)
		}
	}
	all := append(both, rest...)
	if n < 1 || n > len(all) {
		return nil, fmt.Errorf("--questions %d: want 1 to %d", n, len(all))
	}
	return all[:n], lines.Err()
}

type labLatency struct {
	Method   []string        `help:"Methods, with or without a placement (tandem, tandem/mirror, dragon, drdg-tw, drdg-sw, crcg, device-alone); without it, all." placeholder:"NAME,…"`
	Decode   []string        `help:"Decoding delays of device and cloud, or native; several with commas." default:"150ms/30ms,30ms/30ms"`
	RTT      []time.Duration `name:"rtt" help:"Round-trip times." default:"0ms,50ms,100ms,150ms,200ms,250ms,300ms"`
	Simulate bool            `help:"Play the answers in virtual time instead of running both sides."`
	AtOnce   int             `help:"Live: paths that are measured at a time. Paced decoding leaves room for several." default:"1"`
	labAnswers
	labOutput
}

func (c *labLatency) Run(a *cli.App) error {
	d, err := delays(c.Decode)
	methods, methodErr := lab.Methods(c.Method)
	if err = errors.Join(err, methodErr, trips(c.RTT), c.check(a)); err != nil {
		return err
	}
	for _, pace := range d {
		if c.Simulate && pace == ([2]time.Duration{}) {
			return errors.New("--decode native needs live runs: leave --simulate out")
		}
	}
	return c.with(a, "latency", c.labOutput, func(b lab.Bench, p lab.Progress) (lab.Result, error) {
		return lab.Latency{Bench: b, Methods: methods, Delays: d, RTTs: c.RTT, Simulated: c.Simulate, AtOnce: c.AtOnce}.Run(a, p)
	})
}

type labTTFT struct {
	Decode   string          `help:"Decoding delays of device and cloud, or native." default:"native"`
	RTT      []time.Duration `name:"rtt" help:"Round-trip times." default:"0ms,50ms,100ms,150ms,200ms,250ms,300ms"`
	Simulate bool            `help:"Play the answers in virtual time instead of running both sides."`
	Prefill  string          `help:"How long device and cloud take to read a token of a prompt, as in 30ms/6ms; without it, as long as it takes here." placeholder:"TIME/TIME"`
	labAnswers
	labOutput
}

func (c *labTTFT) Run(a *cli.App) error {
	d, err := delays([]string{c.Decode})
	if err = errors.Join(err, trips(c.RTT), c.check(a)); err != nil {
		return err
	}
	x := lab.TTFT{Delays: d[0], RTTs: c.RTT, Simulated: c.Simulate}
	var read [2]time.Duration
	if c.Prefill != "" {
		p, err := delays([]string{c.Prefill})
		if err != nil {
			return fmt.Errorf("--prefill %q: want two delays, as in 30ms/6ms", c.Prefill)
		}
		read = p[0]
	}
	return c.with(a, "ttft", c.labOutput, func(b lab.Bench, p lab.Progress) (lab.Result, error) {
		x.Bench = b
		x.Read = read
		return x.Run(a, p)
	})
}

// with runs an experiment with real answers.
func (f labAnswers) with(a *cli.App, name string, out labOutput, run func(lab.Bench, lab.Progress) (lab.Result, error)) (err error) {
	b, closing, err := f.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing()) }()
	r, err := run(b, progress(a, name))
	if err != nil {
		return err
	}
	return out.finish(a, r)
}

type labPipeline struct {
	Method string        `help:"Method with its placement." default:"dragon/greedy"`
	Decode string        `help:"Decoding delays of device and cloud, or native." default:"60ms/30ms"`
	RTT    time.Duration `name:"rtt" help:"Round-trip time." default:"200ms"`
	Replay string        `help:"Draw this recording of \"edge ask --record\" instead." type:"existingfile" placeholder:"FILE"`
	labAnswers
	labOutput
}

func (c *labPipeline) Run(a *cli.App) error {
	if c.Replay != "" {
		lines, err := readRecord(c.Replay)
		if err != nil {
			return err
		}
		return c.finish(a, lab.Replay(lines))
	}
	d, err := delays([]string{c.Decode})
	methods, methodErr := lab.Methods([]string{c.Method})
	if err = errors.Join(err, methodErr, trips([]time.Duration{c.RTT}), c.check(a)); err != nil {
		return err
	}
	if len(methods) != 1 || !methods[0].Pairs() {
		return fmt.Errorf("--method %s: want one method and placement of two sides, such as dragon/greedy or tandem/mirror", c.Method)
	}
	return c.with(a, "pipeline", c.labOutput, func(b lab.Bench, _ lab.Progress) (lab.Result, error) {
		return lab.Pipeline{Bench: b, Strategy: methods[0], Pace: d[0], RTT: c.RTT}.Run(a)
	})
}

// readRecord reads a file that "edge ask --record" wrote.
func readRecord(file string) ([]node.Line, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	defer f.Close()
	return node.ReadRecord(f)
}

type labSpeedup struct {
	Tokens   int             `help:"Tokens of a played answer." default:"1000"`
	Cloud    time.Duration   `name:"cloud-delay" help:"Decoding delay of the cloud." default:"30ms"`
	RTT      time.Duration   `name:"rtt" help:"Round-trip time." default:"300ms"`
	Accept   []float64       `name:"rates" help:"Acceptance rates of the cloud's drafts in played answers." default:"0.3,0.6,0.9"`
	Device   []time.Duration `name:"delays" help:"Decoding delays of the device with which live answers are measured beside the played ones." default:"30ms,150ms,300ms"`
	Simulate bool            `help:"Played answers only."`
	labAnswers
	labOutput
}

func (c *labSpeedup) Run(a *cli.App) error {
	if err := errors.Join(trips([]time.Duration{c.RTT}), c.check(a)); err != nil {
		return err
	}
	for _, d := range append([]time.Duration{c.Cloud}, c.Device...) {
		if d < 0 || d > time.Minute {
			return fmt.Errorf("--cloud-delay %v and --delays %v: want 0 to 1m", c.Cloud, c.Device)
		}
	}
	for _, alpha := range c.Accept {
		if !(alpha >= 0 && alpha <= 1) {
			return fmt.Errorf("--rates %v: want 0 to 1", alpha)
		}
	}
	if c.Tokens < 10 || c.Tokens > 100_000 {
		return fmt.Errorf("--tokens %d: want 10 to 100000", c.Tokens)
	}
	x := lab.Speedup{Tokens: c.Tokens, Cloud: c.Cloud, RTT: c.RTT, Accept: c.Accept}
	longest := c.Cloud + c.RTT + c.RTT/4
	for i := range 13 {
		x.Device = append(x.Device, max(longest*time.Duration(i)/12, time.Millisecond))
	}
	if c.Simulate {
		r, err := x.Run(a, progress(a, "speedup"))
		if err != nil {
			return err
		}
		return c.finish(a, r)
	}
	return c.with(a, "speedup", c.labOutput, func(b lab.Bench, p lab.Progress) (lab.Result, error) {
		x.Bench, x.Live = b, c.Device
		return x.Run(a, p)
	})
}

type labTraces struct {
	Trace    string   `help:"A trace, or a folder of them: ping logs (*.txt), Mahimahi packet traces (*.up, *.down), tables (*.csv)." type:"path" required:"" placeholder:"FILE"`
	Windows  int      `help:"Places of each trace to replay, beside the worst." default:"2"`
	Method   []string `help:"Methods, with or without a placement." default:"device-alone,drdg-tw,dragon/greedy,tandem/mirror"`
	Decode   string   `help:"Decoding delays of device and cloud, or native." default:"60ms/30ms"`
	Simulate bool     `help:"Play the answers in virtual time instead of running both sides."`
	labAnswers
	labOutput
}

func (c *labTraces) Run(a *cli.App) error {
	d, err := delays([]string{c.Decode})
	methods, methodErr := lab.Methods(c.Method)
	if err = errors.Join(err, methodErr, c.check(a)); err != nil {
		return err
	}
	if c.Windows < 0 || c.Windows > 1000 {
		return fmt.Errorf("--windows %d: want 0 to 1000", c.Windows)
	}
	files := []string{c.Trace}
	if info, err := os.Stat(c.Trace); err != nil {
		return fmt.Errorf("--trace: %w", err)
	} else if info.IsDir() {
		if files, err = lab.TraceFiles(c.Trace); err != nil {
			return err
		}
	}
	return c.with(a, "traces", c.labOutput, func(b lab.Bench, p lab.Progress) (lab.Result, error) {
		return lab.Traces{Bench: b, Files: files, Windows: c.Windows, Delays: d[0], Methods: methods, Simulated: c.Simulate}.Run(a, p)
	})
}

type labLoss struct {
	Loss     []float64     `help:"Shares of packets lost." default:"0,0.01,0.02,0.05,0.1"`
	Decode   []string      `help:"Decoding delays of device and cloud, or native; several with commas." default:"150ms/30ms,30ms/30ms"`
	RTT      time.Duration `name:"rtt" help:"Round-trip time." default:"100ms"`
	Simulate bool          `help:"Play the answers in virtual time instead of running both sides."`
	AtOnce   int           `help:"Live: paths that are measured at a time. Paced decoding leaves room for several." default:"1"`
	labAnswers
	labOutput
}

func (c *labLoss) Run(a *cli.App) error {
	d, err := delays(c.Decode)
	if err = errors.Join(err, trips([]time.Duration{c.RTT}), c.check(a)); err != nil {
		return err
	}
	for _, l := range c.Loss {
		if !(l >= 0 && l <= 0.5) {
			return fmt.Errorf("--loss %v: want shares of 0 to 0.5", l)
		}
	}
	return c.with(a, "loss", c.labOutput, func(b lab.Bench, p lab.Progress) (lab.Result, error) {
		return lab.Loss{Bench: b, Delays: d, RTT: c.RTT, Losses: c.Loss, Simulated: c.Simulate, AtOnce: c.AtOnce}.Run(a, p)
	})
}

type labReport struct {
	From string `help:"Folder with results." default:"lab-results" type:"path" placeholder:"DIR"`
	To   string `help:"The page to write; without it, report.html in that folder." type:"path" placeholder:"FILE"`
}

func (c *labReport) Run(a *cli.App) error {
	to := c.To
	if to == "" {
		to = filepath.Join(c.From, "report.html")
	}
	page, n, err := lab.Report(c.From, "tandem "+cli.Version())
	if err != nil {
		return err
	}
	if err := a.WriteOutput(to, page, 0o644); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"report": to, "results": n})
	}
	fmt.Fprintf(a.Out, "%s: %d results\n", to, n)
	return nil
}
