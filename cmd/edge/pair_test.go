package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem"
	"tandem/transport"
)

// Only a cloud that still knows this device confirms its pairing.
func TestConfirm(t *testing.T) {
	var ids [2]transport.Identity
	for i := range ids {
		var err error
		if ids[i], err = transport.Ephemeral(); err != nil {
			t.Fatal(err)
		}
	}
	peers := transport.NewPeers(ids[0].ID)
	l, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: ids[1], Peers: peers, Hello: transport.Hello{Side: tandem.Cloud, VocabSize: 300}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
	defer end()
	cloud := transport.Peer{ID: ids[1].ID, Name: "cellar", Addrs: []string{l.Addr().String()}}
	if err := confirm(ctx, cloud, ids[0]); err != nil {
		t.Errorf("while it is paired: %v", err)
	}
	if err := peers.Remove(ids[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := confirm(ctx, cloud, ids[0]); !errors.As(err, new(*transport.NotPairedError)) {
		t.Errorf("after it was revoked: %v", err)
	}
}

// A script may use the file with a code again. What its flags ask for is then done to the cloud that is paired already.
func TestPairAgainFromAFile(t *testing.T) {
	t.Parallel()
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	invites := transport.OpenInvites(t.TempDir())
	l, err := transport.Listen("127.0.0.1:0", transport.ServerConfig{
		Identity: id, Peers: transport.NewPeers(), Invites: invites,
		Hello: transport.Hello{Side: tandem.Cloud, VocabSize: 300, Name: "cellar"}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			if _, err := l.Accept(t.Context()); err != nil {
				return
			}
		}
	}()
	code, err := invites.New(id.ID, []string{l.Addr().String()}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	file := filepath.Join(h.Dir, "code")
	if err := os.WriteFile(file, []byte(code.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pair := func(want string, flags ...string) {
		t.Helper()
		if out, stderr, err := h.Run(append([]string{"pair", "--from", file}, flags...)...); err != nil || !strings.Contains(out+stderr, want) {
			t.Errorf("pair %q: %v, %s%s; want %q", flags, err, out, stderr, want)
		}
	}
	listed := func(want string) {
		t.Helper()
		if out, _, err := h.Run("pair", "--list"); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v, %s; want %q", err, out, want)
		}
	}
	pair("Paired with cellar")
	pair("already paired with cellar")
	listed("cellar ")
	pair("is called home", "--name", "home")
	listed("home ")
	pair("home", "--private")
	listed("home (private)")
	pair("already paired with home")
	listed("home (private)")
	if _, stderr, err := h.Run("pair", "--from", file, "--name", " "); err == nil {
		t.Errorf("a bad name is taken: %s", stderr)
	}
	for _, given := range [][]string{{code.String()}, {"--from", file}} {
		if _, stderr, err := newHome(t).Run(append([]string{"pair"}, given...)...); err == nil || !strings.Contains(stderr, "used already") || !strings.Contains(stderr, "see what \"cloud serve\" says there") {
			t.Errorf("pair %q: %v, %s; want what to do about a refusal", given, err, stderr)
		}
	}
}
