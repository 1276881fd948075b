package main

import (
	"context"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/node"
	"tandem/transport"
)

// profileWithin bounds the dummy documents after the first answer of a model. Where it is too short, the
// delays measured in the answer stand in for them; "edge doctor --profile" takes its time.
const profileWithin = 400 * time.Millisecond

// recall tells the device what earlier answers taught about time.
func (s *session) recall() {
	s.profile, s.profiled = s.app.LoadProfile(s.model, s.flags.Threads)
	p := node.Profile{Decode: s.profile.Decode, Length: s.profile.Length}
	switch {
	case s.peer != (transport.ID{}):
		p.RTT, s.reached = s.app.LoadLink(s.peer)
		p.RTT += s.flags.RTT
	default:
		p.RTT = s.flags.RTT
	}
	s.device.Profile, s.recalled = p, p.RTT
}

// learn keeps what the answers taught about time, once they are printed. The first time it also decodes
// after dummy documents for a moment (DRAGON §5.2). Nothing depends on its success.
func (s *session) learn() {
	s.learnDelays()
	rtt := s.device.Profile.RTT
	if s.peer != (transport.ID{}) && !s.emulates() && rtt > 0 && rtt != s.recalled {
		if err := s.app.SaveLink(s.peer, rtt, s.lastReached()); err != nil {
			s.app.Log.Info("the path to the cloud is not kept", "error", err)
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
	s.profile.Length = p.Length
	if err := a.SaveProfile(s.model, s.flags.Threads, s.profile); err != nil {
		a.Log.Info("the model's delays are not kept", "error", err)
	}
}

// firstProfile is a profile from dummy documents or, if they take too long, from the answer.
func (s *session) firstProfile() cli.DecodeProfile {
	ctx, cancel := context.WithTimeout(s.app, profileWithin)
	defer cancel()
	p, _, err := cli.MeasureProfile(ctx, s.device.Reader, s.settings)
	if err != nil {
		s.app.Log.Info("the model's delays are taken from the answer", "error", err)
		return cli.DecodeProfile{
			Model: s.model.Config().Name, Device: s.model.Device(), Made: time.Now().UTC().Truncate(time.Second),
			From: cli.FromAnswers, Decode: s.device.Profile.Decode,
		}
	}
	return p
}

// emulates reports whether the path to the cloud is not its own.
func (s *session) emulates() bool { return s.flags.RTT > 0 || s.flags.Loss > 0 }
