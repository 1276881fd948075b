package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/model/chat"
	"tandem/npu/native"
	"tandem/specdec"
)

// In virtual time the same inputs always give the same results, and slower drafters give worse ones.
func TestVirtual(t *testing.T) {
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3, Gain: 2}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := Experiment{Model: m, Costs: slices.Repeat(specdec.Costs{1e-3}, 64), MaxTokens: 40, Rows: 32}
	var tasks []TaskInputs
	for _, name := range []string{"cats", "dogs"} {
		task := TaskInputs{Task: name}
		for i := range 3 {
			text := fmt.Sprintf("%d %s sat on the mat. the mat sat on the %s. %[1]d %[2]s sat", i, name, name)
			task.Inputs = append(task.Inputs, Input{Tokens: chat.Encode(m.Tokenizer(), text)})
		}
		tasks = append(tasks, task)
	}
	run := func(step time.Duration) []VirtualResult {
		t.Helper()
		got, err := s.RunVirtual(t.Context(), tasks, []string{"pld", "auto"}, []time.Duration{step, 2 * step}, nil)
		if err != nil || len(got) != 4 {
			t.Fatalf("%d results, %v", len(got), err)
		}
		return got
	}
	got := run(time.Microsecond)
	if again := run(time.Microsecond); !reflect.DeepEqual(got, again) {
		t.Errorf("%+v, and then %+v", got, again)
	}
	slow := run(100 * time.Microsecond)
	for i, r := range got {
		if r.Method != []string{"pld", "auto"}[i/2] || r.First != i%2+1 || len(r.Ratios) != 3 || r.Ratios[1].Task != "dogs" || r.Ratios[2].Task != Mixed {
			t.Errorf("%+v", r)
		}
		if product := r.Ratios[0].Ratio * r.Ratios[1].Ratio * r.Ratios[2].Ratio; math.Abs(product-r.Mean*r.Mean*r.Mean) > 1e-9 {
			t.Errorf("mean of %+v", r)
		}
		if r.Mean <= 1 || r.Worst > r.Mean || slow[i].Mean >= r.Mean {
			t.Errorf("%+v, with slower drafters %+v", r, slow[i])
		}
	}
	for i := range tasks {
		tasks[i].Inputs = tasks[i].Inputs[:1]
	}
	if _, err := s.RunVirtual(t.Context(), tasks, []string{"auto"}, []time.Duration{1}, nil); err == nil {
		t.Error("one input is divided in halves")
	}
}
