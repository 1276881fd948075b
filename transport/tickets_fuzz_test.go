package transport

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem"
)

// ticketOf returns the file of a session ticket, as a connection leaves it.
func ticketOf(t *testing.T) (file []byte) {
	synctest.Test(t, func(t *testing.T) {
		n := newTestNet(t, time.Millisecond)
		d, c := ephemeral(t), ephemeral(t)
		l, err := ListenOn(n.cloud, ServerConfig{Identity: c, Peers: NewPeers(d.ID), Hello: testHello(tandem.Cloud), Log: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		dir := t.TempDir()
		conn, err := Dial(t.Context(), cloudAddr.String(), ClientConfig{
			Identity: d, Peer: c.ID, Hello: testHello(tandem.Device), PacketConn: n.device, Log: quiet(), Tickets: OpenTickets(dir),
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		conn.Close("done")
		files, _ := filepath.Glob(filepath.Join(dir, "*.session"))
		if len(files) != 1 {
			t.Fatalf("tickets %q", files)
		}
		if file, err = os.ReadFile(files[0]); err != nil {
			t.Fatal(err)
		}
	})
	return file
}

// A ticket that a connection left is read.
func TestTicketIsRead(t *testing.T) {
	c := cache{filepath.Join(t.TempDir(), "x.session")}
	if err := writeFile(c.path, ticketOf(t)); err != nil {
		t.Fatal(err)
	}
	if s, ok := c.Get(""); !ok || s == nil {
		t.Error("it is not")
	}
}

// Of several dials at once, one gets the ticket.
func TestTicketIsUsedOnce(t *testing.T) {
	c := cache{filepath.Join(t.TempDir(), "x.session")}
	file := ticketOf(t)
	for range 500 {
		if err := os.WriteFile(c.path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		var got atomic.Int32
		var start, all sync.WaitGroup
		start.Add(1)
		for range 8 {
			all.Go(func() {
				start.Wait()
				if _, ok := c.Get(""); ok {
					got.Add(1)
				}
			})
		}
		start.Done()
		all.Wait()
		if got := got.Load(); got != 1 {
			t.Fatalf("%d dials got one ticket", got)
		}
	}
}

// A file of a ticket is read once, and gives a session that can be written again, or none. The seed "real" is what a
// connection left.
func FuzzTicket(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3, 4})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	c := cache{filepath.Join(f.TempDir(), "x.session")}
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(c.path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		session, ok := c.Get("")
		if _, err := os.Stat(c.path); err == nil {
			t.Fatal("the ticket is still there")
		}
		if !ok {
			return
		}
		c.Put("", session)
		if _, ok := c.Get(""); !ok {
			t.Fatal("it cannot be read again")
		}
	})
}
