package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tandem"
	"tandem/lab/report"
	"tandem/lab/sim"
	"tandem/netem"
	"tandem/node"
	"tandem/transport"
)

// live is a device and a cloud in this process, connected by QUIC over an emulated path.
type live struct {
	setup  Setup
	device *node.Device
	relay  *netem.Relay
	record func(node.Line) // receives what happens in an answer; nil for nobody
	close  func() error
}

// Path is the network between the two sides.
type Path struct {
	Link    [2]netem.Config // indexed by the sender
	Streams bool            // drafts travel on a QUIC stream, not in datagrams
}

// steady is a path with the given round trip and loss. Its jitter is a fifth of the round trip.
func steady(rtt time.Duration, loss float64, seed uint64) Path {
	c := netem.Config{Delay: rtt / 2, Jitter: rtt / 10, Loss: loss, Seed: 2 * seed}
	p := Path{Link: [2]netem.Config{c, c}}
	p.Link[1].Seed++
	return p
}

// calm is the path at its best: its shortest delays, without what its traces tell.
func (p Path) calm() Path {
	for i, l := range p.Link {
		if l.Trace != nil {
			p.Link[i] = netem.Config{Delay: minDelay(l), Seed: l.Seed}
		}
	}
	return p
}

// recorded reports whether the path is that of a trace.
func (p Path) recorded() bool { return p.Link[0].Trace != nil || p.Link[1].Trace != nil }

// connect starts both sides, which decode at the given pace, and the path between them, which is calm until it begins.
func (b Setup) connect(p Path, pace [2]time.Duration) (*live, error) {
	deviceID, err := transport.Ephemeral()
	if err != nil {
		return nil, err
	}
	cloudID, err := transport.Ephemeral()
	if err != nil {
		return nil, err
	}
	limits := transport.Limits{StreamsOnly: p.Streams}
	cloud := node.CloudConfig{Local: b.reader(tandem.Cloud, pace[tandem.Cloud]), Titles: true, GiveDocuments: true}
	address, stop, err := serve(cloud, cloudID, limits, deviceID.ID)
	if err != nil {
		return nil, err
	}
	calm := p.calm().Link
	relay, err := netem.ListenOn("127.0.0.1:0", address, calm[tandem.Device], calm[tandem.Cloud])
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	device := &node.Device{Local: b.reader(tandem.Device, pace[tandem.Device]), Patience: node.DefaultPatience}
	device.Patience.Join = 20 * time.Second
	device.Cloud = node.NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		return transport.Dial(ctx, relay.Addr(), transport.ClientConfig{
			Identity: deviceID, Peer: cloudID.ID, Limits: limits,
			Hello: device.Local.Hello(tandem.Device, "lab", "device"),
		})
	}, 0, "the cloud")
	return &live{setup: b, device: device, relay: relay, close: func() error {
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
func (b Setup) solo(side tandem.Side, pace time.Duration) *live {
	device := &node.Device{Local: b.reader(side, pace)}
	return &live{setup: b, device: device, close: device.Close}
}

// ask answers the i-th question.
func (l *live) ask(ctx context.Context, i int, s Strategy, lookahead int) (node.Answer, error) {
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
func (l *live) warm(ctx context.Context) error {
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

// begin starts a recorded network, after the two sides are connected and have introduced themselves. From then on the
// device has its default patience, as with a user.
func (l *live) begin(p Path) error {
	if !p.recorded() {
		return nil
	}
	l.device.Patience = node.DefaultPatience
	return l.relay.Emulate(p.Link[tandem.Device], p.Link[tandem.Cloud])
}

// cell collects the answers of one cell of an experiment. The first token counts apart from the times between tokens.
type cell struct {
	gaps, first []float64 // ms
	received    []float64 // bytes, in an answer
	accepted    [2]float64
	together    float64
	handovers   []float64
	texts       []string
	alone       int           // tokens that the device decided alone
	until       time.Duration // when the last live answer ended, from the beginning of a recorded network
}

// add counts a live answer.
func (c *cell) add(a node.Answer) {
	if a.Link.BytesReceived > 0 {
		c.received = append(c.received, float64(a.Link.BytesReceived))
	}
	var ids []tandem.Token
	last := time.Duration(0)
	for i, t := range a.Tokens {
		ids = append(ids, t.ID)
		if gap := (t.At - last).Seconds() * 1000; i == 0 {
			c.first = append(c.first, gap)
		} else {
			c.gaps = append(c.gaps, gap)
		}
		last = t.At
	}
	c.count(ids, a.Pair.Together, a.Pair.Accepted, a.Pair.Handovers, a.Pair.Alone)
}

// addWhole counts a live answer whose tokens all come at once, after both sides have written theirs. The time after reading
// is divided equally among its tokens.
func (c *cell) addWhole(a node.Answer) {
	n := len(a.Tokens)
	if n == 0 {
		return
	}
	var ids []tandem.Token
	took := (a.Tokens[n-1].At - a.Prefill[tandem.Device]).Seconds() * 1000
	for i, t := range a.Tokens {
		if ids = append(ids, t.ID); i > 0 {
			c.gaps = append(c.gaps, took/float64(n))
		}
	}
	c.first = append(c.first, a.Tokens[0].At.Seconds()*1000)
	c.texts = append(c.texts, textHash(ids))
}

// play counts a simulated answer.
func (c *cell) play(o sim.Outcome) {
	for i, g := range o.Gaps(0) {
		if g := g.Seconds() * 1000; i == 0 {
			c.first = append(c.first, g)
		} else {
			c.gaps = append(c.gaps, g)
		}
	}
	d := o.Pair[tandem.Device]
	c.count(o.IDs(), d.Together, d.Accepted, d.Handovers+o.Pair[tandem.Cloud].Handovers, d.Alone)
}

func (c *cell) count(ids []tandem.Token, together int, accepted [2]int, handovers, alone int) {
	c.texts = append(c.texts, textHash(ids))
	c.together += float64(together)
	for s := range accepted {
		c.accepted[s] += float64(accepted[s])
	}
	c.handovers = append(c.handovers, float64(handovers))
	c.alone += alone
}

// result sums up a cell.
func (c *cell) result() report.Result {
	result := report.Result{PerToken: report.Is(mean(c.gaps)), P99: report.Is(report.Quantile(c.gaps, 0.99))}
	if c.alone == 0 || c.together == 0 { // otherwise timing decided which tokens the device chose alone
		result.Text = joinHashes(c.texts)
	}
	if len(c.first) > 0 {
		result.TTFT = report.Is(mean(c.first))
	}
	if c.together > 0 {
		result.AcceptDevice, result.AcceptCloud = report.Is(c.accepted[0]/c.together), report.Is(c.accepted[1]/c.together)
		result.Handovers = report.Is(mean(c.handovers))
	}
	return result
}

// mean returns the mean of xs, 0 for none.
func mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
