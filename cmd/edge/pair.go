package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/transport"
)

type pairCmd struct {
	Code       []string       `arg:"" optional:"" help:"The code that \"cloud pair\" printed, or the text in its QR code. Default: a line of standard input, which keeps the code out of process lists."`
	From       string         `help:"Read the code from this file, which \"cloud pair --to\" wrote." type:"path" placeholder:"FILE"`
	Wait       *time.Duration `help:"How long to keep trying while no cloud answers. Default: 0s." placeholder:"DURATION"`
	Name       string         `help:"Name of the cloud on this device. Default: the name of its machine." type:"name" env:"-" placeholder:"NAME"`
	Rename     string         `help:"Rename a paired cloud to --name." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
	Private    bool           `help:"Send this cloud no drafts from this device, as with edge ask --private." env:"-"`
	PrivateFor string         `help:"From now on, treat a paired cloud as with --private; name it as for --remove." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
	OpenFor    string         `help:"The opposite of --private-for." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
	List       bool           `help:"List the paired clouds." xor:"what" env:"-"`
	Remove     string         `help:"Forget a paired cloud, given its name, address, key or the beginning of its key." xor:"what" type:"name" env:"-" placeholder:"WHICH"`
}

func (c *pairCmd) Help() string {
	return `Examples:
  cloud serve                            on the cloud
  cloud pair                             on the cloud, in another terminal: prints a code
  edge pair MNXW-...                     here; hyphens and case do not matter
  edge pair --name home MNXW-...
  edge pair --from /media/stick/code
  edge pair --private MNXW-...
  edge pair --list
  edge pair --private-for home
  edge pair --rename homeserver --name home
  edge pair --remove home

A code works once, within ten minutes. It contains the cloud's address and key. After pairing, each end knows the other's key, and no code is needed.`
}

func (c *pairCmd) Run(a *cli.App) error {
	dirs, err := a.Dirs()
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	peers := transport.OpenPeers(dirs.Peers())
	switch {
	case c.Remove != "":
		return cli.RemovePeer(a, peers, c.Remove)
	case c.List:
		return cli.ListPeers(a, peers)
	case c.Rename != "":
		return cli.RenamePeer(a, peers, c.Rename, c.Name)
	case c.PrivateFor != "":
		return cli.SetPeerPrivate(a, peers, c.PrivateFor, true)
	case c.OpenFor != "":
		return cli.SetPeerPrivate(a, peers, c.OpenFor, false)
	}
	code, err := c.code(a)
	if err != nil {
		return err
	}
	id, err := transport.LoadOrCreateIdentity(dirs.Config)
	if err != nil {
		return err
	}
	a.Progress("pairing with %s", strings.Join(code.Addrs, ", "))
	peer, err := c.pair(a, code, id)
	a.Clear()
	var refused *transport.RefusedError
	switch {
	case err == nil:
		return c.keep(a, peers, peer)
	case c.From != "" && errors.As(err, &refused): // a script may use the file again
		if known := pairedBy(peers, code); known != nil {
			return c.again(a, peers, *known, id, err)
		}
	}
	if a.Err() != nil {
		return err
	}
	return fmt.Errorf("%w; %s", err, wayBack(err))
}

// again does what the flags ask for to a cloud that is paired already, and that refuses the code for the reason err. If the cloud
// does not confirm the pairing, it returns err, too.
func (c *pairCmd) again(a *cli.App, peers *transport.Peers, known transport.Peer, id transport.Identity, err error) error {
	if gone := confirm(a, known, id); gone != nil {
		return fmt.Errorf("%w; this device was paired with %s, which does not confirm it: %w", err, cli.Escape(known.Name), gone)
	}
	a.Remark("%v; this device is already paired with %s", err, cli.Escape(known.Name))
	return c.apply(a, peers, known)
}

// check refuses flags that do not belong together. Kong sees to it that only one of those asks for something else than pairing.
func (c *pairCmd) check() error {
	other := namesOf(namedFlag{"--remove", c.Remove != ""}, namedFlag{"--list", c.List}, namedFlag{"--rename", c.Rename != ""},
		namedFlag{"--private-for", c.PrivateFor != ""}, namedFlag{"--open-for", c.OpenFor != ""})
	switch {
	case len(other) > 0 && len(c.Code) > 0:
		return fmt.Errorf("a code and %s: give only one of them", other[0])
	case len(other) > 0 && (c.From != "" || c.Private):
		return fmt.Errorf("--from and --private are for pairing: leave them out, or leave out %s", other[0])
	case c.Rename != "" && c.Name == "":
		return errors.New("--rename needs --name, the new name")
	case c.Wait != nil && *c.Wait < 0:
		return fmt.Errorf("--wait %v: want 0s or more", *c.Wait)
	}
	return nil
}

// code reads the code from where it was given.
func (c *pairCmd) code(a *cli.App) (code transport.Code, err error) {
	text := strings.Join(c.Code, " ")
	switch {
	case c.From != "" && text != "":
		return code, errors.New("a code and --from: give only one of them")
	case c.From != "":
		text, err = readCode(c.From)
	case text == "":
		text, err = interruptible(a, func() (string, error) { return typedCode(a) })
	}
	if err != nil {
		return code, err
	}
	return transport.ParseCode(pairCommand.ReplaceAllString(text, "")) // the whole line may be pasted
}

// pairCommand is what "cloud pair" prints before a code.
var pairCommand = regexp.MustCompile(`^\s*edge\s+pair\s`)

// keep remembers a cloud that was paired just now, under the name asked for, and says so.
func (c *pairCmd) keep(a *cli.App, peers *transport.Peers, peer transport.Peer) error {
	if c.Name != "" {
		named, err := cli.NamePeer(peers, peer, c.Name)
		if err != nil { // the code is used up, so keep the pairing
			a.Remark("%v; it keeps the name %s: edge pair --rename %s --name …", err, cli.Escape(peer.Name), peer.ID.Short())
		}
		peer = named
	}
	known, err := peers.Lookup(peer.ID)
	peer.Private = c.Private || err == nil && known.Private
	if err := peers.Add(peer); err != nil {
		return err
	}
	reached(a, peer.ID)
	if a.Globals.JSON {
		return a.JSON(a.PeerJSON(peer))
	}
	fmt.Fprintf(a.Out, "Paired with %s (%s). Questions go there now: edge ask \"…\"\n", cli.Escape(peer.Name), strings.Join(peer.Addrs, ", "))
	return nil
}

// reached makes the next question wait for a cloud that was missing until now.
func reached(a *cli.App, id transport.ID) {
	if a.LoadLink(id).Missed.IsZero() {
		return
	}
	if err := a.SaveMissed(id, time.Time{}); err != nil {
		a.Log.Info("cannot save that the cloud is back", "error", err)
	}
}

// apply gives a cloud that was paired before what the flags ask for, as keep does for a new one.
func (c *pairCmd) apply(a *cli.App, peers *transport.Peers, known transport.Peer) (err error) {
	reached(a, known.ID)
	named := known
	if c.Name != "" {
		if named, err = cli.NamePeer(peers, known, c.Name); err != nil {
			return err
		}
	}
	now, err := peers.Update(known.ID, func(p *transport.Peer) {
		p.Name = named.Name
		p.Private = p.Private || c.Private
	})
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(a.PeerJSON(now))
	}
	if c.Name != "" {
		a.Remark("%s (%s) is called %s", cli.Escape(known.Name), now.ID.Short(), cli.Escape(now.Name))
	}
	if c.Private {
		a.Remark("%s (%s) gets no drafts from this device", cli.Escape(now.Name), now.ID.Short())
	}
	return nil
}

// pair offers the code, once a second for as long as --wait says.
func (c *pairCmd) pair(a *cli.App, code transport.Code, id transport.Identity) (transport.Peer, error) {
	until := time.Now()
	if c.Wait != nil {
		until = until.Add(*c.Wait)
	}
	for {
		ctx, cancel := context.WithTimeout(a, 30*time.Second)
		peer, err := transport.Pair(ctx, code, id, cli.HostName("edge"), nil)
		cancel()
		var refused *transport.RefusedError
		if err == nil || errors.As(err, &refused) || time.Now().After(until) {
			return peer, err
		}
		a.Progress("nobody answers at %s yet", strings.Join(code.Addrs, ", "))
		select {
		case <-time.After(time.Second):
		case <-a.Done():
			return peer, a.Err()
		}
	}
}

// pairedBy returns the paired cloud whose key a code names, or nil.
func pairedBy(peers *transport.Peers, code transport.Code) *transport.Peer {
	list, err := peers.List()
	if err != nil {
		return nil
	}
	for _, p := range list {
		if bytes.HasPrefix(p.ID[:], code.Pin[:]) {
			return &p
		}
	}
	return nil
}

// confirm returns why a paired cloud does not take this device for paired, or nil. No model is open here, so the cloud may find
// that the sides differ; it says so only to a device that is paired.
func confirm(ctx context.Context, cloud transport.Peer, id transport.Identity) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, _, err := transport.DialAny(ctx, cloud.Addresses(), func(ctx context.Context, address string) (*transport.Conn, error) {
		return transport.Dial(ctx, address, transport.ClientConfig{
			Identity: id, Peer: cloud.ID, Hello: transport.Hello{Software: cli.Version(), Name: cli.HostName("edge"), Side: tandem.Device, VocabSize: 1},
		})
	})
	if errors.As(err, new(*transport.MismatchError)) {
		return nil
	}
	if err == nil {
		conn.Close("checked")
	}
	return err
}

// typedCode reads a code from standard input. On a terminal it asks for it.
func typedCode(a *cli.App) (string, error) {
	if cli.IsTerminal(os.Stdin) {
		a.Remark("the code that \"cloud pair\" printed:")
	}
	in := bufio.NewScanner(io.LimitReader(os.Stdin, longestCode))
	for in.Scan() {
		if text := strings.TrimSpace(in.Text()); text != "" {
			return text, nil
		}
	}
	if err := in.Err(); err != nil {
		return "", fmt.Errorf("read the code: %w", err)
	}
	return "", errors.New("no code: run \"cloud pair\" on the cloud and give its code here")
}

// longestCode is how many bytes are read of a code. ParseCode refuses longer ones.
const longestCode = 4096

// readCode reads a code from a file.
func readCode(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the code: %w; \"cloud pair --to\" writes one", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", fmt.Errorf("read the code: %s is a folder: name the file that \"cloud pair --to\" wrote", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, longestCode))
	if err != nil {
		return "", fmt.Errorf("read the code: %w", err)
	}
	return string(text), nil
}
