package netem

import (
	"math/bits"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// echo starts a server that returns every packet and reports where it came from.
func echo(t *testing.T) (addr string, from chan string) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	from = make(chan string, 100)
	go func() {
		buf := make([]byte, 2000)
		for {
			n, who, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			from <- who.String()
			conn.WriteTo(buf[:n], who)
		}
	}()
	return conn.LocalAddr().String(), from
}

// through returns a client of the relay, for some minutes.
func through(t *testing.T, r *Relay) net.Conn {
	t.Helper()
	client, err := net.Dial("udp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	client.SetDeadline(time.Now().Add(2 * time.Minute))
	return client
}

func TestRelay(t *testing.T) {
	target, from := echo(t)
	r, err := Listen(target, Config{Delay: 20 * ms})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	client := through(t, r)
	ask := func(text string) string {
		client.Write([]byte(text))
		buf := make([]byte, 100)
		n, err := client.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if string(buf[:n]) != text {
			t.Fatalf("%q came back as %q", text, buf[:n])
		}
		return <-from
	}
	start := time.Now()
	first := ask("one")
	took := time.Since(start)
	if took < 40*ms {
		t.Errorf("round trip %v, shorter than the path's 40 ms", took)
	}
	t.Logf("round trip of a 40 ms path: %v", took)
	if again := ask("two"); again != first {
		t.Errorf("the client's address changed from %s to %s", first, again)
	}
	r.Rebind()
	if again := ask("three"); again == first {
		t.Error("the client's address did not change")
	}
	const held = 300 * ms
	start = time.Now() // the client may begin late
	r.Interrupt(held, true)
	if ask("four"); time.Since(start) < held {
		t.Errorf("a packet came back %v after an interruption of %v began", time.Since(start), held)
	}
	r.Interrupt(time.Hour, false)
	client.Write([]byte("five"))
	for end := time.Now().Add(2 * time.Minute); r.Stats().Up.In < 5 && time.Now().Before(end); {
		time.Sleep(ms)
	}
	client.SetReadDeadline(time.Now().Add(100 * ms))
	if n, err := client.Read(make([]byte, 100)); err == nil {
		t.Errorf("%d bytes passed an interruption", n)
	}
	if s := r.Stats(); s.Up.In != 5 || s.Down.Out != 4 {
		t.Errorf("stats %+v", s)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A path that takes the place of another begins its own time: its outage is met by who comes after it.
func TestRelayEmulate(t *testing.T) {
	target, _ := echo(t)
	r, err := Listen(target, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	client := through(t, r)
	trip := func() {
		client.Write([]byte("hello"))
		if _, err := client.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	trip()
	time.Sleep(120 * ms) // longer than the outage that follows would last from the relay's start
	begun := time.Now()  // the client may begin late
	if err := r.Emulate(Config{Outages: []Outage{{For: 100 * ms, Hold: true}}}, Config{Delay: 30 * ms}); err != nil {
		t.Fatal(err)
	}
	if trip(); time.Since(begun) < 130*ms {
		t.Errorf("a packet came back after %v, before the outage and the delay are over", time.Since(begun))
	}
	if err := r.Emulate(Config{Loss: 2}, Config{}); err == nil {
		t.Error("a loss of 200 %")
	}
}

func TestRelayRefuses(t *testing.T) {
	if _, err := Listen("127.0.0.1:9", Config{Loss: 2}); err == nil {
		t.Error("loss of 2 was accepted")
	}
	if _, err := Listen("no port", Config{}); err == nil {
		t.Error("a target without a port was accepted")
	}
}

// A relay forgets outages that are over, and keeps those that come again.
func TestRelayForgetsOutages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := Outage{For: time.Second, Every: time.Minute}
		link := &Link{cfg: Config{Outages: []Outage{again}}}
		r := &Relay{up: &pipe{link: link}, down: &pipe{link: &Link{}}, start: time.Now()}
		for range 3 {
			r.Interrupt(time.Second, true)
			time.Sleep(2 * time.Second)
		}
		if got := link.cfg.Outages; len(got) != 2 || got[0] != again || got[1].From != 4*time.Second {
			t.Errorf("outages %+v", got)
		}
	})
}

// A path that corrupts flips one bit of each packet, and nothing without that.
func TestRelayCorrupts(t *testing.T) {
	target, _ := echo(t)
	for _, share := range []float64{0, 1} {
		r, err := ListenOn("127.0.0.1:0", target, Config{Corrupt: share, Seed: 7}, Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		client := through(t, r)
		sent, got := make([]byte, 100), make([]byte, 200)
		if _, err := client.Write(sent); err != nil {
			t.Fatal(err)
		}
		n, err := client.Read(got)
		if err != nil || n != len(sent) {
			t.Fatalf("%d bytes, %v", n, err)
		}
		flipped := 0
		for _, b := range got[:n] {
			flipped += bits.OnesCount8(b)
		}
		if flipped != int(share) {
			t.Errorf("share %v: %d bits flipped", share, flipped)
		}
	}
}
