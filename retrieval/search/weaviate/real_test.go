package weaviate

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/retrieval/search/searchtest"
)

// serverVariable names the program weaviate-server for tests with a real cluster.
const serverVariable = "TANDEM_WEAVIATE"

// real is a cluster of processes on this machine.
type real struct {
	t       *testing.T
	program string
	nodes   []*realNode
}

type realNode struct {
	name, dir                  string
	http, remote, gossip, raft int // ports; the ones after gossip and raft are taken, too, for data and calls
	process                    *exec.Cmd
	log                        *os.File
}

// startCluster starts three nodes and waits until they answer. It skips the test where there is no Weaviate.
func startCluster(t *testing.T) *real {
	t.Helper()
	c := &real{t: t, program: os.Getenv(serverVariable)}
	if c.program == "" {
		t.Skipf("there is no Weaviate to test with: set %s to the path of weaviate-server, or see lab/peers/weaviate.sh", serverVariable)
	}
	for i := range 3 {
		n := &realNode{name: fmt.Sprint("node", i+1), dir: t.TempDir(), http: freePorts(t), remote: freePorts(t)}
		n.gossip, n.raft = freePorts(t), freePorts(t)
		c.nodes = append(c.nodes, n)
	}
	for i, n := range c.nodes {
		c.start(n)
		if i == 0 {
			c.wait(n, "to gossip", func() bool { return listens(n.gossip) }) // others join through it
		}
	}
	for _, n := range c.nodes {
		c.ready(n)
	}
	return c
}

// freePorts returns a port such that it and the next one are free.
func freePorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1)))
		first.Close()
		if err == nil {
			second.Close()
			return port
		}
	}
	t.Fatal("no two ports in a row are free")
	return 0
}

func listens(port int) bool {
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		c.Close()
	}
	return err == nil
}

// start starts a node, over what it had written before.
func (c *real) start(n *realNode) {
	c.t.Helper()
	var raft []string
	for _, o := range c.nodes {
		raft = append(raft, fmt.Sprintf("%s:%d", o.name, o.raft))
	}
	var err error
	if n.log, err = os.Create(filepath.Join(n.dir, "log")); err != nil {
		c.t.Fatal(err)
	}
	n.process = exec.Command(c.program, "--scheme", "http", "--host", "127.0.0.1", "--port", strconv.Itoa(n.http))
	n.process.Stdout, n.process.Stderr = n.log, n.log
	n.process.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir, "PERSISTENCE_DATA_PATH=" + filepath.Join(n.dir, "data"),
		"AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=true", "DEFAULT_VECTORIZER_MODULE=none", "DISABLE_TELEMETRY=true", "MEMBERLIST_FAST_FAILURE_DETECTION=true",
		"GO_PROFILING_DISABLE=true", "LOG_LEVEL=warning", "GRPC_PORT=" + strconv.Itoa(n.remote),
		"CLUSTER_IN_LOCALHOST=true", "CLUSTER_HOSTNAME=" + n.name, "CLUSTER_BIND_ADDR=127.0.0.1", "CLUSTER_ADVERTISE_ADDR=127.0.0.1", "CLUSTER_ADVERTISE_PORT=" + strconv.Itoa(n.gossip),
		"CLUSTER_GOSSIP_BIND_PORT=" + strconv.Itoa(n.gossip), "CLUSTER_DATA_BIND_PORT=" + strconv.Itoa(n.gossip+1),
		"RAFT_PORT=" + strconv.Itoa(n.raft), "RAFT_INTERNAL_RPC_PORT=" + strconv.Itoa(n.raft+1),
		"RAFT_JOIN=" + strings.Join(raft, ","), "RAFT_BOOTSTRAP_EXPECT=3",
	}
	if n != c.nodes[0] {
		n.process.Env = append(n.process.Env, fmt.Sprint("CLUSTER_JOIN=127.0.0.1:", c.nodes[0].gossip))
	} else if c.nodes[1].process != nil { // restarted
		n.process.Env = append(n.process.Env, fmt.Sprint("CLUSTER_JOIN=127.0.0.1:", c.nodes[1].gossip))
	}
	if err := n.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	process := n.process
	c.t.Cleanup(func() {
		process.Process.Kill()
		process.Wait()
		if c.t.Failed() {
			said, _ := os.ReadFile(n.log.Name())
			c.t.Logf("%s said:\n%s", n.name, said[max(0, len(said)-4<<10):])
		}
	})
}

// kill ends a node at once.
func (c *real) kill(n *realNode) {
	n.process.Process.Kill()
	n.process.Wait()
}

// ready waits until a node says that it is ready.
func (c *real) ready(n *realNode) {
	c.t.Helper()
	c.wait(n, "to be ready", func() bool {
		r, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/v1/.well-known/ready", n.http))
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
}

func (c *real) wait(n *realNode, what string, done func() bool) {
	c.t.Helper()
	for range 1800 { // three minutes
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.t.Fatalf("%s takes too long %s", n.name, what)
}

// address names nodes, and a class.
func (c *real) address(class string, nodes ...*realNode) string {
	var hosts []string
	for _, n := range nodes {
		hosts = append(hosts, fmt.Sprint("127.0.0.1:", n.http))
	}
	return "weaviate://" + strings.Join(hosts, ",") + "/" + class
}

// locker is a fact that one passage states.
type locker struct{ of, code string }

func (l locker) question() string { return "What is the locker code of " + l.of + "?" }

// lockers writes made-up passages to files below dir, a hundred in each, and returns what they state.
func lockers(t *testing.T, dir string, n int) (facts []locker) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	word := func(syllables int) (w string) {
		for range syllables {
			w += string("bdfgklmnprstvz"[rng.IntN(14)]) + string("aeiou"[rng.IntN(5)])
		}
		return w
	}
	common := make([]string, 3000)
	for i := range common {
		common[i] = word(2 + i%2)
	}
	often := rand.NewZipf(rng, 1.1, 8, uint64(len(common)-1))
	var text bytes.Buffer
	for i := range n {
		l := locker{word(3) + " " + word(3), fmt.Sprintf("%s-%d", word(2), i)}
		facts = append(facts, l)
		fmt.Fprintf(&text, "The locker code of %s is %s.", l.of, l.code)
		for j := range 45 {
			if text.WriteByte(' '); j%9 == 8 {
				text.WriteString(common[often.Uint64()] + ".")
			} else {
				text.WriteString(common[often.Uint64()])
			}
		}
		if text.WriteString("\n\n"); i%100 == 99 || i == n-1 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.txt", i/100)), text.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			text.Reset()
		}
	}
	return facts
}

func TestRealContract(t *testing.T) {
	c := startCluster(t)
	n := 0
	searchtest.Run(t, func(t *testing.T, files fs.FS) searchtest.Engine {
		n++
		x := open(t, c.address(fmt.Sprint("Contract", n), c.nodes...))
		if _, err := x.Add(t.Context(), folder(t, files), nil); err != nil {
			t.Fatal(err)
		}
		return x
	})
}

// Three nodes hold 20,000 passages. They find what an index on disk finds: at once after the writing, while a node is dead, and
// by a node that was dead while passages were written.
func TestRealCluster(t *testing.T) {
	c := startCluster(t)
	dir := t.TempDir()
	facts := lockers(t, dir, 20_000)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
	asked := facts[:30]
	local, err := search.Memory(search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if _, err := local.Add(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	x := open(t, c.address("Locker", c.nodes...))
	start := time.Now()
	report, err := x.Add(t.Context(), dir, nil)
	if err != nil || report.Added != 200 {
		t.Fatalf("%+v, %v", report, err)
	}
	t.Logf("%d passages were written in %v", report.Passages, time.Since(start).Round(time.Second))
	same := func(when string, x *Index) {
		t.Helper()
		var times []time.Duration
		for _, f := range asked {
			want, err := local.Search(t.Context(), passages.Query{Text: f.question()}, 4)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			got, err := x.Search(t.Context(), passages.Query{Text: f.question()}, 4)
			if times = append(times, time.Since(start)); err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			// Those after the first have two common words and one score.
			if len(got) != len(want) || got[0] != want[0] || !strings.Contains(got[0].Text, f.code) {
				t.Errorf("%s: %q finds %v, on disk %v", when, f.of, titles(got), titles(want))
			}
		}
		slices.Sort(times)
		t.Logf("%s: a search takes %v, at most %v", when, times[len(times)/2].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	}
	same("at once after the writing", x)

	// The node that is asked dies in the midst of searches, and passages are written without it.
	dead := c.nodes[x.store.client.next.Load()]
	time.AfterFunc(200*time.Millisecond, func() { dead.process.Process.Kill() })
	same("a node dies", x)
	c.kill(dead)
	fresh := locker{"quendle tumbral", "vispa-1"}
	if err := os.WriteFile(filepath.Join(dir, "fresh.txt"), []byte("The locker code of "+fresh.of+" is "+fresh.code+"."), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := slices.IndexFunc(facts, func(l locker) bool { return strings.HasSuffix(l.code, "-19999") })
	if err := os.Remove(filepath.Join(dir, "00199.txt")); err != nil { // of the last hundred
		t.Fatal(err)
	}
	if report, err := x.Refresh(t.Context(), nil); err != nil || report.Added != 1 || report.Removed != 1 {
		t.Fatalf("while a node is dead: %+v, %v", report, err)
	}

	c.start(dead)
	c.ready(dead)
	y := open(t, c.address("Locker", dead))
	start = time.Now()
	says := func(l locker) bool {
		t.Helper()
		found, err := y.Search(t.Context(), passages.Query{Text: l.question()}, 4)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(found, func(p passages.Passage) bool { return strings.Contains(p.Text, l.code) })
	}
	c.wait(dead, "to learn what was written without it", func() bool { return says(fresh) })
	t.Logf("the node that was dead has what was written without it after %v", time.Since(start).Round(time.Millisecond))
	// It gives back to the others what was removed without it, with what is remembered of the file; so that is removed again.
	again := 0
	c.wait(dead, "to lose what was removed without it", func() bool {
		report, err := x.Refresh(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		again += report.Removed
		return report.Removed == 0 && !says(facts[gone])
	})
	t.Logf("what was removed without it is gone after %v; to refresh removed it again %d times", time.Since(start).Round(time.Millisecond), again)
	asked = slices.DeleteFunc(asked, func(l locker) bool {
		n, _ := strconv.Atoi(l.code[strings.IndexByte(l.code, '-')+1:])
		return n >= 19_900
	})
	if _, err := local.Refresh(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	same("by the node that was dead", y)
	if n, _, err := y.Count(t.Context(), nil); err != nil || n != 19_901 {
		t.Errorf("%d passages, %v", n, err)
	}
	list, err := y.List()
	if err != nil || len(list) != 200 {
		t.Errorf("%d files, %v", len(list), err)
	}
	if err := x.Erase(t.Context()); err != nil {
		t.Error(err)
	}
}
