package node

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/npu/native"
	"tandem/pair"
	"tandem/retrieval/search"
	"tandem/transport"
)

// square is a cloud with connections from two devices over a simulated network, in virtual time, and how many answers
// have ended in it.
func square(t *testing.T, limit int, change ...func(*CloudConfig)) (devices [2]*transport.Conn, cloud *Cloud, ended *atomic.Int32) {
	t.Helper()
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Seed: 3}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	reader := Local{Model: m, Scorer: search.Lexical()}
	quiet := slog.New(slog.DiscardHandler)
	sim := &simnet.Simnet{Router: &simnet.PerfectRouter{}}
	var ends [3]net.PacketConn
	var ids [3]transport.Identity
	for i := range ends {
		ends[i] = sim.NewEndpoint(&net.UDPAddr{IP: net.IPv4(10, 0, 0, byte(i+1)), Port: 1000}, simnet.NodeBiDiLinkSettings{Latency: 10 * time.Millisecond})
		if ids[i], err = transport.Ephemeral(); err != nil {
			t.Fatal(err)
		}
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	l, err := transport.ListenOn(ends[2], transport.ServerConfig{
		Identity: ids[2], Peers: transport.NewPeers(ids[0].ID, ids[1].ID), Hello: reader.Hello(tandem.Cloud, "test", "cloud"), Log: quiet,
		Limits: transport.Limits{Exchanges: Exchanges(limit)},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	ended = new(atomic.Int32)
	cfg := CloudConfig{Local: reader, Limit: limit, GiveDocuments: true, Observe: func(Served) { ended.Add(1) }}
	for _, f := range change {
		f(&cfg)
	}
	cloud = NewCloud(cfg)
	go func() { served <- cloud.Serve(ctx, l) }()
	for i := range devices {
		devices[i], err = transport.Dial(t.Context(), ends[2].LocalAddr().String(), transport.ClientConfig{
			Identity: ids[i], Peer: ids[2].ID, Hello: reader.Hello(tandem.Device, "test", "device"), PacketConn: ends[i], Log: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, d := range devices {
			d.Close("test over")
		}
		cancel()
		if err := errors.Join(l.Close(), <-served, m.Close()); err != nil {
			t.Error(err)
		}
		for _, pc := range ends {
			pc.Close()
		}
		sim.Close()
	})
	return devices, cloud, ended
}

// openQuestion opens an exchange in which the device says no more.
func openQuestion(t *testing.T, device *transport.Conn) *transport.Exchange {
	t.Helper()
	return questionFor(t, device, tandem.WantDrafts)
}

func questionFor(t *testing.T, device *transport.Conn, want tandem.Want) *transport.Exchange {
	t.Helper()
	s := baselineSettings(want)
	exchange, err := device.Open(t.Context(), beginOf(Question{ID: "q", Text: "When does the museum open?"}, s))
	if err != nil {
		t.Fatal(err)
	}
	return exchange
}

// However many questions a device asks at once over its connection, the cloud says at once what becomes of each: those that find
// too many waiting are refused.
func TestManyQuestionsOfOneDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 4
		devices, cloud, _ := square(t, limit)
		busy, refused := 0, 0
		for range limit - 1 + maxWaiting + refusedAtOnce {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			exchange, err := devices[0].Open(ctx, beginOf(baselineQuestion, baselineSettings(tandem.WantDrafts)))
			if err != nil {
				t.Fatalf("after %d that wait: %v", busy, err)
			}
			m, err := exchange.Receive(ctx)
			cancel()
			switch m := m.(type) {
			case transport.Busy:
				busy++
			case transport.Fail:
				refused++
			case transport.Ready:
			default:
				t.Fatalf("%+v, %v", m, err)
			}
			defer exchange.Close()
		}
		if busy != maxWaiting || refused != refusedAtOnce || cloud.Load().Answers != limit-1 {
			t.Errorf("%d wait, %d are refused, %+v", busy, refused, cloud.Load())
		}
	})
}

// taken reports whether the cloud takes a question within a second.
func taken(t *testing.T, exchange *transport.Exchange) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	m, err := exchange.Receive(ctx)
	for _, busy := m.(transport.Busy); busy; _, busy = m.(transport.Busy) {
		m, err = exchange.Receive(ctx)
	}
	if _, ready := m.(transport.Ready); ready {
		return true
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%T, %v", m, err)
	}
	return false
}

// A cloud that drains ends the answers that it has and refuses others, and those that wait.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, cloud, _ := square(t, 1)
		first := openQuestion(t, devices[0])
		if !taken(t, first) {
			t.Fatal("the question was not taken")
		}
		waits := openQuestion(t, devices[1])
		if taken(t, waits) {
			t.Fatal("two questions have one slot")
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := cloud.Drain(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while an answer goes on: %v", err)
		}
		drained := make(chan error, 1)
		go func() { drained <- cloud.Drain(t.Context()) }()
		refused(t, openQuestion(t, devices[1]))
		first.Close()
		refused(t, waits)
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// A cloud has drained as soon as its last answer has ended.
func TestDrainEndsWithTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud, _ := reserving(t)
		ends, answered, drained := make(chan struct{}), make(chan error, 1), make(chan error, 1)
		go func() {
			answered <- cloud.Alone(t.Context(), baselineQuestion, baselineSettings(tandem.WantDrafts), func(context.Context, tandem.Settings) error { <-ends; return nil })
		}()
		synctest.Wait()
		go func() { drained <- cloud.Drain(t.Context()) }()
		synctest.Wait()
		if len(drained) > 0 {
			t.Errorf("drained during an answer: %v", <-drained)
		}
		close(ends)
		synctest.Wait()
		if len(drained) == 0 {
			t.Error("still draining")
		}
		late, cancel := context.WithCancel(t.Context())
		cancel()
		if err := errors.Join(<-answered, <-drained, cloud.Drain(late)); err != nil {
			t.Error(err)
		}
	})
}

// refused checks that a question is refused by a cloud that shuts down.
func refused(t *testing.T, exchange *transport.Exchange) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		m, err := exchange.Receive(ctx)
		if _, busy := m.(transport.Busy); busy {
			continue
		}
		if fail, ok := m.(transport.Fail); !ok || !strings.Contains(fail.Text, "shutting down") {
			t.Errorf("%+v, %v", m, err)
		}
		return
	}
}

// However many questions a device leaves open, another's is taken at once; and one that says nothing more loses its
// slot to the next.
func TestSlots(t *testing.T) {
	for _, limit := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			devices, cloud, _ := square(t, limit)
			var open []*transport.Exchange
			for i := range max(1, limit-1) {
				open = append(open, openQuestion(t, devices[0]))
				if !taken(t, open[i]) {
					t.Fatalf("limit %d: question %d was not taken", limit, i)
				}
			}
			next := openQuestion(t, devices[0])
			if taken(t, next) {
				t.Fatalf("limit %d: one device has all slots", limit)
			}
			others := openQuestion(t, devices[1])
			if got := taken(t, others); got != (limit > 1) {
				t.Fatalf("limit %d: the other device's question was taken: %v", limit, got)
			}
			want := Load{Devices: 2, Answers: limit, Waiting: 1}
			if limit == 1 {
				want.Waiting = 2
			}
			if got := cloud.Load(); got != want {
				t.Errorf("limit %d: load %+v, want %+v", limit, got, want)
			}
			time.Sleep(idle)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for _, exchange := range open {
				for err := error(nil); err != io.EOF; _, err = exchange.Receive(ctx) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if limit == 1 {
				next = others // it has waited for the slot, while its neighbour's still held it
			}
			if !taken(t, next) {
				t.Errorf("limit %d: the next question was not taken when the others had been given up", limit)
			}
		})
	}
}

// The same goes for a device that takes what a baseline gives it, and does not say so.
func TestSilentBaselines(t *testing.T) {
	for _, want := range []tandem.Want{tandem.WantText, tandem.WantKV, tandem.WantAnswer} {
		synctest.Test(t, func(t *testing.T) {
			devices, _, _ := square(t, 1)
			questionFor(t, devices[0], want)
			time.Sleep(time.Second)
			exchange := openQuestion(t, devices[1])
			if taken(t, exchange) {
				t.Fatalf("%v: the only slot was free", want)
			}
			time.Sleep(idle)
			if !taken(t, exchange) {
				t.Errorf("%v: the slot was not free after %v", want, idle)
			}
		})
	}
}

// Questions that are given up while they wait take no slot.
func TestGoneBeforeItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, ended := square(t, 1)
		first := openQuestion(t, devices[0])
		if !taken(t, first) {
			t.Fatal("not taken")
		}
		for i := range 4 {
			exchange := openQuestion(t, devices[i%2])
			time.Sleep(time.Second)
			if i < 2 {
				exchange.Send(transport.End{Reason: "cancelled"})
			} else {
				exchange.Close()
			}
		}
		last := openQuestion(t, devices[1])
		if taken(t, last) {
			t.Fatal("taken while another holds it")
		}
		first.Close()
		if !taken(t, last) {
			t.Error("not taken after the first was over")
		}
		if n := ended.Load(); n != 1 {
			t.Errorf("%d answers came to their turn and ended, want the first", n)
		}
	})
}

// A device with little to say keeps its slot: one that reads for ten minutes before it drafts, and one whose cloud takes
// a minute and a half for each token.
func TestSlowAnswers(t *testing.T) {
	for _, placement := range placements {
		for _, c := range []struct{ reads, device, cloud time.Duration }{
			{10 * time.Minute, 30 * time.Millisecond, 30 * time.Millisecond},
			{0, time.Millisecond, 90 * time.Second},
		} {
			synctest.Test(t, func(t *testing.T) {
				cfg := toyConfig(placement, tandem.CouplingShared, 3, false)
				want := plain(cfg)
				cable := &cable{t: t, cfg: cfg, delay: 10 * time.Millisecond, takes: c.cloud}
				cfg.Self, cable.cfg.Self = tandem.Device, tandem.Cloud
				var got []tandem.Token
				a := newDeviceAnswer(t.Context(), cfg, silence{}, func(tok Token) { got = append(got, tok.ID) })
				a.log = slog.New(slog.DiscardHandler)
				defer a.stop()
				a.reach(Patience{Join: time.Hour, Silent: time.Hour, Slow: time.Hour}, lone(cable.open))
				time.Sleep(c.reads)
				if err := a.run(&toy{side: tandem.Device, takes: c.device}); err != nil {
					t.Error(err)
				}
				answer := a.finish()
				cable.hangUp()
				if cable.opened != 1 || answer.Pair.Alone > 0 || len(answer.Remarks) > 0 || !slices.Equal(got, want) {
					t.Errorf("%v, %+v: %d links, %d tokens alone, remarks %q, %v, want %v", placement, c, cable.opened, answer.Pair.Alone, answer.Remarks, got, want)
				}
			})
		}
	}
}

// A cloud gives up on a device that it never hears once it has drafted to its limit.
func TestNeverHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, exchange := transport.Pipe(toyVocab)
		a := &cloudAnswer{conn: &cable{}, exchange: exchange, log: slog.New(slog.DiscardHandler), inbox: make(chan any, inboxSize), ctx: t.Context()}
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		cfg.Self = tandem.Cloud
		a.machine = pair.New(cfg)
		start := time.Now()
		if err := a.run(&toy{side: tandem.Cloud, takes: 10 * time.Second}); !errors.Is(err, errIdle) {
			t.Errorf("error %v, want %v", err, errIdle)
		}
		if drafting, took := time.Duration(cfg.Lookahead)*10*time.Second, time.Since(start); took != drafting+idle {
			t.Errorf("after %v, want %v of drafting and %v", took, drafting, idle)
		}
	})
}

// toyVisitor is a device that may be gone.
type toyVisitor struct {
	id   transport.ID
	gone atomic.Bool
}

func (v *toyVisitor) Peer() transport.ID    { return v.id }
func (v *toyVisitor) Silent(time.Time) bool { return v.gone.Load() }

// While another waits, a slot is given away if its device is gone, if no token is agreed for a minute however much the
// device says, or after ten minutes. While nobody waits, it is not.
func TestSlotsAreGivenAway(t *testing.T) {
	for name, c := range map[string]struct {
		progress, gone bool
		want           error
		within         time.Duration
	}{
		"gone":     {true, true, errGone, 2 * watchEvery},
		"stuck":    {false, false, errStuck, maxStall + watchEvery},
		"for ever": {true, false, errTooLong, maxHold + watchEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newSlots(1, new(budget))
			enter := func(v *toyVisitor) *lease {
				_, exchange := transport.Pipe(toyVocab)
				l, err := p.enter(t.Context(), t.Context(), v, Normal, 0, exchange)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return l
			}
			holder := &toyVisitor{id: transport.ID{1}}
			held := enter(holder)
			start := time.Now()
			go func() { // as an answer does: it leaves when its context ends
				tick := time.NewTicker(5 * time.Second)
				defer tick.Stop()
				defer p.release(held)
				for {
					select {
					case <-tick.C:
						if c.progress {
							held.progress()
						}
					case <-held.ctx.Done():
						return
					}
				}
			}()
			if name == "stuck" {
				time.Sleep(maxStall / 2)
			}
			holder.gone.Store(c.gone)
			next := enter(&toyVisitor{id: transport.ID{2}})
			if err := context.Cause(held.ctx); err != c.want || time.Since(start) > c.within {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
			p.release(next)
			lone := enter(&toyVisitor{id: transport.ID{3}})
			time.Sleep(2 * maxHold)
			if err := lone.ctx.Err(); err != nil {
				t.Errorf("%s: a slot that nobody waits for was given away: %v", name, err)
			}
			p.release(lone)
		})
	}
}

// Where slots are scarce, a device of higher priority goes first, however late it comes; but one of lower priority that has
// waited for long goes before one that came just now.
func TestPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlots(1, new(budget))
		var order []string
		holds := func(name byte, priority Priority, d time.Duration) {
			_, exchange := transport.Pipe(toyVocab)
			l, err := p.enter(t.Context(), t.Context(), &toyVisitor{id: transport.ID{name}}, priority, 0, exchange)
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, string(name))
			time.Sleep(d)
			p.release(l)
		}
		var all sync.WaitGroup
		come := func(name byte, priority Priority, d time.Duration) {
			all.Go(func() { holds(name, priority, d) })
			time.Sleep(time.Second)
		}
		come('a', Normal, 10*time.Second) // holds the slot while the others come
		come('l', Low, time.Second)
		come('n', Normal, time.Second)
		come('m', Normal, time.Second)
		come('h', High, time.Second)
		all.Wait()
		come('b', Normal, 50*time.Second)
		come('k', Low, time.Second)
		time.Sleep(45 * time.Second)
		come('i', High, time.Second)
		all.Wait()
		if got := strings.Join(order, ""); got != "ahnmlbki" {
			t.Errorf("the order was %s", got)
		}
	})
}

// A cloud without a slot says so within a second, and how many wait before; the question gets its slot later.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, _ := square(t, 1)
		first := openQuestion(t, devices[0])
		if !taken(t, first) {
			t.Fatal("not taken")
		}
		var waiting []*transport.Exchange
		for i := range 2 {
			waiting = append(waiting, openQuestion(t, devices[1]))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			m, err := waiting[i].Receive(ctx)
			cancel()
			if busy, ok := m.(transport.Busy); !ok || busy.Before != i {
				t.Errorf("question %d: %#v, %v", i, m, err)
			}
		}
		first.Close()
		if !taken(t, waiting[0]) {
			t.Error("not taken when the slot was free")
		}
	})
}

// How long a question waits is estimated from how long slots were held: nobody knows at first, and the latest count most.
func TestExpectedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlots(2, new(budget))
		if about := p.expected(5); about != 0 {
			t.Errorf("before anybody has left: %v", about)
		}
		hold := func(d time.Duration) {
			l, err := p.enter(t.Context(), t.Context(), guest{}, Normal, 0, ownQuestion{})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
			p.release(l)
		}
		hold(8 * time.Second)
		for before, want := range []time.Duration{4 * time.Second, 8 * time.Second, 12 * time.Second} {
			if about := p.expected(before); about != want {
				t.Errorf("after %d others: %v, want %v", before, about, want)
			}
		}
		for range 20 {
			hold(2 * time.Second)
		}
		if about := p.expected(1); about < 2*time.Second || about > 2100*time.Millisecond {
			t.Errorf("now that answers are shorter: %v", about)
		}
	})
}

// guest is a device that is never silent.
type guest struct{}

func (guest) Peer() transport.ID    { return transport.ID{1} }
func (guest) Silent(time.Time) bool { return false }

// The questions of one device that wait are bounded.
func TestQueueOfADevice(t *testing.T) {
	p := newSlots(1, new(budget))
	for range 1 + maxWaiting { // the first has the slot
		if _, err := p.queue(transport.ID{1}, Normal, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.queue(transport.ID{1}, Normal, 0); err == nil || !strings.Contains(err.Error(), "waiting") {
		t.Errorf("one too many: %v", err)
	}
	if _, err := p.queue(transport.ID{2}, Normal, 0); err != nil {
		t.Error(err)
	}
}

// A cloud tells a device how long its operator lets answers be, if that is less than the device asked for; a baseline's answer it
// refuses. Of more passages than it may read it reads fewer.
func TestCaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devices, _, _ := square(t, 4, func(c *CloudConfig) {
			c.Documents, c.Tokens = 2, 100
			c.Local.Documents = shelf{{ID: "1", Text: "The museum opens at nine."}, {ID: "2", Text: "The museum is old."}, {ID: "3", Text: "The museum is red."}}
		})
		for _, c := range []struct {
			want      tandem.Want
			tokens    int
			documents int
			refused   bool
			limit     int32
		}{
			{tandem.WantDrafts, 101, 2, false, 100},
			{tandem.WantDrafts, tandem.MaxAnswer, 2, false, 100},
			{tandem.WantDrafts, 100, 2, false, 0},
			{tandem.WantDrafts, 20, 5, false, 0},
			{tandem.WantAnswer, 101, 2, true, 0},
		} {
			s := baselineSettings(c.want)
			s.MaxTokens, s.Documents = c.tokens, c.documents
			exchange, err := devices[0].Open(t.Context(), beginOf(Question{ID: "q", Text: "When does the museum open?"}, s))
			if err != nil {
				t.Fatal(err)
			}
			m, err := exchange.Receive(t.Context())
			fail, refused := m.(transport.Fail)
			ready, _ := m.(transport.Ready)
			if err != nil || refused != c.refused || refused != strings.Contains(fail.Text, "at most 100 tokens") || ready.MaxTokens != c.limit || !refused && ready.Documents != 2 {
				t.Errorf("%+v: %#v, %v", c, m, err)
			}
			exchange.Close()
		}
	})
}

// A device that closes its connection is no fault to report.
func TestDeviceDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		devices, _, _ := square(t, 1, func(c *CloudConfig) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		devices[0].Close("device closed")
		devices[1].Close("device closed")
		time.Sleep(time.Second)
		synctest.Wait()
		if said := log.String(); strings.Count(said, `msg="device disconnected"`) != 2 || strings.Contains(said, "lost") {
			t.Error(said)
		}
	})
}

// Of the questions before it, a device is told those that wait for a slot as it does, and not those that another device may not
// have answered anyway.
func TestQuestionsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlots(8, new(budget))
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		ask := func(device byte, questions int) {
			for range questions {
				all.Go(func() {
					_, exchange := transport.Pipe(toyVocab)
					if l, err := p.enter(ctx, ctx, &toyVisitor{id: transport.ID{device}}, Normal, 0, exchange); err == nil {
						<-ctx.Done()
						p.release(l)
					}
				})
			}
			synctest.Wait()
		}
		ask(1, 7+25) // and no device has more than seven slots
		ask(2, 1)
		ask(3, 2)
		before := map[transport.ID][]int{}
		for ticket := range p.waiting {
			before[ticket.device] = append(before[ticket.device], p.before(ticket))
		}
		slices.Sort(before[transport.ID{1}])
		if got := before[transport.ID{3}]; len(got) != 2 || min(got[0], got[1]) != 0 || max(got[0], got[1]) != 1 {
			t.Errorf("before those of the last device: %v", got)
		}
		if got := before[transport.ID{1}]; len(got) != 25 || got[0] != 0 || got[24] != 24 {
			t.Errorf("before those of the first device: %v", got)
		}
		cancel()
		all.Wait()
	})
}

// chatter is an exchange with a device that never stops talking.
type chatter struct{ ownQuestion }

func (chatter) Receive(context.Context) (transport.Message, error) { return transport.Sync{}, nil }

// A device that never stops talking gets its slot as any other does, and waits no longer than its connection lasts.
func TestTalkativeDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newSlots(2, new(budget))
		ctx, cancel := context.WithCancel(t.Context())
		outcomes := make(chan error, 2)
		for range 2 { // one device has one slot
			go func() {
				_, err := p.enter(ctx, ctx, guest{}, Normal, 0, chatter{})
				outcomes <- err
			}()
		}
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-outcomes; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

// A device that reads for long is there for its cloud also after a crowd has kept that busy, whose notices it has no time for.
func TestReadsWhileTheCloudIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := toyConfig(tandem.PlaceMirror, tandem.CouplingShared, 3, false)
		c := &cable{t: t, cfg: cfg, delay: 10 * time.Millisecond, takes: 20 * time.Millisecond, full: time.Now().Add(inboxSize * watchEvery * 2), orders: true}
		cfg.Self, c.cfg.Self = tandem.Device, tandem.Cloud
		a := newDeviceAnswer(t.Context(), cfg, silence{}, func(Token) {})
		a.log = slog.New(slog.DiscardHandler)
		defer a.stop()
		a.reach(DefaultPatience, lone(c.open))
		time.Sleep(5 * idle)
		if err := a.run(c.producer(tandem.Device, 20*time.Millisecond)); err != nil {
			t.Error(err)
		}
		answer := a.finish()
		c.hangUp()
		if c.opened != 1 || answer.Pair.Alone > 0 || len(answer.Remarks) > 0 {
			t.Errorf("%d links, %d tokens alone, remarks %q", c.opened, answer.Pair.Alone, answer.Remarks)
		}
	})
}
