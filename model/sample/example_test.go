package sample_test

import (
	"fmt"

	"tandem"
	"tandem/model/sample"
)

func ExampleParams_Probabilities() {
	s := sample.Params{Sampling: tandem.Sampling{Temperature: 1, TopK: 2}}
	fmt.Println(s.Probabilities(nil, []float32{1, 3, 3, -2}, nil))
	// Output: [0 0.5 0.5 0]
}
