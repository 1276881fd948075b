package quality

import (
	"math"
	"strings"
	"testing"

	"tandem/model"
	"tandem/models"
	"tandem/npu/native"
	"tandem/retrieval/passages"
)

// Several equal documents predict as well as one of them, by every mixture. A mixture of different documents costs between
// the best and the worst of them.
func TestPredictMixes(t *testing.T) {
	m, err := model.OpenBytes("reader", models.Decoder, native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const given, predicted = "The harbour museum", " opens at 9:30."
	of := func(texts ...string) map[string]float64 {
		var hits []passages.Passage
		for _, s := range texts {
			hits = append(hits, passages.Passage{Text: s})
		}
		bits, err := predict(t.Context(), m, hits, given, predicted)
		if err != nil {
			t.Fatal(err)
		}
		return bits
	}
	const a, b = "The harbour museum opens at 9:30.", "The mill is closed."
	first, second, both, same := of(a), of(b), of(a, b), of(a, a, a)
	for _, method := range []string{"output", "sequence"} {
		if math.Abs(same[method]-first["output"]) > 1e-6 {
			t.Errorf("%s of three equal documents: %v bits, of one %v", method, same[method], first["output"])
		}
		if x := both[method]; !(first["output"] < x && x < second["output"]) {
			t.Errorf("%s: %v bits, not between %v and %v", method, x, first["output"], second["output"])
		}
	}
	if both["device-context"] != first["one-context"] || both["cloud-context"] != second["one-context"] {
		t.Errorf("each side's own: %v; alone: %v, %v", both, first, second)
	}
	if joined := of(b + "\n" + a); both["one-context"] != joined["one-context"] {
		t.Errorf("the most relevant document is not nearest: %v, %v", both, joined)
	}
	// Text that is too long for the context keeps its end.
	most := m.Config().Context
	if x, y := of(strings.Repeat(b+" ", most)+a), of(strings.Repeat(b+" ", 2*most)+a); x["one-context"] != y["one-context"] || x["one-context"] > second["one-context"] {
		t.Errorf("too long by different lengths: %v, %v; %v without the end", x, y, second)
	}
}
