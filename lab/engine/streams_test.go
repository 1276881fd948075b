package engine

import (
	"testing"

	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
)

// The measurement runs through on a small model. It fails itself if a stream differs from the same stream alone.
func TestMeasureStreams(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	o := StreamOptions{Streams: 4, Runs: 2, Steps: 5, Prompt: 7, Threads: 1, Progress: func(string, ...any) {}}
	r, err := MeasureStreams(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Tokens < o.Streams || r.Tokens > o.Streams*o.Steps || r.Least > r.Faster || r.Faster > r.Most || r.Alone <= 0 {
		t.Errorf("%+v", r)
	}
	o.Streams = 17
	if _, err := MeasureStreams(t.Context(), m, o); err == nil {
		t.Error("17 streams are accepted")
	}
}
