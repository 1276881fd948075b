// Package examples holds two small sets of documents that ship with the program, so that it answers
// something before anything is configured: a person's private notes for the device, and what a town
// tells everyone for the cloud. questions.jsonl asks about them. All of it is invented.
package examples

import "embed"

// Notes are private notes: the device's documents, below the folder "notes".
//
//go:embed notes
var Notes embed.FS

// Public is the public knowledge of a town: the cloud's documents, below the folder "public".
//
//go:embed public
var Public embed.FS

// Questions are questions about Notes and Public, one JSON object a line: the question; its answer; on
// which sides the documents that answer it are; and the values that a right answer must contain, each of
// which stands in one document only, in the order of the question.
// Questions that no document answers have no values.
//
//go:embed questions.jsonl
var Questions []byte
