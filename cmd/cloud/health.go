package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/transport"
)

type healthCmd struct {
	Listen string        `help:"UDP address of the server. Default: that of the running server of this user, or port 4433 on this machine." placeholder:"HOST:PORT"`
	Wait   time.Duration `help:"How long to wait for its answer." default:"3s"`
}

func (c *healthCmd) Help() string {
	return `Examples:
  cloud health
  cloud health --listen cloud.example.net:4433 --wait 10s

The exit code is 1 if no server answers, or if that of this user on this machine is draining: it takes no new questions. It needs no pairing, so containers and monitors can call it.`
}

func (c *healthCmd) Run(a *cli.App) error {
	if c.Wait <= 0 {
		return fmt.Errorf("--wait %v: want more than 0s", c.Wait)
	}
	at := cmp.Or(c.Listen, a.ServerAddress(), ":"+defaultPort)
	ctx, cancel := context.WithTimeout(a, c.Wait)
	defer cancel()
	_, err := transport.Probe(ctx, at)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("nothing answers at %s within %v", at, c.Wait)
	}
	if err != nil {
		return fmt.Errorf("%w: is \"cloud serve\" running there (cloud ps), and does the network let UDP through?", err)
	}
	if p := a.LatestServer(); p.Draining && (c.Listen == "" || here(c.Listen, p.Address)) {
		return fmt.Errorf("the server at %s is draining: it takes no new questions", at)
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"address": at, "healthy": true})
	}
	fmt.Fprintf(a.Out, "a server answers at %s\n", at)
	return nil
}

// here reports whether an address leads to this machine's server at another.
func here(address, server string) bool {
	host, port, err := net.SplitHostPort(address)
	_, own, err2 := net.SplitHostPort(server)
	ip := net.ParseIP(host)
	return address == server || err == nil && err2 == nil && port == own && (host == "" || api.OnLoopback(host) || ip != nil && ip.IsUnspecified())
}
