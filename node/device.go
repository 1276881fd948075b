package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"tandem"
	"tandem/pair"
)

// Device answers questions from its own documents and, if Cloud is set, together with a cloud. It may answer several
// questions at once, which share the connection. Its fields must not change meanwhile.
type Device struct {
	Local     Local
	Cloud     *RemoteCloud // the cloud; nil for none: then no socket is ever opened
	Patience  Patience
	RetryWait time.Duration // takes the place of Patience.Join for a minute after the cloud was missing; 0 for no change
	Require   bool          // fail instead of answering without the cloud
	Private   bool          // send the cloud no draft, whatever the settings of a question say (Settings.MakePrivate)
	Terms     Terms         // looked up before each answer; nil for none but Private
	Mute      bool          // read and decode nothing here: the answer is the cloud's alone
	Profile   Profile       // what is known about delays; each answer updates it
	Missed    time.Time     // when the cloud was found missing, or zero; each answer updates it
	Log       *slog.Logger

	mu sync.Mutex // guards Profile and Missed
}

// Terms say on what terms the cloud takes part in an answer that begins now: whether that is private, as with Device.Private.
// The cloud takes no part if there is an error, which says why.
type Terms func() (private bool, err error)

// Token is one token of an answer, as it is shown.
type Token struct {
	ID    tandem.Token
	Text  string // the text that it completes: empty in the middle of a character
	By    tandem.By
	Alone bool          // decided without the cloud
	Own   float64       // probability that the device's own documents give it, 0 to 1
	At    time.Duration // since the question
}

// Answer is a whole answer and how it was made.
type Answer struct {
	Text      string
	Tokens    []Token
	Reason    pair.Reason
	Documents [2][]Source // by side; the cloud's titles only if its operator shows them
	Parts     []Part      // the sentences, each with its sources
	Read      [2]int      // how many passages each side used
	Remarks   []string    // for people: the cloud was missing, came back, refused
	Degraded  bool        // a cloud was to take part, and the device decided tokens without it
	Pair      pair.Stats
	Waited    int              // place in the queue of a cloud that was busy, from 1; 0 if it was not
	Moves     int              // how often it went on with another replica of the cloud
	Placement tandem.Placement // of the aggregation
	Coupling  tandem.Coupling  // by which the sides agreed
	MaxTokens int              // most tokens: those asked for, or the cloud's limit if that is lower
	Lookahead int              // most drafts beyond the last agreed token
	Prefill   [2]time.Duration // retrieval and prefill, by side
	Took      time.Duration    // the whole answer
	Traffic   Traffic
}

// ErrNoCloud is wrapped by the error of an answer that needed the cloud and lost it.
var ErrNoCloud = errors.New("the cloud is not available")

// ErrDistrusted is wrapped together with ErrNoCloud if the cloud was left out because of what it sent.
var ErrDistrusted = errors.New("it keeps contradicting what was agreed")

// Ask answers q. It passes each agreed token to emit once, in order, on one goroutine. If ctx ends or a required cloud is
// lost, it returns the answer so far with the error.
func (d *Device) Ask(ctx context.Context, q Question, s tandem.Settings, emit func(Token)) (Answer, error) {
	return d.AskRecorded(ctx, q, s, emit, nil)
}

// AskRecorded is Ask, and passes what happens to record, in order, on one goroutine. record may be nil.
func (d *Device) AskRecorded(ctx context.Context, q Question, s tandem.Settings, emit func(Token), record func(Line)) (answer Answer, err error) {
	defer func() { logFault(d.log().With("answer", q.ID), err) }()
	q = q.composed()
	private, refusal := d.terms()
	local, s, err := d.prepare(q, s, private, record != nil)
	if err != nil {
		return Answer{}, err
	}
	a := d.newAnswer(ctx, local, q, s, emit, record)
	if s.Form != "" && s.Grounded {
		a.remark("the answer has a form that was asked for, so its words are not limited to those of the documents")
	}
	defer a.stop()
	defer func() { d.learn(a.measured, a.contact) }()
	if refusal != nil {
		a.cloudErr = refusal
		if a.require || s.Want != tandem.WantDrafts {
			return Answer{}, a.noCloudError()
		}
		a.remark("%v: the device answers alone", refusal)
	}
	if s.Want != tandem.WantDrafts {
		return d.baseline(a, q, s)
	}
	return d.draft(ctx, a, local, q, s)
}

// terms returns whether an answer that begins now is private, and why the cloud may take no part in it.
func (d *Device) terms() (private bool, refusal error) {
	if d.Cloud == nil || d.Terms == nil {
		return d.Private, nil
	}
	private, refusal = d.Terms()
	return private || d.Private, refusal
}

// IsPrivate reports whether an answer that begins now is private.
func (d *Device) IsPrivate() bool {
	private, _ := d.terms()
	return private
}

// draft answers with drafts of this side and, if there is a cloud that may take part, of that.
func (d *Device) draft(ctx context.Context, a *deviceAnswer, local Local, q Question, s tandem.Settings) (Answer, error) {
	if d.Cloud != nil && a.cloudErr == nil {
		a.reach(d.patience(), cloudQuestion{d.Cloud, beginOf(q, s)})
	}
	if d.Mute {
		err := a.run(newMuted(d.Local.Model.Tokenizer()))
		return a.finish(), err
	}
	own, err := local.read(ctx, q, s)
	if err != nil {
		return Answer{}, err
	}
	defer own.Close()
	a.answer.Prefill[tandem.Device] = own.took
	for _, title := range own.Prefill().Truncated {
		a.remark("%s", local.shortened(title))
	}
	if local.Reader != nil && q.conversation().Undivided() {
		a.remark("only one of two things may have been answered: ask for each by itself")
	}
	a.answer.Read[tandem.Device] = len(own.passages)
	err = a.run(own)
	if err := own.Finish(a.line, a.machine.Answer()); err != nil {
		a.log.Debug("cite the end of the answer", "error", err)
	}
	a.answer.Documents[tandem.Device], a.parts[tandem.Device] = own.sources(), own.parts()
	if err == nil {
		if err := local.remember(a.machine.Answer()); err != nil {
			a.remark("the answer is not kept for drafts: %v", err)
		}
	}
	return a.finish(), err
}

// prepare checks a question, makes its settings private if the answer is to be, and chooses what they leave open.
func (d *Device) prepare(q Question, s tandem.Settings, private, recorded bool) (Local, tandem.Settings, error) {
	if err := checkSettings(s); err != nil {
		return Local{}, s, err
	}
	if len(q.Text) > MaxQuestion {
		return Local{}, s, fmt.Errorf("the question has %d bytes: want at most %d", len(q.Text), MaxQuestion)
	}
	if private {
		if s.Want != tandem.WantDrafts {
			return Local{}, s, errors.New("the device is private with this cloud: it answers only with drafts of the cloud")
		}
		s.MakePrivate()
	}
	if recorded {
		s.PassPlaces = 1 // a recording has a pass for every draft
	}
	local, err := d.Local.withDrafters(q)
	if err != nil {
		return Local{}, s, err
	}
	if s.Lookahead == 0 {
		s.Lookahead = d.currentProfile().lookahead(local.tokensPerPass(s))
	}
	if q.ChooseCoupling && s.Coupling != tandem.CouplingSpeculative {
		s.Coupling = d.currentProfile().coupling()
	}
	return local, s, nil
}

// shortened is the remark about a passage that did not fit.
func (l Local) shortened(title string) string {
	what := "a passage"
	if !l.HideTitles {
		what = strconv.Quote(title)
	}
	return what + " was shortened to fit into the model's context"
}

// newAnswer prepares to answer.
func (d *Device) newAnswer(ctx context.Context, local Local, q Question, s tandem.Settings, emit func(Token), record func(Line)) *deviceAnswer {
	a := newDeviceAnswer(ctx, local.pairConfig(s, tandem.Device), local.Model.Tokenizer().Stream(), emit)
	if a.wantsCloud = d.Cloud != nil; local.Reader != nil {
		a.questionParts = len(q.conversation().Clauses())
	}
	a.answer.MaxTokens = s.MaxTokens
	a.answer.Lookahead, a.answer.Placement, a.answer.Coupling, a.past = s.Lookahead, s.Placement, s.Coupling, d.Local.Past
	if record != nil {
		a.record = &recorder{to: record, start: a.start}
		a.record.begin(s, d.Local.Model.Config().Name, d.Local.adapter())
	}
	a.log, a.require = d.log().With("answer", q.ID), d.Require
	return a
}

// learn keeps what an answer has shown about delays, and whether it found the cloud.
func (d *Device) learn(m measurements, f contact) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Profile.learn(m)
	switch {
	case f == contactMade:
		d.Missed = time.Time{}
	case f == contactFailed && !d.missing():
		d.Missed = time.Now()
	}
}

// missing reports whether the cloud was found missing within the last minute. The caller holds mu.
func (d *Device) missing() bool {
	ago := time.Since(d.Missed)
	return ago >= 0 && ago < rememberMissing
}

const rememberMissing = time.Minute

// DefaultRetryWait is long enough to reach most clouds, and too short to keep a person waiting.
const DefaultRetryWait = 300 * time.Millisecond

// currentProfile returns the profile with the round-trip time of the kept connection, if there is one.
func (d *Device) currentProfile() Profile {
	d.mu.Lock()
	p := d.Profile
	d.mu.Unlock()
	if d.Cloud != nil {
		if rtt := d.Cloud.rtt(); rtt > 0 {
			p.RTT = rtt
		}
	}
	return p
}

// Close ends the connections that are kept between answers.
func (d *Device) Close() error {
	if d.Cloud != nil {
		return d.Cloud.Close()
	}
	return nil
}

func (d *Device) log() *slog.Logger {
	if d.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return d.Log
}

func (d *Device) patience() Patience {
	p := d.Patience
	if p == (Patience{}) {
		p = DefaultPatience
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.RetryWait > 0 && !d.Require && d.missing() {
		p.Join = min(p.Join, max(d.RetryWait, 4*d.Profile.RTT))
	}
	return p
}
