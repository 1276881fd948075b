package node

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/pair"
)

// The outcome of a pass that came too late to be preempted is not taken for that of the pass after it: the device still computes,
// so it is not waiting for the cloud, and the recording does not have it.
func TestSupersededPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
		a.log = slog.New(slog.DiscardHandler)
		a.record = &recorder{start: a.start, to: func(l Line) { t.Errorf("recorded: %+v", l) }}
		defer a.stop()
		worker, rest := startWorker(a.ctx, &toy{side: tandem.Device, takes: time.Hour}, a.inbox)
		defer rest()
		a.worker = worker
		for id := range uint64(2) {
			a.act(pair.Decode{ID: id + 1, Pass: tandem.Pass{Append: []tandem.Token{1}}})
		}
		a.process(decoded{id: 1})
		if a.decodeID != 2 {
			t.Error("the device seems to compute nothing")
		}
	})
}
