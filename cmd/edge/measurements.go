package main

import (
	"context"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/node"
	"tandem/transport"
)

// profileWithin bounds the decoding of dummy documents after the first answer of a model. If it is too short for a fit,
// the delays measured during the answer are kept instead; "edge doctor --profile" has no such bound.
const profileWithin = 400 * time.Millisecond

// loadMeasurements gives the device the delays and the round-trip time that earlier answers measured.
func (s *session) loadMeasurements() {
	s.profile, s.profiled = s.app.LoadProfile(s.model, s.flags.Threads)
	p := node.Profile{Decode: s.profile.Decode, Length: s.profile.Length, FourRows: s.profile.FourRows}
	switch {
	case s.peer != (transport.ID{}):
		link := s.app.LoadLink(s.peer)
		s.missed = link.Missed
		if s.device.Cloud != nil && !s.emulates() {
			s.device.Cloud.Know(link.Distances())
		}
		s.device.Missed = link.Missed
		p.RTT = link.RTT() + s.flags.RTT
	default:
		p.RTT = s.flags.RTT
	}
	s.device.Profile, s.recalled = p, p.RTT
}

// saveMeasurements saves the delays and the round-trip time that the answers measured, after they are printed. The first time, it
// also decodes dummy documents for a moment (DRAGON §5.2). Errors are only logged.
func (s *session) saveMeasurements() {
	s.learnDelays()
	rtt := s.device.Profile.RTT
	if s.peer != (transport.ID{}) && !s.emulates() && rtt > 0 && rtt != s.recalled && s.lastReached() != "" {
		if err := s.app.SaveLink(s.peer, rtt, s.lastReached(), s.device.Cloud.Distances()); err != nil {
			s.app.Log.Info("cannot save the round-trip time to the cloud", "error", err)
		}
	}
}

func (s *session) learnDelays() {
	a, p := s.app, s.device.Profile
	if p.Length == 0 {
		return // no token was decoded
	}
	if s.profiled {
		s.profile.Decode = p.Decode
	} else {
		s.profile = s.firstProfile()
	}
	s.profile.Length, s.profile.FourRows = p.Length, p.FourRows
	if err := a.SaveProfile(s.model, s.flags.Threads, s.profile); err != nil {
		a.Log.Info("cannot save the model's delays", "error", err)
	}
}

// firstProfile returns a profile from dummy documents or, if they take too long, from the answer.
func (s *session) firstProfile() cli.DecodeProfile {
	ctx, cancel := context.WithTimeout(s.app, profileWithin)
	defer cancel()
	p, _, err := cli.MeasureProfile(ctx, s.device.Local, s.settings)
	if err != nil {
		s.app.Log.Info("using the delays of the answer as the model's profile", "error", err)
		return cli.DecodeProfile{
			Model: s.model.Config().Name, Device: s.model.Device(), Made: time.Now().UTC().Truncate(time.Second),
			From: cli.FromAnswers, Decode: s.device.Profile.Decode,
		}
	}
	return p
}

// emulates reports whether the network to the cloud is emulated.
func (s *session) emulates() bool { return s.flags.RTT > 0 || s.flags.Loss > 0 }

// noteAbsence remembers, after an answer, whether the paired cloud could be reached.
func (s *session) noteAbsence() {
	missed := s.device.Missed
	if s.peer == (transport.ID{}) || missed.Equal(s.missed) {
		return
	}
	s.missed = missed
	if err := s.app.SaveMissed(s.peer, missed); err != nil {
		s.app.Log.Info("cannot save that the cloud is missing", "error", err)
	}
}
