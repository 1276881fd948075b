package sim

import (
	"time"

	"tandem"
	"tandem/node/presence"
	"tandem/pair"
)

// echoEvery is how often the device asks for a sign of life, and echoSize what that takes (package transport).
const (
	echoEvery = 250 * time.Millisecond
	echoSize  = packetOverhead + 3
)

// watch begins to look after the cloud: the question was sent over a connection that stands.
func (w *world) watch() {
	w.cloud = presence.New(w.Patience, 0)
	w.stepPresence(presence.Tick)
	w.stepPresence(presence.Connected)
	w.tick()
	w.echo()
}

func (w *world) tick() {
	w.after(presence.Every, func() {
		w.stepPresence(presence.Tick)
		w.tick()
	})
}

// echo lets a sign of life travel there and back. Lost or late ones are what presence is about.
func (w *world) echo() {
	w.after(echoEvery, w.echo)
	device, cloud := w.ends[tandem.Device].wire.link, w.ends[tandem.Cloud].wire.link
	for _, at := range device.Step(w.now, echoSize, nil) {
		w.after(at-w.now, func() {
			for _, at := range cloud.Step(w.now, echoSize, nil) {
				w.after(at-w.now, func() { w.stepPresence(presence.Heard) })
			}
		})
	}
}

// ready takes the news that the cloud can join.
func (w *world) ready() {
	if w.cloud == nil {
		w.step(w.ends[tandem.Device], pair.PeerReady{})
		return
	}
	w.stepPresence(presence.Ready)
}

// stepPresence lets presence see an event and carries out what it asks for. Another local address is no way out of a
// stall of the path, so that there is nothing to do for Move; and a connection never dies.
func (w *world) stepPresence(e presence.Event) {
	if w.cloud == nil {
		return
	}
	device := w.ends[tandem.Device]
	for _, a := range w.cloud.Step(w.now, e) {
		switch a {
		case presence.Join:
			w.step(device, pair.PeerReady{})
		case presence.Part:
			w.step(device, pair.PeerLost{})
		}
	}
}
