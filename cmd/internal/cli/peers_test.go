package cli

import (
	"strings"
	"testing"
	"time"

	"tandem/transport"
)

// A word that can mean several peers removes none. A whole key means only one, even if another peer uses it as a name.
func TestRemovePeer(t *testing.T) {
	a, out, _ := testApp(t)
	peers := transport.NewPeers()
	add := func(first byte, name string) string {
		id := transport.ID{first}
		if err := peers.Add(transport.Peer{ID: id, Name: name, Paired: time.Unix(int64(first), 0)}); err != nil {
			t.Fatal(err)
		}
		return id.String()
	}
	one, two, three := add(1, "phone"), add(99, "phone"), add(200, "tablet")
	add(210, three)
	err := RemovePeer(a, peers, "phone")
	if err == nil || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), two) || strings.Contains(err.Error(), three) {
		t.Errorf("two of one name: %v", err)
	}
	for _, which := range []string{"nobody", one[:3], ""} {
		if err := RemovePeer(a, peers, which); err == nil || !strings.Contains(err.Error(), "pair --list") {
			t.Errorf("%q: %v", which, err)
		}
	}
	for _, which := range []string{strings.ToLower(one[:4]), "phone", three} {
		if err := RemovePeer(a, peers, which); err != nil {
			t.Errorf("%q: %v", which, err)
		}
	}
	if list, err := peers.List(); err != nil || len(list) != 1 || list[0].Name != three {
		t.Errorf("left are %v, %v\n%s", list, err, out)
	}
}

// The list of peers has no column that nobody fills.
func TestListPeersColumns(t *testing.T) {
	for _, c := range []struct {
		peer transport.Peer
		want string
	}{
		{transport.Peer{ID: transport.ID{1}, Name: "home", Addrs: []string{"10.0.0.1:4433"}}, "NAME ADDRESSES PAIRED KEY"},
		{transport.Peer{ID: transport.ID{1}, Name: "phone", Priority: 1}, "NAME PAIRED KEY PRIORITY"},
	} {
		a, out, _ := testApp(t)
		peers := transport.NewPeers()
		if err := peers.Add(c.peer); err != nil {
			t.Fatal(err)
		}
		if err := ListPeers(a, peers); err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(out.String(), "\n")
		if got := strings.Join(strings.Fields(header), " "); got != c.want || !strings.Contains(out.String(), c.peer.Name) {
			t.Errorf("%q, want the columns %s", out, c.want)
		}
	}
}

// Peers of one name are pointed out. JSON has a list of addresses even if there is none, and a priority only on the cloud.
func TestListPeersOfOneName(t *testing.T) {
	a, out, aside := testApp(t)
	peers := transport.NewPeers()
	for i := range byte(2) {
		if err := peers.Add(transport.Peer{ID: transport.ID{i + 1}, Name: "vm"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ListPeers(a, peers); err != nil || !strings.Contains(aside.String(), "Several are called vm: tell them apart by their keys") {
		t.Errorf("%v, %s", err, aside)
	}
	for program, priority := range map[string]bool{"edge": false, "cloud": true} {
		out.Reset()
		a.Program, a.Globals.JSON = program, true
		if err := ListPeers(a, peers); err != nil || strings.Contains(out.String(), "priority") != priority || !strings.Contains(out.String(), `"addresses": []`) {
			t.Errorf("%s: %v, %s", program, err, out)
		}
	}
}
