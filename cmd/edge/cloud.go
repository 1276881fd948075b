package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/decoder/kvstore"
	"tandem/examples"
	"tandem/netem"
	"tandem/node"
	"tandem/retrieval/search"
	"tandem/transport"
)

// cloudLink is the cloud of a session, and how it is reached. The zero value is none.
type cloudLink struct {
	name     string       // for messages
	invented bool         // it is in this process and answers from the sample documents
	peer     transport.ID // of a paired cloud; zero for the one in this process

	tickets *transport.Tickets                           // kept on disk; nil for the cloud in this process
	through func(answerFlags, *relays) *node.RemoteCloud // the cloud over the path of the flags; nil without a cloud
}

// paired reports whether the cloud is one that was paired.
func (c cloudLink) paired() bool { return c.peer != transport.ID{} }

// pairUp prepares to reach the cloud, unless the flags keep the device alone.
func (f answerFlags) pairUp(a *cli.App, s *session, kv *kvstore.Store) error {
	if f.fetches() && !s.own.sample {
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
	own := !s.own.sample
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
	s.cloud.name, s.cloud.peer = peer.Name, peer.ID
	s.cloud.tickets = transport.OpenTickets(dirs.Sessions())
	s.cloud.through = func(f answerFlags, p *relays) *node.RemoteCloud { return f.service(s, p, id, peer) }
	s.device.Cloud = s.cloud.through(f, &s.relays)
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
	local, err := f.embeddedSide(a, s, kv)
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
		Log:      a.Log,
	})
	if err != nil {
		return fmt.Errorf("start the sample cloud: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(a))
	done := make(chan error, 1)
	cloud := node.NewCloud(node.CloudConfig{Local: local, Titles: true, Quotes: true, GiveDocuments: f.SendDocuments, Log: a.Log.With("side", "cloud")})
	go func() { done <- cloud.Serve(ctx, listener) }()
	s.closers = append(s.closers, func() error {
		cancel()
		return errors.Join(listener.Close(), <-done)
	})
	s.cloud.through = func(f answerFlags, p *relays) *node.RemoteCloud {
		return node.NewRemoteCloud(func(ctx context.Context, address string) (*transport.Conn, error) {
			return f.dial(ctx, s, p, deviceID, cloudID.ID, address)
		}, 0, listener.Addr().String())
	}
	s.device.Cloud = s.cloud.through(f, &s.relays)
	return nil
}

// embeddedSide opens what the cloud inside this process answers with.
func (f answerFlags) embeddedSide(a *cli.App, s *session, kv *kvstore.Store) (local node.Local, err error) {
	if f.fetches() && f.Public != "" {
		return local, fmt.Errorf("--method %s: it sends documents, so it runs on the sample documents only; leave out --public", f.Method)
	}
	docs, err := f.publicDocuments(a)
	if err != nil {
		return local, err
	}
	s.closers.add(docs)
	m, err := f.cloudModel(a, s)
	if err != nil {
		return local, err
	}
	local = cli.NewLocal(m, s.reader, docs, kv)
	if local.Draft, err = f.drafts().Drafters(); err != nil {
		return local, err
	}
	if local.Resources, err = f.drafts().Resources(a, m); err != nil {
		return local, err
	}
	s.cloud.name = "the cloud in this process"
	if s.cloud.invented = f.Public == "" || cli.SameFiles(f.Public, examples.Public, "public"); s.cloud.invented {
		local.Mark = cli.SampleMark
	}
	return local, nil
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
		Tickets:  s.cloud.tickets,
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
	if !s.cloud.paired() || s.device.Cloud == nil {
		return ""
	}
	return s.device.Cloud.Reached()
}
