package hostile

import (
	"context"
	"flag"
	"log/slog"
	"math/rand/v2"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/quic-go/quic-go/testutils/simnet"

	"tandem"
	"tandem/decoder"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/node"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

var long = flag.Duration("hostile", 0, "how long each test attacks, with other random bytes each time; 0 for once")

// atMost ends what hangs. It is far more than a busy machine needs.
const atMost = 5 * time.Minute

const question = "When does the museum open, and where is the cabin?"

// rounds calls attack with generators of random numbers: once, or for the time of the flag.
func rounds(t *testing.T, attack func(r *rand.Rand)) {
	for start, n := time.Now(), uint64(0); n == 0 || time.Since(start) < *long && !t.Failed(); n++ {
		attack(rand.New(rand.NewPCG(28, n)))
	}
}

// fork returns a generator for another goroutine.
func fork(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), r.Uint64())) }

// sides are what honest devices and clouds answer with.
type sides [2]node.Local

// newSides makes a small model and a document for each side.
func newSides(t *testing.T) (s sides) {
	t.Helper()
	words := []string{"cabin", "museum", "harbour", "opens", "wifi"}
	m, err := model.OpenBytes("tiny", tinymodel.GGUF(tinymodel.Spec{Words: words, Gain: 3, Seed: 3}), native.New(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	for side, text := range []string{"The cabin is at the harbour.", "The museum opens at nine."} {
		x, err := search.Memory(search.Options{Words: passages.SentenceWords})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		if _, err := x.AddFS(t.Context(), fstest.MapFS{"note.txt": {Data: []byte(text)}}, "."); err != nil {
			t.Fatal(err)
		}
		s[side] = node.Local{Model: m, Scorer: search.Lexical(), Documents: x}
	}
	return s
}

func (s sides) hello(side tandem.Side) transport.Hello {
	return s[side].Hello(side, "hostile", side.String())
}

func settings(seed uint64) tandem.Settings {
	return tandem.Settings{
		Nucleus: decoder.DefaultTopP, Support: 64, Lookahead: 12, MaxTokens: 12, Documents: 2,
		Seed: seed, Sampling: tandem.Sampling{Temperature: 1, TopP: 1, RepeatPenalty: 1},
	}
}

// patient waits as long as it must for a cloud that others keep busy.
var patient = node.Patience{Join: time.Minute, Silent: 20 * time.Second, Slow: time.Minute, Busy: time.Minute}

// device makes an honest device that dials an address.
func (s sides) device(id transport.Identity, cloud transport.ID, address string) *node.Device {
	return s.deviceOn(nil, id, cloud, address)
}

// deviceOn makes a device that dials from a socket, or from one of its own.
func (s sides) deviceOn(socket net.PacketConn, id transport.Identity, cloud transport.ID, address string) *node.Device {
	d := &node.Device{Local: s[tandem.Device], Patience: patient}
	d.Cloud = node.NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		return transport.Dial(ctx, address, transport.ClientConfig{Identity: id, Peer: cloud, Hello: s.hello(tandem.Device), PacketConn: socket, Log: quiet()})
	}, 0, "the cloud")
	return d
}

// ask returns the tokens of an answer. The placement is mirror unless another is given.
func ask(ctx context.Context, d *node.Device, seed uint64, place ...tandem.Placement) ([]tandem.Token, node.Answer, error) {
	with := settings(seed)
	for _, p := range place {
		with.Placement = p
	}
	a, err := d.Ask(ctx, node.Question{ID: "honest", Text: question}, with, func(node.Token) {})
	var ids []tandem.Token
	for _, t := range a.Tokens {
		ids = append(ids, t.ID)
	}
	return ids, a, err
}

// alone returns what a device answers without a cloud.
func (s sides) alone(t *testing.T, seed uint64) []tandem.Token {
	t.Helper()
	ids, _, err := ask(t.Context(), &node.Device{Local: s[tandem.Device]}, seed)
	if err != nil || len(ids) == 0 {
		t.Fatalf("alone: %v, %v", ids, err)
	}
	return ids
}

// target is a cloud that is attacked, with honest devices and one whose key is in bad hands.
type target struct {
	sides
	address  string
	id       transport.ID
	honest   []transport.Identity
	sockets  []net.PacketConn // of the honest devices; nil for one that opens its own
	attacker key
	stranger key // not paired
	cloud    *node.Cloud
	want     []tandem.Token // what an honest device is answered in peace, with seed 1
	stop     func()
}

// newTarget starts a cloud with few places, so that they are worth fighting for.
func newTarget(t *testing.T, s sides, devices int) *target {
	t.Helper()
	return newTargetOn(t, s, make([]net.PacketConn, devices), func(cfg transport.ServerConfig) (*transport.Listener, error) {
		return transport.Listen("127.0.0.1:0", cfg)
	})
}

// newCrowd is newTarget with many devices, in a simulated network.
func newCrowd(t *testing.T, s sides, devices int) *target {
	t.Helper()
	sim := &simnet.Simnet{Router: &simnet.PerfectRouter{}}
	ends := make([]net.PacketConn, devices+1)
	for i := range ends {
		ends[i] = sim.NewEndpoint(&net.UDPAddr{IP: net.IPv4(10, 0, 0, byte(i+1)), Port: 1000}, simnet.NodeBiDiLinkSettings{Latency: 10 * time.Millisecond})
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	g := newTargetOn(t, s, ends[:devices], func(cfg transport.ServerConfig) (*transport.Listener, error) {
		return transport.ListenOn(ends[devices], cfg)
	})
	stop := g.stop
	g.stop = func() {
		stop()
		for _, pc := range ends {
			pc.Close()
		}
		sim.Close()
	}
	return g
}

// newTargetOn starts a cloud, and gives each honest device a socket, or nil if it opens its own.
func newTargetOn(t *testing.T, s sides, devices []net.PacketConn, listen func(transport.ServerConfig) (*transport.Listener, error)) *target {
	t.Helper()
	g := &target{sides: s, sockets: devices, attacker: newKey(t), stranger: newKey(t)}
	peers := []transport.ID{g.attacker.id}
	for range devices {
		id, err := transport.Ephemeral()
		if err != nil {
			t.Fatal(err)
		}
		g.honest, peers = append(g.honest, id), append(peers, id.ID)
	}
	id, err := transport.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	g.id = id.ID
	g.cloud = node.NewCloud(node.CloudConfig{Local: s[tandem.Cloud], Limit: 4, Documents: 8, Tokens: 64, KVMemory: 64 << 20, GiveDocuments: true, Log: quiet()})
	l, err := listen(transport.ServerConfig{
		Identity: id, Peers: transport.NewPeers(peers...), Invites: transport.OpenInvites(t.TempDir()),
		Hello: s.hello(tandem.Cloud), Log: quiet(), Limits: transport.Limits{Conns: max(64, len(devices)+8)},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.address = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.cloud.Serve(ctx, l) }()
	g.stop = func() {
		cancel()
		l.Close()
		if err := <-served; err != nil {
			t.Errorf("the cloud ended: %v", err)
		}
	}
	if g.want = g.ask(t, 0); len(g.want) == 0 {
		t.Fatal("nothing was answered in peace")
	}
	return g
}

// ask lets an honest device ask, with a connection of its own.
func (g *target) ask(t *testing.T, i int) []tandem.Token {
	t.Helper()
	d := g.deviceOn(g.sockets[i], g.honest[i], g.id, g.address)
	defer d.Close()
	d.Require = true
	ids, _, err := ask(t.Context(), d, 1)
	if err != nil {
		t.Errorf("honest device %d: %v", i, err)
	}
	return ids
}

// same lets an honest device ask and checks that the answer is that of peace.
func (g *target) same(t *testing.T, i int) {
	t.Helper()
	if got := g.ask(t, i); !t.Failed() && !slices.Equal(got, g.want) {
		t.Errorf("honest device %d was answered %v, in peace %v", i, got, g.want)
	}
}

// leftovers measures what is there before an attack. The returned function checks that nothing was added, once all
// connections had time to end.
func leftovers(t *testing.T) (check func()) {
	t.Helper()
	count := func() (goroutines int, heap uint64) {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	goroutines, heap := count()
	return func() {
		t.Helper()
		var now int
		var used uint64
		start := time.Now()
		for time.Since(start) < atMost {
			if now, used = count(); now <= goroutines && used <= heap+16<<20 {
				t.Logf("nothing was left after %v", time.Since(start).Round(time.Millisecond))
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		t.Errorf("%d goroutines of %d are left, and %d MB on the heap of %d:\n%s", now, goroutines, used>>20, heap>>20, stacks[:min(len(stacks), 8<<10)])
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// printable reports whether a text can do nothing to a terminal.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}
