package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"tandem"
	"tandem/api"
	"tandem/api/page"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/server"
	"tandem/decoder"
	"tandem/node"
	"tandem/node/batch"
	"tandem/specdec"
	"tandem/transport"
)

type serveCmd struct {
	HTTP  string        `name:"http" help:"Address to listen on. Default: ${default}." default:"127.0.0.1:7470" placeholder:"HOST:PORT"`
	Drain time.Duration `help:"How long answers may continue after Ctrl-C, SIGTERM or SIGHUP, while new questions are refused." default:"1s"`
	server.Flags
	answerFlags
}

func (c *serveCmd) Help() string {
	return `Examples:
  edge serve
  edge serve --sample
  edge serve --http 0.0.0.0:7470 --api-key ~/.config/tandem/edge/api-key
  curl -s http://127.0.0.1:7470/v1/chat/completions -d '{"messages":[{"role":"user","content":"When does the harbour museum open?"}]}'

Questions are answered as by edge ask. Programs may use OpenAI's API (/v1/chat/completions, /v1/completions, /v1/responses, /v1/models), Anthropic's (/v1/messages), Ollama's (/api/chat, /api/generate, /api/tags) or llama.cpp's (/tokenize, /detokenize, /props). What these APIs have no fields for, such as the sentences that support the answer, is in the field "tandem". docs/api.md describes everything.`
}

func (c *serveCmd) Run(a *cli.App) (err error) {
	if c.Drain < 0 {
		return fmt.Errorf("--drain %v: want 0s or more", c.Drain)
	}
	s, err := newServing(a, c.answerFlags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	cfg := s.config()
	cfg.Page = page.Handler()
	done, err := c.OpenEncoder(a, c.ModelFlags, &cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := c.Configure(a, c.HTTP, &cfg); err != nil {
		return err
	}
	l, err := server.Listen("--http", c.HTTP)
	if err != nil {
		return err
	}
	s.announce(a, l.Addr())
	defer a.Register(cli.Process{Command: "serve", Model: s.model().Name, Documents: s.now.answersFrom(), Address: l.Addr().String()})()
	return server.Run(a, l, api.New(cfg).Handler(), func() time.Duration {
		a.MarkDraining()
		return c.Drain
	})
}

// announce says where the server listens and what it answers from.
func (s *serving) announce(a *cli.App, at net.Addr) {
	sides := s.Sides()
	if a.Globals.JSON {
		a.JSON(map[string]any{"listening": at.String(), "model": s.model().Name, "device": sides.Device, "clouds": sides.Clouds})
		return
	}
	from := cli.Count(sides.Device.Documents, "document")
	if sides.Device.Sample {
		from = "the sample documents"
	}
	with := "alone"
	for _, c := range sides.Clouds {
		if c.InUse {
			with = "with " + cli.Escape(c.Name)
		}
	}
	fmt.Fprintf(a.Out, "Answering from %s, %s, on %s\nOpen that address in a browser, or give it to a program that uses the API of OpenAI, Anthropic, Ollama or llama.cpp.\n", from, with, server.URL(at))
}

// serving answers the questions of an API. When the first documents arrive, it leaves the samples.
type serving struct {
	app     *cli.App
	flags   answerFlags
	metrics *server.Metrics

	denoising chan struct{} // holds one place

	changes sync.Mutex // held while documents or the cloud change, so that requests wait for each other and not for nothing
	warned  string     // what was said last of a cloud that cannot be asked; guarded by changes

	mu  sync.Mutex // guards the fields below; held for moments only
	now *servedSession
	rtt time.Duration

	past sync.WaitGroup // sessions that end with their last answer
}

// servedSession is a session that serves, with the devices for its emulated paths. Answers keep it open.
type servedSession struct {
	*session
	users sync.WaitGroup
	saved sync.Once // what its answers measured

	mu      sync.Mutex // guards the fields below
	devices map[networkPath]*networkDevice
	order   []networkPath  // the oldest first
	leaving sync.WaitGroup // devices that are given up
}

func newServedSession(s *session) *servedSession {
	return &servedSession{session: s, devices: map[networkPath]*networkDevice{}}
}

// networkPath is how a question reaches the cloud: over an emulated network, the real one, or not at all.
type networkPath struct {
	rtt   time.Duration
	loss  float64
	alone bool // no cloud is asked
}

// networkDevice is a device that reaches the cloud over an emulated network of its own.
type networkDevice struct {
	node.Device
	network network
}

// Close ends the connections, then their network.
func (d *networkDevice) Close() error { return errors.Join(d.Device.Close(), d.network.Close()) }

// maxPaths bounds the devices that are kept for emulated paths.
const maxPaths = 8

func newServing(a *cli.App, f answerFlags) (*serving, error) {
	s := &serving{app: a, flags: f, denoising: make(chan struct{}, 1)}
	s.metrics = server.NewMetrics()
	s.flags.Verify = true
	next, err := s.open()
	if err != nil {
		return nil, err
	}
	s.flags.Verify = false // not again when documents change
	s.replace(next)
	if err := (&library{s}).adopt(a); err != nil {
		a.Remark("files that were uploaded to an earlier server are not indexed: %v", err)
	}
	return s, nil
}

// open opens a session to serve.
func (s *serving) open() (*session, error) {
	next, err := openSession(s.app, s.flags)
	switch {
	case err != nil:
		return nil, err
	case next.settings.Want != tandem.WantDrafts:
		return nil, errors.Join(errors.New("only the pair's own method can be served"), next.Close())
	}
	if next.writesAlone() {
		next.device.Local.Passes = batch.New(next.model, batch.Config{}).NewPasses("", batch.EqualShare)
		next.device.Local.Shared = decoder.NewShared(sharedBytes)
	}
	return next, nil
}

// replace makes later questions be answered by another session. The one before is closed after its last answer.
func (s *serving) replace(next *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.now
	s.now = newServedSession(next)
	if old == nil {
		return
	}
	s.past.Go(func() {
		if err := old.Close(); err != nil {
			s.app.Log.Warn("cannot close the session that served before", "error", err)
		}
	})
}

// current returns the session that serves now. It stays open until leave is called.
func (s *serving) current() (now *servedSession, leave func()) {
	s.follow()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.users.Add(1)
	return s.now, s.now.users.Done
}

// disconnect leaves the cloud after the last answer. What was measured is saved the first time: later, it would replace what the next
// session saved.
func (s *servedSession) disconnect() error {
	s.users.Wait()
	s.saved.Do(s.saveMeasurements)
	errs := []error{s.device.Close(), s.network.Close()}
	for _, d := range s.devices {
		errs = append(errs, d.Close())
	}
	s.leaving.Wait()
	return errors.Join(errs...)
}

// Close closes the session after its last answer.
func (s *servedSession) Close() error {
	return errors.Join(s.disconnect(), s.session.Close())
}

// follow makes later questions go to the cloud that is paired now, if the session asks another one or none. Answers under way keep
// theirs.
func (s *serving) follow() {
	if !s.changes.TryLock() {
		return // the next question sees it
	}
	defer s.changes.Unlock()
	old := s.now
	next, err := old.following()
	if err != nil && err.Error() != s.warned { // not at each question
		s.warned = err.Error()
		s.app.Log.Warn("questions go where they went before", "error", err)
	}
	if next == nil {
		return
	}
	next.closers = slices.Insert(next.closers, 0, old.Close)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.rtt = newServedSession(next), 0
	s.past.Go(func() { old.disconnect() }) // an error comes again when it is closed
}

// sharedBytes bounds the KV caches of passages that answers at the same time share.
const sharedBytes = 128 << 20

// writesAlone reports whether the device's own model decodes the answers and no cloud takes part. Several answers then share
// their passes and the KV of their passages. At a phone's simulated pace each has its own passes.
func (s *session) writesAlone() bool {
	return s.reader == nil && s.device.Cloud == nil && s.flags.SoC == "" && !s.model.Config().Diffusion
}

// Close closes the session after its last answer. Nothing may be asked from then on.
func (s *serving) Close() error {
	s.past.Wait()
	return s.now.Close()
}

// config describes the server.
func (s *serving) config() api.Config {
	ss, leave := s.current()
	defer leave()
	return api.Config{
		Answers: s, Library: &library{s}, Model: s.model(), Tokens: ss.model.Tokenizer(), Defaults: ss.settings,
		Pointing: ss.reader != nil, Files: true, Words: true, Denoises: ss.denoises(), Metrics: s.metrics, Requests: s.metrics.ObserveRequest,
		CanDraft: func(set specdec.Set) error {
			now, leave := s.current()
			defer leave()
			return now.device.Local.CanDraft(set)
		},
		Private: func() bool {
			now, leave := s.current()
			defer leave()
			return now.device.IsPrivate()
		},
		Together: func() bool {
			now, leave := s.current()
			defer leave()
			return now.writesAlone()
		},
		Greeting: s.greeting,
	}
}

// greeting returns the reply to a question that no document can answer.
func (s *serving) greeting(question string) (reply string, ok bool) {
	if !greets(question) {
		return "", false
	}
	ss, leave := s.current()
	defer leave()
	return ss.replyTo(question), true
}

func (s *serving) model() api.ModelInfo {
	ss, leave := s.current()
	defer leave()
	return server.ModelInfo(ss.model, ss.reader, s.flags.Model)
}

// Answer implements api.Answerer.
func (s *serving) Answer(ctx context.Context, q api.Query, emit func(node.Token), record func(node.Line)) (node.Answer, error) {
	ss, leave := s.current()
	defer leave()
	d, err := ss.on(networkPath{q.RTT, q.Loss, q.LocalOnly})
	if err != nil {
		return node.Answer{}, err
	}
	answer, err := s.answer(ctx, ss.session, d, q, emit, record)
	answer.Remarks = append(answer.Remarks, ss.stale(answer)...)
	s.metrics.Observe(node.Served{Pair: answer.Pair, Took: answer.Took, Error: api.Failure(ctx, err)})
	lost := answer.Degraded || errors.Is(err, node.ErrNoCloud)
	if q.RTT == 0 && (lost || err == nil && answer.Traffic.RTT > 0) {
		s.mu.Lock()
		if s.rtt = answer.Traffic.RTT; lost {
			s.rtt = 0
		}
		s.mu.Unlock()
	}
	return answer, err
}

// answer answers with a device. A diffusion model that answers alone denoises one answer at a time, since each fills the
// processor.
func (s *serving) answer(ctx context.Context, ss *session, d *node.Device, q api.Query, emit func(node.Token), record func(node.Line)) (node.Answer, error) {
	if !ss.denoises() && !(ss.model.Config().Diffusion && q.LocalOnly) {
		q.ChooseCoupling = ss.flags.choosesCoupling()
		return d.AskRecorded(ctx, q.Question, q.Settings, emit, record)
	}
	select {
	case s.denoising <- struct{}{}:
	case <-ctx.Done():
		return node.Answer{}, ctx.Err()
	}
	defer func() { <-s.denoising }()
	return ss.denoise(ctx, q.Question, q.Settings, emit)
}

// on returns the device that asks the cloud over a path.
func (s *servedSession) on(p networkPath) (*node.Device, error) {
	own := s.device
	if p == (networkPath{}) || own.Cloud == nil {
		return own, nil
	}
	if p.alone && own.Require {
		return nil, &api.Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Param: "tandem.local_only",
			Message: "tandem.local_only: this server does not answer without its cloud: leave it out"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.devices[p]
	if d == nil {
		d = s.newDeviceOn(p)
		s.devices[p], s.order = d, append(s.order, p)
		s.giveUpOldest()
	}
	return &d.Device, nil
}

// newDeviceOn returns another device like the session's own, which asks the cloud over a path.
func (s *servedSession) newDeviceOn(p networkPath) *networkDevice {
	own := s.device
	d := &networkDevice{Device: node.Device{
		Local:     own.Local,
		Patience:  patienceOver(own.Patience, p.rtt),
		RetryWait: plusTrips(own.RetryWait, p.rtt),
		Mute:      own.Mute,
		Require:   own.Require,
		Private:   own.Private,
		Terms:     own.Terms,
		Log:       own.Log,
	}}
	if !p.alone {
		d.network.rtt, d.network.loss = p.rtt, p.loss
		d.Cloud = s.cloud.over(&d.network)
	}
	return d
}

// giveUpOldest closes the oldest device if there are too many. An answer on it continues alone. The caller holds mu.
func (s *servedSession) giveUpOldest() {
	if len(s.order) <= maxPaths {
		return
	}
	oldest := s.order[0]
	left := s.devices[oldest]
	delete(s.devices, oldest)
	s.order = s.order[1:]
	s.leaving.Go(func() { left.Close() })
}

// Sides implements api.Answerer.
func (s *serving) Sides() api.Sides {
	ss, leave := s.current()
	defer leave()
	out := api.Sides{Device: api.SideInfo{Name: cli.HostName("device"), Sample: ss.own.sample, InUse: s.flags.Side != "cloud"}, Clouds: []api.SideInfo{}}
	if list, err := ss.documents(); err == nil {
		out.Device.Documents = len(list)
	}
	for _, p := range s.peers() {
		c := api.SideInfo{Name: p.Name, ID: p.ID.Short(), Addresses: p.Addresses(), InUse: p.ID == ss.cloud.peer && ss.device.Cloud != nil}
		if !c.InUse {
			out.Clouds = append(out.Clouds, c)
			continue
		}
		if c.RTT = s.lastRTT(); c.RTT > 0 {
			c.Reached = ss.lastReached()
		}
		out.Clouds = slices.Insert(out.Clouds, 0, c) // it leads
	}
	if ss.device.Cloud != nil && !ss.cloud.paired() {
		out.Clouds = slices.Insert(out.Clouds, 0, api.SideInfo{Name: ss.cloud.name, Sample: ss.cloud.invented, InUse: true, RTT: s.lastRTT()})
	}
	return out
}

// lastRTT returns the round-trip time of the last answer with a cloud, 0 if the cloud was lost since.
func (s *serving) lastRTT() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tandem.Milliseconds(s.rtt)
}

// peers returns the paired clouds.
func (s *serving) peers() []transport.Peer {
	dirs, err := s.app.Dirs()
	if err != nil {
		return nil
	}
	list, err := transport.OpenPeers(dirs.Peers()).List()
	if err != nil {
		s.app.Log.Warn("the paired clouds cannot be listed", "error", err)
	}
	slices.SortStableFunc(list, func(a, b transport.Peer) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
