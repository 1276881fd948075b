package netem

import (
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// The options equal, byte for byte, those that iproute2 6.1 sends for the commands.
func TestKernelOptionsEqualIproute2(t *testing.T) {
	if nl.NativeEndian().Uint16([]byte{1, 0}) != 1 {
		t.Skip("the vectors are little endian")
	}
	for _, c := range []struct {
		tc     string
		config Config
		limit  uint32
		want   string
	}{
		{
			"delay 150ms 30ms loss 1% duplicate 0.5% reorder 2% rate 8mbit limit 500",
			Config{Delay: 150 * ms, Jitter: 30 * ms, Distribution: Uniform, Loss: 0.01, Duplicate: 0.005, Reorder: 0.02, Rate: 8e6}, 500,
			"3c000200 46c32300 f4010000 295c8f02 01000000 14ae4701 0e270700" +
				"0c000300 52b81e05 00000000 14000600 40420f00 00000000 00000000 00000000",
		},
		{
			"delay 20ms loss gemodel 1% 30% 100% 0%",
			Config{Delay: 20 * ms, Burst: Burst{Enter: 0.01, Leave: 0.3, LossBad: 1}}, 1000,
			"34000200 b4c40400 e8030000 00000000 00000000 00000000 00000000" +
				"18000580 14000200 295c8f02 cccccc4c 00000000 00000000",
		},
		{
			"loss gemodel 1% 30% 70% 2%",
			Config{Burst: Burst{Enter: 0.01, Leave: 0.3, LossBad: 0.7, LossGood: 0.02}}, 1000,
			"34000200 00000000 e8030000 00000000 00000000 00000000 00000000" +
				"18000580 14000200 295c8f02 cccccc4c cdcccc4c 52b81e05",
		},
		{
			"delay 100ms 10ms rate 100gbit",
			Config{Delay: 100 * ms, Jitter: 10 * ms, Distribution: Uniform}, 1000, // the rate keeps packets in order
			"3c000200 84d71700 e8030000 00000000 00000000 00000000 5a620200" +
				"0c000800 00dd0ee9 02000000 14000600 ffffffff 00000000 00000000 00000000",
		},
	} {
		options, err := kernelOptions(c.config)
		if err != nil {
			t.Errorf("%s: %v", c.tc, err)
			continue
		}
		got := options.Serialize()
		nl.NativeEndian().PutUint32(got[8:], c.limit) // our limit is computed from the queue in bytes
		if want := strings.ReplaceAll(c.want, " ", ""); hex.EncodeToString(got) != want {
			t.Errorf("%s:\n%x, want\n%s", c.tc, got, want)
		}
	}
}

// The kernel's jitter has the distribution of the relay's. The kernel reads the table as 16-bit numbers after the
// attribute's header. It draws one, multiplies it by the spread and divides it by 8192.
func TestKernelJitterFollowsTheRelay(t *testing.T) {
	for _, shape := range []Distribution{Normal, Uniform, Pareto} {
		c := Config{Delay: 100 * ms, Jitter: 10 * ms, Distribution: shape, Unordered: true}
		link, err := NewLink(c)
		if err != nil {
			t.Fatal(err)
		}
		spread, table := kernelJitter(c)
		if table == nil { // the kernel draws uniformly
			for i := range distSize {
				table = append(table, int16(distScale*(2*float64(i)/distSize-1)))
			}
		}
		var sum [2][3]float64 // of the relay and the kernel: mean, variance, share more than 1.5 jitters late
		add := func(of int, d float64) {
			sum[of][0] += d
			sum[of][1] += d * d
			if d > 15 {
				sum[of][2]++
			}
		}
		for range 100_000 {
			add(0, float64(link.delay()-c.Delay)/float64(ms))
		}
		for _, x := range table {
			add(1, float64(x)*float64(spread)/distScale/float64(ms))
		}
		for i, tolerance := range []float64{0.15, 0, 0.01} {
			ours, kernel := sum[0][i]/100_000, sum[1][i]/float64(len(table))
			if i == 1 {
				if tolerance = 3; shape == Pareto {
					continue // few packets in the far tail determine its variance
				}
			}
			if math.Abs(ours-kernel) > tolerance {
				t.Errorf("%v: moment %d is %.3g in the relay, %.3g in the kernel", shape, i, ours, kernel)
			}
		}
	}
}

func TestKernelCannot(t *testing.T) {
	for name, c := range map[string]Config{
		"outage": {Outages: []Outage{{For: time.Second}}},
		"trace":  {Trace: &Trace{}},
		"long":   {Delay: 10 * time.Minute},
		"spread": {Delay: 10 * time.Second, Jitter: 2200 * ms},
		"pareto": {Delay: 10 * time.Second, Jitter: 600 * ms, Distribution: Pareto},
	} {
		if _, err := kernelOptions(c); !errors.Is(err, ErrNoKernel) {
			t.Errorf("%s: error %v, want %v", name, err, ErrNoKernel)
		}
	}
	_, err := kernelOptions(Config{Jitter: 600 * ms, Distribution: Pareto})
	if err == nil || !strings.Contains(err.Error(), "the most is 536ms") {
		t.Errorf("pareto: the error %v does not name the limit", err)
	}
	if _, err := kernelOptions(Config{Delay: 10 * time.Second, Jitter: 530 * ms, Distribution: Pareto}); err != nil {
		t.Error(err)
	}
	if _, err := kernelOptions(Config{Reorder: 0.1}); err == nil {
		t.Error("reordering without a delay was accepted")
	}
}

// namespace gives the test a separate network with a loopback interface. It skips the test where that is not permitted.
func namespace(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread, and with it the namespace, ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("SKIPPED: no network namespace: %v (needs root)", err)
	}
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatalf("set up lo: %v", err)
	}
}

// With sch_netem in the kernel, a path is applied, shown, replaced and cleared. Without it, the error says so.
func TestKernel(t *testing.T) {
	namespace(t)
	k := Kernel{"lo"}
	c := Config{Delay: 20 * ms, Jitter: 4 * ms, Loss: 0.25, Duplicate: 0.125, Rate: 8e6}
	err := k.Apply(c)
	if errors.Is(err, ErrNoKernel) {
		if !strings.Contains(err.Error(), "modprobe sch_netem") || !strings.Contains(err.Error(), "Specified qdisc kind is unknown") {
			t.Errorf("the error does not explain the cause: %v", err)
		}
		if s, err := k.Show(); err != nil || s.Qdisc == "netem" {
			t.Errorf("afterwards %+v, %v", s, err)
		}
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Show()
	if err != nil {
		t.Fatal(err)
	}
	want := KernelState{Interface: "lo", Qdisc: "netem", Delay: c.Delay, Jitter: c.Jitter, Loss: s.Loss, Duplicate: s.Duplicate, Rate: c.Rate, Limit: s.Limit}
	if s != want || math.Abs(s.Loss-c.Loss) > 1e-6 || math.Abs(s.Duplicate-c.Duplicate) > 1e-6 {
		t.Errorf("%+v, want %+v", s, want)
	}
	if err := k.Apply(Config{Delay: 40 * ms}); err != nil {
		t.Errorf("replace: %v", err)
	}
	if s, err := k.Show(); err != nil || s.Delay != 40*ms || s.Loss != 0 {
		t.Errorf("replaced: %+v, %v", s, err)
	}
	if err := k.Clear(); err != nil {
		t.Error(err)
	}
	if s, err := k.Show(); err != nil || s.Qdisc == "netem" {
		t.Errorf("cleared: %+v, %v", s, err)
	}
}

// kernelWith returns the driver of lo in a namespace of its own, after it applied c. It skips the test without sch_netem.
func kernelWith(t *testing.T, c Config) (Kernel, netlink.Link) {
	t.Helper()
	namespace(t)
	k := Kernel{"lo"}
	err := k.Apply(c)
	if errors.Is(err, ErrNoKernel) {
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	link, err := k.link()
	if err != nil {
		t.Fatal(err)
	}
	return k, link
}

// Nothing remains of a path that was applied before, whatever it was and whichever program set it up.
func TestKernelReplaces(t *testing.T) {
	k, link := kernelWith(t, Config{Delay: ms})
	before, err := kernelOptions(Config{
		Delay: 20 * ms, Jitter: 5 * ms, Rate: 2e6, Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Burst: Burst{Enter: 0.01, Leave: 0.3, LossBad: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	before.AddRtAttr(nl.TCA_NETEM_CORR, words(1<<30, 1<<30, 1<<30))
	before.AddRtAttr(nl.TCA_NETEM_CORRUPT, words(1<<30, 0))
	before.AddRtAttr(nl.TCA_NETEM_ECN, words(1))
	before.AddRtAttr(netemSlot, append(words(5e6, 0, 10e6, 0), make([]byte, slotBytes-16)...))
	if err := setNetem(link, before); err != nil {
		t.Fatal(err)
	}
	attributes := func() map[uint16][]byte {
		list, err := netemAttributes(link)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := attributes(); list[nl.TCA_NETEM_LOSS] == nil || list[netemSlot] == nil || list[nl.TCA_NETEM_RATE] == nil {
		t.Fatalf("the path before lacks its attributes: %v", list)
	}
	if err := k.Apply(Config{Delay: 40 * ms}); err != nil {
		t.Fatal(err)
	}
	for name, value := range attributes() {
		const latency, jitter = 10, 11 // TCA_NETEM_LATENCY64 and JITTER64 repeat the options
		if name != latency && name != jitter && strings.Trim(string(value), "\x00") != "" {
			t.Errorf("attribute %d is still %x", name, value)
		}
	}
	s, err := k.Show()
	if want := (KernelState{Interface: "lo", Qdisc: "netem", Delay: 40 * ms, Limit: noLimit}); err != nil || s != want {
		t.Errorf("%+v, %v, want %+v", s, err, want)
	}
}

// The kernel keeps a table of jitter, so another distribution needs its own, the uniform one too.
func TestKernelReplacesTheTable(t *testing.T) {
	c := Config{Delay: 50 * ms, Jitter: 5 * ms, Distribution: Uniform}
	options, err := kernelOptions(c)
	if err != nil {
		t.Fatal(err)
	}
	if resetOthers(options, c); !strings.Contains(string(options.Serialize()), string(shorts(quantiles(Uniform, 1)))) {
		t.Error("no table for uniform jitter over another")
	}
	k, _ := kernelWith(t, Config{Delay: 50 * ms, Jitter: 5 * ms})
	if err := k.Apply(c); err != nil { // a table of a wrong size is an error
		t.Error(err)
	}
}

// Bursts are shown, with the loss that results.
func TestKernelShowsBursts(t *testing.T) {
	k, _ := kernelWith(t, Config{Loss: 0.02, Burst: Burst{Enter: 0.01, Leave: 0.3, LossBad: 1}})
	s, err := k.Show()
	if want := 0.01/0.31 + 0.3/0.31*0.02; err != nil || math.Abs(s.Loss-want) > 1e-6 || math.Abs(s.Enter-0.01) > 1e-6 || math.Abs(s.Leave-0.3) > 1e-6 {
		t.Errorf("%+v, %v, want a loss of %v", s, err, want)
	}
}

// Jitter up to the limit reaches the kernel uncut.
func TestKernelTakesLongJitter(t *testing.T) {
	k, _ := kernelWith(t, Config{Delay: 10 * time.Second, Jitter: 2147 * ms})
	if s, err := k.Show(); err != nil || s.Jitter.Round(ms) != 2147*ms {
		t.Errorf("jitter %v, %v", s.Jitter, err)
	}
}

// A queue that another program set up is neither replaced nor removed.
func TestKernelLeavesOthersAlone(t *testing.T) {
	namespace(t)
	k := Kernel{"lo"}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	own := &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       1 << 20, Limit: 1 << 20, Buffer: 1 << 16,
	}
	if err := netlink.QdiscAdd(own); err != nil {
		t.Skipf("SKIPPED: no tbf queue here: %v", err)
	}
	if err := k.Apply(Config{Delay: ms}); err == nil || !strings.Contains(err.Error(), "tbf") {
		t.Errorf("apply: %v", err)
	}
	if err := k.Clear(); err == nil || !strings.Contains(err.Error(), "nothing is emulated") {
		t.Errorf("clear: %v", err)
	}
	if s, err := k.Show(); err != nil || s.Qdisc != "tbf" {
		t.Errorf("show: %+v, %v", s, err)
	}
}

func TestKernelNamesTheInterface(t *testing.T) {
	k := Kernel{"no-such-0"}
	for name, err := range map[string]error{"apply": k.Apply(Config{}), "clear": k.Clear()} {
		if err == nil || !strings.Contains(err.Error(), `"no-such-0"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Without the privilege, the error says how to get it.
func TestKernelForbidden(t *testing.T) {
	namespace(t)
	empty := unix.CapUserData{}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{empty, empty}
	if err := unix.Capset(&header, &data[0]); err != nil { // for this thread, which ends with the test
		t.Skipf("SKIPPED: cannot drop capabilities: %v", err)
	}
	if err := (Kernel{"lo"}).Apply(Config{Delay: ms}); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "NET_ADMIN") {
		t.Errorf("error %v, want %v", err, ErrForbidden)
	}
}
