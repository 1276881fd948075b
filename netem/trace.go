package netem

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Trace is a recorded path that is replayed repeatedly. It holds either the path's state at points in time, or the times at
// which packets could leave.
type Trace struct {
	Points  []Point         // in order of time, the first at 0
	Packets []time.Duration // ascending; at each, 1,500 bytes can leave (Mahimahi's format)
	Period  time.Duration   // after which the trace starts again
}

// Point is the state of a path from At on.
type Point struct {
	At    time.Duration
	Delay time.Duration // one way
	Rate  float64       // bits per second, 0 for no limit
	Loss  float64       // probability
}

// Direction is one of the two directions of a path.
type Direction uint8

const (
	Up   Direction = iota // from the device
	Down                  // to the device
)

const (
	traceUnit  = 1500     // bytes that can leave at a time of a packet trace
	maxSamples = 10 << 20 // lines of a trace
	maxPings   = 1 << 20  // replies of a ping log, including missing ones
)

// LoadTrace reads a trace for one direction. It reads *.csv with readCSV, *.up and *.down with readPackets, and other files
// with readPing. If path names file.up or file.down, LoadTrace reads the one for the direction.
func LoadTrace(path string, dir Direction) (*Trace, error) {
	ext := filepath.Ext(path)
	if ext == ".up" || ext == ".down" {
		path = strings.TrimSuffix(path, ext) + [...]string{".up", ".down"}[dir]
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("netem: load trace: %w", err)
	}
	defer f.Close()
	var t *Trace
	switch ext {
	case ".csv":
		t, err = readCSV(f, dir)
	case ".up", ".down":
		t, err = readPackets(f)
	default:
		t, err = readPing(f)
	}
	if err != nil {
		return nil, fmt.Errorf("netem: load trace %s: %w", path, err)
	}
	return t, nil
}

// Validate returns an error if the trace cannot be replayed.
func (t *Trace) Validate() error {
	last := time.Duration(-1)
	for i, p := range t.Points {
		if p.At <= last || i == 0 && p.At != 0 {
			return fmt.Errorf("netem: trace: point %d is at %v, after %v: points must be in order, the first at 0", i, p.At, last)
		}
		if last = p.At; !(p.Loss >= 0 && p.Loss <= 1) || !(p.Rate >= 0) || p.Delay < 0 {
			return fmt.Errorf("netem: trace: point %d: delay %v, rate %v or loss %v is out of range", i, p.Delay, p.Rate, p.Loss)
		}
	}
	if !slices.IsSorted(t.Packets) || len(t.Packets) > 0 && t.Packets[0] < 0 {
		return errors.New("netem: trace: packets are not in order")
	}
	if n := len(t.Packets); n > 0 {
		last = max(last, t.Packets[n-1]-1) // the last may be at the very end
	}
	if t.Period <= last || t.Period <= 0 {
		return fmt.Errorf("netem: trace: period %v ends before its last sample", t.Period)
	}
	return nil
}

// at returns the state at a time. A longer delay takes effect at its point. A shorter one takes effect gradually, so that
// all packets that a stall holds back arrive at its end.
func (t *Trace) at(now time.Duration) Point {
	if t == nil || len(t.Points) == 0 {
		return Point{}
	}
	now %= t.Period
	i := sort.Search(len(t.Points), func(i int) bool { return t.Points[i].At > now }) - 1
	p := t.Points[i]
	if i+1 < len(t.Points) {
		if next := t.Points[i+1]; next.Delay < p.Delay {
			f := float64(now-p.At) / float64(next.At-p.At)
			p.Delay -= time.Duration(f * float64(p.Delay-next.Delay))
		}
	}
	return p
}

func (t *Trace) packets() *Trace {
	if t == nil || len(t.Packets) == 0 {
		return nil
	}
	return t
}

// cursor is a position in a packet trace.
type cursor struct {
	index int // of the next time, counted over all repetitions
	room  int // bytes that can still leave at the time before index
	last  time.Duration
}

func (t *Trace) opportunity(i int) time.Duration {
	return time.Duration(i/len(t.Packets))*t.Period + t.Packets[i%len(t.Packets)]
}

// send takes a packet of size bytes that is ready at the given time and returns when its last byte leaves. Times that pass
// while no packet waits are lost.
func (c *cursor) send(t *Trace, ready time.Duration, size int) time.Duration {
	if c.last < ready {
		c.room = 0
	}
	if t.opportunity(c.index) < ready {
		round := int(ready / t.Period)
		i := sort.Search(len(t.Packets), func(i int) bool { return t.Packets[i] >= ready%t.Period })
		c.index = max(c.index, round*len(t.Packets)+i)
	}
	for size > 0 {
		if c.room == 0 {
			c.room, c.last = traceUnit, t.opportunity(c.index)
			c.index++
		}
		n := min(size, c.room)
		size, c.room = size-n, c.room-n
	}
	return c.last
}

// readPackets reads Mahimahi's format: each line is a time in milliseconds at which 1,500 bytes may leave.
func readPackets(r io.Reader) (*Trace, error) {
	t := &Trace{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		ms, err := strconv.ParseUint(text, 10, 40)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a time in milliseconds", n, text)
		}
		at := time.Duration(ms) * time.Millisecond
		if at < t.Period {
			return nil, fmt.Errorf("line %d: %d ms comes after %v: times must be in order", n, ms, t.Period)
		}
		if len(t.Packets) == maxSamples {
			return nil, fmt.Errorf("line %d: more than %d lines", n, maxSamples)
		}
		t.Packets, t.Period = append(t.Packets, at), at
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if t.Period == 0 {
		return nil, errors.New("a packet trace must reach beyond 0 ms")
	}
	return t, nil
}

// readPing reads the output of ping at its usual interval of one second. A delay is half a round trip. A reply that exceeds
// the log's shortest round trip by at least the interval shows a stall, during which the packets of both directions wait,
// so its delay includes the whole excess. A missing reply is a second of loss.
func readPing(r io.Reader) (*Trace, error) {
	const interval = time.Second
	rtts := map[int]time.Duration{}
	last, least := 0, time.Duration(math.MaxInt64)
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		seq, rtt, ok, err := parsePing(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if !ok {
			continue
		}
		if _, dup := rtts[seq]; !dup {
			rtts[seq] = rtt
		}
		last, least = max(last, seq), min(least, rtt)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(rtts) == 0 {
		return nil, errors.New("no line like \"icmp_seq=1 ttl=57 time=17.1 ms\"")
	}
	first := 1
	if _, ok := rtts[0]; ok { // some systems count from 0
		first = 0
	}
	t := &Trace{}
	for seq := first; seq <= last; seq++ {
		p := Point{At: time.Duration(seq-first) * interval, Delay: least / 2, Loss: 1}
		if rtt, ok := rtts[seq]; ok {
			extra := rtt - least
			if extra < interval {
				extra /= 2
			}
			p.Delay, p.Loss = least/2+extra, 0
		}
		t.Points = append(t.Points, p)
	}
	t.Period = time.Duration(last-first+1) * interval
	return t, nil
}

// parsePing reads a reply. It reports false for other lines.
func parsePing(line string) (seq int, rtt time.Duration, ok bool, err error) {
	_, rest, found := strings.Cut(line, "seq=") // icmp_seq, or seq of busybox
	text, rest, _ := strings.Cut(rest, " ")
	_, rest, timed := strings.Cut(rest, "time=")
	if !found || !timed {
		return 0, 0, false, nil
	}
	ms, _, _ := strings.Cut(rest, " ")
	seq, err = strconv.Atoi(text)
	if err != nil || seq < 0 || seq > maxPings {
		return 0, 0, false, fmt.Errorf("invalid sequence number %q", text)
	}
	value, err := strconv.ParseFloat(ms, 64)
	if err != nil || !(value >= 0 && value < 3.6e6) {
		return 0, 0, false, fmt.Errorf("invalid round trip %q ms", ms)
	}
	return seq, time.Duration(value * float64(time.Millisecond)), true, nil
}

// readCSV reads a table with a header. Columns: time_ms or time_s (without either, rows are a second apart), delay_ms (one way)
// or rtt_ms (halved), upload_mbps, download_mbps or rate_mbps, loss (0 to 1). Other columns are ignored.
func readCSV(r io.Reader, dir Direction) (*Trace, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	rate := [...]string{"upload_mbps", "download_mbps"}[dir]
	column, err := columnsOf(header, rate)
	if err != nil {
		return nil, err
	}
	t := &Trace{}
	for {
		record, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		row := csvRow{record: record, column: column}
		p := row.point(len(t.Points), rate)
		line, _ := in.FieldPos(0)
		switch {
		case row.err != nil:
			return nil, fmt.Errorf("line %d: %w", line, row.err)
		case p.Loss > 1:
			return nil, fmt.Errorf("line %d: loss %v is not a probability", line, p.Loss)
		case len(t.Points) > 0 && p.At <= t.Points[len(t.Points)-1].At:
			return nil, fmt.Errorf("line %d: time %v does not come after %v", line, p.At, t.Points[len(t.Points)-1].At)
		case len(t.Points) == maxSamples:
			return nil, fmt.Errorf("line %d: more than %d rows", line, maxSamples)
		}
		t.Points = append(t.Points, p)
	}
	if len(t.Points) == 0 {
		return nil, errors.New("no rows")
	}
	first, last := t.Points[0].At, t.Points[len(t.Points)-1].At
	for i := range t.Points {
		t.Points[i].At -= first
	}
	t.Period = last - first + time.Second
	return t, nil
}

// columnsOf returns the columns by name. There must be one with a delay, a rate or a loss.
func columnsOf(header []string, rate string) (map[string]int, error) {
	column := map[string]int{}
	for i, name := range header {
		column[strings.TrimSpace(name)] = i
	}
	for _, name := range []string{"delay_ms", "rtt_ms", "rate_mbps", rate, "loss"} {
		if _, ok := column[name]; ok {
			return column, nil
		}
	}
	return nil, fmt.Errorf("header %q names none of delay_ms, rtt_ms, rate_mbps, %s, loss", slices.Sorted(maps.Keys(column)), rate)
}

// csvRow reads cells by column name and collects errors.
type csvRow struct {
	record []string
	column map[string]int
	err    error
}

// point returns row i of the table as a point. rate is the name of the direction's column.
func (r *csvRow) point(i int, rate string) Point {
	p := Point{
		At:    time.Duration(i) * time.Second,
		Delay: r.duration("delay_ms", time.Millisecond) + r.duration("rtt_ms", time.Millisecond/2),
		Rate:  1e6 * (r.number("rate_mbps") + r.number(rate)),
		Loss:  r.number("loss"),
	}
	if r.has("time_ms") || r.has("time_s") {
		p.At = r.duration("time_ms", time.Millisecond) + r.duration("time_s", time.Second)
	}
	return p
}

func (r *csvRow) has(name string) bool { _, ok := r.column[name]; return ok }

// number returns the number in a column, 0 if the column is absent.
func (r *csvRow) number(name string) float64 {
	i, ok := r.column[name]
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(r.record[i]), 64)
	if err != nil || !(v >= 0 && v <= 1e9) {
		r.err = errors.Join(r.err, fmt.Errorf("%s: invalid number %q", name, r.record[i]))
		return 0
	}
	return v
}

func (r *csvRow) duration(name string, unit time.Duration) time.Duration {
	return time.Duration(r.number(name) * float64(unit))
}
