// Command edge is the device side of Tandem. It answers questions from the documents on this machine, together with a cloud
// that answers from its own documents, and shows which side contributed what.
package main

import (
	"os"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
)

type commands struct {
	cli.Globals

	Ask     askCmd       `cmd:"" help:"Answer a question from your documents and the cloud's."`
	Chat    chatCmd      `cmd:"" help:"Ask several questions in a row; each sees what was said before."`
	Serve   serveCmd     `cmd:"" help:"Answer questions over HTTP, for programs that use the API of OpenAI, Anthropic, Ollama or llama.cpp."`
	MCP     mcpCmd       `cmd:"" name:"mcp" help:"Answer questions for programs that speak the Model Context Protocol, over standard input and output."`
	Run     runCmd       `cmd:"" help:"Generate text from a prompt, without documents and without a cloud."`
	Reply   replyCmd     `cmd:"" help:"Suggest short replies to a conversation."`
	Rewrite rewriteCmd   `cmd:"" help:"Rewrite a text in another tone, or correct it."`
	Index   indexcmd.Cmd `cmd:"" help:"Add, list and remove the documents that questions are answered from."`
	Pair    pairCmd      `cmd:"" help:"Pair with a cloud, using the code that \"cloud pair\" printed."`
	Ps      cli.PsCmd    `cmd:"" help:"List running programs that answer questions."`
	Models  modelcmd.Cmd `cmd:"" help:"List, fetch, convert and remove models."`
	History historyCmd   `cmd:"" help:"List or clear what \"--draft history\" and \"edge chat\" keep."`
	Netem   netemCmd     `cmd:"" help:"Relay UDP over an emulated network path."`
	Doctor  doctorCmd    `cmd:"" help:"Check this machine, the model, the index and the cloud."`

	modelcmd.Shortcuts
	cli.ProgramCmds
}

const description = `A phone and a cloud answer one question together: each reads its own documents, and neither shows them to the other.

Examples:
  edge ask "What is the wifi password of the lake cabin, and when does the harbour museum open?"
  edge index add ~/Documents/notes
  edge pair CODE

With nothing set up, "edge ask" answers from sample documents, with a cloud inside this process. "edge index add" adds your own documents, "edge pair" pairs with a real cloud, and --model FILE uses another model (GGUF).`

func main() {
	var g commands
	os.Exit(cli.Main("edge", description, &g, &g.Globals, os.Args[1:]))
}
