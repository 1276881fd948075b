// Command edge is the device's side of Tandem: it answers questions from the documents of this machine
// together with a cloud that answers from its own, and shows who contributed what.
package main

import (
	"os"

	"tandem/cmd/internal/cli"
	"tandem/retrieval"
)

type grammar struct {
	cli.Globals

	Ask     askCmd        `cmd:"" help:"Answer a question from your documents and the cloud's."`
	Chat    chatCmd       `cmd:"" help:"Ask in turns: follow-up questions see what was said before."`
	Run     runCmd        `cmd:"" help:"Generate text from a prompt, without documents and without a cloud."`
	Index   cli.IndexCmd  `cmd:"" help:"Keep the documents that questions are answered from."`
	Pair    pairCmd       `cmd:"" help:"Pair with a cloud by the code that \"cloud pair\" printed."`
	Models  cli.ModelsCmd `cmd:"" help:"List and describe models."`
	History historyCmd    `cmd:"" help:"What drafting remembers of earlier answers: list it, forget it."`
	Netem   netemCmd      `cmd:"" help:"Relay UDP over an emulated network path."`
	Doctor  doctorCmd     `cmd:"" help:"Check this machine, the model, the index and the cloud."`
}

const description = `A phone and a cloud answer one question together: each decodes over its own documents, and neither shows them to the other.

With nothing set up, "edge ask" answers from sample documents with a cloud inside this process. Add your own with "edge index add FOLDER", pair with a cloud by "edge pair CODE", decode with any GGUF by --model FILE.`

func main() {
	retrieval.ReadPDFsApart()
	var g grammar
	os.Exit(cli.Main("edge", description, &g, &g.Globals, os.Args[1:]))
}
