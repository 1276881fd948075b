package model_test

import (
	"fmt"

	"tandem/model"
)

// The first part of a prompt depends on the passage alone, so its KV cache serves every question.
func ExampleTemplate_Split() {
	chatML, err := model.NewTemplate("", "", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	prefix, suffix, err := chatML.Split("The key is under the mat.", []model.Message{{Role: "user", Content: "Where is the key?"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n%q\n", prefix, suffix)
	// Output:
	// "<|im_start|>system\nThe key is under the mat.<|im_end|>\n<|im_start|>user\n"
	// "Where is the key?<|im_end|>\n<|im_start|>assistant\n"
}

func ExampleSampling_Probabilities() {
	s := model.Sampling{Temperature: 1, TopK: 2}
	fmt.Println(s.Probabilities(nil, []float32{1, 3, 3, -2}, nil))
	// Output: [0 0.5 0.5 0]
}
