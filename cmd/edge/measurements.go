package main

import (
	"context"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/node"
)

// profileWithin bounds the decoding of dummy documents after the first answer of a model. If it is too short for a fit,
// the delays measured during the answer are kept instead; "edge doctor --profile" has no such bound.
const profileWithin = 400 * time.Millisecond

// keptMeasurements are what earlier answers measured, as it is on disk.
type keptMeasurements struct {
	profile  cli.DecodeProfile // the model's decoding delays
	profiled bool              // profile was on disk
	rtt      time.Duration     // round-trip time to the cloud
	missed   time.Time         // when the cloud was found missing; zero if it was there the last time
}

// loadMeasurements gives the device the delays and the round-trip time that earlier answers measured.
func (s *session) loadMeasurements() {
	s.kept.profile, s.kept.profiled = s.app.LoadProfile(s.answerer())
	p := node.Profile{Decode: s.kept.profile.Decode, Length: s.kept.profile.Length, FourRows: s.kept.profile.FourRows}
	switch {
	case s.cloud.paired():
		link := s.app.LoadLink(s.cloud.peer)
		s.kept.missed = link.Missed
		if s.device.Cloud != nil && !s.network.emulated() {
			s.device.Cloud.Know(link.Distances())
		}
		s.device.Missed = link.Missed
		p.RTT = link.RTT() + s.flags.RTT
	default:
		p.RTT = s.flags.RTT
	}
	s.device.Profile, s.kept.rtt = p, p.RTT
}

// saveMeasurements saves the delays and the round-trip time that the answers measured, after they are printed. The first time, it
// also decodes dummy documents for a moment (DRAGON §5.2). Errors are only logged.
func (s *session) saveMeasurements() {
	s.learnDelays()
	rtt := s.device.Profile.RTT
	if s.cloud.paired() && !s.network.emulated() && rtt > 0 && rtt != s.kept.rtt && s.lastReached() != "" {
		if err := s.app.SaveLink(s.cloud.peer, rtt, s.lastReached(), s.device.Cloud.Distances()); err != nil {
			s.app.Log.Info("cannot save the round-trip time to the cloud", "error", err)
		}
	}
}

// answerer returns what answers on this device.
func (s *session) answerer() cli.Answerer {
	return modelcmd.AnswererOf(s.model, s.reader, s.flags.Threads)
}

func (s *session) learnDelays() {
	a, p := s.app, s.device.Profile
	if p.Length == 0 {
		return // no token was decoded
	}
	if s.kept.profiled {
		s.kept.profile.Decode = p.Decode
	} else {
		s.kept.profile = s.firstProfile()
	}
	s.kept.profile.Length, s.kept.profile.FourRows = p.Length, p.FourRows
	if err := a.SaveProfile(s.answerer(), s.kept.profile); err != nil {
		a.Log.Info("cannot save the model's delays", "error", err)
	}
}

// firstProfile returns a profile from dummy documents or, if they take too long, from the answer.
func (s *session) firstProfile() cli.DecodeProfile {
	ctx, cancel := context.WithTimeout(s.app, profileWithin)
	defer cancel()
	p, _, err := cli.MeasureProfile(ctx, s.device.Local, s.answerer(), s.settings)
	if err != nil {
		s.app.Log.Info("using the delays of the answer as the model's profile", "error", err)
		return cli.NewProfile(s.answerer(), cli.FromAnswers, s.device.Profile.Decode)
	}
	return p
}

// noteAbsence remembers, after an answer, whether the paired cloud could be reached.
func (s *session) noteAbsence() {
	missed := s.device.Missed
	if !s.cloud.paired() || missed.Equal(s.kept.missed) {
		return
	}
	s.kept.missed = missed
	if err := s.app.SaveMissed(s.cloud.peer, missed); err != nil {
		s.app.Log.Info("cannot save that the cloud is missing", "error", err)
	}
}
