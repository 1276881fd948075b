package node

import (
	"os"
	"testing"
	"time"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/ggml"
	"tandem/npu/phone"
)

// A device that computes natively and a cloud that computes on ggml round differently, and agree all the
// same: what a side sends is what both compute the target from.
func TestNativeAndGGMLAgree(t *testing.T) {
	if os.Getenv(ggml.PathVariable) == "" && os.Getenv("TANDEM_LLAMA_PATH") != "" {
		t.Setenv(ggml.PathVariable, os.Getenv("TANDEM_LLAMA_PATH"))
	}
	found, err := ggml.Probe()
	if err != nil {
		t.Skipf("there are no ggml libraries to test with: %v", err)
	}
	for _, info := range found.Devices {
		t.Run(info.Name, func(t *testing.T) { testNativeAgreesWith(t, "ggml:"+info.Name) })
	}
}

func testNativeAgreesWith(t *testing.T, other string) {
	file := tinymodel.GGUF(tinymodel.Spec{Words: []string{"cabin", "museum", "harbour", "opens", "wifi"}, Gain: 3, Seed: 3, Context: 1024})
	var models []*model.Model
	for _, name := range []string{"native", other} {
		d, err := phone.Open(phone.Options{Device: name, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.OpenBytes("tiny", file, d)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		models = append(models, m)
	}
	same, device, cloud := 0, (*Device)(nil), (*Cloud)(nil)
	plain, _ := neighboursWith(t, false, models[0], models[0])
	device, cloud = neighboursWith(t, false, models...)
	if device.Local.Model.Device() == cloud.Local.Model.Device() {
		t.Fatalf("both sides compute on %s", cloud.Local.Model.Device())
	}
	// A GPU makes its programs when they are first needed, which takes a software driver long. A device goes on alone meanwhile,
	// after its patience; this one has much of it, so that it is the answers that are compared and not the time.
	device.Patience = Patience{Join: time.Minute, Silent: time.Minute, Slow: 2 * time.Minute}
	for range 40 {
		got, err := device.Ask(t.Context(), baselineQuestion, baselineSettings(tandem.WantDrafts), func(Token) {})
		if err != nil {
			t.Fatal(err)
		}
		if got.Pair.Together == got.Pair.Steps {
			break
		}
	}
	answers := 0
	for _, placement := range []tandem.Placement{tandem.PlaceMirror, tandem.PlaceDevice, tandem.PlaceCloud, tandem.PlaceGreedy, tandem.PlaceSync} {
		for seed := range uint64(3) {
			s := baselineSettings(tandem.WantDrafts)
			s.Placement, s.Seed = placement, seed
			got, err := device.Ask(t.Context(), baselineQuestion, s, func(Token) {})
			if err != nil {
				t.Fatal(err)
			}
			if got.Pair.Divergences != 0 || got.Pair.Together == 0 {
				t.Errorf("%v, seed %d: %+v", placement, seed, got.Pair)
			}
			want, err := plain.Ask(t.Context(), baselineQuestion, s, func(Token) {})
			if err != nil {
				t.Fatal(err)
			}
			if answers++; got.Text == want.Text {
				same++
			}
		}
	}
	t.Logf("%d of %d answers are those of two native sides, word for word", same, answers)
}
