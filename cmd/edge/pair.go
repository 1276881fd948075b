package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/cli"
	"tandem/transport"
)

type pairCmd struct {
	Code   []string `arg:"" optional:"" help:"The code that \"cloud pair\" printed, or the text of its QR picture."`
	List   bool     `help:"List the paired clouds."`
	Remove string   `help:"Forget a paired cloud, by its name, address or key." placeholder:"WHICH"`
}

func (c *pairCmd) Help() string {
	return `On the cloud: cloud serve, and in another terminal: cloud pair
Here:         edge pair MNXW-... (the code as printed; hyphens and case do not matter)

Examples:
  edge pair --list
  edge pair --remove homeserver

A code is good once and for ten minutes. It carries the cloud's address and key; afterwards both ends know each other's key and no code is needed.`
}

func (c *pairCmd) Run(a *cli.App) error {
	dirs, err := a.Dirs()
	if err != nil {
		return err
	}
	peers := transport.OpenPeers(dirs.Peers())
	switch {
	case c.Remove != "":
		return cli.RemovePeer(a, peers, c.Remove)
	case c.List:
		return cli.ListPeers(a, peers)
	case len(c.Code) == 0:
		return fmt.Errorf("no code: run \"cloud pair\" where the cloud is, and give its code here")
	}
	code, err := transport.ParseCode(strings.Join(c.Code, ""))
	if err != nil {
		return err
	}
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return err
	}
	a.Progress("pairing with %s", strings.Join(code.Addrs, ", "))
	ctx, cancel := context.WithTimeout(a, 30*time.Second)
	defer cancel()
	peer, err := transport.Pair(ctx, code, id, cli.HostName("edge"), nil)
	a.Clear()
	if err != nil {
		return err
	}
	if err := peers.Add(peer); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(cli.PeerJSON(peer))
	}
	fmt.Fprintf(a.Out, "Paired with %s (%s). Questions go there now: edge ask \"…\"\n", peer.Name, strings.Join(peer.Addrs, ", "))
	return nil
}
