package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// PeerJSON returns a peer as commands print it with --json.
func PeerJSON(p transport.Peer) map[string]any {
	return map[string]any{"name": p.Name, "key": p.ID.String(), "addresses": p.Addrs, "paired": p.Paired}
}

// ListPeers prints the paired sides.
func ListPeers(a *App, peers *transport.Peers) error {
	list, err := peers.List()
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		out := []any{}
		for _, p := range list {
			out = append(out, PeerJSON(p))
		}
		return a.JSON(map[string]any{"peers": out})
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "Nobody is paired.")
	}
	for _, p := range list {
		fmt.Fprintf(a.Out, "%-16s %-24s paired %s  %s\n", Plain(p.Name), Plain(strings.Join(p.Addrs, ", ")), p.Paired.Local().Format(time.DateTime), a.Faint(p.ID.Short()))
	}
	return nil
}

// RemovePeer forgets the paired side that which names: its name, an address, its key or the beginning of its key.
func RemovePeer(a *App, peers *transport.Peers, which string) error {
	list, err := peers.List()
	if err != nil {
		return err
	}
	meant := peersCalled(list, which)
	switch len(meant) {
	case 0:
		return fmt.Errorf("nobody called %q is paired: see %s pair --list", which, a.Program)
	case 1:
	default:
		var keys []string
		for _, p := range meant {
			keys = append(keys, fmt.Sprintf("%s (%s, paired %s)", p.ID, Plain(p.Name), p.Paired.Local().Format(time.DateTime)))
		}
		return fmt.Errorf("%q means %d paired sides: remove one by its key, or the beginning of it: %s", which, len(meant), strings.Join(keys, ", "))
	}
	p := meant[0]
	if err := peers.Remove(p.ID); err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(PeerJSON(p))
	}
	fmt.Fprintf(a.Out, "Forgot %s (%s).\n", Plain(p.Name), p.ID.Short())
	return nil
}

// leastKey is the shortest beginning of a key that RemovePeer accepts.
const leastKey = 4

// peersCalled returns the peers that text can mean. A whole key means only one, even if another peer uses it as a name.
func peersCalled(list []transport.Peer, text string) (meant []transport.Peer) {
	for _, p := range list {
		switch key := p.ID.String(); {
		case strings.EqualFold(key, text):
			return []transport.Peer{p}
		case IsPeer(p, text), len(text) >= leastKey && strings.HasPrefix(key, strings.ToUpper(text)):
			meant = append(meant, p)
		}
	}
	return meant
}

// IsPeer reports whether text is the name, the key or an address of p.
func IsPeer(p transport.Peer, text string) bool {
	if text == p.Name || text == p.ID.String() || text == p.ID.Short() {
		return true
	}
	for _, address := range p.Addrs {
		if text == address {
			return true
		}
	}
	return false
}
