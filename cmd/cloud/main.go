// Command cloud is the other side of Tandem: it drafts over its own documents in the answers of the
// devices that are paired with it, and shows them none.
package main

import (
	"os"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/documents"
)

type grammar struct {
	cli.Globals

	Serve  serveCmd      `cmd:"" help:"Answer together with paired devices."`
	Pair   pairCmd       `cmd:"" help:"Print a code that pairs one device."`
	Index  cli.IndexCmd  `cmd:"" help:"Keep the documents that this side answers from."`
	Models cli.ModelsCmd `cmd:"" help:"List and describe models."`
	Doctor doctorCmd     `cmd:"" help:"Check this machine, the model and the index."`
}

const description = `The cloud's side of Tandem. Start it with "cloud serve", then "cloud pair" prints a code for "edge pair" on a device.

With nothing set up it serves sample documents. Add your own with "cloud index add FOLDER".`

func main() {
	documents.SandboxPDFs()
	var g grammar
	os.Exit(cli.Main("cloud", description, &g, &g.Globals, os.Args[1:]))
}
