package main

import (
	"context"
	"fmt"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/transport"
)

type healthCmd struct {
	Listen string        `help:"UDP address of the server. Default: port 4433 on this machine." default:":4433" placeholder:"HOST:PORT"`
	Wait   time.Duration `help:"How long to wait for its answer." default:"3s"`
}

func (c *healthCmd) Help() string {
	return `Examples:
  cloud health
  cloud health --listen cloud.example.net:4433 --wait 10s

The exit code is 1 if no server answers. It needs no pairing, so containers and monitors can call it.`
}

func (c *healthCmd) Run(a *cli.App) error {
	ctx, cancel := context.WithTimeout(a, c.Wait)
	defer cancel()
	if _, err := transport.Probe(ctx, c.Listen); err != nil {
		return fmt.Errorf("%w: is \"cloud serve\" running, and does the network let UDP through?", err)
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"address": c.Listen, "healthy": true})
	}
	fmt.Fprintf(a.Out, "a server answers at %s\n", c.Listen)
	return nil
}
