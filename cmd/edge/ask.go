package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/node"
	"tandem/transport"
)

type askCmd struct {
	Question []string `arg:"" optional:"" help:"The question; without it, standard input."`
	answerFlags
	Record string `help:"Write what happens in the answer to FILE, as JSON lines: delays, drafts, tokens, round trips. The simulator plays it back." type:"path" placeholder:"FILE"`
}

func (c *askCmd) Help() string {
	return `Examples:
  edge ask "What is the wifi password of the lake cabin, and when does the harbour museum open?"
  edge ask --rtt 300ms --placement device "When does the harbour museum open?"
  edge ask --notes ~/notes --public ./town "Who owns the marina?"
  edge ask --coupling speculative --placement greedy --gamma auto --record answer.jsonl "Who owns the marina?"
  edge ask --method drdg-tw --rtt 300ms "Who owns the marina?"
  edge ask --method drcg-kv --send-documents "When does the harbour museum open?"
  edge ask --soc sm8750 "When does the harbour museum open?"
  edge ask --model qwen2.5-1.5b-instruct-q4_k_m.gguf --json "What did we decide?" | jq .answer

The methods beside tandem are there to be compared with. dragon: the paper's coupling, aggregation where it is
faster. crcg: one side alone, all its passages in one context. drcg-text, drcg-kv: the device fetches the
cloud's passages, or their KV caches too, and answers alone. drdg-tw: a round trip for every token. drdg-sw:
both sides write a whole answer, and the likelier one is taken.

A recording holds distributions, from which one can tell things about your documents. Its fields are those of
the type Line in the package node.

On a terminal each token is tinted by who drafted it: device, cloud, both or neither.`
}

func (c *askCmd) Run(a *cli.App) (err error) {
	question, err := questionText(c.Question)
	if err != nil {
		return err
	}
	s, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c.Record != "" {
		record, e := s.record(c.Record)
		if e != nil {
			return e
		}
		defer func() {
			if err == nil {
				err = record()
			}
		}()
	}
	answer, err := s.ask(node.Question{ID: "ask", Text: question}, !a.Globals.JSON)
	if a.Globals.JSON {
		if err == nil {
			err = a.JSON(s.report(answer))
		}
	} else if err == nil {
		s.summary(answer)
	}
	if err == nil {
		s.learn()
	}
	return err
}

// record makes the device note what happens. The returned function writes that to a file: an answer that failed takes
// the place of no earlier recording.
func (s *session) record(path string) (write func() error, err error) {
	if _, err := cli.Output(path); err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	s.device.Record = func(l node.Line) { err = errors.Join(err, lines.Encode(l)) }
	return func() error {
		if err == nil {
			err = s.app.WriteOutput(path, text.Bytes(), 0o644)
		}
		if err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		return nil
	}, nil
}

// questionText is the arguments as one question, or what standard input holds.
func questionText(args []string) (string, error) {
	text := strings.Join(args, " ")
	if len(args) == 0 {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return "", errors.New("no question: give it as an argument, as in: edge ask \"When does the harbour museum open?\"")
		}
		data, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
		if err != nil {
			return "", fmt.Errorf("read the question: %w", err)
		}
		text = string(data)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("the question is empty")
	}
	return text, nil
}

// ask answers q, streaming the answer to the screen when show is set.
func (s *session) ask(q node.Question, show bool) (node.Answer, error) {
	a, begun := s.app, false
	cost, err := s.beginCost()
	if err != nil {
		return node.Answer{}, err
	}
	answer, err := s.device.Ask(a, q, s.settings, func(t node.Token) {
		if !show {
			return
		}
		text := cli.Said(t.Text)
		if !begun {
			text = strings.TrimLeft(text, " \n")
			begun = text != ""
		}
		fmt.Fprint(a.Out, a.Tint(t.By, text))
	})
	s.cost = cost.end()
	if show && begun {
		fmt.Fprintln(a.Out)
	}
	if !a.Globals.JSON || err != nil { // then there will be no JSON that has them
		for _, r := range answer.Remarks {
			a.Remark("%s", cli.Plain(r)) // some of it may be the cloud's words
		}
	}
	if errors.Is(err, node.ErrNoCloud) && s.peer != (transport.ID{}) {
		err = s.missing(err)
	}
	return answer, err
}

// missing adds to an error for want of the paired cloud which one that is, and the way out.
func (s *session) missing(err error) error {
	where := cli.Plain(s.cloud)
	if dirs, e := s.app.Dirs(); e == nil {
		if p, e := transport.OpenPeers(dirs.Peers()).Lookup(s.peer); e == nil {
			where += " (" + strings.Join(p.Addrs, ", ") + ")"
		}
	}
	err = fmt.Errorf("%s: %w", where, err)
	if way := wayBack(err); way != "" {
		err = fmt.Errorf("%w; %s", err, way)
	}
	return err
}

// summary prints what the answer cost and where it came from.
func (s *session) summary(answer node.Answer) {
	a, r := s.app, s.report(answer)
	parts := []string{
		fmt.Sprintf("%d tokens", len(answer.Tokens)),
		fmt.Sprintf("%.0f tokens/s", r.Stats.TokensPerSecond),
		fmt.Sprintf("first after %.0f ms", r.Stats.TTFT),
	}
	switch {
	case s.settings.Want != transport.WantDrafts:
		parts = append(parts,
			fmt.Sprintf("%s sent, %s received", cli.Bytes(int64(r.Stats.BytesSent)), cli.Bytes(int64(r.Stats.BytesReceived))),
			fmt.Sprintf("RTT %.1f ms", r.Stats.RTT), r.Method)
	case !r.LocalOnly:
		parts = append(parts,
			fmt.Sprintf("accepted: device %.0f %%, cloud %.0f %%", 100*r.Stats.AcceptDevice, 100*r.Stats.AcceptCloud),
			fmt.Sprintf("%s sent, %s received", cli.Bytes(int64(r.Stats.BytesSent)), cli.Bytes(int64(r.Stats.BytesReceived))),
			fmt.Sprintf("RTT %.1f ms", r.Stats.RTT),
			s.how())
	case s.flags.Method == "crcg":
		parts = append(parts, "device alone, all its passages in one context")
	default:
		parts = append(parts, "device alone")
	}
	if r.Stats.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d drafts without a pass", r.Stats.Ahead, r.Stats.Drafted))
	}
	parts = append(parts, fmt.Sprintf("seed %d", r.Seed), fmt.Sprintf("peak memory %.0f MB", r.Stats.PeakMemory))
	parts = append(parts, r.parts()...)
	a.Clear()
	fmt.Fprintln(a.Aside, a.Faint(strings.Join(parts, " · ")))
	if len(r.Parts) > 0 {
		s.cite(r.Parts)
	} else {
		s.sources("device", r.Documents.Device)
		s.sources("cloud", r.Documents.Cloud)
	}
	if legend := a.Legend(); legend != "" && !r.LocalOnly {
		fmt.Fprintln(a.Aside, a.Faint("tint: ")+legend)
	}
}

// how says where drafts became tokens, and who chose that.
func (s *session) how() string {
	text := s.settings.Placement.String()
	if s.flags.Placement == autoPlacement {
		text += " (auto)"
	}
	if s.settings.Coupling == tandem.CouplingSpeculative {
		text += ", speculative, γ " + s.flags.Gamma
	}
	return text
}

// leastShare is what a document must have had of a sentence to be named beside it.
const leastShare = 0.1

// cite prints for each sentence of the answer which documents it was drawn from, heaviest first, or that
// none holds it.
func (s *session) cite(parts []partJSON) {
	for i, p := range parts {
		var from []string
		for _, d := range p.Sources {
			if d.Weight >= leastShare && len(from) < 3 {
				title := d.Title
				if title != "" {
					title += ", "
				}
				from = append(from, fmt.Sprintf("%s%s %.0f %%", title, d.Side, 100*d.Weight))
			}
		}
		line := strings.Join(from, " · ")
		switch {
		case nobodys(p.Text, p.Nothing):
			line = "not known: no document of either side was found to say it"
		case p.Unknown:
			line = "not known, after reading " + line
		}
		if len(parts) > 1 {
			line = fmt.Sprintf("%d. %s", i+1, line)
		}
		fmt.Fprintln(s.app.Aside, s.app.Faint("from: "+cli.Plain(line)))
	}
}

// nobodys reports whether no document says a sentence: most of it comes from the contexts without one, or it says so
// itself and a good part does. A document that says "the author is unknown" leaves them little.
func nobodys(sentence string, nothing float64) bool {
	return nothing > 0.5 || nothing > 0.2 && cli.Refused(sentence)
}

// unknown reports whether a sentence says itself that what was asked is not known, in the words that the reader has for
// that, or is nobody's. What it then cites is what it looked into.
func unknown(sentence string, nothing float64) bool {
	return strings.HasSuffix(strings.TrimRight(sentence, ".!? \n"), " unknown") || nobodys(sentence, nothing)
}

// sources prints a side's documents in a line, heaviest first.
func (s *session) sources(side string, docs []node.Source) {
	var parts []string
	for _, d := range docs {
		parts = append(parts, fmt.Sprintf("%s %.0f %%", d.Title, 100*d.Weight))
	}
	if len(parts) > 0 {
		fmt.Fprintln(s.app.Aside, s.app.Faint(side+": "+cli.Plain(strings.Join(parts, ", "))))
	}
}

// askJSON is what ask prints with --json.
type askJSON struct {
	Answer    string      `json:"answer"`
	Method    string      `json:"method"`
	Tokens    []tokenJSON `json:"tokens"`
	Placement string      `json:"placement"`
	Choice    string      `json:"placement_choice"` // what was asked for: auto, or the placement
	Coupling  string      `json:"coupling"`
	Gamma     string      `json:"gamma,omitempty"` // of the speculative coupling
	Seed      uint64      `json:"seed"`
	LocalOnly bool        `json:"local_only"` // no token was agreed with a cloud
	Finish    string      `json:"finish"`     // stop, length, cancelled
	Remarks   []string    `json:"remarks,omitempty"`
	Parts     []partJSON  `json:"parts"`   // the sentences
	Unknown   bool        `json:"unknown"` // of a part of the answer
	Documents struct {
		Device []node.Source `json:"device"`
		Cloud  []node.Source `json:"cloud"`
	} `json:"documents"`
	Stats statsJSON `json:"stats"`
	costJSON
}

// partJSON is a sentence with what it was drawn from.
type partJSON struct {
	Text    string      `json:"text"`
	Unknown bool        `json:"unknown"` // it says so itself, or no document was found to say it
	Nothing float64     `json:"nothing"` // share of the contexts without a document
	Sources []citedJSON `json:"sources"`
}

type citedJSON struct {
	Side   string  `json:"side"`
	Title  string  `json:"title,omitempty"` // not told by a cloud that shows no titles
	Weight float64 `json:"weight"`          // share over both sides
}

type tokenJSON struct {
	ID   tandem.Token `json:"id"`
	Text string       `json:"text"`
	By   string       `json:"by"`
	Ms   float64      `json:"ms"` // since the question
}

type statsJSON struct {
	TTFT            float64 `json:"ttft_ms"`
	TokensPerSecond float64 `json:"tokens_per_second"` // after the first token; over all the time where the answer came at once
	AcceptDevice    float64 `json:"accept_device"`
	AcceptCloud     float64 `json:"accept_cloud"`
	BytesSent       uint64  `json:"bytes_sent"`
	BytesReceived   uint64  `json:"bytes_received"`
	DraftBytesMean  float64 `json:"draft_bytes_mean"`
	RTT             float64 `json:"rtt_ms"`
	PrefillDevice   float64 `json:"prefill_device_ms"`
	PrefillCloud    float64 `json:"prefill_cloud_ms"`
	AloneTokens     int     `json:"alone_tokens"`
	Handovers       int     `json:"handovers"` // of aggregation, by either side (placement greedy)
	Lookahead       int     `json:"lookahead"` // most drafts ahead of what was agreed
	Drafted         int     `json:"drafted"`   // by this side
	Ahead           int     `json:"ahead"`     // of these, those that took no pass of their own
	Hedges          int     `json:"hedges"`    // the cloud's drafts that were there before they were wanted
	TotalMs         float64 `json:"total_ms"`
	PeakMemory      float64 `json:"peak_memory_mb"` // of this process so far
}

// report is the answer for programs.
func (s *session) report(answer node.Answer) askJSON {
	r := askJSON{
		Answer: answer.Text, Method: s.flags.Method, Tokens: []tokenJSON{},
		Placement: s.settings.Placement.String(), Choice: s.flags.Placement, Coupling: s.settings.Coupling.String(),
		Seed: s.settings.Sampling.Seed, LocalOnly: answer.Pair.Together == 0 && s.settings.Want == transport.WantDrafts,
		Finish: answer.Reason.String(), Remarks: answer.Remarks,
	}
	if s.settings.Coupling == tandem.CouplingSpeculative {
		r.Gamma = s.flags.Gamma
	}
	for _, t := range answer.Tokens {
		r.Tokens = append(r.Tokens, tokenJSON{t.ID, t.Text, t.By.String(), cli.Milliseconds(t.At)})
	}
	r.Parts = []partJSON{}
	for _, p := range answer.Parts {
		part := partJSON{Text: p.Text, Nothing: p.Unknown, Unknown: unknown(p.Text, p.Unknown), Sources: []citedJSON{}}
		for _, d := range p.Sources {
			part.Sources = append(part.Sources, citedJSON{d.Side.String(), d.Title, d.Weight})
		}
		r.Parts, r.Unknown = append(r.Parts, part), r.Unknown || part.Unknown
	}
	r.Documents.Device = append([]node.Source{}, answer.Documents[tandem.Device]...)
	r.Documents.Cloud = append([]node.Source{}, answer.Documents[tandem.Cloud]...)
	r.costJSON = s.cost
	r.Stats = statsJSON{
		PeakMemory: peakMemory(),
		Drafted:    answer.Pair.Drafted, Ahead: answer.Pair.Ahead, Hedges: answer.Pair.Hedges,
		AcceptDevice:  answer.Pair.Acceptance(tandem.Device),
		AcceptCloud:   answer.Pair.Acceptance(tandem.Cloud),
		BytesSent:     answer.Link.BytesSent,
		BytesReceived: answer.Link.BytesReceived,
		RTT:           cli.Milliseconds(answer.Link.RTT),
		PrefillDevice: cli.Milliseconds(answer.Prefill[tandem.Device]),
		PrefillCloud:  cli.Milliseconds(answer.Prefill[tandem.Cloud]),
		AloneTokens:   answer.Pair.Alone,
		Handovers:     answer.Pair.Handovers + answer.Pair.Takeovers,
		Lookahead:     answer.Lookahead,
		TotalMs:       cli.Milliseconds(answer.Took),
	}
	if answer.Link.Drafts > 0 {
		r.Stats.DraftBytesMean = float64(answer.Link.DraftBytes) / float64(answer.Link.Drafts)
	}
	if n := len(answer.Tokens); n > 0 {
		first, last := answer.Tokens[0].At, answer.Tokens[n-1].At
		r.Stats.TTFT = cli.Milliseconds(first)
		r.Stats.TokensPerSecond = speed(n, first, last, s.settings.Want == transport.WantAnswer)
	}
	return r
}

// speed is tokens per second of n tokens that came between first and last after the question: what comes at once, or nearly so, took
// the time before it, too.
func speed(n int, first, last time.Duration, atOnce bool) float64 {
	if atOnce || 10*(last-first) < first {
		return float64(n) / max(last, time.Nanosecond).Seconds()
	}
	return float64(n-1) / max(last-first, time.Nanosecond).Seconds()
}
