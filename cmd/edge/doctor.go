package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem"
	"tandem/internal/cli"
	"tandem/transport"
)

type doctorCmd struct{ cli.DoctorFlags }

func (c *doctorCmd) Run(a *cli.App) error {
	return a.Doctor(c.DoctorFlags, func() []cli.Check { return c.clouds(a) })
}

// clouds tries every paired cloud.
func (c *doctorCmd) clouds(a *cli.App) []cli.Check {
	dirs, err := a.Dirs()
	if err != nil {
		return nil
	}
	peers, err := transport.OpenPeers(dirs.Peers()).List()
	if err != nil {
		return []cli.Check{{Name: "cloud", State: cli.Broken, Detail: err.Error()}}
	}
	if len(peers) == 0 {
		return []cli.Check{{Name: "cloud", State: cli.Noted, Detail: "none is paired: the sample cloud answers", Hint: "cloud pair there, edge pair CODE here"}}
	}
	m, err := c.Open(a)
	if err != nil {
		return nil // said already
	}
	defer m.Close()
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return []cli.Check{{Name: "cloud", State: cli.Broken, Detail: err.Error()}}
	}
	hello := cli.Reader(m, nil, nil).Hello(tandem.Device, cli.Version(), cli.HostName("edge"))
	var checks []cli.Check
	for _, p := range peers {
		checks = append(checks, tryCloud(a, p, transport.ClientConfig{Identity: id, Peer: p.ID, Hello: hello, Log: a.Log}))
	}
	return checks
}

// tryCloud connects to a paired cloud and hangs up.
func tryCloud(a *cli.App, p transport.Peer, cfg transport.ClientConfig) cli.Check {
	check := cli.Check{Name: "cloud", State: cli.Broken, Hint: "is \"cloud serve\" running there, and UDP let through?"}
	for _, address := range p.Addrs {
		ctx, cancel := context.WithTimeout(a, 3*time.Second)
		conn, err := transport.Dial(ctx, address, cfg)
		cancel()
		if err != nil {
			check.Detail = fmt.Sprintf("%s: %v", p.Name, err)
			continue
		}
		defer conn.Close("checked")
		return cli.Check{Name: "cloud", State: cli.OK, Detail: fmt.Sprintf("%s at %s, %s, RTT %v",
			p.Name, address, conn.Hello().Model, conn.RTT().Round(100*time.Microsecond))}
	}
	if check.Detail == "" {
		check.Detail = fmt.Sprintf("%s has no address (%s)", p.Name, strings.Join(p.Addrs, ", "))
	}
	return check
}
