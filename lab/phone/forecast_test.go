package phone

import (
	"testing"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
)

// Every configuration gives the texts of plain decoding, which Run checks itself, and all rates say that they are simulated.
func TestForecasts(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	f := Forecasts{Model: m, MaxTokens: 12}
	for i := range 3 {
		row := make([]float32, m.Config().Dim)
		row[i] = 1
		f.Embeddings = append(f.Embeddings, row)
	}
	list, err := f.Run(t.Context(), [][]tandem.Token{{1, 2, 3}, {4, 5}}, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1+8+1 || list[0].Branches != "plain" || list[9].Branches != "live" {
		t.Fatalf("%+v", list)
	}
	for _, r := range list {
		if !r.Simulated || r.Tokens != list[0].Tokens || r.Passes < 1 || r.Passes > r.Tokens {
			t.Errorf("%+v", r)
		}
	}
}
