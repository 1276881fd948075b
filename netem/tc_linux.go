package netem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

const (
	psTick     = 64 * time.Nanosecond // the kernel's PSCHED_SHIFT of 6
	maxKernel  = time.Duration(math.MaxUint32) * psTick
	maxSpread  = time.Duration(math.MaxInt32) // the kernel silently cuts a larger spread of the delay
	packetSize = 1300                         // bytes of a typical full QUIC packet; the kernel measures its queue in packets
	noLimit    = 100_000
	// keepOrder is a rate, in bytes per second, that delays no packet. With any rate the kernel keeps packets in order;
	// without one, jitter changes the order.
	keepOrder = 100e9 / 8

	lossGilbertElliott = 2  // NETEM_LOSS_GE, struct tc_netem_gemodel
	netemSlot          = 12 // TCA_NETEM_SLOT, struct tc_netem_slot
	slotBytes          = 40
	distScale          = 8192
	distSize           = 4096
)

func init() {
	nl.EnableErrorMessageReporting = true // otherwise the kernel's message is lost
}

// Apply emulates the path c on the interface. It replaces a path that was applied before.
//
// The kernel emulates delay, jitter with its distribution, rate, queue (in packets), loss, bursts, duplication and reordering.
// It does not use the seed of c. Any netem on the interface counts as one applied before. On an error nothing changes. The
// error wraps ErrNoKernel if only a Relay can emulate the path, and ErrForbidden if this process lacks the privilege.
func (k Kernel) Apply(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	options, err := kernelOptions(c)
	if err != nil {
		return err
	}
	link, err := k.link()
	if err != nil {
		return err
	}
	root, err := k.root(link)
	if err != nil {
		return err
	}
	if root != nil && root.Type() != "netem" && root.Attrs().Handle>>16 != 0 { // not a default queue
		return fmt.Errorf("netem: %s has a %s queue that another program set up: remove it first (tc qdisc del dev %s root)", k.Interface, root.Type(), k.Interface)
	}
	if root != nil && root.Type() == "netem" {
		resetOthers(options, c)
	}
	return k.explain(setNetem(link, options))
}

// setNetem makes netem the root queue, or changes it if it is.
func setNetem(link netlink.Link, options *nl.RtAttr) error {
	req := nl.NewNetlinkRequest(unix.RTM_NEWQDISC, unix.NLM_F_CREATE|unix.NLM_F_REPLACE|unix.NLM_F_ACK)
	req.AddData(rootOf(link))
	req.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("netem")))
	req.AddData(options)
	_, err := req.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

// resetOthers adds the attributes that c does not need, with values that turn them off: the kernel changes an existing
// netem and keeps whatever no attribute names. Replacing it with a new netem is no way out, because the kernel refuses
// that if either of the two duplicates packets.
func resetOthers(options *nl.RtAttr, c Config) {
	off := func(attribute, size int) { options.AddRtAttr(attribute, make([]byte, size)) }
	off(nl.TCA_NETEM_CORR, nl.SizeofTcNetemCorr)
	off(nl.TCA_NETEM_CORRUPT, nl.SizeofTcNetemCorrupt)
	off(nl.TCA_NETEM_ECN, 4)
	off(netemSlot, slotBytes)
	if c.Reorder == 0 {
		off(nl.TCA_NETEM_REORDER, nl.SizeofTcNetemReorder)
	}
	if kernelRate(c) == 0 {
		off(nl.TCA_NETEM_RATE, nl.SizeOfTcNetemRate)
	}
	if c.Jitter > 0 && c.Distribution == Uniform {
		options.AddRtAttr(nl.TCA_NETEM_DELAY_DIST, shorts(quantiles(Uniform, 1)))
	}
}

// Clear restores the default queue of the interface.
func (k Kernel) Clear() error {
	link, err := k.link()
	if err != nil {
		return err
	}
	root, err := k.root(link)
	if err != nil {
		return err
	}
	switch {
	case root == nil:
		return fmt.Errorf("netem: nothing is emulated on %s", k.Interface)
	case root.Type() != "netem":
		return fmt.Errorf("netem: nothing is emulated on %s: its queue is %s", k.Interface, root.Type())
	}
	return k.explain(netlink.QdiscDel(root))
}

// Show returns what is emulated on the interface.
func (k Kernel) Show() (KernelState, error) {
	s := KernelState{Interface: k.Interface, Qdisc: "none"}
	link, err := k.link()
	if err != nil {
		return s, err
	}
	root, err := k.root(link)
	if err != nil || root == nil {
		return s, err
	}
	s.Qdisc = root.Type()
	if q, ok := root.(*netlink.Netem); ok {
		s.Delay, s.Jitter = time.Duration(q.Latency)*psTick, time.Duration(q.Jitter)*psTick
		s.Loss, s.Duplicate, s.Reorder = fromShare(q.Loss), fromShare(q.Duplicate), fromShare(q.ReorderProb)
		s.Limit = int(q.Limit)
		if q.Rate64 != keepOrder {
			s.Rate = 8 * float64(q.Rate64)
		}
		attributes, err := netemAttributes(link)
		if err != nil {
			return s, k.explain(err)
		}
		s.showBursts(attributes[nl.TCA_NETEM_LOSS])
	}
	return s, nil
}

// showBursts reads the nested attribute of a loss model. It has effect only for the model of Gilbert and Elliott.
func (s *KernelState) showBursts(model []byte) {
	list, err := nl.ParseRouteAttr(model)
	if err != nil || len(list) != 1 || list[0].Attr.Type != lossGilbertElliott || len(list[0].Value) < 16 {
		return
	}
	word := func(i int) float64 { return fromShare(binary.NativeEndian.Uint32(list[0].Value[4*i:])) }
	s.Enter, s.Leave = word(0), word(1)
	if s.Enter+s.Leave > 0 {
		bad := s.Enter / (s.Enter + s.Leave)
		s.Loss = bad*(1-word(2)) + (1-bad)*word(3)
	}
}

// netemAttributes returns the attributes of the netem at the root of the interface.
func netemAttributes(link netlink.Link) (map[uint16][]byte, error) {
	req := nl.NewNetlinkRequest(unix.RTM_GETQDISC, unix.NLM_F_DUMP)
	req.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(link.Attrs().Index)})
	messages, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWQDISC)
	if err != nil {
		return nil, err
	}
	out := map[uint16][]byte{}
	for _, m := range messages {
		if len(m) < nl.SizeofTcMsg {
			continue
		}
		head := nl.DeserializeTcMsg(m)
		if int(head.Ifindex) != link.Attrs().Index || head.Parent != netlink.HANDLE_ROOT {
			continue
		}
		outer, err := nl.ParseRouteAttr(m[nl.SizeofTcMsg:])
		if err != nil {
			return nil, err
		}
		for _, a := range outer {
			if a.Attr.Type != nl.TCA_OPTIONS || len(a.Value) < nl.SizeofTcNetemQopt {
				continue
			}
			inner, err := nl.ParseRouteAttr(a.Value[nl.SizeofTcNetemQopt:])
			if err != nil {
				return nil, err
			}
			for _, b := range inner {
				out[b.Attr.Type&^unix.NLA_F_NESTED] = b.Value
			}
		}
	}
	return out, nil
}

func (k Kernel) link() (netlink.Link, error) {
	link, err := netlink.LinkByName(k.Interface)
	var missing netlink.LinkNotFoundError
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("netem: no interface %q: \"ip link\" lists them", k.Interface)
	}
	return link, k.explain(err)
}

// root returns the queue of everything sent on the interface, or nil.
func (k Kernel) root(link netlink.Link) (netlink.Qdisc, error) {
	list, err := netlink.QdiscList(link)
	if err != nil {
		return nil, k.explain(err)
	}
	for _, q := range list {
		if q.Attrs().Parent == netlink.HANDLE_ROOT {
			return q, nil
		}
	}
	return nil, nil
}

func rootOf(link netlink.Link) *nl.TcMsg {
	return &nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(link.Attrs().Index), Parent: netlink.HANDLE_ROOT}
}

// explain wraps the kernel's error with its meaning and a remedy.
func (k Kernel) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOENT): // "Specified qdisc kind is unknown"
		return fmt.Errorf("netem: %w on %s: it has no sch_netem (%w); try \"modprobe sch_netem\", or use a relay", ErrNoKernel, k.Interface, err)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("netem: %s: %w (%w)", k.Interface, ErrForbidden, err)
	case errors.Is(err, syscall.EAFNOSUPPORT), errors.Is(err, syscall.EPROTONOSUPPORT):
		return fmt.Errorf("netem: %w: it has no netlink (%w); use a relay", ErrNoKernel, err)
	}
	return fmt.Errorf("netem: %s: %w", k.Interface, err)
}

// kernelOptions encodes c as struct tc_netem_qopt and the attributes that follow it.
func kernelOptions(c Config) (*nl.RtAttr, error) {
	if err := c.kernelCan(); err != nil {
		return nil, err
	}
	spread, table := kernelJitter(c)
	if c.Delay > maxKernel {
		return nil, fmt.Errorf("netem: %w with a delay of %v: the most is %v", ErrNoKernel, c.Delay, maxKernel)
	}
	if spread > maxSpread {
		most := time.Duration(float64(maxSpread) * (float64(c.Jitter) / float64(spread))).Truncate(time.Millisecond)
		return nil, fmt.Errorf("netem: %w with a %v jitter of %v: the most is %v", ErrNoKernel, c.Distribution, c.Jitter, most)
	}
	loss := c.Loss
	if c.Burst.Enter > 0 {
		loss = 0 // the kernel allows one loss model, so the model of bursts includes both
	}
	opt := nl.TcNetemQopt{
		Latency: ticks(c.Delay), Jitter: ticks(spread), Limit: kernelLimit(c),
		Loss: toShare(loss), Duplicate: toShare(c.Duplicate),
	}
	if c.Reorder > 0 {
		opt.Gap = 1
	}
	options := nl.NewRtAttr(nl.TCA_OPTIONS, opt.Serialize())
	if c.Reorder > 0 {
		options.AddRtAttr(nl.TCA_NETEM_REORDER, (&nl.TcNetemReorder{Probability: toShare(c.Reorder)}).Serialize())
	}
	if b := c.Burst; b.Enter > 0 {
		good, bad := 1-(1-c.Loss)*(1-b.LossGood), 1-(1-c.Loss)*(1-b.LossBad)
		options.AddRtAttr(nl.TCA_NETEM_LOSS|unix.NLA_F_NESTED, nil).
			AddRtAttr(lossGilbertElliott, words(toShare(b.Enter), toShare(b.Leave), toShare(1-bad), toShare(good)))
	}
	if bytesPerSecond := kernelRate(c); bytesPerSecond > 0 {
		if bytesPerSecond >= math.MaxUint32 {
			options.AddRtAttr(nl.TCA_NETEM_RATE64, binary.NativeEndian.AppendUint64(nil, bytesPerSecond))
		}
		rate := nl.TcNetemRate{Rate: uint32(min(bytesPerSecond, math.MaxUint32))}
		options.AddRtAttr(nl.TCA_NETEM_RATE, rate.Serialize())
	}
	if table != nil {
		options.AddRtAttr(nl.TCA_NETEM_DELAY_DIST, shorts(table))
	}
	return options, nil
}

// kernelRate returns the rate in bytes per second, 0 for none.
func kernelRate(c Config) uint64 {
	if c.Rate < 8 && c.Jitter > 0 && !c.Unordered {
		return keepOrder
	}
	return uint64(c.Rate / 8)
}

// kernelLimit returns the queue in packets. The kernel also counts the packets that are on their way.
func kernelLimit(c Config) uint32 {
	if c.Rate == 0 {
		return noLimit
	}
	queue := c.Queue
	if queue == 0 {
		queue = defaultQueue
	}
	onTheWay := c.Rate / 8 * (c.Delay + 3*c.Jitter).Seconds()
	return uint32(min(math.Ceil((float64(queue)+onTheWay)/packetSize), noLimit))
}

// kernelJitter returns the spread for the kernel, and the table that it draws from. Without a table the kernel draws
// uniformly.
func kernelJitter(c Config) (spread time.Duration, table []int16) {
	if c.Jitter == 0 || c.Distribution == Uniform {
		return c.Jitter, nil
	}
	unit := 1.0
	if c.Distribution == Pareto {
		unit = 4 // allows up to 16 times the mean lateness, which one packet in 700 exceeds
	}
	return time.Duration(unit * float64(c.Jitter)), quantiles(c.Distribution, unit)
}

// quantiles returns the kernel's table of a distribution, for a spread of unit jitters, in units of spread/8192. Its numbers
// have 16 bits, so they are at most four spreads from the middle.
func quantiles(d Distribution, unit float64) []int16 {
	table := make([]int16, distSize)
	for i := range table {
		x := d.quantile((float64(i) + 0.5) / distSize)
		table[i] = int16(min(max(math.Round(x/unit*distScale), math.MinInt16), math.MaxInt16))
	}
	return table
}

func ticks(d time.Duration) uint32 { return uint32((d + psTick/2) / psTick) }

// toShare returns a probability in the kernel's unit, 1/(2³²−1).
func toShare(p float64) uint32 { return uint32(math.RoundToEven(p * math.MaxUint32)) }

func fromShare(n uint32) float64 { return float64(n) / math.MaxUint32 }

func words(list ...uint32) (b []byte) {
	for _, w := range list {
		b = binary.NativeEndian.AppendUint32(b, w)
	}
	return b
}

func shorts(list []int16) (b []byte) {
	for _, s := range list {
		b = binary.NativeEndian.AppendUint16(b, uint16(s))
	}
	return b
}
