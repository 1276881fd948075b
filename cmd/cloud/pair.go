package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/transport"
)

type pairCmd struct {
	serviceFlag
	Address  []string      `help:"Where devices reach this cloud; separate several with commas; without a port, 4433. Default: this machine's own addresses, with the port of the running server, or those of the running replicas." placeholder:"HOST:PORT"`
	For      time.Duration `help:"How long the code is valid." default:"10m"`
	QR       bool          `name:"qr" help:"Also draw the code as a QR code." default:"true" negatable:""`
	To       string        `help:"Write the code to this file, which only you can read, instead of printing it." type:"path" placeholder:"FILE"`
	Name     string        `help:"With --rename: the new name." type:"name" env:"-" placeholder:"NAME"`
	Rename   string        `help:"Rename a paired device to --name." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
	Prefer   string        `help:"Set the priority of a paired device to --priority." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
	Priority string        `help:"With --prefer: the priority of its questions when places are scarce: ${enum}." enum:"low,normal,high" default:"normal" env:"-"`
	List     bool          `help:"List the paired devices." xor:"what" env:"-"`
	Remove   string        `help:"Forget a paired device, given its name, its key or the beginning of its key." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
}

func (c *pairCmd) Help() string {
	return `Examples:
  cloud pair
  cloud pair --address cloud.example.net:4433 --no-qr
  cloud pair --to /media/stick/code        on the device: edge pair --from /media/stick/code
  cloud pair --service /srv/tandem         for replicas that share this folder
  cloud pair --list
  cloud pair --prefer pixel --priority high
  cloud pair --rename pixel --name "Ada's phone"

A code admits one device. That device is accepted by the running "cloud serve" of the same user. --to overwrites a file that holds an old code, but no other file.`
}

func (c *pairCmd) Run(a *cli.App) error {
	dirs, err := a.Dirs()
	if err != nil {
		return err
	}
	if err := c.Service.Check(); err != nil {
		return err
	}
	peers := transport.OpenPeers(c.Service.Peers(dirs))
	switch {
	case c.Remove != "":
		return cli.RemovePeer(a, peers, c.Remove)
	case c.List:
		return cli.ListPeers(a, peers)
	case c.Rename != "" && c.Name == "":
		return errors.New("--rename needs --name, the new name")
	case c.Rename != "":
		return cli.RenamePeer(a, peers, c.Rename, c.Name)
	case c.Prefer != "":
		return cli.SetPeerPriority(a, peers, c.Prefer, c.Priority)
	}
	return c.invite(a, dirs)
}

// invite makes a code, and prints it or writes it to the file of --to.
func (c *pairCmd) invite(a *cli.App, dirs cli.Dirs) (err error) {
	switch {
	case c.Priority != "normal":
		return errors.New("--priority needs --prefer, which names a paired device")
	case c.Name != "":
		return errors.New("--name needs --rename: a new device brings its own name")
	case c.For < time.Second || c.For > 24*time.Hour:
		return fmt.Errorf("--for %v: want 1s to 24h", c.For)
	}
	if err := c.checkTo(); err != nil {
		return err
	}
	addresses := withPorts(c.Address)
	if len(addresses) == 0 {
		if addresses, err = c.codeAddresses(a); err != nil {
			return err
		}
	}
	id, err := transport.LoadOrCreateIdentity(c.Service.Identity(dirs))
	if err != nil {
		return err
	}
	code, err := transport.OpenInvites(c.Service.Invites(dirs)).New(id.ID, addresses, c.For)
	if err != nil {
		return err
	}
	if len(c.Address) == 0 && c.Service == "" && a.ServerAddress() == "" { // --address may lead to another machine
		defer a.Remark("No \"cloud serve\" of this user is running here: start it before a device uses the code.")
	}
	if c.To != "" {
		return c.write(a, code, addresses)
	}
	return c.print(a, code, addresses)
}

// print prints the code, and what to do with it.
func (c *pairCmd) print(a *cli.App, code transport.Code, addresses []string) error {
	if a.Globals.JSON {
		return a.JSON(map[string]any{"code": code.String(), "addresses": addresses, "expires": time.Now().Add(c.For).UTC().Truncate(time.Second)})
	}
	if c.QR && a.Color() {
		picture, err := code.QR()
		if err != nil {
			return err
		}
		fmt.Fprintln(a.Out, picture)
	}
	fmt.Fprintf(a.Out, "On the device, within %s:\n\n    edge pair %s\n\nIt reaches this cloud at %s.\n", spoken(c.For), code, strings.Join(addresses, ", "))
	return nil
}

// withPorts gives addresses without a port the default one.
func withPorts(addresses []string) (out []string) {
	for _, address := range addresses {
		host := strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
		if _, _, err := net.SplitHostPort(address); err != nil && host != "" && (!strings.Contains(host, ":") || net.ParseIP(host) != nil) {
			address = net.JoinHostPort(host, defaultPort)
		}
		out = append(out, address)
	}
	return out
}

// spoken returns a duration in whole minutes where it has any: "10 minutes", "90s".
func spoken(d time.Duration) string {
	if n := d / time.Minute; n > 1 && d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", n)
	}
	return d.String()
}

// checkTo checks the file of --to. It may hold an old code, but nothing else.
func (c *pairCmd) checkTo() error {
	if c.To == "" {
		return nil
	}
	info, err := cli.CheckOutput(c.To)
	if err != nil || info == nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	if info.Size() < 1<<12 {
		text, err := os.ReadFile(c.To)
		if err != nil {
			return err
		}
		if _, err := transport.ParseCode(string(text)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s exists and is not a pairing code: remove it, or name another file", c.To)
}

// write writes the code to the file of --to.
func (c *pairCmd) write(a *cli.App, code transport.Code, addresses []string) error {
	if err := a.WriteOutput(c.To, []byte(code.String()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the code: %w", err)
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"path": c.To, "addresses": addresses, "expires": time.Now().Add(c.For).UTC().Truncate(time.Second)})
	}
	fmt.Fprintf(a.Out, "The code is in %s. It works once, within %s, and leads to this cloud at %s.\n", c.To, spoken(c.For), strings.Join(addresses, ", "))
	return nil
}

// ownAddresses returns the addresses at which others reach a server that listens at the given address, the most public
// first. An empty address stands for the default port.
func ownAddresses(listening string) ([]string, error) {
	host, port, err := net.SplitHostPort(listening)
	if err != nil {
		port = defaultPort
	} else if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return []string{listening}, nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("look up this machine's addresses: %w; name one with --address", err)
	}
	return reachable(all, port), nil
}

// reachable returns up to two of a machine's addresses that others may reach, and the one that it alone reaches. Those of IPv6
// make a code longer, so they are left out where there are others.
func reachable(all []net.Addr, port string) (out []string) {
	for _, v4 := range []bool{true, false} {
		for _, a := range all {
			n, ok := a.(*net.IPNet)
			if ok && n.IP.IsGlobalUnicast() && (n.IP.To4() != nil) == v4 && len(out) < 2 {
				out = append(out, net.JoinHostPort(n.IP.String(), port))
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return append(out, net.JoinHostPort("127.0.0.1", port))
}
