package api

import (
	"math"
	"slices"
	"strings"

	"tandem"
	"tandem/decoder/extract"
	"tandem/internal/refusal"
	"tandem/node"
	"tandem/pair"
)

// Part is a sentence of an answer with its sources.
type Part struct {
	Text    string  `json:"text"`
	Unknown bool    `json:"unknown"`              // it says so itself, or no document supports it
	Sure    float64 `json:"confidence,omitempty"` // the span reader's probability that it is right
	Unsure  bool    `json:"unsure,omitempty"`     // likely enough to be wrong that readers should be told
	Cut     bool    `json:"cut,omitempty"`        // it lost its end, since the answer may not be longer
	Nothing float64 `json:"nothing"`              // weight of the contexts without a document
	Sources []Cited `json:"sources"`
	// Citations are the sentences that say it, then those that come close; if it is unknown, passages that come close.
	Citations []Citation `json:"citations"`
	// Otherwise has the sentence that says something else and is likeliest to be right, if it might as well have been
	// the answer; at most one. Its text is empty if the cloud shows none.
	Otherwise []Citation `json:"otherwise,omitempty"`
}

// Cited is a document and its share of a part.
type Cited struct {
	Side   string  `json:"side"`
	Title  string  `json:"title,omitempty"` // empty if the cloud does not show titles
	Weight float64 `json:"weight"`          // share over both sides
}

// unsure is the confidence below which a part is marked.
const unsure = 0.75

// RightOf100 returns how many of 100 such parts are right. That of an unsure one is below the bound for these, rounded or not.
func (p Part) RightOf100() int {
	n := int(math.Round(100 * p.Sure))
	if p.Unsure {
		n = min(n, int(100*unsure)-1)
	}
	return n
}

// Citation is a sentence or a passage of a document.
type Citation struct {
	Side   string  `json:"side"`
	Title  string  `json:"title,omitempty"` // empty if the cloud does not show titles
	File   string  `json:"file,omitempty"`  // on the device
	Text   string  `json:"text"`            // byte for byte
	From   int     `json:"from"`            // the bytes of text that answer, or the likeliest sentence of a passage; from equals to if that is not known
	To     int     `json:"to"`
	Column string  `json:"column,omitempty"` // the name of the column that answers, in a table's row
	Weight float64 `json:"weight"`           // share over both sides; 0 if it is only near
}

// Parts returns the sentences of an answer. pointing says that a span reader answered.
func Parts(answer node.Answer, pointing bool) (parts []Part, unknown bool) {
	parts = []Part{}
	for i, p := range answer.Parts {
		part := Part{Text: p.Text, Nothing: p.Unknown, Unknown: refusal.Unknown(p.Text, p.Unknown), Sources: []Cited{}}
		for _, d := range p.Sources {
			part.Sources = append(part.Sources, Cited{d.Side.String(), d.Title, d.Weight})
		}
		part.Cut = pointing && shortened(p) || answer.Reason == pair.ReasonLength && i == len(answer.Parts)-1
		if pointing && !part.Unknown && !part.Cut && !math.IsInf(p.Relevance, -1) {
			other := math.Inf(-1)
			for _, q := range p.Otherwise {
				other = q.Relevance
			}
			part.Sure = extract.Confidence(p.Relevance, other)
			part.Unsure = part.Sure < unsure
		}
		part.Citations, part.Otherwise = citations(p.Quotes), citations(p.Otherwise)
		parts, unknown = append(parts, part), unknown || part.Unknown
	}
	return parts, unknown
}

// shortened reports whether a span reader has left out the end of a part: it ends with an ellipsis that no document has there.
func shortened(p node.Part) bool {
	return strings.HasSuffix(p.Text, "…") && !slices.ContainsFunc(p.Quotes, func(q node.Quote) bool {
		return strings.Contains(strings.Join(strings.Fields(q.Text), " "), p.Text)
	})
}

func citations(quotes []node.Quote) []Citation {
	out := []Citation{}
	for _, q := range quotes {
		out = append(out, Citation{q.Side.String(), q.Title, q.Source, q.Text, q.From, q.To, q.Column, q.Weight})
	}
	return out
}

// extra is what Tandem says of an answer, under "tandem".
type extra struct {
	ID        string      `json:"id,omitempty"` // of the answer, in /v1/events
	Parts     []Part      `json:"parts"`
	Unknown   bool        `json:"unknown"`    // of any part
	LocalOnly bool        `json:"local_only"` // no token was agreed with a cloud
	Degraded  bool        `json:"degraded"`   // a cloud was to take part, and the device decided tokens without it
	Tokens    []tokenInfo `json:"tokens"`
	Placement string      `json:"placement,omitempty"`
	Seed      int64       `json:"seed"` // as a request gives it
	RTT       float64     `json:"rtt_ms"`
	Sent      uint64      `json:"bytes_sent"`
	Received  uint64      `json:"bytes_received"`
	Accepted  [2]float64  `json:"accepted"` // share of the drafts, of the device and of the cloud
	Remarks   []string    `json:"remarks,omitempty"`
}

// tokenInfo is a token and who drafted it.
type tokenInfo struct {
	Text  string  `json:"text"`
	By    string  `json:"by"` // device, cloud, both, neither
	Alone bool    `json:"alone,omitempty"`
	Ms    float64 `json:"ms"` // since the question
}

// extra describes an answer.
func (s *Server) extra(q Query, a node.Answer) extra {
	e := extra{
		ID: q.ID, LocalOnly: a.Pair.Together == 0, Degraded: a.Degraded, Tokens: []tokenInfo{}, Placement: a.Placement.String(), Seed: int64(q.Settings.Seed),
		RTT: tandem.Milliseconds(a.Traffic.RTT), Sent: a.Traffic.BytesSent, Received: a.Traffic.BytesReceived, Remarks: a.Remarks,
		Accepted: [2]float64{a.Pair.Acceptance(tandem.Device), a.Pair.Acceptance(tandem.Cloud)},
	}
	e.Parts, e.Unknown = Parts(a, s.cfg.Pointing)
	if !s.cfg.Files {
		for i := range e.Parts {
			for _, list := range [][]Citation{e.Parts[i].Citations, e.Parts[i].Otherwise} {
				for j := range list {
					list[j].File = ""
				}
			}
		}
	}
	for _, t := range a.Tokens {
		e.Tokens = append(e.Tokens, tokenInfoOf(t))
	}
	return e
}

func tokenInfoOf(t node.Token) tokenInfo {
	return tokenInfo{t.Text, t.By.String(), t.Alone, tandem.Milliseconds(t.At)}
}

// timings are llama-server's.
type timings struct {
	PromptN            int     `json:"prompt_n"`
	PromptMs           float64 `json:"prompt_ms"`
	PromptPerSecond    float64 `json:"prompt_per_second"`
	PredictedN         int     `json:"predicted_n"`
	PredictedMs        float64 `json:"predicted_ms"`
	PredictedPerSecond float64 `json:"predicted_per_second"`
}

// timingsOf returns the timings of an answer. Its prompt is read when both sides have read theirs.
func timingsOf(prompt int, a node.Answer) timings {
	reading := min(max(a.Prefill[tandem.Device], a.Prefill[tandem.Cloud]), a.Took)
	t := timings{PromptN: prompt, PromptMs: tandem.Milliseconds(reading), PredictedN: len(a.Tokens), PredictedMs: tandem.Milliseconds(a.Took - reading)}
	if t.PromptMs > 0 {
		t.PromptPerSecond = 1000 * float64(prompt) / t.PromptMs
	}
	if t.PredictedMs > 0 {
		t.PredictedPerSecond = 1000 * float64(t.PredictedN) / t.PredictedMs
	}
	return t
}
