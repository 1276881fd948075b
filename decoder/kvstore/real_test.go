package kvstore

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// gatewayVariable names the program versitygw, which serves a folder by S3's protocol.
const gatewayVariable = "TANDEM_VERSITYGW"

// gateway is a versitygw that runs.
type gateway struct {
	t       *testing.T
	address string
	dir     string // a folder in it is a bucket
	process *exec.Cmd
}

// startGateway starts a versitygw with a bucket. It skips the test where there is none.
func startGateway(t *testing.T) *gateway {
	t.Helper()
	program := os.Getenv(gatewayVariable)
	if program == "" {
		t.Skipf("there is no server of S3's protocol to test with: set %s to the path of versitygw", gatewayVariable)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := &gateway{t: t, address: l.Addr().String(), dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(g.dir, "bucket"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.process = exec.Command(program, "--access", "id", "--secret", "secret", "--region", "eu-west-3", "--port", g.address, "posix", "--sidecar", t.TempDir(), g.dir)
	var said bytes.Buffer
	g.process.Stdout, g.process.Stderr = &said, &said
	l.Close()
	if err := g.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.kill(); t.Failed() {
			t.Logf("versitygw said:\n%s", said.Bytes())
		}
	})
	for range 600 { // a minute
		if c, err := net.Dial("tcp", g.address); err == nil {
			c.Close()
			return g
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("versitygw does not listen")
	return nil
}

func (g *gateway) kill() {
	if g.process != nil {
		g.process.Process.Kill()
		g.process.Wait()
		g.process = nil
	}
}

// share opens a store with a folder of its own that shares the bucket, below a prefix.
func (g *gateway) share(secret, prefix string) *Store {
	g.t.Helper()
	b, err := ParseBucket("http://"+g.address+"/bucket/"+prefix, func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": "eu-west-3"}[name]
	})
	if err != nil {
		g.t.Fatal(err)
	}
	s := open(g.t, g.t.TempDir(), 1<<30)
	s.Share(b, slog.New(slog.DiscardHandler))
	return s
}

// Machines share blobs through a real server: large ones and empty ones, whatever the prefix is. What is damaged there,
// a wrong key and a server that is gone are misses.
func TestRealBucket(t *testing.T) {
	g := startGateway(t)
	large := bytes.Repeat([]byte("keys and values "), 1<<21) // 32 MB
	for _, prefix := range []string{"", "kv", "a/b/", "Zürich $1+2=3 (~kv*!')"} {
		a, b := g.share("secret", prefix), g.share("secret", prefix)
		put(t, a, 1, large)
		put(t, a, 2, nil)
		a.Close()
		if got := get(t, b, 1); !bytes.Equal(got, large) {
			t.Errorf("%q: %d bytes of %d", prefix, len(got), len(large))
		}
		if r, ok := b.Get(t.Context(), keyOf(2)); !ok {
			t.Errorf("%q: an empty blob is not there", prefix)
		} else {
			r.Close()
		}
		if get(t, b, 3) != nil {
			t.Errorf("%q: a blob from nowhere", prefix)
		}
		if sent, got := a.Shares(), b.Shares(); sent != (Shares{Sent: 2}) || got != (Shares{Fetched: 2, Missed: 1}) {
			t.Errorf("%q: %+v, %+v", prefix, sent, got)
		}
		b.Close()
	}

	files, err := filepath.Glob(filepath.Join(g.dir, "bucket", "kv", "*"+kvSuffix))
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, f := range files { // a server that changes what it keeps
		if err := os.Truncate(f, 70); err != nil {
			t.Fatal(err)
		}
	}
	s := g.share("secret", "kv")
	if get(t, s, 1) != nil || s.Shares() != (Shares{Missed: 1}) {
		t.Errorf("a damaged blob: %+v", s.Shares())
	}
	s.Close()

	s = g.share("another", "")
	if get(t, s, 1) != nil || s.Shares() != (Shares{Failed: 1}) {
		t.Errorf("a wrong key: %+v", s.Shares())
	}
	s.Close()

	s = g.share("secret", "")
	g.kill()
	if get(t, s, 1) != nil || s.Shares() != (Shares{Failed: 1}) {
		t.Errorf("a server that is gone: %+v", s.Shares())
	}
	put(t, s, 4, []byte("of this machine"))
	if got := get(t, s, 4); string(got) != "of this machine" {
		t.Errorf("without the server: %q", got)
	}
	s.Close()
}
