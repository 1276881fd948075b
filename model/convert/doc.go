// Package convert makes GGUF files out of other files: Quantize stores the tensors of a GGUF file as other
// types, Convert reads the folder of a Hugging Face model (config.json, safetensors, tokenizer.json) of the
// Llama, Qwen2 or OPT architecture, Llama2C a checkpoint of llama2.c. All stream: a tensor passes in pieces, so that memory does not grow
// with the model.
//
// The room knows names, layouts and the order of rows in both worlds. It must not compute a model (package
// model does) nor fetch one (package model/hub does). What it reads is hostile: sizes are checked against
// the bytes that are there before anything is allocated, and what it does not understand is refused, by
// name, instead of being left out.
package convert
