package main

import (
	"fmt"

	"tandem"
)

// wants maps the methods that need more than drafts to what they ask of the cloud.
var wants = map[string]tandem.Want{
	"drcg-text": tandem.WantText, "drcg-kv": tandem.WantKV, "drdg-sw": tandem.WantAnswer,
}

// fetches reports whether the method sends the cloud's documents to the device.
func (f answerFlags) fetches() bool {
	return wants[f.Method] == tandem.WantText || wants[f.Method] == tandem.WantKV
}

// method applies --method to settings that already hold --coupling and --placement.
func (f answerFlags) method(s *tandem.Settings) error {
	conflict := func(flag string) error {
		return fmt.Errorf("--method %s sets %s itself: leave it out", f.Method, flag)
	}
	fixed := f.Method != "tandem" && f.Method != "crcg" // crcg --side cloud is a pair whose device is mute
	switch {
	case fixed && f.Placement != autoPlacement && f.Method != "dragon":
		return conflict("--placement")
	case fixed && f.Side != "both":
		return conflict("--side")
	case fixed && f.LocalOnly:
		return fmt.Errorf("--method %s needs the cloud, --local-only forbids it: leave one out", f.Method)
	case f.fetches() && !f.SendDocuments:
		return fmt.Errorf("--method %s sends the cloud's documents to this device. It is a baseline for the sample documents: allow it with --send-documents (a paired cloud also needs: cloud serve --allow-documents)", f.Method)
	case !f.fetches() && f.SendDocuments:
		return fmt.Errorf("--send-documents is for the methods drcg-text and drcg-kv: --method %s sends no document", f.Method)
	}
	switch f.Method {
	case "dragon":
		s.Coupling = tandem.CouplingSpeculative
		var err error
		s.Placement, err = placement(f.Placement, s.Coupling)
		return err
	case "drdg-tw":
		s.Placement = tandem.PlaceSync
	default:
		s.Want = wants[f.Method]
	}
	return nil
}
