// Package convert makes GGUF files from other files. Quantize stores the tensors of a GGUF file as other
// types. Convert reads the folder of a Hugging Face model (config.json, safetensors, tokenizer.json) of one of the
// families that the files arch_*.go hold. Llama2C reads a llama2.c checkpoint. All of them stream tensors in pieces, so that memory
// use does not grow with the model.
//
// The package knows the names, layouts and row orders of both formats. It must not compute a model
// (package model does) nor download one (package model/hub does). It does not trust its input: it checks
// sizes against the bytes that are there before it allocates, and it rejects what it does not understand,
// with an error that names it, instead of leaving it out.
package convert
