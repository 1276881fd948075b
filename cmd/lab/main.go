// Command lab measures Tandem: it draws the figures and tables of the papers, times the engine, and counts right answers.
// Nothing here is needed to answer a question; the program edge does that.
package main

import (
	"os"

	"tandem/cmd/internal/cli"
)

type commands struct {
	cli.Globals

	Schedule scheduleCmd `cmd:"" group:"Two sides and the network between them:" help:"Total time of an answer by placement and latency, simulated (DRAGON Figure 8)."`
	Latency  latencyCmd  `cmd:"" group:"Two sides and the network between them:" help:"Time between tokens over the round-trip time, by method (Figure 6)."`
	TTFT     ttftCmd     `cmd:"" group:"Two sides and the network between them:" name:"ttft" help:"Time to the first token over the round-trip time (Figure 7)."`
	Pipeline pipelineCmd `cmd:"" group:"Two sides and the network between them:" help:"One live answer as a timeline (Figure 9)."`
	Speedup  speedupCmd  `cmd:"" group:"Two sides and the network between them:" help:"Speedup over lock step: Theorem 6.2 with simulated answers on it (Figure 4)."`
	Traces   tracesCmd   `cmd:"" group:"Two sides and the network between them:" help:"Answers over recorded networks."`
	Loss     lossCmd     `cmd:"" group:"Two sides and the network between them:" help:"Answers over paths that lose packets: repeated datagrams against a stream."`
	Drafts   draftsCmd   `cmd:"" group:"Two sides and the network between them:" help:"Drafters of both sides, live: what guesses save."`
	Hedge    hedgeCmd    `cmd:"" group:"Two sides and the network between them:" help:"Several contexts in a pass: hedges, checks and guesses."`
	Rivals   rivalsCmd   `cmd:"" group:"Two sides and the network between them:" help:"Mirror against the paper's coupling at its best, simulated: couplings, branches, checks."`
	Load     loadCmd     `cmd:"" group:"Two sides and the network between them:" help:"One cloud under many devices: answers per second, times, memory."`
	Soak     soakCmd     `cmd:"" group:"Two sides and the network between them:" help:"The programs under kills, stalls, flipped bits and full disks: what is lost."`

	Answers answersCmd `cmd:"" group:"What is answered:" help:"Answers to sets of documents with questions, those of the program or your own: right, wrong, refused, invented."`
	Quality qualityCmd `cmd:"" group:"What is answered:" help:"Exact match and F1 over generated documents: each side, the pair, and other ways to answer."`
	Rewrite rewriteCmd `cmd:"" group:"What is answered:" help:"How well sentences are corrected or rewritten in a tone."`
	Reader  readerCmd  `cmd:"" group:"What is answered:" help:"Exact match where the passages are given: each side alone, and the pair."`
	Samples samplesCmd `cmd:"" group:"What is answered:" help:"Exact match on the sample documents, with retrieval."`
	Library libraryCmd `cmd:"" group:"What is answered:" help:"The index over many passages: speed, disk, memory, searches."`

	Engine    engineCmd    `cmd:"" group:"Models and machines:" help:"Speed of a model on this machine: prefill, decoding, several rows at once."`
	Lora      loraCmd      `cmd:"" group:"Models and machines:" help:"What adapters cost: per token, per switch, and in memory by the paper's three approaches (Samsung Tables 1 and 2)."`
	Streams   streamsCmd   `cmd:"" group:"Models and machines:" help:"Several texts from one prompt, at once and one after the other (Samsung Table 3)."`
	Forecast  forecastCmd  `cmd:"" group:"Models and machines:" help:"Drafts by forecast embeddings, by branch configuration (Samsung Tables 6 and 7)."`
	Cache     cacheCmd     `cmd:"" group:"Models and machines:" help:"Keys and values as f16 and as q8_0: memory, speed, perplexity."`
	Spec      specCmd      `cmd:"" group:"Models and machines:" help:"Speculative decoding: accept lengths, speed, use of the rows."`
	Diffusion diffusionCmd `cmd:"" group:"Models and machines:" help:"Diffusion models: passes, rows, time and exact match by method (llada.cpp Table 6)."`
	NPU       npuCmd       `cmd:"" group:"Models and machines:" name:"npu" help:"A phone's NPU: plans for switching graphs, programs, rounding, published figures."`
	Models    modelsCmd    `cmd:"" group:"Models and machines:" help:"Models to measure with."`

	Report reportCmd `cmd:"" group:"Results:" help:"Put the results of a folder on one page."`
}

const description = `Experiments with Tandem. Most need nothing but this program: they use the built-in model, sample documents and simulated networks.

Examples:
  lab samples
  lab latency --simulate
  lab engine`

func main() {
	var g commands
	os.Exit(cli.Main("lab", description, &g, &g.Globals, os.Args[1:]))
}
