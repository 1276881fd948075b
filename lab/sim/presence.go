package sim

import (
	"tandem"
	"tandem/node/presence"
	"tandem/pair"
)

// watch begins to look after the cloud: the question was sent over a connection that stands.
func (w *world) watch() {
	w.cloud = presence.New(w.Patience, 0)
	w.stepPresence(presence.Tick)
	w.stepPresence(presence.Connected)
	w.tick()
}

func (w *world) tick() {
	w.After(presence.Every, func() {
		w.stepPresence(presence.Tick)
		w.tick()
	})
}

// ready takes the news that the cloud can join.
func (w *world) ready() {
	if w.cloud == nil {
		w.Step(w.Ends[tandem.Device], pair.PeerReady{})
		return
	}
	w.stepPresence(presence.Ready)
}

// stepPresence lets presence see an event and carries out what it asks for. Another local address is no way out of a
// stall of the path, so there is nothing to do for Migrate; and a connection never dies.
func (w *world) stepPresence(e presence.Event) {
	if w.cloud == nil {
		return
	}
	device := w.Ends[tandem.Device]
	for _, a := range w.cloud.Step(w.Now, e) {
		switch a {
		case presence.Join:
			w.Step(device, pair.PeerReady{})
		case presence.GoAlone:
			w.Step(device, pair.PeerLost{})
		}
	}
}
