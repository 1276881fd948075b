// Command cloud is the cloud side of Tandem. It drafts the answers of paired devices from its own documents, which it does
// not show to them.
package main

import (
	"os"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
)

type commands struct {
	cli.Globals

	Serve  serveCmd     `cmd:"" help:"Answer together with paired devices."`
	Pair   pairCmd      `cmd:"" help:"Print a code that pairs one device."`
	Index  indexcmd.Cmd `cmd:"" help:"Add, list and remove the documents that this side answers from."`
	Ps     cli.PsCmd    `cmd:"" help:"List running programs that answer questions."`
	Models modelcmd.Cmd `cmd:"" help:"List, fetch, convert and remove models."`
	Doctor doctorCmd    `cmd:"" help:"Check this machine, the model and the index."`
	Health healthCmd    `cmd:"" help:"Ask whether a server answers, for containers and monitors."`

	modelcmd.Shortcuts
	cli.ProgramCmds
}

const description = `The cloud side of Tandem. It answers together with paired devices, from its own documents, which it does not show to them.

Examples:
  cloud index add ~/handbook
  cloud serve
  cloud pair

"cloud serve" starts the server. "cloud pair", in another terminal, prints a code for "edge pair" on a device. With nothing indexed, the server answers from sample documents.`

func main() {
	var g commands
	os.Exit(cli.Main("cloud", description, &g, &g.Globals, os.Args[1:]))
}
