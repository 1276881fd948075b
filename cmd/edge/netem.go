package main

import (
	"errors"
	"fmt"
	"net"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/server"
	"tandem/netem"
)

type netemCmd struct {
	Target       string        `arg:"" optional:"" help:"Where packets go: HOST:PORT of a cloud."`
	Listen       string        `help:"Local UDP address that stands in for the target. Default: 127.0.0.1:4434." default:"127.0.0.1:4434" placeholder:"HOST:PORT"`
	Delay        time.Duration `help:"One-way delay." default:"0s"`
	Jitter       time.Duration `help:"Spread of the delay." default:"0s"`
	Distribution string        `help:"Shape of the jitter: ${enum}." enum:"normal,uniform,pareto" default:"normal"`
	Rate         float64       `help:"Megabits a second; 0 for no limit." default:"0"`
	Queue        int           `help:"Bytes that may queue for the rate limit before packets are dropped." default:"150000"`
	Loss         float64       `help:"Share of packets lost (0 to 1)." default:"0"`
	Burst        string        `help:"Bursty loss: probability of entering and of leaving a burst." placeholder:"ENTER,LEAVE"`
	Duplicate    float64       `help:"Share of packets that arrive twice." default:"0"`
	Reorder      float64       `help:"Share of packets that overtake others." default:"0"`
	Corrupt      float64       `help:"Share of packets in which a bit is flipped." default:"0"`
	Outage       []string      `help:"Let nothing pass: FROM+FOR, such as 10s+3s; separate several with commas." placeholder:"FROM+FOR"`
	Rebind       time.Duration `help:"Change the port that the target sees at this interval, as a moving phone does." default:"0s"`
	Trace        string        `help:"Replay a trace for both directions: a ping log, a Mahimahi packet trace or a CSV." type:"existingfile" placeholder:"FILE"`
	Seed         uint64        `help:"Random seed." default:"1"`
	TC           string        `name:"tc" help:"Let the kernel delay and drop all packets that leave this network interface, from every program (Linux with sch_netem; needs root or CAP_NET_ADMIN)." placeholder:"IFACE"`
	Clear        bool          `help:"With --tc: end the emulation." env:"-"`
	Show         bool          `help:"With --tc: print the current emulation." env:"-"`
}

func (c *netemCmd) Help() string {
	return `Examples:
  edge netem --delay 150ms --jitter 30ms --loss 0.01 -- cloud.example.net:4433
  edge netem --trace ping.txt -- 127.0.0.1:4433
  edge netem --tc eth0 --delay 150ms --jitter 30ms --loss 0.01
  edge netem --tc eth0 --clear

Packets pass through this program until Ctrl-C; no root is needed. Pair with the local address: cloud pair --address 127.0.0.1:4434.

With --tc the kernel emulates the path for everything that leaves the interface, and replaces any netem there; --show prints the jitter of a Pareto path four times as large. With --tc and a target, packets also pass through this program until Ctrl-C, which removes the kernel's emulation. The kernel then emulates the way to a target beyond the interface, and the way back to clients beyond it. If --listen is a loopback address, as by default, the way back does not leave the interface, and this program emulates it. On lo, the kernel sees packets both to and from the relay, so each way is emulated twice. If the kernel has no netem, this program emulates both ways.

With --json, a relay prints two objects: first where it listens, and at the end how many packets passed.`
}

func (c *netemCmd) Run(a *cli.App) (err error) {
	if err := c.check(); err != nil {
		return cli.Usage(err)
	}
	up, err := c.path(netem.Up)
	if err != nil {
		return cli.Usage(err)
	}
	down, err := c.path(netem.Down)
	if err != nil {
		return cli.Usage(err)
	}
	kernel, err := c.kernel(a, up)
	switch {
	case err != nil:
		return err
	case c.Target == "" && c.TC != "":
		return nil
	case c.Target == "":
		return fmt.Errorf("no target: give the HOST:PORT that packets go to, or a network interface with --tc")
	case kernel:
		if up = (netem.Config{}); c.backByKernel(a) {
			down = netem.Config{}
		}
		defer func() { err = errors.Join(err, netem.Kernel{Interface: c.TC}.Clear()) }()
		if !signal.Ignored(syscall.SIGHUP) { // a closed terminal must not leave the interface slow
			ctx, stop := signal.NotifyContext(a.Context, syscall.SIGHUP)
			defer stop()
			a.Context = ctx
		}
	}
	return c.relay(a, up, down)
}

// check refuses flags that make no sense together.
func (c *netemCmd) check() error {
	if c.Rebind < 0 {
		return fmt.Errorf("--rebind %v: want 0s (never) or more", c.Rebind)
	}
	if c.Rebind > 0 && c.Target == "" {
		return fmt.Errorf("--rebind %v: only a relay changes its port: name a target, as in HOST:4433", c.Rebind)
	}
	if _, port, err := net.SplitHostPort(c.Target); err == nil && (port == "" || port == "0") {
		return fmt.Errorf("target %s: packets need a port to go to, as in HOST:4433", c.Target)
	}
	return nil
}

// relay passes packets on until the program is to end.
func (c *netemCmd) relay(a *cli.App, up, down netem.Config) error {
	relay, err := netem.ListenOn(c.Listen, c.Target, up, down)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "listen" {
		return server.ListenError("--listen", c.Listen, err)
	}
	if err != nil {
		return err
	}
	defer relay.Close()
	if a.Globals.JSON {
		err = a.JSON(map[string]any{"listening": relay.Addr(), "target": c.Target})
	} else {
		_, err = fmt.Fprintf(a.Out, "%s → %s: delay %v ± %v, loss %g %%\n", relay.Addr(), c.Target, c.Delay, c.Jitter, 100*c.Loss)
	}
	if err != nil {
		return err
	}
	var rebind <-chan time.Time
	if c.Rebind > 0 {
		ticker := time.NewTicker(c.Rebind)
		defer ticker.Stop()
		rebind = ticker.C
	}
	for {
		select {
		case <-a.Context.Done():
			return c.report(a, relay.Stats())
		case <-rebind:
			relay.Rebind()
		}
	}
}

// backByKernel reports whether packets back to clients leave by the interface of --tc.
func (c *netemCmd) backByKernel(a *cli.App) bool {
	if i, err := net.InterfaceByName(c.TC); err == nil && i.Flags&net.FlagLoopback != 0 {
		a.Remark("packets pass %s on their way to the relay and again on their way from it: each way is emulated twice", c.TC)
		return true
	}
	if local, err := net.ResolveUDPAddr("udp", c.Listen); err != nil || !local.IP.IsLoopback() {
		return true
	}
	a.Remark("clients of %s are on this machine, so this program emulates the way back to them, and %s the way to %s", c.Listen, c.TC, c.Target)
	return false
}

// kernel does what --tc, --clear and --show ask for, and reports whether the kernel now emulates the path.
func (c *netemCmd) kernel(a *cli.App, path netem.Config) (bool, error) {
	k := netem.Kernel{Interface: c.TC}
	switch {
	case c.TC == "" && (c.Clear || c.Show):
		return false, fmt.Errorf("--clear and --show go with --tc IFACE")
	case c.TC == "":
		return false, nil
	case (c.Clear || c.Show) && c.Target != "":
		return false, fmt.Errorf("--clear and --show take no target")
	case c.Clear:
		if err := k.Clear(); err != nil {
			return false, err
		}
	case !c.Show:
		err := k.Apply(path)
		if errors.Is(err, netem.ErrNoKernel) && c.Target != "" {
			a.Remark("%v; this program emulates the path instead", err)
			return false, nil
		}
		if errors.Is(err, netem.ErrNoKernel) {
			return false, fmt.Errorf("%w: leave out --tc and name a target, as in: edge netem --delay 50ms -- HOST:PORT", err)
		}
		if err != nil {
			return false, err
		}
	}
	state, err := k.Show()
	if err != nil {
		return false, err
	}
	if a.Globals.JSON && c.Target != "" {
		return true, nil // the relay's objects are printed
	}
	if a.Globals.JSON {
		return true, a.JSON(state)
	}
	if state.Qdisc != "netem" {
		fmt.Fprintf(a.Out, "%s: nothing is emulated (its queue is %s)\n", c.TC, state.Qdisc)
		return true, nil
	}
	bursts := ""
	if state.Enter > 0 {
		bursts = fmt.Sprintf(" (in bursts: entered %.3g, left %.3g)", state.Enter, state.Leave)
	}
	fmt.Fprintf(a.Out, "%s: packets leave with a delay of %v ± %v, %.3g %% lost%s, %.3g %% doubled, %.3g %% reordered, rate %s\n",
		c.TC, state.Delay, state.Jitter, 100*state.Loss, bursts, 100*state.Duplicate, 100*state.Reorder, rateText(state.Rate))
	return true, nil
}

func rateText(bits float64) string {
	if bits == 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%.3g Mbit/s", bits/1e6)
}

func (c *netemCmd) report(a *cli.App, s netem.RelayStats) error {
	if a.Globals.JSON {
		return a.JSON(s)
	}
	fmt.Fprintf(a.Out, "up: %d packets in, %d out, %d dropped; down: %d in, %d out, %d dropped\n",
		s.Up.In, s.Up.Out, s.Up.Dropped, s.Down.In, s.Down.Out, s.Down.Dropped)
	return nil
}

// path returns the configuration of one direction.
func (c *netemCmd) path(dir netem.Direction) (netem.Config, error) {
	shape, err := netem.ParseDistribution(c.Distribution)
	if err != nil {
		return netem.Config{}, err
	}
	cfg := netem.Config{
		Delay: c.Delay, Jitter: c.Jitter, Distribution: shape, Rate: c.Rate * 1e6, Queue: c.Queue,
		Loss: c.Loss, Duplicate: c.Duplicate, Reorder: c.Reorder, Corrupt: c.Corrupt, Seed: c.Seed + uint64(dir),
	}
	if c.Burst != "" {
		if cfg.Burst, err = parseBurst(c.Burst); err != nil {
			return cfg, err
		}
	}
	for _, text := range c.Outage {
		o, err := parseOutage(text)
		if err != nil {
			return cfg, err
		}
		cfg.Outages = append(cfg.Outages, o)
	}
	if c.Trace != "" {
		if cfg.Trace, err = netem.LoadTrace(c.Trace, dir); err != nil {
			return cfg, err
		}
	}
	return cfg, cfg.Validate()
}

func parseBurst(text string) (netem.Burst, error) {
	enter, leave, _ := strings.Cut(text, ",")
	in, err1 := strconv.ParseFloat(strings.TrimSpace(enter), 64)
	out, err2 := strconv.ParseFloat(strings.TrimSpace(leave), 64)
	if err1 != nil || err2 != nil {
		return netem.Burst{}, fmt.Errorf("--burst %q: want two probabilities, such as 0.01,0.3", text)
	}
	return netem.Burst{Enter: in, Leave: out, LossBad: 1}, nil
}

func parseOutage(text string) (netem.Outage, error) {
	for i := range text {
		if text[i] != '+' {
			continue
		}
		from, err1 := time.ParseDuration(text[:i])
		length, err2 := time.ParseDuration(text[i+1:])
		if err1 == nil && err2 == nil {
			return netem.Outage{From: from, For: length}, nil
		}
	}
	return netem.Outage{}, fmt.Errorf("--outage %q: want FROM+FOR, such as 10s+3s", text)
}
