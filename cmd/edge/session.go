package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder/kvstore"
	"tandem/dllm"
	"tandem/examples"
	"tandem/model"
	"tandem/model/span"
	"tandem/netem"
	"tandem/node"
	"tandem/npu/phone"
	"tandem/retrieval/search"
	"tandem/transport"
)

// session is a device that is ready to answer, with everything that was opened for it.
type session struct {
	app      *cli.App
	model    *model.Model
	phone    *phone.Device // what computes the model
	reader   *span.Reader  // answers with words of the documents; nil if the model writes the answers
	device   *node.Device
	cloud    string        // name of the cloud, for messages; empty without one
	sample   bool          // the device answers from the sample documents
	invented bool          // the cloud in this process does
	docs     *search.Index // of the device; nil for none
	empty    bool          // everything was removed from the device's index
	closers  []func() error
	settings tandem.Settings
	sessions *transport.Sessions // tickets kept on disk; nil for the sample cloud
	flags    answerFlags
	peer     transport.ID      // the paired cloud in use; zero for none
	profile  cli.DecodeProfile // the model's decoding delays
	profiled bool              // profile was loaded from disk
	recalled time.Duration     // round-trip time loaded from disk
	missed   time.Time         // when the cloud was found missing; zero if it was there the last time
	cost     costJSON          // of the last answer
	method   dllm.Method       // of a diffusion model
	mu       sync.Mutex        // guards costs and measured
	costs    []float64         // of its passes, if measured
	measured bool

	through func(answerFlags, *relays) *node.RemoteCloud // the cloud over the path of the flags; nil without a cloud
	relays  relays                                       // of device

	recording func(node.Line) // receives what happens in an answer; nil for nobody
}

// open prepares to answer as the flags say.
func (f answerFlags) open(a *cli.App) (s *session, err error) {
	if f.show.Quiet {
		a.Hush()
	}
	if f.Method == "crcg" && f.Side == "both" {
		f.Side = "device" // the baseline has one side only
	}
	s = &session{app: a, flags: f}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := f.openModels(a, s); err != nil {
		return s, err
	}
	adapter, err := f.MountAdapter(a, s.model)
	if err != nil {
		return s, err
	}
	kv := f.OpenKV(a, s.reader)
	if kv != nil {
		s.closers = append(s.closers, kv.Close)
	}
	var done func() error
	if f.Rerank, done, err = f.OpenScorer(a, f.ModelFlags); err != nil {
		return s, err
	}
	s.closers = append(s.closers, done)
	own, err := f.documents(a, s)
	if err != nil {
		return s, err
	}
	s.device = f.newDevice(a, s, own, kv)
	s.device.Local.Adapter = adapter
	if err := s.guess(f.guessFlags); err != nil {
		return s, err
	}
	if s.sample {
		s.device.Local.Mark = cli.SampleMark
	}
	if err := f.pairUp(a, s, kv); err != nil {
		return s, err
	}
	if err := s.checkEmpty(); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.relays.Close, s.device.Close)
	s.loadMeasurements()
	return s, nil
}

// pairUp prepares to reach the cloud, unless the flags keep the device alone.
func (f answerFlags) pairUp(a *cli.App, s *session, kv *kvstore.Store) error {
	if f.fetches() && !s.sample {
		return fmt.Errorf("--method %s: it sends documents, so it runs on the sample documents only; leave out --notes, or use another method", f.Method)
	}
	if !f.LocalOnly && f.Side != "device" {
		if err := f.reach(a, s, kv); err != nil {
			return err
		}
	}
	if f.RequireCloud && s.device.Cloud == nil {
		return errors.New("--require-cloud: no cloud is paired (cloud pair there, then: edge pair CODE)")
	}
	return nil
}

// openModels opens the span reader and the model, and settles what depends on them.
func (f *answerFlags) openModels(a *cli.App, s *session) (err error) {
	if what := f.decodes(); what != "" {
		if f.By == "span" {
			return fmt.Errorf("--reader span: it points at words, and %s is for what decodes: leave one of them out", what)
		}
		if f.SoC != "" && f.Model == "" && f.By != "decoder" {
			a.Remark("--soc: the built-in decoder answers, not the reader; its answers from your own notes are poor")
		}
		f.By = "decoder"
	}
	if s.reader, err = f.OpenSpan(f.ModelFlags); err != nil {
		return err
	}
	switch {
	case s.reader != nil:
		f.Documents = cmp.Or(f.Documents, cli.SpanDocuments)
		f.Related = s.reader.Related
	case f.Model == "":
		f.PassageFlags = f.PassageFlags.BySentence()
	}
	f.Documents = cmp.Or(f.Documents, cli.DecoderDocuments)
	if s.settings, err = f.settings(); err != nil {
		return err
	}
	f.Chip, f.ModelFlags.Switching = f.SoC, f.phoneFlags.Switching
	if s.model, s.phone, err = f.OpenWithDevice(a); err != nil {
		return err
	}
	s.closers = append(s.closers, s.model.Close)
	if !s.model.Config().Diffusion {
		return f.unused(s.model.Config().Arch)
	}
	if err = f.checkDiffusion(s.model); err == nil {
		s.method, err = f.technique()
	}
	return err
}

// newDevice makes the node.
func (f answerFlags) newDevice(a *cli.App, s *session, own node.Searcher, kv *kvstore.Store) *node.Device {
	d := &node.Device{
		Local:     cli.NewLocal(s.model, s.reader, own, kv),
		Patience:  node.DefaultPatience,
		RetryWait: node.DefaultRetryWait,
		Mute:      f.Side == "cloud",
		Require:   f.Side == "cloud" || f.RequireCloud,
		Private:   f.Private,
		Log:       a.Log,
	}
	if d.Require {
		d.Patience.Busy = time.Minute
	}
	if f.Wait != nil {
		d.Patience.Join, d.Patience.Busy, d.RetryWait = *f.Wait, *f.Wait, 0
	}
	d.Patience = over(d.Patience, f.RTT)
	d.RetryWait = slower(d.RetryWait, f.RTT)
	return d
}

// joinTrips are the round trips until a cloud joins: for the keys, for the hellos, and for the question.
const joinTrips = 3

// over returns the patience with a cloud behind an emulated network. Its round trips are added, since otherwise no cloud could
// join over a slow one.
func over(p node.Patience, rtt time.Duration) node.Patience {
	p.Join += joinTrips * rtt
	p.Busy = slower(p.Busy, rtt)
	return p
}

// slower adds what over adds to a time, unless it is 0, which stands for none.
func slower(d, rtt time.Duration) time.Duration {
	if d > 0 {
		d += joinTrips * rtt
	}
	return d
}

// decodes returns a flag that asks for what only a decoder does: grouped contexts, KV caches that cross, the times of a phone's
// NPU, and adapters; "" for none.
func (f answerFlags) decodes() string {
	switch {
	case f.Method == "crcg" || f.Method == "drcg-kv":
		return "--method " + f.Method
	case f.Contexts > 0:
		return "--contexts"
	case f.SoC != "":
		return "--soc"
	case len(f.Lora) > 0:
		return "--lora"
	}
	return ""
}

// Close closes everything that the session opened, last first.
func (s *session) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// closing makes Close close c.
func (s *session) closing(c io.Closer) { s.closers = append(s.closers, c.Close) }

// documents opens the documents of the device: the folder of --notes, the index, or the samples. It returns nil if only
// the cloud answers.
func (f answerFlags) documents(a *cli.App, s *session) (node.Searcher, error) {
	if f.Side == "cloud" {
		return nil, nil
	}
	x, err := f.chooseDocuments(a, s)
	if err != nil {
		return nil, err
	}
	s.closing(x)
	s.docs = x
	return x, nil
}

func (f answerFlags) chooseDocuments(a *cli.App, s *session) (*search.Index, error) {
	if f.Notes != "" {
		s.sample = cli.SameFiles(f.Notes, examples.Notes, "notes")
		return a.IndexFolder(f.Notes, f.PassageFlags)
	}
	if !f.Sample {
		x, err := a.OpenOwnIndex(f.PassageFlags)
		if err != nil {
			return nil, err
		}
		if x != nil {
			s.empty, err = x.Empty()
			return x, err
		}
	}
	s.sample = true
	return cli.IndexSample(a, examples.Notes, f.PassageFlags)
}

// reach finds the cloud: the one that --cloud names, the one paired last, or the sample inside this process. A user with
// documents of their own and no cloud gets answers from these alone, not from the sample's invented town.
func (f answerFlags) reach(a *cli.App, s *session, kv *kvstore.Store) error {
	if f.Cloud == "sample" || f.Public != "" || f.Sample && f.Cloud == "" {
		return f.embed(a, s, kv)
	}
	peer, err := f.paired(a)
	if err != nil {
		return err
	}
	if peer != nil {
		return f.remote(a, s, *peer)
	}
	own := !s.sample
	if f.Side == "cloud" && f.Notes == "" { // then no documents are open here
		if own, err = a.HasIndex(); err != nil {
			return err
		}
	}
	switch {
	case !own:
		return f.embed(a, s, kv)
	case f.Side == "cloud":
		return errors.New("--side cloud: no cloud is paired; pair one (cloud pair there, then: edge pair CODE), or ask the sample cloud with --sample")
	}
	return nil
}

// checkEmpty says that the device's index is empty. It is an error if nobody else is asked.
func (s *session) checkEmpty() error {
	const add = "add documents with: edge index add FOLDER, or ask the samples with --sample"
	switch {
	case s.empty && s.device.Cloud == nil:
		return errors.New("nothing to answer from: everything was removed from your index, and no cloud is asked; " + add)
	case s.empty:
		s.app.Remark("Your index is empty: everything was removed from it; %s", add)
	}
	return nil
}

// paired returns the paired cloud to use, or nil for none.
func (f answerFlags) paired(a *cli.App) (*transport.Peer, error) {
	dirs, err := a.Dirs()
	if err != nil {
		return nil, fmt.Errorf("the paired clouds cannot be found: %w", err)
	}
	peers, err := transport.OpenPeers(dirs.Peers()).List()
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		if f.Cloud == "" || cli.IsPeer(p, f.Cloud) {
			if slices.Contains(p.Addresses(), f.Cloud) {
				p.Addrs, p.More = []string{f.Cloud}, nil // only there
			}
			return &p, nil
		}
	}
	if f.Cloud != "" {
		return nil, fmt.Errorf("%s is not a paired cloud: run \"cloud pair\" there, then \"edge pair CODE\" here", f.Cloud)
	}
	return nil, nil
}

// remote makes the device dial a paired cloud.
func (f answerFlags) remote(a *cli.App, s *session, peer transport.Peer) error {
	dirs, err := a.Dirs()
	if err != nil {
		return err
	}
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return err
	}
	if peer.Private {
		if !f.canBePrivate() {
			return fmt.Errorf("%s is a private cloud, and that sets --placement, --coupling and --method: leave them out (edge pair --open-for %s allows drafts again)", cli.Escape(peer.Name), peer.ID.Short())
		}
		s.device.Private = true
		s.settings.MakePrivate()
	}
	s.cloud, s.peer = peer.Name, peer.ID
	s.sessions = transport.OpenSessions(dirs.Sessions())
	s.through = func(f answerFlags, p *relays) *node.RemoteCloud { return f.service(s, p, id, peer) }
	s.device.Cloud = s.through(f, &s.relays)
	return nil
}

// service returns a paired cloud with all its replicas.
func (f answerFlags) service(s *session, p *relays, id transport.Identity, peer transport.Peer) *node.RemoteCloud {
	v := node.NewRemoteCloud(func(ctx context.Context, address string) (*transport.Conn, error) {
		return f.dial(ctx, s, p, id, peer.ID, address)
	}, binary.BigEndian.Uint64(id.ID[:]), peer.Addresses()...)
	v.Probe = func(ctx context.Context, address string) (time.Duration, error) {
		at, err := f.path(p, address)
		if err != nil {
			return 0, err
		}
		return transport.Probe(ctx, at)
	}
	if v.Only = slices.Equal(peer.Addrs, []string{f.Cloud}); !v.Only {
		v.Announced = func(addresses []string) { s.announced(peer.ID, addresses) }
	}
	return v
}

// announced keeps the addresses that a paired cloud names for its replicas.
func (s *session) announced(id transport.ID, addresses []string) {
	dirs, err := s.app.Dirs()
	if err != nil {
		return
	}
	_, err = transport.OpenPeers(dirs.Peers()).Update(id, func(p *transport.Peer) {
		if p.More = slices.DeleteFunc(addresses, func(a string) bool { return slices.Contains(p.Addrs, a) }); len(p.More) == 0 {
			p.More = nil
		}
	})
	if err != nil {
		s.app.Log.Info("cannot keep the addresses of the cloud's replicas", "error", err)
	}
}

// embed starts a cloud inside this process. The device reaches it over QUIC on the loopback interface, with the same
// handshake and the same messages as any other cloud.
func (f answerFlags) embed(a *cli.App, s *session, kv *kvstore.Store) error {
	docs, err := f.publicDocuments(a)
	if err != nil {
		return err
	}
	s.closing(docs)
	deviceID, err := transport.Ephemeral()
	if err != nil {
		return err
	}
	cloudID, err := transport.Ephemeral()
	if err != nil {
		return err
	}
	if f.fetches() && f.Public != "" {
		return fmt.Errorf("--method %s: it sends documents, so it runs on the sample documents only; leave out --public", f.Method)
	}
	m, err := f.cloudModel(a, s)
	if err != nil {
		return err
	}
	reader := cli.NewLocal(m, s.reader, docs, kv)
	if reader.Draft, err = f.drafts().Drafters(); err != nil {
		return err
	}
	if reader.Resources, err = f.drafts().Resources(a, m); err != nil {
		return err
	}
	s.cloud = "the cloud in this process"
	if s.invented = f.Public == "" || cli.SameFiles(f.Public, examples.Public, "public"); s.invented {
		reader.Mark = cli.SampleMark
	}
	listener, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: cloudID,
		Peers:    transport.NewPeers(deviceID.ID),
		Hello:    reader.Hello(tandem.Cloud, cli.Version(), "sample cloud"),
		Limits:   transport.Limits{Exchanges: node.Exchanges(0)},
		Log:      a.Log,
	})
	if err != nil {
		return fmt.Errorf("start the sample cloud: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(a))
	done := make(chan error, 1)
	cloud := node.NewCloud(node.CloudConfig{Local: reader, Titles: true, Quotes: true, GiveDocuments: f.SendDocuments, Log: a.Log.With("side", "cloud")})
	go func() { done <- cloud.Serve(ctx, listener) }()
	s.closers = append(s.closers, func() error {
		cancel()
		return errors.Join(listener.Close(), <-done)
	})
	s.through = func(f answerFlags, p *relays) *node.RemoteCloud {
		return node.NewRemoteCloud(func(ctx context.Context, address string) (*transport.Conn, error) {
			return f.dial(ctx, s, p, deviceID, cloudID.ID, address)
		}, 0, listener.Addr().String())
	}
	s.device.Cloud = s.through(f, &s.relays)
	return nil
}

func (f answerFlags) publicDocuments(a *cli.App) (*search.Index, error) {
	if f.Public != "" {
		return a.IndexFolder(f.Public, f.PassageFlags)
	}
	return cli.IndexSample(a, examples.Public, f.PassageFlags)
}

// dial connects to the cloud with the key peer at address, through an emulated network if the flags ask for one.
func (f answerFlags) dial(ctx context.Context, s *session, p *relays, id transport.Identity, peer transport.ID, address string) (*transport.Conn, error) {
	address, err := f.path(p, address)
	if err != nil {
		return nil, err
	}
	return transport.Dial(ctx, address, transport.ClientConfig{
		Identity: id,
		Peer:     peer,
		Eager:    true,
		Sessions: s.sessions,
		Hello:    s.device.Local.Hello(tandem.Device, cli.Version(), cli.HostName("edge")),
		Log:      s.app.Log,
	})
}

// path returns where to send what is for address: to an emulated network if the flags ask for one.
func (f answerFlags) path(p *relays, address string) (string, error) {
	if f.RTT == 0 && f.Loss == 0 {
		return address, nil
	}
	through, err := p.relay(address, netem.Config{Delay: f.RTT / 2, Loss: f.Loss})
	if err != nil {
		return "", fmt.Errorf("emulate the network: %w", err)
	}
	return through, nil
}

// lastReached returns the address where a paired cloud was reached last; "" if it was not in this process.
func (s *session) lastReached() string {
	if s.peer == (transport.ID{}) || s.device.Cloud == nil {
		return ""
	}
	return s.device.Cloud.Reached()
}

// ask answers q until ctx ends. If show is set, it prints the tokens as they come.
func (s *session) ask(ctx context.Context, q node.Question, show bool) (node.Answer, error) {
	a, begun := s.app, false
	q.ChooseCoupling = s.flags.choosesCoupling()
	cost, err := s.beginCost()
	if err != nil {
		return node.Answer{}, err
	}
	settling := s.denoises() && s.flags.ShowDenoising // the text comes at the end
	emit := func(t node.Token) {
		if !show || settling {
			return
		}
		text := cli.StripControls(t.Text)
		if !begun {
			text = strings.TrimLeft(text, " \n")
			begun = text != ""
		}
		fmt.Fprint(a.Out, a.Tint(t.By, text))
	}
	var answer node.Answer
	if s.denoises() {
		answer, err = s.denoise(ctx, q, s.settings, emit)
	} else {
		answer, err = s.device.AskRecorded(ctx, q, s.settings, emit, s.recording)
	}
	if settling && show && answer.Text != "" {
		fmt.Fprint(a.Out, cli.StripControls(answer.Text))
		begun = true
	}
	cost.pair = answer.Pair
	s.cost = cost.end()
	s.noteAbsence()
	if show && begun {
		fmt.Fprintln(a.Out)
	}
	if !a.Globals.JSON || err != nil { // else they are part of the JSON report
		for _, r := range answer.Remarks {
			a.Remark("%s", cli.Escape(r)) // it may quote the cloud
		}
	}
	if errors.Is(err, node.ErrNoCloud) && s.peer != (transport.ID{}) {
		err = s.missing(err)
	}
	return answer, err
}

// missing adds the name and addresses of the paired cloud to an error about its absence, and what to do.
func (s *session) missing(err error) error {
	where := cli.Escape(s.cloud)
	if dirs, e := s.app.Dirs(); e == nil {
		if p, e := transport.OpenPeers(dirs.Peers()).Lookup(s.peer); e == nil {
			where += " (" + strings.Join(p.Addresses(), ", ") + ")"
		}
	}
	err = fmt.Errorf("%s: %w", where, err)
	if way := wayBack(err); way != "" {
		err = fmt.Errorf("%w; %s", err, way)
	}
	return err
}

// checkRecord refuses to overwrite what is no recording.
func checkRecord(path string) error {
	info, err := cli.CheckOutput(path)
	if err != nil || info == nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var first node.Line
	if json.NewDecoder(f).Decode(&first) != nil || first.Event == "" {
		return fmt.Errorf("%s exists and is no recording: remove it, or name another file", path)
	}
	return nil
}

// record makes the device record what happens. The returned function writes the recording to the file; it is not called
// after a failed answer, so an earlier recording survives one.
func (s *session) record(path string) (write func() error, err error) {
	if err := checkRecord(path); err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	s.recording = func(l node.Line) { err = errors.Join(err, lines.Encode(l)) }
	return func() error {
		if err == nil {
			err = s.app.WriteOutput(path, text.Bytes(), 0o600)
		}
		if err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		return nil
	}, nil
}
