package node

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/internal/refusal"
	"tandem/retrieval/passages"
)

// Part is a sentence of an answer with its sources on both sides.
type Part struct {
	Text    string
	Sources []Cited
	Quotes  []Quote // the sentences that say it, the heaviest first; if nobody knows it, the passages nearest to the question
	Unknown float64 // share of the contexts without a document: how likely it is that no document says it
	// Relevance is that of what supports it most, in nats: of a quote or, where the cloud shows none, of all its
	// documents that say it. -Inf if nothing does.
	Relevance float64
	// Otherwise has the sentence that says something else and is likeliest to be right, if it might as well have been
	// the answer; at most one. Its text is empty if the cloud shows none.
	Otherwise []Quote

	// Overruled says that the device's documents seemed to know, and that what the cloud made of it has nothing to do with
	// them.
	Overruled bool
}

// Cited is a document and its share of a part, 0 to 1 over both sides.
type Cited struct {
	Side   tandem.Side
	Title  string // empty if the cloud does not show titles
	Weight float64
}

// Quote is a sentence or a passage of a document.
type Quote struct {
	Side      tandem.Side
	Title     string  // of the document; empty if the cloud does not show titles
	Source    string  // the file on the device; empty for the cloud's
	Text      string  // byte for byte
	From, To  int     // the bytes of Text that answer, or a passage's likeliest sentence; equal if that is not known
	Column    string  // the name of the column that answers, in a table's row
	Weight    float64 // share of the part, 0 to 1 over both sides
	Relevance float64 // to the question, in nats
}

// sidePart is one side's view of a sentence.
type sidePart struct {
	from    int // its first token
	h       float64
	nothing float64
	sources []Source // by title, heaviest first
	quotes  []Quote  // Weight is a share of this side
	odds    bool     // the quotes' relevances are log-odds that they are right

	alternatives []Quote // says something else
}

// unquoted returns the part without its quotes. Of what says something else it keeps how relevant that is.
func (p sidePart) unquoted() sidePart {
	p.quotes = nil
	if len(p.alternatives) > 0 {
		p.alternatives = []Quote{{Relevance: p.alternatives[0].Relevance}}
	}
	return p
}

// parts returns where the side drew each sentence of its answer from.
func (r *reading) parts() []sidePart { return r.partsOf(r.Parts()) }

// partsOf names the documents of sentences.
func (r *reading) partsOf(list []decoder.Part) []sidePart {
	var out []sidePart
	for _, p := range list {
		part := sidePart{from: p.From, h: p.H, nothing: p.Nothing, sources: r.byTitle(0, p.Weights), quotes: r.quotes(p.Quotes), odds: r.logOdds, alternatives: r.quotes(p.Otherwise)}
		if r.local.HideQuotes {
			part = part.unquoted()
		}
		out = append(out, part)
	}
	return out
}

// quotes names the documents of quotes.
func (r *reading) quotes(list []decoder.Quote) []Quote {
	var out []Quote
	for _, q := range list {
		p := r.passages[q.Passage]
		out = append(out, Quote{
			Title: r.title(q.Passage), Source: p.Source, Text: q.Text, From: q.From, To: q.To, Column: q.Column,
			Weight: q.Weight, Relevance: q.Relevance,
		})
	}
	return out
}

// title returns what citations call the document of a passage, "" if they name none.
func (r *reading) title(passage int) string {
	if r.local.HideTitles {
		return ""
	}
	return passages.Place(r.passages[passage].Title) + r.local.Mark
}

// byTitle sums by title the weights of passages[from:], heaviest first.
func (r *reading) byTitle(from int, weights []float64) []Source {
	var out []Source
	at := map[string]int{}
	for i, w := range weights {
		title := r.title(from + i)
		if j, ok := at[title]; ok {
			out[j].Weight += w
			continue
		}
		at[title] = len(out)
		out = append(out, Source{title, w})
	}
	slices.SortStableFunc(out, func(a, b Source) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// cite combines where both sides drew each sentence of the answer from; own is nil if the device was muted. A side's
// share is the η of its mean weight. If the cloud took part and has not said what it drew on, no sentence is called
// unknown but a refusal: the cloud may have known it.
func cite(tokens []Token, own, cloud []sidePart) []Part {
	var out []Part
	starts := own
	if len(own) == 0 {
		starts = cloud
	}
	for i, s := range starts {
		if s.from >= len(tokens) {
			break
		}
		to := len(tokens)
		if i+1 < len(starts) {
			to = max(s.from, min(to, starts[i+1].from))
		}
		p := citePart(tokens[s.from:to], [2]*sidePart{partAt(own, s.from), partAt(cloud, s.from)})
		if p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// isAbridged reports whether a span reader left out words of an answer to keep it within most tokens. Each of its parts
// has an equal share of them, which may be too small for any word. An ellipsis that stands far before its end is the
// document's own, or says that a side was lost. most is over 0.
func isAbridged(tokens []Token, parts, most int) bool {
	const longestWord = 16 // in tokens
	text, n := "", 0
	for i, t := range tokens {
		text, n = text+t.Text, n+1
		if ends := parts > 1 && strings.Contains(t.Text, "\n"); !ends && i+1 < len(tokens) {
			continue
		}
		text = strings.TrimSpace(text)
		if n+longestWord > most/parts && (text == "" || text == "…" || strings.HasSuffix(text, " …") || strings.HasPrefix(text, "… ")) {
			return true
		}
		text, n = "", 0
	}
	return len(tokens) == 0
}

// tally counts the tokens of a sentence by where they come from.
type tally struct {
	all        int
	together   int // agreed with the cloud
	cloudAlone int // of together, those that only the cloud proposed
	foreign    int // of together, those that the device's documents never give
}

func tallyOf(tokens []Token) tally {
	n := tally{all: len(tokens)}
	for _, t := range tokens {
		if t.Alone {
			continue
		}
		n.together++
		if t.Own == 0 {
			n.foreign++
		}
		if t.By == tandem.ByCloud {
			n.cloudAlone++
		}
	}
	return n
}

// citePart combines the sides' views of one sentence.
func citePart(tokens []Token, sides [2]*sidePart) Part {
	p := Part{Relevance: math.Inf(-1)}
	for _, t := range tokens {
		p.Text += t.Text
	}
	p.Text = strings.TrimSpace(p.Text)
	alternatives := likeliestAlternative(sides)
	n := tallyOf(tokens)
	// A cloud that took part and has not said what it drew on is cited without a title, for the tokens that it alone
	// proposed.
	silent := n.together > 0 && sides[tandem.Device] != nil && sides[tandem.Cloud] == nil
	if own := sides[tandem.Device]; own != nil && own.h == decoder.Mute && own.nothing == 1 {
		silent, n.foreign = false, 0 // the cloud was lost before it had said all: the rest is not known, whatever it came from
	}
	// What the device's documents would hardly have said is not theirs, whatever weight the cloud claims afterwards.
	if own := sides[tandem.Device]; own != nil && 2*n.foreign > n.all {
		p.Overruled = own.seemedToKnow()
		sides[tandem.Device] = nil
		if silent {
			p.Sources = append(p.Sources, Cited{Side: tandem.Cloud, Weight: 1})
		}
	}
	silentShare := 0.0 // of the cloud
	if silent {
		silentShare = float64(n.cloudAlone) / float64(n.all)
	}
	p.addSides(sides, silent, silentShare)
	switch {
	case !silent:
	case slices.Contains(refusal.Sentences[:], p.Text): // the cloud did not know either what it proposed of this
		p.Unknown += silentShare
	case !refusal.In(p.Text):
		p.Unknown = 0
	}
	slices.SortStableFunc(p.Sources, func(a, b Cited) int { return cmp.Compare(b.Weight, a.Weight) })
	slices.SortStableFunc(p.Quotes, func(a, b Quote) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Relevance, a.Relevance))
	})
	p.Otherwise = slices.DeleteFunc(alternatives, func(q Quote) bool {
		return q.Text != "" && slices.ContainsFunc(p.Quotes, func(c Quote) bool { return c.Weight >= decoder.MinShare && c.Text == q.Text })
	})
	p.Quotes = worthShowing(p.Quotes)
	return p
}

// addSides adds what each side drew on, in proportion to its share of the sentence. A cloud that is silent has silentShare.
func (p *Part) addSides(sides [2]*sidePart, silent bool, silentShare float64) {
	most := 0.0
	for k, view := range sides {
		if view == nil {
			continue
		}
		eta := 1.0
		if other := sides[1-k]; other != nil {
			eta = 1 / (1 + math.Exp(other.h-view.h))
		} else if silent {
			eta = 1 - silentShare
			p.Sources = append(p.Sources, Cited{Side: tandem.Cloud, Weight: 1 - eta})
		}
		p.Unknown += eta * view.nothing
		if supports := eta * (1 - view.nothing); supports > most {
			most, p.Relevance = supports, view.support()
		}
		for _, d := range view.sources {
			p.Sources = append(p.Sources, Cited{tandem.Side(k), d.Title, eta * d.Weight})
		}
		for _, q := range view.quotes {
			q.Side, q.Weight = tandem.Side(k), eta*q.Weight
			p.Quotes = append(p.Quotes, q)
		}
	}
}

// likeliestAlternative returns what the sides have that says something else, the likelier of both.
func likeliestAlternative(sides [2]*sidePart) (best []Quote) {
	for k, view := range sides {
		if view == nil || len(view.alternatives) == 0 {
			continue
		}
		q := view.alternatives[0]
		if q.Side, q.Weight = tandem.Side(k), 0; best == nil || q.Relevance > best[0].Relevance {
			best = []Quote{q}
		}
	}
	return best
}

// support returns the relevance of the side's heaviest quote or, where it shows none, of its documents together.
func (p *sidePart) support() float64 {
	best, relevance := 0.0, p.h
	for _, q := range p.quotes {
		if q.Weight > best {
			best, relevance = q.Weight, q.Relevance
		}
	}
	return relevance
}

// seemedToKnow reports whether the side's documents seemed to answer: as the side mixed them, or by a sentence of theirs.
func (p *sidePart) seemedToKnow() bool {
	const sure = 2 // nats: such a sentence is right in three of four answers
	quoted := p.odds && slices.ContainsFunc(p.quotes, func(q Quote) bool { return q.Relevance > sure })
	return quoted || p.h > 0 && p.nothing < 0.5
}

func partAt(parts []sidePart, from int) *sidePart {
	for i := range parts {
		if parts[i].from == from {
			return &parts[i]
		}
	}
	return nil
}

// worthShowing returns the quotes that say the answer or come close, at most decoder.MaxQuotes.
func worthShowing(list []Quote) []Quote {
	best := math.Inf(-1)
	for _, q := range list {
		best = max(best, q.Relevance)
	}
	list = slices.DeleteFunc(list, func(q Quote) bool { return !decoder.WorthShowing(q.Weight, q.Relevance, best) })
	return list[:min(len(list), decoder.MaxQuotes)]
}
