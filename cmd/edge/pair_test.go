package main

import (
	"context"
	"errors"
	"log/slog"
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
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
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
