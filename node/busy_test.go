package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/transport"
)

// full is a cloud that has no place for a while. It then joins, but drafts nothing.
type full struct {
	contrary
	about time.Duration
}

func (f *full) open(context.Context) (replica, error) { return replica{conn: f, exchange: f}, nil }

func (f *full) Send(...transport.Message) error { return nil }
func (f *full) More() bool                      { return false }
func (f *full) Close() error                    { return nil }

func (f *full) Receive(ctx context.Context) (transport.Message, error) {
	select {
	case <-time.After(time.Second / 4):
		return transport.Busy{Before: 3, About: f.about}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// askFull asks a cloud that has no place, and says what came of it and how long that took.
func askFull(t *testing.T, require bool, about time.Duration) (a *deviceAnswer, answer Answer, took time.Duration, err error) {
	patience := DefaultPatience
	if require {
		patience.Busy = time.Minute
	}
	return askFullWith(t, patience, require, about)
}

func askFullWith(t *testing.T, patience Patience, require bool, about time.Duration) (a *deviceAnswer, answer Answer, took time.Duration, err error) {
	cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
	cfg.Self = tandem.Device
	a = newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
	a.log, a.require = slog.New(slog.DiscardHandler), require
	defer a.stop()
	start := time.Now()
	a.reach(patience, lone((&full{about: about}).open))
	err = a.run(&toy{side: tandem.Device, takes: time.Millisecond})
	answer = a.finish()
	return a, answer, time.Since(start), err
}

// curt is a cloud that hangs up on each question, as one does that cannot read it.
type curt struct{ full }

func (c *curt) open(context.Context) (replica, error) { return replica{conn: c, exchange: c}, nil }

func (c *curt) Receive(context.Context) (transport.Message, error) { return nil, io.EOF }

// The remark about a cloud that hangs up says what that may mean.
func TestCurtCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		cfg.Self = tandem.Device
		a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
		a.log = slog.New(slog.DiscardHandler)
		defer a.stop()
		a.reach(DefaultPatience, lone((&curt{}).open))
		err := a.run(&toy{side: tandem.Device, takes: time.Millisecond})
		if said := strings.Join(a.finish().Remarks, "\n"); err != nil || !strings.Contains(said, "it may run another release") {
			t.Errorf("%v, %q", err, said)
		}
	})
}

// A device does not wait for a busy cloud, unless it needs it; the remark or the error says that the cloud is busy, and it
// does not count as missing.
func TestBusyCloud(t *testing.T) {
	for _, require := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, answer, took, err := askFull(t, require, 0)
			switch {
			case require && (!errors.Is(err, ErrNoCloud) || !strings.Contains(err.Error(), "busy (3 questions") || took < time.Minute):
				t.Errorf("required: %v after %v", err, took)
			case !require && (err != nil || took < time.Second || took > 4*time.Second || answer.Pair.Alone == 0 || answer.Reason != pair.ReasonStop ||
				!strings.Contains(strings.Join(answer.Remarks, "\n"), "busy (3 questions")):
				t.Errorf("%v after %v, %d alone, %q", err, took, answer.Pair.Alone, answer.Remarks)
			}
			if answer.Waited != 4 || a.contact == contactFailed {
				t.Errorf("waited %d, found %v", answer.Waited, a.contact)
			}
		})
	}
}

// A device begins alone at once if the cloud says that its turn comes later than it would wait. If it needs the cloud, the error
// says when to come back.
func TestFullCloudSaysWhen(t *testing.T) {
	for _, require := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			_, answer, took, err := askFull(t, require, 90*time.Second)
			said := strings.Join(answer.Remarks, "\n")
			if require {
				said = fmt.Sprint(err)
			}
			if require != errors.Is(err, ErrNoCloud) || took > time.Second || !strings.Contains(said, "busy (3 questions before this one, about 1m30s)") {
				t.Errorf("require %v: %v after %v, %q", require, err, took, said)
			}
		})
	}
}

// A device whose patience with a busy cloud is not set waits as long for it as for any cloud to join.
func TestPatienceWithBusyCloudIsThatToJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		patience := Patience{Join: 10 * time.Second, Silent: 3 * time.Second, Slow: 15 * time.Second}
		_, answer, took, err := askFullWith(t, patience, false, 5*time.Second)
		if err != nil || took < patience.Join || took > patience.Join+2*time.Second || answer.Pair.Alone == 0 {
			t.Errorf("%v after %v, %d alone, %q", err, took, answer.Pair.Alone, answer.Remarks)
		}
	})
}
