package netem

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/testfile"
)

// Some systems count pings from 0.
func TestReadPingFromZero(t *testing.T) {
	line := "64 bytes from 192.0.2.1: %s=%d ttl=57 time=%d ms\n"
	for _, name := range []string{"icmp_seq", "seq"} {
		trace, err := readPing(strings.NewReader(fmt.Sprintf(line, name, 0, 20) + fmt.Sprintf(line, name, 2, 30)))
		if err != nil {
			t.Fatal(err)
		}
		want := []Point{{Delay: 10 * ms}, {At: time.Second, Delay: 10 * ms, Loss: 1}, {At: 2 * time.Second, Delay: 15 * ms}}
		if !slices.Equal(trace.Points, want) || trace.Period != 3*time.Second {
			t.Errorf("%s: %+v, want %+v", name, trace, want)
		}
	}
}

func TestReadPing(t *testing.T) {
	log := `PING host (192.0.2.1) 56(84) bytes of data.
64 bytes from host (192.0.2.1): icmp_seq=1 ttl=57 time=20.0 ms
64 bytes from host (192.0.2.1): icmp_seq=2 ttl=57 time=30 ms
64 bytes from host (192.0.2.1): icmp_seq=4 ttl=57 time=2020 ms
64 bytes from host (192.0.2.1): icmp_seq=5 ttl=57 time=1020 ms
64 bytes from host (192.0.2.1): icmp_seq=6 ttl=57 time=20 ms
`
	trace, err := readPing(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLink(Config{Trace: trace})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ now, want time.Duration }{
		{0, 10 * ms}, {999 * ms, 1009 * ms},
		{1000 * ms, 1015 * ms},
		{2500 * ms, -1},        // no reply
		{3000 * ms, 5010 * ms}, // the stall: all arrive at its end
		{3400 * ms, 5010 * ms},
		{4700 * ms, 5010 * ms},
		{5000 * ms, 5010 * ms},
		{6000 * ms, 6010 * ms}, // repeated from the start
	} {
		out := l.Step(c.now, 100, nil)
		if c.want < 0 && len(out) == 0 {
			continue
		}
		if len(out) != 1 || (out[0]-c.want).Abs() > time.Microsecond {
			t.Errorf("packet of %v arrives at %v, want %v", c.now, out, c.want)
		}
	}
}

func TestReadPackets(t *testing.T) {
	trace, err := readPackets(strings.NewReader("10\n10\n\n20\n"))
	if err != nil {
		t.Fatal(err)
	}
	l, _ := NewLink(Config{Trace: trace})
	for i, want := range []time.Duration{10, 10, 10, 10, 20, 20, 30, 30, 30, 30} { // 700 bytes each, all at 0
		if out := l.Step(0, 700, nil); len(out) != 1 || out[0] != want*ms {
			t.Errorf("packet %d leaves at %v, want %v", i, out, want*ms)
		}
	}
	if out := l.Step(1005*ms, 1, nil); out[0] != 1010*ms { // long after: missed opportunities are lost
		t.Errorf("after a pause: %v", out)
	}
	for _, bad := range []string{"", "x", "5\n4", "0", "-1", "99999999999999999999"} {
		if _, err := readPackets(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestReadCSV(t *testing.T) {
	text := "time_s,rtt_ms,upload_mbps,download_mbps,note\n5,40,1,2,a\n6,80,0.5,4,b\n"
	up, err := readCSV(strings.NewReader(text), Up)
	if err != nil {
		t.Fatal(err)
	}
	if p := up.at(1500 * ms); p.Delay != 40*ms || p.Rate != 0.5e6 {
		t.Errorf("up at 1.5 s: %+v", p)
	}
	down, _ := readCSV(strings.NewReader(text), Down)
	if p := down.at(0); p.Delay != 20*ms || p.Rate != 2e6 {
		t.Errorf("down at 0: %+v", p)
	}
	for _, bad := range []string{"", "a,b\n1,2\n", "rtt_ms\n", "rtt_ms\nx\n", "rtt_ms\n-5\n", "loss\n2\n", "time_s,rtt_ms\n1,1\n1,1\n", "rtt_ms,loss\n1\n"} {
		if _, err := readCSV(strings.NewReader(bad), Up); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// The recorded networks can be loaded, and the stall in one of them lasts ten seconds.
func TestRecordedTraces(t *testing.T) {
	dir := testfile.Shared(t, "data", "traces")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, d := range []Direction{Up, Down} {
			trace, err := LoadTrace(filepath.Join(dir, f.Name()), d)
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			if err := trace.Validate(); err != nil {
				t.Errorf("%s: %v", f.Name(), err)
			}
		}
	}
	trace, err := LoadTrace(filepath.Join(dir, "ping-cloud-ORAN.txt"), Up)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := NewLink(Config{Trace: trace})
	end := l.Step(407*time.Second, 100, nil)[0] // the 408th reply
	if end < 417*time.Second || end > 418*time.Second {
		t.Errorf("the stall ends at %v", end)
	}
	for now := 407*time.Second + 200*ms; now < end-time.Second; now += 200 * ms {
		if at := l.Step(now, 100, nil)[0]; (at - end).Abs() > 300*ms {
			t.Errorf("packet of %v arrives at %v, but the stall ends at %v", now, at, end)
		}
	}
}

func FuzzTraces(f *testing.F) {
	f.Add("64 bytes: seq=0 ttl=57 time=20.0 ms\n64 bytes: seq=2 ttl=57 time=1 ms\n")
	f.Add("64 bytes: icmp_seq=1 ttl=57 time=20.0 ms\n64 bytes: icmp_seq=3 ttl=57 time=1 ms\n")
	f.Add("1\n2\n2\n")
	f.Add("time_s,rtt_ms,loss\n1,2,0.5\n2,3,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		read := []func() (*Trace, error){
			func() (*Trace, error) { return readPing(strings.NewReader(text)) },
			func() (*Trace, error) { return readPackets(strings.NewReader(text)) },
			func() (*Trace, error) { return readCSV(strings.NewReader(text), Up) },
		}
		for _, r := range read {
			trace, err := r()
			if err != nil {
				continue
			}
			l, err := NewLink(Config{Trace: trace})
			if err != nil {
				t.Fatalf("a trace that was read cannot be replayed: %v", err)
			}
			for now := time.Duration(0); now < 3*trace.Period; now += trace.Period/7 + 1 {
				for _, at := range l.Step(now, 700, nil) {
					if at < now {
						t.Fatalf("packet of %v arrives at %v", now, at)
					}
				}
			}
		}
	})
}
