package main

import (
	"fmt"
	"strings"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder"
	"tandem/internal/refusal"
	"tandem/node"
)

// summary prints the cost of an answer and its sources.
func (s *session) summary(answer node.Answer) {
	a, r := s.app, s.report(answer)
	parts := []string{
		fmt.Sprintf("%d tokens", len(answer.Tokens)),
		fmt.Sprintf("%.0f tokens/s", r.Stats.TokensPerSecond),
		fmt.Sprintf("first after %.0f ms", r.Stats.TTFT),
	}
	switch {
	case s.settings.Want != tandem.WantDrafts:
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

// how names the placement and the coupling of the answer.
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

// unsure is the confidence below which an answer is marked.
const unsure = 0.75

// cite prints the documents that each sentence of the answer was drawn from, heaviest first, or that no document holds
// it.
func (s *session) cite(parts []partJSON) {
	for i, p := range parts {
		var from []string
		for _, d := range p.Sources {
			if d.Weight >= decoder.LeastShare && len(from) < 3 {
				title := d.Title
				if title != "" {
					title += ", "
				}
				from = append(from, fmt.Sprintf("%s%s %.0f %%", title, d.Side, 100*d.Weight))
			}
		}
		line := strings.Join(from, " · ")
		switch {
		case refusal.Unsupported(p.Text, p.Nothing):
			line = "not known: no document of either side was found to say it"
		case p.Unknown:
			line = "not known, after reading " + line
		case p.Sure > 0 && p.Sure < unsure:
			line += fmt.Sprintf(" · unsure, right in %.0f of 100 such answers", 100*p.Sure)
		}
		if len(parts) > 1 {
			line = fmt.Sprintf("%d. %s", i+1, line)
		}
		fmt.Fprintln(s.app.Aside, s.app.Faint("from: "+cli.Plain(line)))
		s.quote(p)
	}
}

// quote prints the sentences that say a part of the answer, or those nearest to it.
func (s *session) quote(p partJSON) {
	before, near := "", false
	for _, c := range p.Citations {
		if !near && c.Weight < decoder.LeastShare {
			near = true
			fmt.Fprintln(s.app.Aside, s.app.Faint("near:"))
		}
		where := c.Side
		if c.Title != "" {
			where = c.Title + ", " + c.Side
		}
		text := strings.Join(strings.Fields(cli.Plain(c.Text)), " ")
		if text == before {
			continue
		}
		before = text
		fmt.Fprintln(s.app.Aside, s.app.Faint(fmt.Sprintf("  “%s” (%s)", text, cli.Plain(where))))
	}
}

// sources prints the documents of a side on one line, heaviest first.
func (s *session) sources(side string, docs []node.Source) {
	var parts []string
	for _, d := range docs {
		parts = append(parts, fmt.Sprintf("%s %.0f %%", d.Title, 100*d.Weight))
	}
	if len(parts) > 0 {
		fmt.Fprintln(s.app.Aside, s.app.Faint(side+": "+cli.Plain(strings.Join(parts, ", "))))
	}
}
