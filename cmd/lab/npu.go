package main

// npuCmd looks at what a mobile NPU would do.
type npuCmd struct {
	Plan       npuPlan       `cmd:"" help:"Plan the change from prefill's graphs to decoding's, by every strategy."`
	Programs   npuPrograms   `cmd:"" help:"List a model's programs: memory, load time, run time."`
	Perplexity npuPerplexity `cmd:"" help:"Measure what an NPU's integers (INT4 weights, INT8 activations) cost in perplexity."`
	Answers    npuAnswers    `cmd:"" help:"Answers by a simulated phone's whole path: sd.npu's Table 3, CoordGen's Figures 2, 6 and 10 to 13."`
	Figures    npuFigures    `cmd:"" help:"A phone's NPU, simulated: switching graphs, little memory, published figures."`
}

func (*npuCmd) Help() string {
	return `Examples:
  lab npu plan
  lab npu figures`
}
