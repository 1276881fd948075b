// Package examples holds the sample documents, so that the programs answer questions before anything is set up: a person's
// private notes for the device, and a town's public information for the cloud. questions.jsonl asks about them. All of them
// are invented.
package examples

import "embed"

// Notes holds the device's documents, a person's private notes, below the folder "notes".
//
//go:embed notes
var Notes embed.FS

// Public holds the cloud's documents, a town's public information, below the folder "public".
//
//go:embed public
var Public embed.FS

// Questions holds questions about Notes and Public, one JSON object per line: the question, its answer, the sides whose
// documents answer it, and the values that a right answer must contain, in the order of the question. Each value is in one
// document only. A question that no document answers has no values.
//
//go:embed questions.jsonl
var Questions []byte
