package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/netem"
	"tandem/node"
	"tandem/transport"
)

// testbed is a device and a cloud in this process, connected by QUIC over an emulated path.
type testbed struct {
	setup  Setup
	device *node.Device
	relay  *netem.Relay
	record func(node.Line) // receives what happens in an answer; nil for nobody
	close  func() error
}

// connect starts both sides, which decode at the given pace, and the path between them, which is calm until it begins.
func (x Setup) connect(p Path, pace [2]time.Duration) (*testbed, error) {
	deviceID, err := transport.Ephemeral()
	if err != nil {
		return nil, err
	}
	cloudID, err := transport.Ephemeral()
	if err != nil {
		return nil, err
	}
	limits := transport.Limits{StreamsOnly: p.Streams}
	cloud := node.CloudConfig{Local: x.local(tandem.Cloud, pace[tandem.Cloud]), Titles: true, GiveDocuments: true}
	address, stop, err := serve(cloud, cloudID, limits, deviceID.ID)
	if err != nil {
		return nil, err
	}
	calm := p.calm().Link
	relay, err := netem.ListenOn("127.0.0.1:0", address, calm[tandem.Device], calm[tandem.Cloud])
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	device := &node.Device{Local: x.local(tandem.Device, pace[tandem.Device]), Patience: node.DefaultPatience}
	device.Patience.Join = 20 * time.Second
	device.Cloud = node.NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		return transport.Dial(ctx, relay.Addr(), transport.ClientConfig{
			Identity: deviceID, Peer: cloudID.ID, Limits: limits,
			Hello: device.Local.Hello(tandem.Device, "lab", "device"),
		})
	}, 0, "the cloud")
	return &testbed{setup: x, device: device, relay: relay, close: func() error {
		return errors.Join(device.Close(), relay.Close(), stop())
	}}, nil
}

// serve starts a cloud for some devices on this machine.
func serve(cloud node.CloudConfig, id transport.Identity, limits transport.Limits, devices ...transport.ID) (address string, stop func() error, err error) {
	listener, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: id, Peers: transport.NewPeers(devices...), Limits: limits, Hello: cloud.Local.Hello(tandem.Cloud, "lab", "cloud"),
	})
	if err != nil {
		return "", nil, fmt.Errorf("start the cloud: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- node.NewCloud(cloud).Serve(ctx, listener) }()
	return listener.Addr().String(), func() error {
		cancel()
		return errors.Join(listener.Close(), <-served)
	}, nil
}

// solo is one side that answers alone from its own documents.
func (x Setup) solo(side tandem.Side, pace time.Duration) *testbed {
	device := &node.Device{Local: x.local(side, pace)}
	return &testbed{setup: x, device: device, close: device.Close}
}

// ask answers the i-th question.
func (l *testbed) ask(ctx context.Context, i int, s Strategy, lookahead int) (node.Answer, error) {
	settings := l.setup.Settings
	settings.Placement, settings.Coupling, settings.Gamma = s.Place, s.Coupling, s.Gamma
	settings.Lookahead, settings.Want = lookahead, s.Want
	settings.Seed += uint64(i)
	settings.Support = cmp.Or(s.Support, settings.Support)
	if s.Context {
		settings.Contexts = 1
	}
	a, err := l.device.AskRecorded(ctx, node.Question{ID: fmt.Sprintf("lab-%d", i), Text: l.setup.Questions[i]}, settings, func(node.Token) {}, l.record)
	if err != nil {
		return a, fmt.Errorf("question %q, %s: %w", l.setup.Questions[i], s.Label, err)
	}
	return a, nil
}

// warm asks every question for an answer of one token, so that caches are filled and the connection has measured its path.
// Without a store of caches one question is enough.
func (l *testbed) warm(ctx context.Context) error {
	short := *l
	short.setup.Settings.MaxTokens = 1
	n := len(l.setup.Questions)
	if l.setup.KV[tandem.Cloud] == nil {
		n = 1
	}
	for i := range n {
		if _, err := short.ask(ctx, i, Strategy{Label: "warming up"}, 0); err != nil {
			return err
		}
	}
	return nil
}

// startTrace starts a recorded network, after the two sides are connected and have introduced themselves. From then on the
// device has its default patience, as with a user.
func (l *testbed) startTrace(p Path) error {
	if !p.recorded() {
		return nil
	}
	l.device.Patience = node.DefaultPatience
	return l.relay.Emulate(p.Link[tandem.Device], p.Link[tandem.Cloud])
}
