package main

import (
	"fmt"
	"strings"
	"time"
)

// parseDelays parses pairs of delays, of the device and the cloud, such as 150ms/30ms. The pair of "native" is zero: the
// model's own speed.
func parseDelays(texts []string) ([][2]time.Duration, error) {
	var out [][2]time.Duration
	for _, t := range texts {
		device, cloud, found := strings.Cut(t, "/")
		var d [2]time.Duration
		var err [2]error
		d[0], err[0] = time.ParseDuration(device)
		d[1], err[1] = time.ParseDuration(cloud)
		if t == "native" {
			d, err, found = [2]time.Duration{}, [2]error{}, true
		}
		if !found || err[0] != nil || err[1] != nil || d[0] < 0 || d[1] < 0 || max(d[0], d[1]) > time.Minute {
			return nil, fmt.Errorf("--decode %q: want two delays of at most a minute, as in 150ms/30ms, or native", t)
		}
		out = append(out, d)
	}
	return out, nil
}

// checkRTTs checks that round-trip times are in range.
func checkRTTs(rtts []time.Duration) error {
	for _, r := range rtts {
		if r < 0 || r > time.Minute {
			return fmt.Errorf("--rtt %v: want 0 to 1m", r)
		}
	}
	return nil
}
