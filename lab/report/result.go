package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Result is one cell of an experiment: a line of its table. Numbers that do not apply are missing.
type Result struct {
	Experiment   string `json:"experiment"`
	Method       string `json:"method,omitempty"`
	Placement    string `json:"placement,omitempty"`
	Device       Number `json:"device_ms,omitzero"` // decoding delay
	Cloud        Number `json:"cloud_ms,omitzero"`
	RTT          Number `json:"rtt_ms,omitzero"`
	Loss         Number `json:"loss,omitzero"` // share of packets
	Trace        string `json:"trace,omitempty"`
	PerToken     Number `json:"per_token_ms,omitzero"` // mean time between tokens
	P99          Number `json:"p99_ms,omitzero"`       // of the times between tokens
	TTFT         Number `json:"ttft_ms,omitzero"`
	AcceptDevice Number `json:"accept_device,omitzero"`
	AcceptCloud  Number `json:"accept_cloud,omitzero"`
	Handovers    Number `json:"handovers,omitzero"` // in an answer, on average
	Text         string `json:"text_sha256,omitempty"`
	Simulated    bool   `json:"simulated"`
}

// shared reports whether the seed fixes the text: in a pair with the shared coupling, where the device decided nothing
// alone.
func (r Result) shared() bool {
	other := r.Placement == "leader" || r.Placement == "private" || r.Placement == "support-1" // they have other couplings or distributions
	return (strings.HasPrefix(r.Method, "tandem") || r.Method == "drdg-tw") && !other && r.Text != ""
}

// Number is a number that may be missing.
type Number struct {
	Value float64
	Known bool
}

// Is returns a known number.
func Is(v float64) Number { return Number{v, true} }

// Ms returns a duration in milliseconds.
func Ms(d time.Duration) Number { return Is(d.Seconds() * 1000) }

// IsZero reports whether n is missing.
func (n Number) IsZero() bool { return !n.Known }

func (n Number) String() string {
	if !n.Known {
		return ""
	}
	return strconv.FormatFloat(math.Round(n.Value*1e4)/1e4, 'f', -1, 64)
}

// Brief writes at most three digits after the point.
func (n Number) Brief() string {
	if !n.Known {
		return ""
	}
	return strconv.FormatFloat(math.Round(n.Value*1e3)/1e3, 'f', -1, 64)
}

// MarshalJSON writes four digits after the point, and null for a missing number.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Known || math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
		return []byte("null"), nil
	}
	return []byte(n.String()), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number{}
		return nil
	}
	n.Known = true
	return json.Unmarshal(b, &n.Value)
}

// columns are the names of a table's columns: those of Result's JSON fields.
var columns = []string{
	"experiment", "method", "placement", "device_ms", "cloud_ms", "rtt_ms", "loss", "trace", "per_token_ms",
	"p99_ms", "ttft_ms", "accept_device", "accept_cloud", "handovers", "text_sha256", "simulated",
}

func (r Result) fields() []string {
	return []string{
		r.Experiment, r.Method, r.Placement, r.Device.String(), r.Cloud.String(), r.RTT.String(), r.Loss.String(),
		r.Trace, r.PerToken.String(), r.P99.String(), r.TTFT.String(), r.AcceptDevice.String(),
		r.AcceptCloud.String(), r.Handovers.String(), r.Text, strconv.FormatBool(r.Simulated),
	}
}

// writeCSV writes results as a table with a header.
func writeCSV(w io.Writer, results []Result) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	for _, r := range results {
		if err := out.Write(r.fields()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Quantile returns the least x of which at least the share q of xs is no greater, 0 for no xs.
func Quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(xs))
	return s[min(max(int(math.Ceil(q*float64(len(s))))-1, 0), len(s)-1)]
}

// SameTexts says whether the shared coupling gave one text in all cells.
func SameTexts(results []Result) string {
	texts := map[string]int{}
	for _, r := range results {
		if r.shared() {
			texts[r.Text]++
		}
	}
	n := 0
	for _, k := range texts {
		n += k
	}
	if n == 0 {
		return "No cell of the shared coupling was decided by both sides throughout, so no texts are compared."
	}
	if len(texts) == 1 {
		return fmt.Sprintf("The texts are the same in all %d cells of the shared coupling.", n)
	}
	return fmt.Sprintf("The texts DIFFER between cells of the shared coupling: %d texts in %d cells.", len(texts), n)
}
