package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/transport"
)

// Peers is the folder of pinned keys.
func (d Dirs) Peers() string { return filepath.Join(d.Config, "peers") }

// Invites is the folder of open pairing codes.
func (d Dirs) Invites() string { return filepath.Join(d.State, "invites") }

// Sessions is the folder of TLS tickets, which save a round trip when a device connects again.
func (d Dirs) Sessions() string { return filepath.Join(d.State, "sessions") }

// HostName returns the name of this machine, or fallback if it has none.
func HostName(fallback string) string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return fallback
	}
	return name
}

// PeerJSON returns a peer as commands print it with --json. Only a cloud gives its peers priorities.
func (a *App) PeerJSON(p transport.Peer) map[string]any {
	out := map[string]any{"name": p.Name, "key": p.ID.String(), "addresses": append([]string{}, p.Addresses()...), "paired": p.Paired}
	if a.Program == "cloud" {
		out["priority"] = priorityName(p.Priority)
	}
	if p.Private {
		out["private"] = true
	}
	return out
}

// intactPeers returns the paired sides whose files can be read, and says which cannot.
func intactPeers(a *App, peers *transport.Peers) ([]transport.Peer, error) {
	list, err := peers.List()
	if errors.As(err, new(*transport.DamagedError)) {
		a.Remark("%v", err)
		err = nil
	}
	return list, err
}

// ListPeers prints the paired sides.
func ListPeers(a *App, peers *transport.Peers) error {
	list, err := intactPeers(a, peers)
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		out := []any{}
		for _, p := range list {
			out = append(out, a.PeerJSON(p))
		}
		return a.JSON(map[string]any{"peers": out})
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "Nobody is paired.")
		return nil
	}
	t := Table{Header: []string{"NAME", "ADDRESSES", "PAIRED", "KEY", "PRIORITY"}}
	called := map[string]int{}
	for _, p := range list {
		if called[p.Name]++; called[p.Name] == 2 {
			defer a.Remark("Several are called %s: tell them apart by their keys, or with %s pair --rename KEY --name NAME", Escape(p.Name), a.Program)
		}
		priority := ""
		if p.Priority != 0 {
			priority = priorityName(p.Priority)
		}
		name := p.Name
		if p.Private {
			name += " (private)"
		}
		t.Add(name, strings.Join(p.Addresses(), ", "), Day(p.Paired), p.ID.Short(), priority)
	}
	a.Table(t.WithoutEmpty()) // devices have no addresses, and few peers a priority
	return nil
}

// RenamePeer gives the paired side that which names another name on this machine.
func RenamePeer(a *App, peers *transport.Peers, which, name string) error {
	p, err := onePeer(a, peers, which)
	if err != nil {
		return err
	}
	before := p.Name
	if p, err = NamePeer(peers, p, name); err != nil {
		return err
	}
	if p, err = peers.Update(p.ID, func(now *transport.Peer) { now.Name = p.Name }); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(a.PeerJSON(p))
	}
	fmt.Fprintf(a.Out, "%s (%s) is now called %s.\n", Escape(before), p.ID.Short(), Escape(p.Name))
	return nil
}

// SetPeerPrivate says whether answers with the paired cloud that which names are private.
func SetPeerPrivate(a *App, peers *transport.Peers, which string, private bool) error {
	p, err := onePeer(a, peers, which)
	if err != nil {
		return err
	}
	if p, err = peers.Update(p.ID, func(now *transport.Peer) { now.Private = private }); err != nil {
		return err
	}
	switch {
	case a.Globals.JSON:
		return a.JSON(a.PeerJSON(p))
	case private:
		fmt.Fprintf(a.Out, "%s (%s) gets no drafts from this device from now on.\n", Escape(p.Name), p.ID.Short())
	default:
		fmt.Fprintf(a.Out, "%s (%s) gets drafts from this device from now on.\n", Escape(p.Name), p.ID.Short())
	}
	return nil
}

// priorities are the names of the priorities that an operator gives.
var priorities = []string{"low", "normal", "high"}

func priorityName(p int) string { return priorities[min(max(p, -1), 1)+1] }

// SetPeerPriority gives the paired side that which names a priority.
func SetPeerPriority(a *App, peers *transport.Peers, which, priority string) error {
	p, err := onePeer(a, peers, which)
	if err != nil {
		return err
	}
	rank := slices.Index(priorities, priority)
	if rank < 0 {
		return fmt.Errorf("--priority %s: want %s", priority, strings.Join(priorities, ", "))
	}
	if p, err = peers.Update(p.ID, func(now *transport.Peer) { now.Priority = rank - 1 }); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(a.PeerJSON(p))
	}
	fmt.Fprintf(a.Out, "%s (%s) has %s priority from its next question on.\n", Escape(p.Name), p.ID.Short(), priority)
	return nil
}

// longestName is the most characters of a peer's name that a user gives.
const longestName = 64

// NamePeer returns p with another name, unless another peer is called so.
func NamePeer(peers *transport.Peers, p transport.Peer, name string) (transport.Peer, error) {
	if name != Escape(name) || strings.TrimSpace(name) != name || name == "" || utf8.RuneCountInString(name) > longestName {
		return p, fmt.Errorf("--name %s: want 1 to %d printable characters, without spaces at the ends", Escape(name), longestName)
	}
	list, err := peers.List()
	if err != nil && !errors.As(err, new(*transport.DamagedError)) {
		return p, err
	}
	for _, other := range list {
		if other.ID != p.ID && IsPeer(other, name) {
			return p, fmt.Errorf("--name %s: another paired side has that name", name)
		}
	}
	p.Name = name
	return p, nil
}

// RemovePeer forgets the paired side that which names: its name, an address, its key or the beginning of its key.
func RemovePeer(a *App, peers *transport.Peers, which string) error {
	p, err := onePeer(a, peers, which)
	if err != nil {
		return err
	}
	if err := peers.Remove(p.ID); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(a.PeerJSON(p))
	}
	fmt.Fprintf(a.Out, "Forgot %s (%s).\n", Escape(p.Name), p.ID.Short())
	return nil
}

// onePeer returns the paired side that which names. It is an error if there is none, or more than one.
func onePeer(a *App, peers *transport.Peers, which string) (p transport.Peer, err error) {
	list, err := intactPeers(a, peers)
	if err != nil {
		return p, err
	}
	meant := peersCalled(list, which)
	switch len(meant) {
	case 0:
		return p, fmt.Errorf("nobody called %q is paired: see %s pair --list", which, a.Program)
	case 1:
	default:
		var keys []string
		for _, p := range meant {
			keys = append(keys, fmt.Sprintf("%s (%s, paired %s)", p.ID, Escape(p.Name), p.Paired.Local().Format(time.DateTime)))
		}
		return p, fmt.Errorf("%q means %d paired sides: name one by its key, or the beginning of it: %s", which, len(meant), strings.Join(keys, ", "))
	}
	return meant[0], nil
}

// minKey is the shortest beginning of a key that RemovePeer accepts.
const minKey = 4

// peersCalled returns the peers that text can mean. A whole key means only one, even if another peer uses it as a name.
func peersCalled(list []transport.Peer, text string) (meant []transport.Peer) {
	for _, p := range list {
		switch key := p.ID.String(); {
		case strings.EqualFold(key, text):
			return []transport.Peer{p}
		case IsPeer(p, text), len(text) >= minKey && strings.HasPrefix(key, strings.ToUpper(text)):
			meant = append(meant, p)
		}
	}
	return meant
}

// IsPeer reports whether text is the name, the key or an address of p.
func IsPeer(p transport.Peer, text string) bool {
	return text == p.Name || text == p.ID.String() || text == p.ID.Short() || slices.Contains(p.Addresses(), text)
}
