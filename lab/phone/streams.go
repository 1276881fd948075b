package phone

import (
	"fmt"

	"tandem/npu/phone/sim"
)

// StreamFigure is a simulated phone that writes several short texts over one prompt (Samsung §3.4, Table 3).
type StreamFigure struct {
	Chip      string  `json:"chip"`
	Shape     string  `json:"shape"`
	Streams   int     `json:"streams"`
	Tokens    int     `json:"tokens"`     // of each text
	Prefill   float64 `json:"prefill_ms"` // of a chunk of 128
	Step      float64 `json:"step_ms"`    // of one stream
	Steps     float64 `json:"steps_ms"`   // of all streams
	Alone     float64 `json:"alone_ms"`   // the texts one after the other, each with the prompt
	Together  float64 `json:"together_ms"`
	Faster    float64 `json:"times_faster"`
	Simulated bool    `json:"simulated"` // always true
}

// StreamFigures simulates both of the paper's phones with its 1B shape and Llama-3.2-3B, with one adapter as input.
func StreamFigures(streams, tokens, rank int) (list []StreamFigure, err error) {
	if streams < 1 || streams > 32 || tokens < 1 {
		return nil, fmt.Errorf("%d streams of %d tokens: want 1 to 32 streams of 1 token or more", streams, tokens)
	}
	three, err := sim.FindShape("Llama-3.2-3B")
	if err != nil {
		return nil, err
	}
	one := samsungShape()
	three.Type, three.HeadType = one.Type, one.HeadType
	for _, chip := range []string{"sm8650/qnn", "sm8750/qnn"} {
		costs, err := sim.Find(chip)
		if err != nil {
			return nil, err
		}
		m := samsungModel{costs}
		for _, s := range []sim.Shape{one, three} {
			s.LoRA, s.Adapters = rank, 1
			f := StreamFigure{Chip: chip, Shape: s.Name, Streams: streams, Tokens: tokens, Prefill: m.first(s), Step: m.token(s, 1), Steps: m.token(s, streams), Simulated: true}
			rest := float64(tokens - 1) // the prefill gives the first
			f.Alone, f.Together = float64(streams)*(f.Prefill+rest*f.Step), f.Prefill+rest*f.Steps
			f.Faster = f.Alone / f.Together
			list = append(list, f)
		}
	}
	return list, nil
}

func (f StreamFigure) String() string {
	return fmt.Sprintf("%-11s %-13s %7d %7d %8.1f %8.2f %8.2f %9.0f %9.0f %6.2f", f.Chip, f.Shape, f.Streams, f.Tokens, f.Prefill, f.Step, f.Steps, f.Alone, f.Together, f.Faster)
}
