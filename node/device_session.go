package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/decoder"
	"tandem/model/tokenizer"
	"tandem/node/presence"
	"tandem/node/replicas"
	"tandem/pair"
	"tandem/transport"
)

// deviceSession is one question being answered. It belongs to one goroutine. The others, which run dial and move, read only what
// never changes, and post to the inbox. Before run, Device.collect and Device.other set the connection and what is known of the
// cloud's part on a goroutine of theirs.
type deviceSession struct {
	cloud   reachable // nil for no cloud
	require bool      // fail instead of going on without the cloud
	emit    func(Token)
	log     *slog.Logger
	profile *Profile
	past    *Past
	record  *recorder // nil for none
	parts   [2][]part // where each side drew the sentences from

	start    time.Time
	presence *presence.Machine
	patience Patience
	machine  *pair.Machine
	worker   *worker
	inbox    chan any // decoded, linked, unlinked, received
	done     bool
	failure  error
	lost     error // why the last link ended, or a dial failed
	found    finding
	why      string         // what to say of its absence, if not that it is not there
	queued   string         // the same while the cloud has no place
	turn     transport.Busy // what it then said last
	working  bool           // the device computes a distribution

	ctx    context.Context // of dialling and listening
	stop   context.CancelFunc
	linked           // to the replica in use; its link is nil when there is none
	other  candidate // another replica that is being asked, too
	seeks  int       // how often another one was sought
	alone  bool      // the device continues alone
	cited  bool      // the cloud has said which documents it used
	outbox []transport.Message
	before LinkStats // of the replicas that were in use before
	text   speller
	paired bool // a cloud is to take part
	asked  int  // the parts of the question that a span reader answers; 0 if a model writes the answer
	room   int  // tokens that the answer is kept within
	answer Answer
}

// finding is whether an answer could reach the cloud.
type finding uint8

const (
	unasked finding = iota
	missing
	there
)

// exchange is one answer's two-way flow of messages: a *transport.Exchange, or one end of a pipe in tests.
type exchange interface {
	Send(...transport.Message) error // those of one call together
	Receive(context.Context) (transport.Message, error)
	More() bool // the next Receive does not wait
	Close() error
}

// speller turns tokens into text: a *tokenizer.Stream, or silence in tests.
type speller interface {
	Write(tandem.Token) string
	Flush() string
}

// carrier is the connection below an exchange: a *transport.Conn, or a toy in tests.
type carrier interface {
	LastHeard() time.Time
	RTT() time.Duration
	Stats() transport.Stats
	Migrate(ctx context.Context, pc net.PacketConn) error
}

// reachable is a cloud as an answer sees it: a service, or a toy in tests.
type reachable interface {
	// open sends the question to the best replica that has none of the addresses.
	open(ctx context.Context, except ...string) (linked, error)
	// others reports whether another replica than those at the addresses may have a place.
	others(here ...string) bool
	// note keeps what happened at an address, for the next choice.
	note(at string, e replicas.Event, d time.Duration)
}

// Messages from the other goroutines to the one that owns the machine.
type (
	linked struct {
		conn  carrier
		link  exchange
		base  transport.Stats // of conn, before this answer
		at    string          // the address of the replica
		stood bool            // conn is of an earlier answer, so the cloud may have gone since
		spare int             // which seek it comes from, if it is to take the place of the one in use; or 0
	}
	unlinked struct { // link is nil if there never was one
		link  exchange
		spare int
		err   error
	}
	received struct {
		link     exchange
		messages []transport.Message // that arrived together
	}
)

const (
	tickEvery  = presence.Every
	inboxSize  = 64
	lastWords  = 500 * time.Millisecond // shortest wait for the cloud's last message
	openWithin = 10 * time.Second       // to connect and to send the question
	beat       = idle / 3               // silence of the cloud after which the device says that it is still there
)

func newDeviceSession(ctx context.Context, cfg pair.Config, text speller, emit func(Token)) *deviceSession {
	a := &deviceSession{
		emit: emit, text: text, profile: &Profile{},
		start:   time.Now(),
		machine: pair.New(cfg),
		inbox:   make(chan any, inboxSize),
	}
	a.ctx, a.stop = context.WithCancel(ctx)
	return a
}

// Patience says how long the device waits for the cloud.
type Patience = presence.Patience

// DefaultPatience is the patience of a device that sets none.
var DefaultPatience = presence.DefaultPatience

// reach starts to dial, so that the cloud reads while the device reads.
func (a *deviceSession) reach(p Patience, cloud reachable) {
	a.cloud, a.patience, a.presence = cloud, p, presence.New(p, time.Since(a.start))
	a.stepPresence(presence.Tick)
}

// run answers until the machine finishes, ctx ends or the answer fails.
func (a *deviceSession) run(read producer) error {
	var rest func()
	a.worker, rest = startWorker(a.ctx, read, a.inbox)
	defer rest()
	a.stepPresence(presence.Listening)
	a.step(pair.Start{Alone: a.presence == nil})
	clock := time.NewTicker(tickEvery)
	defer clock.Stop()
	for !a.done {
		select {
		case <-a.ctx.Done():
			a.step(pair.Cancel{})
			a.fail(context.Cause(a.ctx))
		case <-clock.C:
			a.measure()
			a.hearEcho()
			if a.working {
				a.stepPresence(presence.Own)
			}
			a.lookAround()
			a.stepPresence(presence.Tick)
		case in := <-a.inbox:
			a.take(in)
		}
	}
	return a.failure
}

// muted computes nothing: it drafts the end of the answer, with an aggregation weight so low that the other side's
// distribution becomes the target.
type muted struct{ out decoder.Output }

func newMuted(tok *tokenizer.Tokenizer) muted {
	end := append(tok.EOGs(), 0)[:1]
	return muted{decoder.Output{Dist: tandem.Dist{IDs: end, Weights: []uint32{tandem.Mass}}, H: tandem.FixedOf(math.Inf(-1))}}
}

func (m muted) Next(context.Context, int, []tandem.Token) (decoder.Output, error) { return m.out, nil }

// take handles a message of another goroutine.
func (a *deviceSession) take(in any) {
	switch in := in.(type) {
	case decoded:
		a.working = false
		if in.err != nil {
			a.step(pair.Cancel{})
			a.fail(fmt.Errorf("decode: %w", in.err))
			return
		}
		if len(in.branches)+len(in.chain) == 0 {
			a.profile.observe(in.out)
		}
		a.record.decode(in)
		a.step(in.event())
	case linked:
		if in.spare != 0 {
			a.asksOther(in)
			return
		}
		a.use(in)
		a.stepPresence(presence.Connected)
	case unlinked:
		a.unlink(in)
	case received:
		switch in.link { // otherwise it came from a link that was given up
		case a.link:
			a.found = there
			a.stepPresence(presence.Heard)
			a.messages(in.messages)
		case a.other.link:
			for _, m := range in.messages {
				if a.other.link == in.link {
					a.otherMessage(m)
				}
			}
		}
	}
}

// use continues with a replica.
func (a *deviceSession) use(l linked) {
	a.before = a.usage()
	a.linked, a.queued = l, ""
	if a.lost = nil; !l.stood {
		a.found = there
	}
	a.measure()
}

// usage is what the answer has cost on the network so far.
func (a *deviceSession) usage() LinkStats {
	if a.conn == nil {
		return a.before
	}
	return a.before.plus(linkStats(a.conn.Stats(), a.base))
}

// busy says what a cloud without a place says, and when to come back.
func busy(m transport.Busy) string {
	about := ""
	if m.About > 0 {
		about = fmt.Sprintf(", about %v", max(m.About, time.Second).Round(time.Second))
	}
	return fmt.Sprintf("the cloud is busy (%d questions before this one%s)", m.Before, about)
}

// messages handles messages of the cloud that arrived together.
func (a *deviceSession) messages(all []transport.Message) {
	link := a.link
	var events []pair.Event
	for _, m := range all {
		if e := pairEvent(m); e != nil {
			if d, ok := m.(tandem.Draft); ok {
				a.record.draft(tandem.Cloud, d)
			}
			events = append(events, e)
			continue
		}
		a.step(events...)
		if events = nil; a.link != link {
			return
		}
		a.message(m)
	}
	a.step(events...)
}

// pairEvent returns what a message tells the pair's machine on either side, nil for other messages.
func pairEvent(m transport.Message) pair.Event {
	switch m := m.(type) {
	case tandem.Draft:
		return pair.PeerDraft{Draft: m}
	case tandem.Target:
		return pair.PeerTarget{Target: m}
	case transport.Handover:
		return handoverOf(m)
	case transport.NeedSync:
		return pair.PeerNeedSync{}
	case transport.Sync:
		e := pair.PeerSync{Epoch: m.Epoch, Tokens: m.Tokens, Lead: tandem.Cloud}
		if m.DeviceLeads {
			e.Lead = tandem.Device
		}
		return e
	}
	return nil
}

// message handles another message of the cloud.
func (a *deviceSession) message(m transport.Message) {
	switch m := m.(type) {
	case transport.Busy:
		if a.answer.Waited == 0 {
			a.log.Info("the cloud is busy", "before", m.Before, "about", m.About)
		}
		a.answer.Waited = max(a.answer.Waited, m.Before+1)
		a.queued, a.turn = busy(m), m
		a.cloud.note(a.at, replicas.Full, m.About)
		a.lookAround()
		event := presence.Busy
		if m.About > a.patience.Busy {
			event = presence.Full
		}
		a.stepPresence(event)
	case transport.Ready:
		a.queued = ""
		a.cloud.note(a.at, replicas.Served, 0)
		a.answer.Prefill[tandem.Cloud] = m.Prefill
		a.answer.Read[tandem.Cloud] = m.Documents
		a.stepPresence(presence.Ready)
	case transport.Sources:
		a.sources(m)
	case transport.Leaving:
		a.cloud.note(a.at, replicas.Leaves, 0)
		a.lookAround()
		a.stepPresence(presence.Leaving)
	case transport.Fail:
		a.link.Close() // nothing that it says later is of use
		a.link, a.lost = nil, &transport.RefusedError{Reason: m.Text}
		why := "the cloud cannot take part: " + m.Text
		if !m.Again {
			a.leave(presence.Mismatch, why)
			return
		}
		a.cloud.note(a.at, replicas.Leaves, 0)
		a.lookAround()
		a.why = why // only if the device continues alone
		a.stepPresence(presence.TurnedAway)
		a.why = ""
	default:
		a.log.Warn("unexpected message", "type", fmt.Sprintf("%T", m))
	}
}

// step passes events to the machine and carries out its actions.
func (a *deviceSession) step(events ...pair.Event) {
	if len(events) == 0 {
		return
	}
	for _, action := range a.machine.Step(events...) {
		if a.done {
			break // an action before this one ended the answer
		}
		switch act := action.(type) {
		case pair.Decode:
			a.working = true
			a.worker.do(act)
		case pair.SendDraft:
			a.record.draft(tandem.Device, act.Draft)
			a.send(act.Draft)
		case pair.SendTarget:
			a.send(act.Target)
		case pair.SendHandover:
			a.send(handoverMessage(act.Handover))
		case pair.SendSync:
			a.send(transport.Sync{Epoch: act.Epoch, Tokens: act.Tokens, DeviceLeads: act.Lead == tandem.Device})
		case pair.Emit:
			a.record.target(act)
			a.show(act)
		case pair.Finish:
			a.answer.Reason, a.done = act.Reason, true
		case pair.Note:
			a.record.note(act)
			a.log.Debug("pair", "note", act.Kind, "of", act.Side, "step", act.Step)
			if act.Kind == pair.NoteDistrust { // before the tokens that the device then decides alone
				a.lost = ErrDistrusted
				a.leave(presence.Distrusted, "the cloud keeps contradicting what was agreed")
			}
		}
	}
	a.flush()
}

// show emits a token.
func (a *deviceSession) show(e pair.Emit) {
	t := Token{ID: e.Token, Text: a.text.Write(e.Token), By: e.By, Alone: e.Alone, Own: float64(e.Own) / tandem.Mass, At: time.Since(a.start)}
	a.answer.Tokens = append(a.answer.Tokens, t)
	a.emit(t)
	if !e.Alone {
		a.stepPresence(presence.Moved)
	}
}

// stepPresence passes an event to presence and carries out its actions.
func (a *deviceSession) stepPresence(e presence.Event) { a.stepPresenceAt(time.Since(a.start), e) }

func (a *deviceSession) stepPresenceAt(when time.Duration, e presence.Event) {
	if a.presence == nil || a.done {
		return
	}
	for _, act := range a.presence.Step(when, e) {
		switch act {
		case presence.Dial:
			go a.dial(0)
		case presence.Seek:
			a.seeks++
			go a.dial(a.seeks, a.at)
		case presence.Drop:
			a.dropOther("not needed")
		case presence.Switch:
			a.switchOver()
		case presence.Join:
			if a.alone && len(a.answer.Tokens) > 0 {
				a.remark("the cloud joined in at token %d", len(a.answer.Tokens))
			}
			a.alone = false
			a.step(pair.PeerReady{})
		case presence.Part:
			a.part()
		case presence.Move:
			go a.move(a.conn, a.patience.Silent)
		}
	}
}

// move takes the connection to a new socket if the cloud can be reached from there in time. Otherwise the connection
// stays where it is.
func (a *deviceSession) move(conn carrier, within time.Duration) {
	ctx, cancel := context.WithTimeout(a.ctx, within)
	defer cancel()
	if err := conn.Migrate(ctx, nil); err != nil {
		a.log.Info("no other path to the cloud", "error", err)
		return
	}
	a.log.Info("moved to another local address")
}

// part continues without the cloud, or ends the answer if it requires the cloud.
func (a *deviceSession) part() {
	if a.why == "" && a.queued == "" && a.found == unasked {
		a.found = missing
	}
	why := cmp.Or(a.why, a.queued)
	a.why, a.alone = "", true
	if a.require { // the error says why
		a.step(pair.Cancel{})
		a.fail(a.absent())
		return
	}
	switch n := len(a.answer.Tokens); {
	case n > 0 && why != "":
		a.remark("%s: after %d tokens the device answers alone", why, n)
	case n > 0:
		a.remark("the cloud went away after %d tokens: the device continues alone", n)
	default:
		why = cmp.Or(why, strings.NewReplacer("\n", "; ", "transport: ", "").Replace(a.absent().Error()))
		a.remark("%s: the device answers alone", why)
	}
	a.step(pair.PeerLost{})
}

// leave takes a step that parts from a cloud that is there, for the reason why. One remark says so, also if the device
// answers alone already.
func (a *deviceSession) leave(e presence.Event, why string) {
	a.why = why
	a.stepPresence(e)
	if a.why != "" {
		a.why = ""
		a.remark("%s", why)
	}
}

// absent returns ErrNoCloud, with its cause if that is known.
func (a *deviceSession) absent() error {
	var differ *transport.MismatchError
	switch {
	case a.queued != "":
		return unfit{errors.New(a.queued)}
	case a.lost == nil && a.found == there:
		return unfit{errors.New("the cloud did not begin in time")}
	case a.lost == nil: // it may be there, and far away
		return unfit{fmt.Errorf("the cloud did not answer within %v (--wait)", a.patience.Join)}
	case errors.As(a.lost, &differ):
		return unfit{a.lost}
	}
	return fmt.Errorf("%w: %w", ErrNoCloud, a.lost)
}

// unfit is the error for a cloud that is there but cannot take part, so it does not say that none is.
type unfit struct{ error }

func (e unfit) Unwrap() []error { return []error{ErrNoCloud, e.error} }

// measure passes the round-trip time to the machine.
func (a *deviceSession) measure() {
	if a.link == nil {
		return
	}
	rtt := a.conn.RTT()
	if rtt > 0 {
		a.profile.RTT = rtt
	}
	a.record.rtt(rtt)
	a.step(pair.Measured{RTT: rtt})
}

// hearEcho counts echoes on the link as signs of life.
func (a *deviceSession) hearEcho() {
	if a.conn != nil && a.presence != nil {
		if age := time.Since(a.conn.LastHeard()); age < a.patience.Silent/2 {
			a.stepPresenceAt(time.Since(a.start)-age, presence.Heard)
		}
	}
}

// dial connects, asks the question and listens until the exchange ends. It runs on its own goroutine. spare is the number of
// the seek, 0 for the replica to use.
func (a *deviceSession) dial(spare int, except ...string) {
	ctx, cancel := context.WithTimeout(a.ctx, openWithin)
	defer cancel()
	up, err := a.cloud.open(ctx, except...)
	if err != nil {
		a.post(unlinked{spare: spare, err: err})
		return
	}
	defer up.link.Close()
	up.spare = spare
	a.post(up)
	for {
		m, err := a.hear(up.link)
		switch {
		case err != nil:
			a.post(unlinked{link: up.link, spare: spare, err: err})
			return
		case m != nil:
			a.post(received{up.link, together(a.ctx, up.link, m)})
		}
	}
}

// hear returns the cloud's next message, or nil after a while of silence. The cloud may be waiting for this side, since a
// phone can read for minutes. So before it returns nil, hear sends a Sync of an epoch that is over: it changes nothing,
// and shows that the device is there.
func (a *deviceSession) hear(link exchange) (transport.Message, error) {
	ctx, cancel := context.WithTimeout(a.ctx, beat)
	defer cancel()
	m, err := link.Receive(ctx)
	if errors.Is(err, context.DeadlineExceeded) && a.ctx.Err() == nil {
		return nil, link.Send(transport.Sync{})
	}
	return m, err
}

// together returns a message with those that have arrived behind it.
func together(ctx context.Context, link exchange, m transport.Message) []transport.Message {
	all := []transport.Message{m}
	for link.More() && len(all) < inboxSize {
		m, err := link.Receive(ctx)
		if err != nil {
			break // the next Receive says so again
		}
		all = append(all, m)
	}
	return all
}

// post puts something into the inbox, unless the answer is over.
func (a *deviceSession) post(what any) {
	select {
	case a.inbox <- what:
	case <-a.ctx.Done():
	}
}

// unlink handles the end of a link or a failed dial.
func (a *deviceSession) unlink(u unlinked) {
	switch {
	case a.done:
		return
	case u.link == nil && u.spare != 0 && !a.awaits(u.spare):
		return // it was given up
	case u.link == nil && u.spare != 0, u.link != nil && u.link == a.other.link:
		a.log.Info("another replica cannot take the question", "error", u.err)
		a.loseOther()
		return
	case u.link != a.link:
		return
	}
	if u.link != nil {
		a.cloud.note(a.at, replicas.Lost, 0)
		a.lookAround()
	}
	a.link, a.lost = nil, u.err
	var differ *transport.MismatchError
	var stranger *transport.NotPairedError
	switch {
	case errors.As(u.err, &differ):
		a.leave(presence.Mismatch, differ.Error())
	case errors.As(u.err, &stranger):
		a.leave(presence.Mismatch, fmt.Sprintf("the cloud refuses this device: %v (\"cloud pair\" there, then \"edge pair CODE\" here)", stranger))
	case u.link == nil:
		a.log.Info("cannot reach the cloud", "error", u.err)
		a.stepPresence(presence.Failed)
	default:
		a.log.Info("lost the cloud", "error", u.err)
		a.stepPresence(presence.Broken)
	}
}

// send queues m for flush: the drafts of one pass share a datagram.
func (a *deviceSession) send(m transport.Message) { a.outbox = append(a.outbox, m) }

// flush sends what is queued. If a link fails, its listener reports that.
func (a *deviceSession) flush() {
	out := a.outbox
	if a.outbox = nil; a.link == nil || len(out) == 0 {
		return
	}
	if err := a.link.Send(out...); err != nil {
		a.log.Debug("send", "error", err)
	}
}

func (a *deviceSession) fail(err error) {
	if a.failure == nil {
		a.failure = err
	}
	a.done = true
}

// remark adds a line for the person who asked.
func (a *deviceSession) remark(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	a.log.Info(line)
	a.answer.Remarks = append(a.answer.Remarks, line)
}

// finish ends the exchange and completes the answer.
func (a *deviceSession) finish() Answer {
	a.answer.Took = time.Since(a.start)
	a.answer.Pair = a.machine.Stats()
	a.past.learn(a.machine)
	a.profile.settle()
	learned := a.machine.Learned()
	if costs := learned.Costs(4); len(costs) == 4 {
		a.profile.FourRows = costs[3] / costs[0]
	}
	a.answer.Text = textOf(a.answer.Tokens, a.text)
	if a.answer.Reason == pair.ReasonStop && min(a.asked, a.room) > 0 && abridged(a.answer.Tokens, a.asked, a.room) {
		a.answer.Reason = pair.ReasonLength
	}
	a.record.end(a.answer)
	if a.link != nil {
		a.send(transport.End{Reason: a.answer.Reason.String()})
		a.flush()
		if a.lastWords(); !a.cited && !a.alone && a.failure == nil && a.answer.Pair.Together > 0 {
			a.remark("the cloud was lost at the end of the answer, before it said where its part is from")
		}
		a.link.Close()
	}
	a.dropOther("the answer is complete")
	a.answer.Link = a.usage()
	a.answer.Degraded = a.paired && a.answer.Pair.Alone > 0
	a.answer.Parts = cite(a.answer.Tokens, a.parts[tandem.Device], a.parts[tandem.Cloud])
	if slices.ContainsFunc(a.answer.Parts, func(p Part) bool { return p.Overruled && len(p.Otherwise) == 0 }) {
		a.remark("the cloud's answer contradicts what your own documents seem to say; --local-only shows their answer")
	}
	a.stop()
	return a.answer
}

// textOf returns the text of all tokens, which s has spelled. The bytes of an unfinished character at its end become the last
// token's.
func textOf(tokens []Token, s speller) string {
	if tail := s.Flush(); tail != "" && len(tokens) > 0 {
		tokens[len(tokens)-1].Text += tail
	}
	var text strings.Builder
	for _, t := range tokens {
		text.WriteString(t.Text)
	}
	return strings.TrimSpace(text.String())
}

// sources records which documents the cloud used.
func (a *deviceSession) sources(m transport.Sources) {
	a.answer.Documents[tandem.Cloud], a.parts[tandem.Cloud], a.cited = sourcesOf(m.Sources), partsOf(m), true
}

// lastWords waits for the cloud's list of the documents that it used.
func (a *deviceSession) lastWords() {
	timeout := time.NewTimer(max(lastWords, 4*a.conn.RTT()))
	defer timeout.Stop()
	for {
		select {
		case <-timeout.C:
			return
		case <-a.ctx.Done():
			return
		case in := <-a.inbox:
			switch in := in.(type) {
			case received:
				for _, m := range in.messages {
					if m, ok := m.(transport.Sources); ok && in.link == a.link {
						a.sources(m)
						return
					}
				}
			case unlinked:
				if in.link == a.link {
					return
				}
			}
		}
	}
}
