// Package convert makes GGUF files from other files. Quantize stores the tensors of a GGUF file as other types. Convert reads
// the folder of a Hugging Face model (config.json, safetensors, tokenizer.json) of one of the families in the files arch_*.go.
// Llama2C reads a llama2.c checkpoint. All of them stream tensors in pieces, so that memory use does not grow with the model.
//
// The package knows the names, layouts and row orders of both formats. It must not compute a model (package model does) or
// download one (package model/hub does). It does not trust its input: it checks sizes against the bytes that are there before
// it allocates. What it does not understand is an error that names it, and is never left out silently.
package convert
