package main

// npuCmd looks at what a mobile NPU would do.
type npuCmd struct {
	Plan       npuPlan       `cmd:"" help:"Plan the change from prefill's graphs to decoding's, by every strategy."`
	Programs   npuPrograms   `cmd:"" help:"List a model's programs: memory, load time, run time."`
	Perplexity npuPerplexity `cmd:"" help:"Measure what an NPU's integers (INT4 weights, INT8 activations) cost in perplexity."`
	Figures    npuFigures    `cmd:"" help:"A phone's NPU, simulated: switching graphs, little memory, published figures."`
}
