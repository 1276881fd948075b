package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/examples"
	"tandem/model"
	"tandem/netem"
	"tandem/node"
	"tandem/retrieval"
	"tandem/transport"
)

// session is a device ready to answer, with what was opened for it.
type session struct {
	app      *cli.App
	model    *model.Model
	device   *node.Device
	cloud    string // what the cloud is, for the summary; empty without one
	sample   bool   // the documents are the samples that ship with the program
	closers  []func() error
	settings node.Settings
	sessions *transport.Sessions // tickets that outlive the process; nil for the sample cloud
	flags    answerFlags
	peer     transport.ID      // of the paired cloud in use, else empty
	profile  cli.DecodeProfile // what is known of the model's delays
	profiled bool              // it has been kept before
	recalled time.Duration     // round-trip time that was known beforehand
	cost     costJSON          // of the last answer

	mu      sync.Mutex              // of what follows, which dials at the same time use
	relays  map[string]*netem.Relay // emulated paths, by where they lead
	reached string                  // the address where the cloud was last reached; "" when it never was
}

// open prepares to answer with the flags.
func (f answerFlags) open(a *cli.App) (s *session, err error) {
	if f.Method == "crcg" && f.Side == "both" {
		f.Side = "device" // the baseline of one side
	}
	s = &session{app: a, flags: f, relays: map[string]*netem.Relay{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.settings, err = f.settings(); err != nil {
		return s, err
	}
	f.ModelFlags.Phone, f.ModelFlags.Switching = f.SoC, f.phoneFlags.Switching
	if s.model, err = f.Open(a); err != nil {
		return s, err
	}
	s.closers = append(s.closers, s.model.Close)
	kv := f.KV(a)
	if kv != nil {
		s.closers = append(s.closers, kv.Close)
	}
	own, err := f.documents(a, s)
	if err != nil {
		return s, err
	}
	s.device = &node.Device{
		Reader:   cli.Reader(s.model, own, kv),
		Patience: node.DefaultPatience,
		Mute:     f.Side == "cloud",
		Require:  f.Side == "cloud",
		Log:      a.Log,
	}
	s.device.Patience.Join = f.Wait
	if f.fetches() && !s.sample {
		return s, fmt.Errorf("--method %s: documents cross in it, so it is for the sample documents on both sides only, and this device answers from others", f.Method)
	}
	if !f.LocalOnly && f.Side != "device" {
		if err := f.reach(a, s, kv); err != nil {
			return s, err
		}
	}
	s.closers = append(s.closers, s.device.Close)
	s.recall()
	return s, nil
}

// Close ends everything in the reverse order of its making.
func (s *session) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// closing remembers to close c.
func (s *session) closing(c io.Closer) { s.closers = append(s.closers, c.Close) }

// documents opens the device's documents: a folder given for this question, the index, or the samples.
func (f answerFlags) documents(a *cli.App, s *session) (*retrieval.Index, error) {
	if f.Side == "cloud" {
		return nil, nil
	}
	x, err := f.chooseDocuments(a, s)
	if err != nil {
		return nil, err
	}
	s.closing(x)
	return x, nil
}

func (f answerFlags) chooseDocuments(a *cli.App, s *session) (*retrieval.Index, error) {
	if f.Notes != "" {
		return a.Folder(f.Notes, f.PassageFlags)
	}
	x, err := a.OwnIndex()
	if x != nil || err != nil {
		return x, err
	}
	s.sample = true
	return cli.Sample(a, examples.Notes, f.PassageFlags)
}

// reach finds the cloud: one that was asked for, the one paired last, or the sample inside this process.
// Somebody with documents of their own and no cloud is answered from these alone: the sample's town would
// only confuse.
func (f answerFlags) reach(a *cli.App, s *session, kv *retrieval.KVStore) error {
	if f.Cloud == "sample" || f.Public != "" {
		return f.embed(a, s, kv)
	}
	peer, err := f.paired(a)
	if err != nil {
		return err
	}
	if peer != nil {
		return f.remote(a, s, *peer)
	}
	if s.sample || f.Notes != "" || f.Side == "cloud" {
		return f.embed(a, s, kv)
	}
	a.Remark("No cloud is paired: answering from your documents alone. (cloud pair, then: edge pair CODE)")
	return nil
}

// paired returns the paired cloud that is meant, nil when none is.
func (f answerFlags) paired(a *cli.App) (*transport.Peer, error) {
	dirs, err := a.Dirs()
	if err != nil {
		if f.Cloud != "" {
			return nil, err
		}
		return nil, nil
	}
	peers, err := transport.OpenPeers(dirs.Peers()).List()
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		if f.Cloud == "" || cli.IsPeer(p, f.Cloud) {
			if slices.Contains(p.Addrs, f.Cloud) {
				p.Addrs = []string{f.Cloud} // there and nowhere else
			}
			return &p, nil
		}
	}
	if f.Cloud != "" {
		return nil, fmt.Errorf("%s is not a paired cloud: run \"cloud pair\" there, then \"edge pair CODE\" here", f.Cloud)
	}
	return nil, nil
}

// remote reaches a paired cloud over the network.
func (f answerFlags) remote(a *cli.App, s *session, peer transport.Peer) error {
	dirs, err := a.Dirs()
	if err != nil {
		return err
	}
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return err
	}
	s.cloud, s.peer = peer.Name, peer.ID
	s.sessions = transport.OpenSessions(dirs.Sessions())
	s.device.Dial = func(ctx context.Context) (*transport.Conn, error) {
		conn, at, err := transport.DialAny(ctx, transport.Prefer(s.lastReached(), peer.Addrs), func(ctx context.Context, address string) (*transport.Conn, error) {
			return f.dial(ctx, s, id, peer.ID, address)
		})
		if err == nil {
			s.mu.Lock()
			s.reached = at
			s.mu.Unlock()
		}
		return conn, err
	}
	return nil
}

// embed starts a cloud inside this process and reaches it over QUIC on the loopback interface, as one
// reaches any other: the same handshake, the same wire.
func (f answerFlags) embed(a *cli.App, s *session, kv *retrieval.KVStore) error {
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
		return fmt.Errorf("--method %s: documents cross in it, so it is for the sample documents only: leave --public out", f.Method)
	}
	m, err := f.cloudModel(a, s)
	if err != nil {
		return err
	}
	reader := cli.Reader(m, docs, kv)
	listener, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: cloudID,
		Peers:    transport.NewPeers(deviceID.ID),
		Hello:    reader.Hello(tandem.Cloud, cli.Version(), "sample cloud"),
		Log:      a.Log,
	})
	if err != nil {
		return fmt.Errorf("start the sample cloud: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(a))
	done := make(chan error, 1)
	cloud := &node.Cloud{Reader: reader, Titles: true, GiveDocuments: f.SendDocuments, Log: a.Log.With("side", "cloud")}
	go func() { done <- cloud.Serve(ctx, listener) }()
	s.closers = append(s.closers, func() error {
		cancel()
		return errors.Join(listener.Close(), <-done)
	})
	s.cloud = "the sample cloud in this process"
	s.device.Dial = func(ctx context.Context) (*transport.Conn, error) {
		return f.dial(ctx, s, deviceID, cloudID.ID, listener.Addr().String())
	}
	return nil
}

func (f answerFlags) publicDocuments(a *cli.App) (*retrieval.Index, error) {
	if f.Public != "" {
		return a.Folder(f.Public, f.PassageFlags)
	}
	return cli.Sample(a, examples.Public, f.PassageFlags)
}

// dial connects to the cloud with key peer at address, over the emulated path if one was asked for.
func (f answerFlags) dial(ctx context.Context, s *session, id transport.Identity, peer transport.ID, address string) (*transport.Conn, error) {
	if f.RTT > 0 || f.Loss > 0 {
		through, err := s.relay(address, netem.Config{Delay: f.RTT / 2, Loss: f.Loss})
		if err != nil {
			return nil, fmt.Errorf("emulate the network: %w", err)
		}
		address = through
	}
	return transport.Dial(ctx, address, transport.ClientConfig{
		Identity: id,
		Peer:     peer,
		Eager:    true,
		Sessions: s.sessions,
		Hello:    s.device.Reader.Hello(tandem.Device, cli.Version(), cli.HostName("edge")),
		Log:      s.app.Log,
	})
}

// lastReached is the address to try first.
func (s *session) lastReached() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reached
}

// relay returns the local address of an emulated path to address.
func (s *session) relay(address string, cfg netem.Config) (string, error) {
	s.mu.Lock()
	r, ok := s.relays[address]
	s.mu.Unlock()
	if ok {
		return r.Addr(), nil
	}
	r, err := netem.Listen(address, cfg) // which may wait for a name server
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing(r)
	s.relays[address] = r
	return r.Addr(), nil
}
