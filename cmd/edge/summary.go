package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem"
	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/quote"
	"tandem/decoder"
	"tandem/internal/refusal"
	"tandem/node"
	"tandem/pair"
)

// showFlags say what is printed besides the answer.
type showFlags struct {
	Stats bool `help:"Also print how the text came about: speed, drafts, network, shares of the documents."`
	Quiet bool `short:"q" help:"Print only the text."`
}

// Validate is called by kong.
func (f showFlags) Validate() error {
	if f.Stats && f.Quiet {
		return errors.New("--stats and --quiet: give only one of them")
	}
	return nil
}

// printSpeed prints how fast a text came about, if the flags ask for it or the pace is a simulated chip's. The first line also
// names that chip.
func (f showFlags) printSpeed(a *cli.App, chip string, lines ...string) {
	if !f.Stats && (chip == "" || f.Quiet) {
		return
	}
	if chip != "" {
		lines[0] += " · simulated " + chip
	}
	for _, line := range lines {
		fmt.Fprintln(a.Aside, a.Faint(line))
	}
}

// printSummary prints where an answer comes from and who was asked and, if the flags ask for it, what it cost.
func (s *session) printSummary(answer node.Answer) {
	a := s.app
	a.Clear()
	r := s.report(answer)
	s.printWarnings(r)
	if !s.flags.show.Quiet {
		s.printProvenance(r)
	}
}

// printDetail prints the same of an earlier answer, with everything that --stats shows.
func (s *session) printDetail(r askJSON) {
	stats := s.flags.show.Stats
	s.flags.show.Stats = true
	s.printProvenance(r)
	s.flags.show.Stats = stats
}

// printWarnings says what is wrong with an answer: with --quiet also what else stands below its parts.
func (s *session) printWarnings(r askJSON) {
	a := s.app
	if r.Finish == pair.ReasonLength.String() || slices.ContainsFunc(r.Parts, func(p partJSON) bool { return p.Cut }) {
		room := ""
		if hasNoWord(r.Answer) {
			room = ", which leave no room for a whole word"
		}
		more := "-n N allows more"
		if r.limit < s.settings.MaxTokens {
			more = "the cloud allows no more"
		}
		fmt.Fprintln(a.Aside, a.Fold(fmt.Sprintf("the answer was cut at %s%s: %s", cli.Count(r.limit, "token"), room, more)))
	}
	if !s.flags.show.Quiet {
		return
	}
	for _, p := range r.Parts {
		if p.Unsure {
			fmt.Fprintln(a.Aside, a.Fold(fmt.Sprintf("%s: %s", unsureNote(p), quote.Cut(p.Text))))
		}
	}
}

// hasNoWord reports whether an answer has no room for a word, but perhaps for an ellipsis.
func hasNoWord(answer string) bool { return strings.Trim(answer, "… \n") == "" }

// unsureNote says how often such answers are right.
func unsureNote(p partJSON) string {
	return fmt.Sprintf("unsure: right in %d of 100 such answers", p.RightOf100())
}

// printProvenance prints the sources of an answer, who was asked and, if the flags ask for it, what it cost.
func (s *session) printProvenance(r askJSON) {
	a := s.app
	switch {
	case hasNoWord(r.Answer) && r.Finish == pair.ReasonLength.String(): // it rests on nothing
	case len(r.Parts) > 0:
		s.printCitations(r)
	default:
		s.printDocuments("device", r.Documents.Device)
		s.printDocuments("cloud", r.Documents.Cloud)
	}
	for _, remark := range r.Stale {
		fmt.Fprintln(a.Aside, a.Fold(remark))
	}
	fmt.Fprintln(a.Aside, a.Fold(a.Faint("asked: ")+s.sidesAsked(r)))
	if costs := r.parts(); len(costs) > 0 { // the flags asked for them
		fmt.Fprintln(a.Aside, a.Faint(a.Fold(strings.Join(costs, " · "))))
	}
	if s.flags.show.Stats {
		fmt.Fprintln(a.Aside, a.Faint(a.Fold(s.statistics(r))))
		if legend := a.Legend(); legend != "" && !r.LocalOnly {
			fmt.Fprintln(a.Aside, a.Faint("tint: ")+legend)
		}
	}
}

// statistics returns the cost of an answer on one line.
func (s *session) statistics(r askJSON) string {
	parts := []string{
		cli.Count(len(r.Tokens), "token"),
		fmt.Sprintf("%.0f tokens/s", r.Stats.TokensPerSecond),
		fmt.Sprintf("first after %.0f ms", r.Stats.TTFT),
	}
	switch {
	case s.settings.Want != tandem.WantDrafts:
		parts = append(parts,
			fmt.Sprintf("%s sent, %s received", cli.Bytes(int64(r.Stats.BytesSent)), cli.Bytes(int64(r.Stats.BytesReceived))),
			measuredRTT(r.Stats.RTT), r.Method)
	case !r.LocalOnly:
		parts = append(parts,
			fmt.Sprintf("accepted: device %.0f %%, cloud %.0f %%", 100*r.Stats.AcceptDevice, 100*r.Stats.AcceptCloud),
			fmt.Sprintf("%s sent, %s received", cli.Bytes(int64(r.Stats.BytesSent)), cli.Bytes(int64(r.Stats.BytesReceived))),
			measuredRTT(r.Stats.RTT),
			s.placementText())
	case s.flags.Method == "crcg":
		parts = append(parts, "device alone, all its passages in one context")
	default:
		parts = append(parts, "device alone")
	}
	if r.Stats.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d drafts without a pass", r.Stats.Ahead, r.Stats.Drafted))
	}
	parts = append(parts, fmt.Sprintf("seed %d", r.Seed), fmt.Sprintf("peak memory %.0f MB", r.Stats.PeakMemory))
	return strings.Join(parts, " · ")
}

// measuredRTT says how long a round trip took, if that was measured.
func measuredRTT(ms float64) string {
	if ms == 0 {
		return "RTT not measured"
	}
	return fmt.Sprintf("RTT %.1f ms", ms)
}

// sidesAsked names the sides that took part in an answer.
func (s *session) sidesAsked(r askJSON) string {
	a := s.app
	var sides []string
	if s.flags.Side != "cloud" {
		device := "this device"
		switch {
		case s.own.sample:
			device += " (sample documents)"
		case s.own.empty:
			device += " (nothing indexed)"
		}
		sides = append(sides, a.Tint(tandem.ByDevice, device))
	}
	if s.cloudTookPart(r) {
		cloud := s.cloudName()
		if s.cloud.invented {
			cloud += " (sample documents)"
		}
		sides = append(sides, a.Tint(tandem.ByCloud, cloud))
	}
	switch {
	case len(sides) > 1:
	case s.device.Cloud == nil && !s.flags.LocalOnly && s.flags.Side == "both":
		return sides[0] + a.Faint(" alone (no cloud is paired: edge pair CODE)")
	default:
		return sides[0] + a.Faint(" alone")
	}
	return strings.Join(sides, a.Faint(" and "))
}

func (s *session) cloudTookPart(r askJSON) bool { return s.device.Cloud != nil && !r.LocalOnly }

// cloudName names the cloud, with the address where it was reached.
func (s *session) cloudName() string {
	name := cli.Escape(s.cloud.name)
	if at := s.lastReached(); at != "" {
		name += " (" + at + ")"
	}
	return name
}

// placementText names the placement and the coupling of the answer.
func (s *session) placementText() string {
	settings, private := s.settings, s.device.IsPrivate()
	if private {
		settings.MakePrivate()
	}
	text := settings.Placement.String()
	if s.flags.Placement == autoPlacement {
		text += " (auto)"
	}
	if private {
		return text + ", private"
	}
	if settings.Coupling == tandem.CouplingSpeculative {
		text += ", speculative, γ " + s.flags.Gamma
	}
	return text
}

// printCitations prints the sentences of documents that say each part of the answer or, if nobody knows it, those that come
// close. Parts in a row with the same sentences have them once.
func (s *session) printCitations(r askJSON) {
	r.Parts = slices.Clone(r.Parts)
	for i, p := range r.Parts {
		r.Parts[i] = s.shown(p)
	}
	for i := 0; i < len(r.Parts); {
		lines, label := s.citationLines(r, r.Parts[i]), fmt.Sprint(i+1)
		for i++; i < len(r.Parts) && slices.Equal(s.citationLines(r, r.Parts[i]), lines); i++ {
			label += fmt.Sprintf(", %d", i+1)
		}
		first, later := "", ""
		if len(r.Parts) > 1 {
			first = label + ". "
			later = strings.Repeat(" ", len(first))
		}
		for _, line := range lines {
			fmt.Fprintln(s.app.Aside, s.app.Faint(s.app.Fold(first+line)))
			first = later
		}
	}
}

// citationLines returns the lines below a part of the answer.
func (s *session) citationLines(r askJSON, p partJSON) (lines []string) {
	quotes, near := s.quotesFor(p, s.app.Stress)
	if line := s.standing(r, p, len(quotes) > 0); line != "" {
		lines = append(lines, line)
	}
	lines = append(lines, quotes...)
	if isKnown(p) {
		lines = append(lines, quote.Otherwise(p, s.app.Stress)...)
	}
	if len(near) > 0 {
		lines = append(append(lines, nearHeading(p)), near...)
	}
	if p.Unsure {
		lines = append(lines, unsureNote(p))
	}
	return lines
}

// standing says whether a part is known or, where no sentence is quoted or the flags ask for it, where it is from.
func (s *session) standing(r askJSON, p partJSON, quoted bool) string {
	switch {
	case refusal.Unsupported(p.Text, p.Nothing):
		return "not known: " + s.whyUnknown(r)
	case p.Unknown:
		return "not known, after reading " + s.sourceShares(p)
	case s.flags.show.Stats || !quoted:
		if from := s.sourceShares(p); from != "" {
			return "from: " + from
		}
	}
	return ""
}

// nearHeading stands above the texts that come close to a part. Below an answer they may support it or not: nobody has
// checked that.
func nearHeading(p partJSON) string {
	if isKnown(p) {
		return "also close:"
	}
	return "nearest:"
}

// isKnown reports whether a document says a part.
func isKnown(p partJSON) bool { return !p.Unknown && !refusal.Unsupported(p.Text, p.Nothing) }

// quotesFor returns the sentences to show below a part: those that say it, and if that is not certain, those that come close.
func (s *session) quotesFor(p partJSON, stress func(string) string) (say, near []string) {
	say, near = quote.Of(p, s.app.Columns(), stress)
	switch {
	case !isKnown(p):
		return nil, append(say, near...)
	case !p.Unsure && !s.flags.show.Stats:
		near = nil
	}
	return say, near
}

// shown returns a part as people are shown it: if there is no cloud, its documents do not name the only side.
func (s *session) shown(p partJSON) partJSON {
	if s.device.Cloud != nil || s.flags.Side == "cloud" {
		return p
	}
	p.Sources, p.Citations, p.Otherwise = slices.Clone(p.Sources), slices.Clone(p.Citations), slices.Clone(p.Otherwise)
	for i := range p.Sources {
		p.Sources[i].Side = ""
	}
	for _, quoted := range [][]api.Citation{p.Citations, p.Otherwise} {
		for i := range quoted {
			quoted[i].Side = ""
		}
	}
	return p
}

// whyUnknown says whose documents do not say something: they may, and the reader has not understood it.
func (s *session) whyUnknown(r askJSON) string {
	switch {
	case s.flags.Side == "cloud":
		return "the documents of " + s.cloudName() + " do not clearly say it; this device was not asked"
	case s.cloudTookPart(r) && r.Degraded:
		return "the documents of this device do not clearly say it; " + s.cloudName() + " was away for a part of the answer"
	case s.cloudTookPart(r):
		return "neither the documents of this device nor those of " + s.cloudName() + " clearly say it"
	case s.device.Cloud != nil:
		return "the documents of this device do not clearly say it; " + s.cloudName() + " took no part"
	}
	return "the documents of this device do not clearly say it"
}

// sourceShares lists the documents that a part was drawn from, heaviest first.
func (s *session) sourceShares(p partJSON) string {
	var from []string
	for _, d := range p.Sources {
		if d.Weight < decoder.MinShare || len(from) == 3 {
			break
		}
		line := quote.Place(d.Title, d.Side)
		if s.flags.show.Stats {
			line += fmt.Sprintf(" %.0f %%", 100*d.Weight)
		}
		from = append(from, line)
	}
	return cli.Escape(strings.Join(from, " · "))
}

// printDocuments prints the documents of a side on one line, heaviest first.
func (s *session) printDocuments(side string, docs []node.Source) {
	var parts []string
	for _, d := range docs {
		line := d.Title
		if s.flags.show.Stats {
			line += fmt.Sprintf(" %.0f %%", 100*d.Weight)
		}
		parts = append(parts, line)
	}
	if len(parts) > 0 {
		fmt.Fprintln(s.app.Aside, s.app.Faint(s.app.Fold(side+": "+cli.Escape(strings.Join(parts, ", ")))))
	}
}
