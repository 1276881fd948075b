package chat_test

import (
	"fmt"

	"tandem/model/chat"
)

// The first part of a prompt depends on the passage alone, so its KV cache serves every question.
func ExampleTemplate_Split() {
	chatML, err := chat.NewTemplate("", "", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	prefix, suffix, err := chatML.Split("The key is under the mat.", []chat.Message{{Role: "user", Content: "Where is the key?"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n%q\n", prefix, suffix)
	// Output:
	// "<|im_start|>system\nThe key is under the mat.<|im_end|>\n<|im_start|>user\n"
	// "Where is the key?<|im_end|>\n<|im_start|>assistant\n"
}
