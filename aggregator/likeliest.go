package aggregator

import "tandem"

// likeliest is the limit of every coupling at temperature 0: drafts and targets are the token of most weight.
type likeliest struct{}

func (likeliest) draft(_ Rule, _ tandem.Side, _ tandem.Step, d tandem.Dist) tandem.Token {
	return d.Mode()
}

func (likeliest) runners(_ Rule, _ tandem.Side, _ tandem.Step, d tandem.Dist, n int) []Runner {
	return runners(d, n, func(tandem.Token) uint64 { return 1 })
}

func (likeliest) target(_ Rule, _ tandem.Step, device, cloud Local) tandem.Token {
	return likeliestOf(device, cloud)
}

func (likeliest) acceptance(_ Rule, device, cloud Local) (a [2]float64) {
	t := likeliestOf(device, cloud)
	for s, d := range []tandem.Dist{device.Dist, cloud.Dist} {
		if d.Mode() == t {
			a[s] = 1
		}
	}
	return a
}

func (likeliest) gamma(uint32, bool) uint32 { return 0 } // nothing is drawn

// likeliestOf returns the token of most weight in the mixture, the lowest id of several.
func likeliestOf(device, cloud Local) tandem.Token {
	best, most := tandem.Token(0), uint64(0)
	mix(device, cloud, func(t tandem.Token, w uint64) {
		if w > most {
			best, most = t, w
		}
	})
	return best
}
