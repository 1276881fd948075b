package spec

import (
	"strings"

	"tandem"
	"tandem/model"
	"tandem/specdec"
)

// Methods are the ways of drafting that Experiment knows, in the order of its results.
var Methods = []string{"plain", "pld", "pld+calibration", "pld+reuse", "pld+both", "sam", "sam+calibration", "sam+reuse", "sam+both", "auto", "all", "auto+history", "all+history", "ngram-simple (llama.cpp)", "ngram-map-k (llama.cpp)", "ngram-cache (llama.cpp)", "eagle (simulated)"}

// Blocks is the method that drafts with Experiment.Denoiser.
const Blocks = "blocks"

// drafterSets are the methods that are sets of drafters, as edge names them, also with a history of earlier answers.
var drafterSets = map[string]specdec.Set{"auto": specdec.Default, "all": specdec.All, "auto+history": specdec.Default | specdec.WithHistory, "all+history": specdec.All | specdec.WithHistory,
	"forecast": specdec.WithForecast, "auto+forecast": specdec.Default | specdec.WithForecast}

// ForecastMethods are those that need Experiment.Forecast: forecast embeddings by themselves, and beside the default drafters.
var ForecastMethods = []string{"forecast", "auto+forecast"}

// publishedRows are the rows of a peer's passes as its authors run it, of which the best counts.
var publishedRows = []int{2, 4, 6, 8, 12, 16, 24, 32}

// published are the methods of others whose drafts have one length.
func published(method string) bool {
	return method == "pld" || method == "sam" || strings.Contains(method, "llama.cpp")
}

// drafters makes a method's drafters for one answer.
func (r *methodRun) drafters(s Experiment, history *specdec.History, truth []tandem.Token) (d []specdec.Drafter, c *specdec.Calibration, f *specdec.Forecast) {
	if set := drafterSets[r.name]; set != 0 {
		return set.Drafters(specdec.Resources{History: history, Embeddings: s.Forecast, Adapter: s.ForecastAdapter})
	}
	base, extra, _ := strings.Cut(r.name, "+")
	switch base {
	case Blocks:
		d = append(d, &blockDrafts{m: s.Denoiser})
	case "pld":
		d = append(d, &specdec.Lookup{})
	case "sam":
		d = append(d, &specdec.SAM{})
	case "ngram-simple (llama.cpp)":
		d = append(d, &ngramSimple{})
	case "ngram-map-k (llama.cpp)":
		d = append(d, &ngramMap{})
	case "ngram-cache (llama.cpp)":
		d = append(d, &ngramCache{})
	case "eagle (simulated)":
		d = append(d, specdec.NewEagle(truth, EagleLength, EagleDepth))
	}
	if extra == "calibration" || extra == "both" {
		c = &specdec.Calibration{}
		d = append(d, c)
	}
	if extra == "reuse" || extra == "both" {
		d = append(d, &specdec.Reuse{})
	}
	return d, c, nil
}

// EagleLength is the accept length that CoordGen §4.1 assumes for EAGLE. EagleDepth is how many passes its drafter takes for a draft,
// one after the other: the depth of EAGLE-2's trees (Li et al. 2024). CoordGen does not say what it counted.
const (
	EagleLength = 5.5
	EagleDepth  = 6
)

// EagleShare returns the weights of EAGLE's drafter, one layer and the head (CoordGen §4.1), as a share of the model's
// weights. Decoding time is proportional to the weights that are read.
func EagleShare(c model.Config) float64 {
	layer, head := products(c)
	return float64(layer+head) / float64(ModelWeights(c))
}

// ModelWeights returns the number of weights that a model's products read: all but norms, and without the embedding if
// the head is a separate matrix.
func ModelWeights(c model.Config) int {
	layer, head := products(c)
	return c.Layers*layer + head
}

// products are the numbers of weights in the products of a layer and of the head.
func products(c model.Config) (layer, head int) {
	return c.Dim*(2*c.Heads+2*c.KVHeads)*c.HeadDim + 3*c.Dim*c.FF, c.Dim * c.Vocab
}
