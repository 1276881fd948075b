package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/examples"
	"tandem/node"
	"tandem/retrieval/search"
	"tandem/transport"
)

// askedCloud is the cloud that a session asks, and how it is reached. The zero value is none.
type askedCloud struct {
	name     string       // for messages
	invented bool         // it is in this process and answers from the sample documents
	peer     transport.ID // of a paired cloud; zero for the one in this process
	addrs    []string     // of a paired cloud, without those that it named itself

	tickets *transport.Tickets               // kept on disk; nil for the cloud in this process
	over    func(*network) *node.RemoteCloud // the cloud as it is reached over a network; nil without a cloud
}

// paired reports whether the cloud is one that was paired.
func (c askedCloud) paired() bool { return c.peer != transport.ID{} }

// openCloud prepares to reach the cloud, unless the flags keep the device alone.
func (s *session) openCloud() error {
	f := s.flags
	if f.fetches() && !s.own.sample {
		return fmt.Errorf("--method %s: it sends documents, so it runs on the sample documents only; leave out --notes, or use another method", f.Method)
	}
	if !f.LocalOnly && f.Side != "device" {
		if err := s.findCloud(); err != nil {
			return err
		}
	}
	if f.RequireCloud && s.device.Cloud == nil {
		return errors.New("--require-cloud: no cloud is paired (cloud pair there, then: edge pair CODE)")
	}
	return nil
}

// findCloud finds the cloud: the one that --cloud names, the one paired last, or the sample inside this process. A user with
// documents of their own and no cloud gets answers from these alone, not from the sample's invented town.
func (s *session) findCloud() error {
	f := s.flags
	if f.embedsCloud() {
		return s.embedCloud()
	}
	peer, err := f.paired(s.app)
	if err != nil {
		return err
	}
	if peer != nil {
		return s.useRemote(*peer)
	}
	own := !s.own.sample
	if f.Side == "cloud" && f.Notes == "" { // then no documents are open here
		if own, err = indexcmd.Exists(s.app); err != nil {
			return err
		}
	}
	switch {
	case !own:
		return s.embedCloud()
	case f.Side == "cloud":
		return errors.New("--side cloud: no cloud is paired; pair one (cloud pair there, then: edge pair CODE), or ask the sample cloud with --sample")
	}
	return nil
}

// embedsCloud reports whether the flags ask for a cloud in this process.
func (f answerFlags) embedsCloud() bool {
	return f.Cloud == "sample" || f.Public != "" || f.Sample && f.Cloud == ""
}

// following returns a session that asks the cloud that is paired now, if s asks another one or none; else nil. It shares all else
// with s, which must stay open as long.
func (s *session) following() (*session, error) {
	f := s.flags
	if f.alone() || f.embedsCloud() {
		return nil, nil
	}
	peer, err := f.paired(s.app)
	if err != nil { // what is known stands
		s.app.Log.Info("cannot look up which cloud is paired", "error", err)
		return nil, nil
	}
	if peer == nil || peer.ID == s.cloud.peer && slices.Equal(peer.Addrs, s.cloud.addrs) {
		return nil, nil
	}
	next := &session{app: s.app, flags: f, settings: s.settings, model: s.model, phone: s.phone, reader: s.reader, kv: s.kv, own: s.own}
	next.network.rtt, next.network.loss = f.RTT, f.Loss
	next.denoising.method = s.denoising.method // for what is asked alone
	local := s.device.Local
	local.Passes, local.Shared = nil, nil // they are for answers without a cloud
	next.device = next.newDevice(local.Documents)
	next.device.Local = local
	if err := next.useRemote(*peer); err != nil {
		return nil, fmt.Errorf("another cloud is paired now, but cannot be asked: %w", err)
	}
	next.closers = closers{next.network.Close, next.device.Close}
	next.loadMeasurements()
	return next, nil
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

// useRemote makes the device dial a paired cloud.
func (s *session) useRemote(peer transport.Peer) error {
	dirs, err := s.app.Dirs()
	if err != nil {
		return err
	}
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return err
	}
	if peer.Private && !s.flags.canBePrivate() {
		return fmt.Errorf("%s is a private cloud, and that sets --placement, --coupling and --method: leave them out (edge pair --open-for %s allows drafts again)", cli.Escape(peer.Name), peer.ID.Short())
	}
	s.device.Terms = func() (private bool, err error) { return termsOf(transport.OpenPeers(dirs.Peers()), peer) }
	s.cloud.name, s.cloud.peer, s.cloud.addrs = peer.Name, peer.ID, peer.Addrs
	s.cloud.tickets = transport.OpenTickets(dirs.Sessions())
	s.cloud.over = func(n *network) *node.RemoteCloud { return s.service(n, id, peer) }
	s.device.Cloud = s.cloud.over(&s.network)
	return nil
}

// termsOf looks up whether a cloud is still paired, and whether answers with it are private.
func termsOf(peers *transport.Peers, cloud transport.Peer) (private bool, err error) {
	now, err := peers.Lookup(cloud.ID)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s is no longer paired", cloud.Name)
	}
	return now.Private, err
}

// service returns a paired cloud with all its replicas, reached over a network.
func (s *session) service(n *network, id transport.Identity, peer transport.Peer) *node.RemoteCloud {
	v := node.NewRemoteCloud(func(ctx context.Context, address string) (*transport.Conn, error) {
		return s.dial(ctx, n, id, peer.ID, address)
	}, binary.BigEndian.Uint64(id.ID[:]), peer.Addresses()...)
	v.Probe = func(ctx context.Context, address string) (time.Duration, error) {
		at, err := n.route(address)
		if err != nil {
			return 0, err
		}
		return transport.Probe(ctx, at)
	}
	if v.Only = slices.Equal(peer.Addrs, []string{s.flags.Cloud}); !v.Only {
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

// embedCloud starts a cloud inside this process. The device reaches it over QUIC on the loopback interface, with the same
// handshake and the same messages as any other cloud.
func (s *session) embedCloud() error {
	local, err := s.embeddedLocal()
	if err != nil {
		return err
	}
	deviceID, err := transport.Ephemeral()
	if err != nil {
		return err
	}
	cloudID, err := transport.Ephemeral()
	if err != nil {
		return err
	}
	listener, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: cloudID,
		Peers:    transport.NewPeers(deviceID.ID),
		Hello:    local.Hello(tandem.Cloud, cli.Version(), "sample cloud"),
		Limits:   transport.Limits{Exchanges: node.Exchanges(0)},
		Log:      s.app.Log,
	})
	if err != nil {
		return fmt.Errorf("start the sample cloud: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.app))
	done := make(chan error, 1)
	cloud := node.NewCloud(node.CloudConfig{Local: local, Titles: true, Quotes: true, GiveDocuments: s.flags.SendDocuments, Log: s.app.Log.With("side", "cloud")})
	go func() { done <- cloud.Serve(ctx, listener) }()
	s.closers = append(s.closers, func() error {
		cancel()
		return errors.Join(listener.Close(), <-done)
	})
	s.cloud.over = func(n *network) *node.RemoteCloud {
		return node.NewRemoteCloud(func(ctx context.Context, address string) (*transport.Conn, error) {
			return s.dial(ctx, n, deviceID, cloudID.ID, address)
		}, 0, listener.Addr().String())
	}
	s.device.Cloud = s.cloud.over(&s.network)
	return nil
}

// embeddedLocal opens what the cloud inside this process answers with.
func (s *session) embeddedLocal() (local node.Local, err error) {
	a, f := s.app, s.flags
	if f.fetches() && f.Public != "" {
		return local, fmt.Errorf("--method %s: it sends documents, so it runs on the sample documents only; leave out --public", f.Method)
	}
	docs, err := f.publicDocuments(a)
	if err != nil {
		return local, err
	}
	s.closers.add(docs)
	m, err := s.cloudModel()
	if err != nil {
		return local, err
	}
	local = modelcmd.NewLocal(m, s.reader, docs, s.kv)
	if local.Draft, err = f.drafts().Drafters(); err != nil {
		return local, err
	}
	if local.Resources, err = f.drafts().Resources(a, m); err != nil {
		return local, err
	}
	s.cloud.name = "the cloud in this process"
	if s.cloud.invented = f.Public == "" || indexcmd.SameFiles(f.Public, examples.Public, "public"); s.cloud.invented {
		local.Mark = indexcmd.SampleMark
	}
	return local, nil
}

func (f answerFlags) publicDocuments(a *cli.App) (*search.Index, error) {
	if f.Public != "" {
		return indexcmd.ReadFolder(a, f.Public, f.PassageFlags, indexcmd.ExcludeFlag{})
	}
	return indexcmd.ReadSamples(a, examples.Public, f.PassageFlags)
}

// dial connects to the cloud with the key peer at address, over a network.
func (s *session) dial(ctx context.Context, n *network, id transport.Identity, peer transport.ID, address string) (*transport.Conn, error) {
	address, err := n.route(address)
	if err != nil {
		return nil, err
	}
	return transport.Dial(ctx, address, transport.ClientConfig{
		Identity: id,
		Peer:     peer,
		Eager:    true,
		Tickets:  s.cloud.tickets,
		Hello:    s.device.Local.Hello(tandem.Device, cli.Version(), cli.HostName("edge")),
		Log:      s.app.Log,
	})
}

// lastReached returns the address where a paired cloud was reached last; "" if it was not in this process.
func (s *session) lastReached() string {
	if !s.cloud.paired() || s.device.Cloud == nil {
		return ""
	}
	return s.device.Cloud.Reached()
}
