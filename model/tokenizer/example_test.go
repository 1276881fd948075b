package tokenizer_test

import (
	"fmt"

	"tandem/model/gguf"
	"tandem/model/tokenizer"
)

// vocabulary is a toy: bytes for a few letters, two merges, and an end token.
var vocabulary = gguf.NewMeta([]gguf.KV{
	{Key: "tokenizer.ggml.model", Value: "gpt2"},
	{Key: "tokenizer.ggml.pre", Value: "qwen2"},
	{Key: "tokenizer.ggml.tokens", Value: []string{"k", "e", "y", "Ġ", "Ã", "©", "ke", "key", "<|im_end|>"}},
	{Key: "tokenizer.ggml.token_type", Value: []int32{1, 1, 1, 1, 1, 1, 1, 1, 3}},
	{Key: "tokenizer.ggml.merges", Value: []string{"k e", "ke y"}},
})

func ExampleTokenizer_Encode() {
	tok, err := tokenizer.FromMeta(vocabulary)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tok.Encode("key ke<|im_end|>", tokenizer.Options{ParseSpecial: true}))
	fmt.Println(tok.EOGs())
	// Output:
	// [7 3 6 8]
	// [8]
}

// A character of two bytes may take two tokens. A stream returns it when it is complete.
func ExampleTokenizer_Stream() {
	tok, err := tokenizer.FromMeta(vocabulary)
	if err != nil {
		fmt.Println(err)
		return
	}
	stream := tok.Stream()
	for _, id := range tok.Encode("ké", tokenizer.Options{}) {
		fmt.Printf("%d %q\n", id, stream.Write(id))
	}
	// Output:
	// 0 "k"
	// 4 ""
	// 5 "é"
}
