package pass

// Quantize is the pass behind INT4, for the tests that look at its graph.
var Quantize = quantize
