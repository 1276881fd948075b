package main

import (
	"slices"
	"time"

	"tandem"
	"tandem/api"
	"tandem/node"
)

// askJSON is the output of ask --json.
type askJSON struct {
	Answer    string     `json:"answer"`
	Method    string     `json:"method"`
	Placement string     `json:"placement"`
	Choice    string     `json:"placement_choice"` // the flag: auto, or a placement
	Coupling  string     `json:"coupling"`
	Gamma     string     `json:"gamma,omitempty"` // of the speculative coupling
	Seed      uint64     `json:"seed"`
	LocalOnly bool       `json:"local_only"`      // no token was agreed with a cloud
	Degraded  bool       `json:"degraded"`        // a cloud was to take part, and the device decided tokens without it
	Queue     int        `json:"queue,omitempty"` // place in the queue of a busy cloud, from 1
	Moves     int        `json:"moves,omitempty"` // how often the answer went on with another replica that was ready
	Finish    string     `json:"finish"`          // stop, length, cancelled
	Remarks   []string   `json:"remarks,omitempty"`
	Parts     []partJSON `json:"parts"`           // the sentences
	Unknown   bool       `json:"unknown"`         // true if any part is
	Unsure    bool       `json:"unsure"`          // likewise
	Cloud     *cloudJSON `json:"cloud,omitempty"` // that took part
	Documents struct {
		Device []node.Source `json:"device"`
		Cloud  []node.Source `json:"cloud"`
	} `json:"documents"`
	Stats statsJSON `json:"stats"`
	costJSON
	Tokens []tokenJSON `json:"tokens"` // last, since they are many

	Stale []string `json:"-"` // those of the remarks that come after the answer
	limit int      // most tokens
}

// cloudJSON names a cloud.
type cloudJSON struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"` // where it was reached; empty in this process
}

// partJSON is a sentence with its sources.
type partJSON = api.Part

type tokenJSON struct {
	ID    tandem.Token `json:"id"`
	Text  string       `json:"text"`
	By    string       `json:"by"`
	Alone bool         `json:"alone,omitempty"` // decided without the cloud
	Ms    float64      `json:"ms"`              // since the question
}

type statsJSON struct {
	TTFT            float64 `json:"ttft_ms"`
	TokensPerSecond float64 `json:"tokens_per_second"` // after the first token; over the whole time if the answer arrived at once
	AcceptDevice    float64 `json:"accept_device"`
	AcceptCloud     float64 `json:"accept_cloud"`
	BytesSent       uint64  `json:"bytes_sent"`
	BytesReceived   uint64  `json:"bytes_received"`
	DraftBytesMean  float64 `json:"draft_bytes_mean"`
	RTT             float64 `json:"rtt_ms,omitempty"` // none if it was not measured, as over a very slow network
	PrefillDevice   float64 `json:"prefill_device_ms"`
	PrefillCloud    float64 `json:"prefill_cloud_ms"`
	AloneTokens     int     `json:"alone_tokens"`
	Handovers       int     `json:"handovers"` // of aggregation, by either side (placement greedy)
	Lookahead       int     `json:"lookahead"` // most drafts ahead of the agreed text
	Drafted         int     `json:"drafted"`   // by the device
	Ahead           int     `json:"ahead"`     // of these, drafts that needed no pass for themselves
	Hedges          int     `json:"hedges"`    // drafts of the cloud that arrived before they were needed
	TotalMs         float64 `json:"total_ms"`
	PeakMemory      float64 `json:"peak_memory_mb"` // of this process so far
}

// report returns the answer as ask --json prints it.
func (s *session) report(answer node.Answer) askJSON {
	r := askJSON{
		Answer: answer.Text, Method: s.flags.Method, Tokens: []tokenJSON{},
		Placement: answer.Placement.String(), Choice: s.flags.Placement, Coupling: answer.Coupling.String(),
		Seed: s.settings.Seed, LocalOnly: answer.Pair.Together == 0 && s.settings.Want == tandem.WantDrafts,
		Finish: answer.Reason.String(), Remarks: answer.Remarks,
		Degraded: answer.Degraded, Queue: answer.Waited, Moves: answer.Moves, limit: answer.MaxTokens,
	}
	if answer.Coupling == tandem.CouplingSpeculative {
		r.Gamma = s.flags.Gamma
	}
	for _, t := range answer.Tokens {
		r.Tokens = append(r.Tokens, tokenJSON{t.ID, t.Text, t.By.String(), t.Alone, tandem.Milliseconds(t.At)})
	}
	r.Parts, r.Unknown = api.Parts(answer, s.reader != nil)
	r.Stale = s.stale(answer)
	r.Remarks = slices.Concat(r.Remarks, r.Stale)
	r.Unsure = slices.ContainsFunc(r.Parts, func(p partJSON) bool { return p.Unsure })
	r.Documents.Device = append([]node.Source{}, answer.Documents[tandem.Device]...)
	r.Documents.Cloud = append([]node.Source{}, answer.Documents[tandem.Cloud]...)
	if s.cloudTookPart(r) {
		r.Cloud = &cloudJSON{s.cloud.name, s.lastReached()}
	}
	r.costJSON = s.cost
	r.Stats = statsJSON{
		PeakMemory: peakMemory(),
		Drafted:    answer.Pair.Drafted, Ahead: answer.Pair.Ahead, Hedges: answer.Pair.Hedges,
		AcceptDevice:  answer.Pair.Acceptance(tandem.Device),
		AcceptCloud:   answer.Pair.Acceptance(tandem.Cloud),
		BytesSent:     answer.Traffic.BytesSent,
		BytesReceived: answer.Traffic.BytesReceived,
		RTT:           tandem.Milliseconds(answer.Traffic.RTT),
		PrefillDevice: tandem.Milliseconds(answer.Prefill[tandem.Device]),
		PrefillCloud:  tandem.Milliseconds(answer.Prefill[tandem.Cloud]),
		AloneTokens:   answer.Pair.Alone,
		Handovers:     answer.Pair.Handovers + answer.Pair.Takeovers,
		Lookahead:     answer.Lookahead,
		TotalMs:       tandem.Milliseconds(answer.Took),
	}
	if answer.Traffic.Drafts > 0 {
		r.Stats.DraftBytesMean = float64(answer.Traffic.DraftBytes) / float64(answer.Traffic.Drafts)
	}
	if n := len(answer.Tokens); n > 0 {
		first, last := answer.Tokens[0].At, answer.Tokens[n-1].At
		r.Stats.TTFT = tandem.Milliseconds(first)
		r.Stats.TokensPerSecond = speed(n, first, last, s.settings.Want == tandem.WantAnswer)
	}
	return r
}

// speed returns the tokens per second of n tokens that arrived between first and last after the question. An answer that
// arrives at once, or nearly so, took the time before its first token, too.
func speed(n int, first, last time.Duration, atOnce bool) float64 {
	if atOnce || 10*(last-first) < first {
		return float64(n) / max(last, time.Nanosecond).Seconds()
	}
	return float64(n-1) / max(last-first, time.Nanosecond).Seconds()
}
