package soak

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/examples"
	"tandem/netem"
)

// ask is a question with a seed.
type ask struct {
	question string
	seed     int
	whole    answer // what an undisturbed pair says
	alone    answer // what the device says without the cloud
}

// answer is what "edge ask --json" prints, as far as the soak looks at it.
type answer struct {
	Answer    string
	LocalOnly bool `json:"local_only"`
	Degraded  bool
	Tokens    []struct {
		ID    int
		Alone bool
	}
}

// decided returns the tokens before the first that the device decided alone.
func (a answer) decided() (ids []int) {
	for _, t := range a.Tokens {
		if t.Alone {
			break
		}
		ids = append(ids, t.ID)
	}
	return ids
}

// ids returns all tokens.
func (a answer) ids() (ids []int) {
	for _, t := range a.Tokens {
		ids = append(ids, t.ID)
	}
	return ids
}

// asks chooses questions that need the device, the cloud, both and neither, with seeds.
func asks() (list []ask, err error) {
	kinds := map[string]int{}
	for in := bufio.NewScanner(bytes.NewReader(examples.Questions)); in.Scan(); {
		var q struct {
			Question      string
			Device, Cloud bool
		}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return nil, err
		}
		kind := fmt.Sprint(q.Device, q.Cloud)
		if kinds[kind]++; kinds[kind] <= 2 {
			list = append(list, ask{question: q.Question, seed: len(list) + 1})
		}
	}
	return list, nil
}

// args is the command that asks. The temperature makes the text depend on the seed.
func (q ask) args(more ...string) []string {
	return append(append([]string{"ask", "--json", "--seed", strconv.Itoa(q.seed), "--temperature", "1"}, more...), q.question)
}

// device is a home in which "edge" runs, and its path to the cloud.
type device struct {
	home
	world *world
	name  string
	relay *netem.Relay
}

// newDevice makes a home with documents and pairs it with the cloud, through a path of its own.
func (w *world) newDevice(name, documents string) (*device, error) {
	d := &device{home: home{program: w.Edge, dir: filepath.Join(w.Dir, name)}, world: w, name: name}
	if err := makeDir(d.dir); err != nil {
		return nil, err
	}
	var err error
	if d.relay, err = netem.Listen(w.cloud.address, calm); err != nil {
		return nil, err
	}
	var said struct{ Code string }
	err = w.cloud.must(w.whole, &said, "pair", "--json", "--address", d.relay.Addr())
	if err == nil {
		err = d.must(w.whole, nil, "pair", said.Code)
	}
	if err == nil {
		err = d.add(w.whole, documents)
	}
	if err != nil {
		d.relay.Close()
	}
	return d, err
}

// learn asks undisturbed, with the cloud and without it.
func (d *device) learn(q *ask) error {
	if err := d.must(d.world.whole, &q.alone, q.args("--local-only")...); err != nil {
		return err
	}
	return d.must(d.world.whole, &q.whole, q.args(undisturbed...)...)
}

// undisturbed asks where nothing is in the way, on a machine that may be slow.
var undisturbed = []string{"--require-cloud", "--wait", "60s"}

// life lets the device ask, under what may happen to it, until the time is over.
func (d *device) life(r *rand.Rand) {
	for d.world.pause(r, 500*time.Millisecond) {
		q := d.world.asks[r.IntN(len(d.world.asks))]
		switch n := r.IntN(20); {
		case n < 3:
			d.disturbPath(r)
			d.ask(q, nil)
		case n < 5:
			d.diesOf(r, q)
		case n < 7:
			d.stallsOf(r, q)
		case n < 9:
			d.isDamaged(r, q)
		case n < 10:
			d.world.fault("device's disk full", "%s", d.name)
			d.judge(q, d.onFullDisk().run(d.world.whole, nil, q.args()...), "its disk was full", "file too large")
		case n < 13:
			d.ask(q, nil, "--require-cloud")
		default:
			d.ask(q, nil)
		}
	}
}

// disturbPath makes the path stall, flip bits for a while, or change its port.
func (d *device) disturbPath(r *rand.Rand) {
	switch r.IntN(3) {
	case 0:
		stall := between(r, 6*time.Second)
		d.world.fault("path stalled", "%s, for %v", d.name, stall.Round(time.Millisecond))
		d.relay.Interrupt(stall, r.IntN(2) == 0)
	case 1:
		d.world.fault("bits flipped on the path", "%s", d.name)
		d.corruptPath(r, 5*time.Second)
	case 2:
		d.world.fault("port changed", "%s", d.name)
		d.relay.Rebind()
	}
}

// corruptPath flips bits in a fifth of the packets for a while.
func (d *device) corruptPath(r *rand.Rand, while time.Duration) {
	there := calm
	there.Corrupt = .2
	back := there
	there.Seed, back.Seed = r.Uint64(), r.Uint64()
	if err := d.relay.Emulate(there, back); err != nil {
		d.world.lose("%s: the path: %v", d.name, err)
	}
	time.AfterFunc(while, func() { d.relay.Emulate(calm, calm) })
}

// calm is a path with nothing in the way.
var calm = netem.Config{Delay: 10 * time.Millisecond}

// diesOf kills the program while it answers. The next answer must be as if nothing had happened.
func (d *device) diesOf(r *rand.Rand, q ask) {
	d.world.fault("device killed", "%s", d.name)
	d.run(d.world.whole, func(p *os.Process) {
		time.Sleep(between(r, time.Second))
		p.Kill()
	}, q.args()...)
	d.world.count(func(r *Result) { r.Killed++ })
	d.ask(q, nil)
}

// stallsOf stops the program while it answers.
func (d *device) stallsOf(r *rand.Rand, q ask) {
	away := between(r, 5*time.Second)
	d.world.fault("device stopped", "%s, for %v", d.name, away.Round(time.Millisecond))
	d.ask(q, func(p *os.Process) {
		time.Sleep(between(r, time.Second))
		stop(p)
		time.Sleep(away)
		goOn(p)
	})
}

// isDamaged flips a bit in a file of the device. It must say what is wrong, or answer rightly.
func (d *device) isDamaged(r *rand.Rand, q ask) {
	f, err := d.damage(r.IntN)
	if err != nil {
		d.world.lose("%s: its files cannot be damaged: %v", d.name, err)
		return
	}
	d.world.fault("bit flipped on a device's disk", "%s", f.path)
	d.judge(q, d.run(d.world.whole, nil, q.args()...), "a bit flipped in "+f.path, f.names()...)
	if err := d.repair(f); err != nil {
		d.world.lose("%s is not mended: %v", d.name, err)
	}
	d.judge(q, d.run(d.world.whole, nil, q.args()...), "it was mended")
	d.world.count(func(r *Result) { r.Healed++ })
}

// ask asks, with nothing but the cloud and the path to it in the way.
func (d *device) ask(q ask, meanwhile func(*os.Process), flags ...string) {
	var causes []string
	if slices.Contains(flags, "--require-cloud") {
		causes = []string{"the cloud"}
	}
	d.judge(q, d.run(d.world.whole, meanwhile, q.args(flags...)...), "the cloud and the path were disturbed", causes...)
}

// tries is how often a device asks at the end before it counts as cut off: a machine with other work may take long for a
// handshake.
const tries = 3

// askRight asks for the pair's answer, with nothing in the way.
func (d *device) askRight(q ask, when string) {
	var a answer
	var err error
	for range tries {
		if err = d.must(d.world.whole, &a, q.args(undisturbed...)...); err == nil || d.world.whole.Err() != nil {
			break
		}
		d.world.say("%s, %s, asks again: %v", d.name, when, err)
	}
	switch {
	case d.world.whole.Err() != nil:
	case err != nil:
		d.world.lose("%s, %s: %v", d.name, when, err)
	case a.Answer != q.whole.Answer || a.Degraded:
		d.world.lose("%s, %s: %q is answered by %q (degraded: %v), not %q", d.name, when, q.question, a.Answer, a.Degraded, q.whole.Answer)
	default:
		d.world.count(func(r *Result) { r.Answers++ })
	}
}

// judge looks at the answer to a question. An error counts as explained if it has one of the causes in it.
func (d *device) judge(q ask, s said, after string, causes ...string) {
	if d.world.whole.Err() != nil {
		return // ended from outside
	}
	if s.err != nil {
		if !s.mentions(causes...) || s.mentions("panic:", "fatal error:") {
			d.world.lose("%s, after %s: %q: %s", d.name, after, q.question, s.about())
			return
		}
		d.world.count(func(r *Result) { r.Refused++ })
		return
	}
	var a answer
	if err := json.Unmarshal(s.out, &a); err != nil {
		d.world.lose("%s, after %s: %q: %v", d.name, after, q.question, err)
		return
	}
	if why := q.wrong(a); why != "" {
		d.world.lose("%s, after %s: %q: %s", d.name, after, q.question, why)
		return
	}
	d.world.count(func(r *Result) {
		if a.Degraded || a.LocalOnly {
			r.Degraded++
		} else {
			r.Answers++
		}
	})
}

// wrong says what is wrong with an answer, or "". One that the pair gave whole has its text; one that it did not is marked,
// and begins with what the pair agreed on. One that the device gave from the beginning is the device's own.
func (q ask) wrong(a answer) string {
	agreed, want := a.decided(), q.whole.ids()
	switch {
	case !a.Degraded && !a.LocalOnly && !slices.Equal(a.ids(), want):
		return fmt.Sprintf("answered by %q, not %q, and not marked", a.Answer, q.whole.Answer)
	case !a.Degraded && !a.LocalOnly:
		return ""
	case len(agreed) > len(want) || !slices.Equal(agreed, want[:len(agreed)]):
		return fmt.Sprintf("the pair agreed on another beginning than %q, in %q", q.whole.Answer, a.Answer)
	case a.LocalOnly && a.Answer != q.alone.Answer:
		return fmt.Sprintf("the device alone says %q, not %q", a.Answer, q.alone.Answer)
	}
	return ""
}

// adds runs a separate device that indexes documents while it is killed and runs out of disk space. A document that was
// added once must be found from then on.
func (w *world) adds(r *rand.Rand) {
	d := &device{home: home{program: w.Edge, dir: filepath.Join(w.Dir, "writer")}, world: w, name: "writer"}
	folder := filepath.Join(w.Dir, "documents", "lockers")
	if err := makeDir(d.dir); err != nil {
		w.lose("writer: %v", err)
		return
	}
	for n := 0; w.pause(r, 4*time.Second); n++ {
		if err := writeLocker(folder, n); err != nil {
			w.lose("writer: %v", err)
			return
		}
		switch r.IntN(4) {
		case 0:
			w.fault("writer killed", "")
			d.run(w.whole, func(p *os.Process) {
				time.Sleep(between(r, 300*time.Millisecond))
				p.Kill()
			}, "index", "add", folder)
			w.count(func(r *Result) { r.Killed++ })
		case 1:
			w.fault("writer's disk full", "")
			if s := d.onFullDisk().run(w.whole, nil, "index", "add", folder); s.err == nil || !s.mentions("file too large") {
				w.lose("writer, its disk full: %s", s.about())
			}
			w.count(func(r *Result) { r.Refused++ })
		}
		if n > 0 {
			d.finds(r.IntN(n)) // readers are not held up by what a writer left
		}
		if err := d.add(w.whole, folder); err != nil && w.whole.Err() == nil {
			w.lose("writer: %v", err)
			return
		}
		d.finds(n)
		w.count(func(r *Result) { r.Added++ })
	}
}

// finds looks for a locker's code.
func (d *device) finds(n int) {
	var a answer
	question := fmt.Sprintf("What is the code of %s's locker?", lockerName(n))
	if err := d.must(d.world.whole, &a, "ask", "--json", "--local-only", question); err != nil {
		if d.world.whole.Err() == nil {
			d.world.lose("writer: %v", err)
		}
		return
	}
	if !strings.Contains(a.Answer, lockerCode(n)) {
		d.world.lose("writer: %q is answered by %q, not %q", question, a.Answer, lockerCode(n))
	}
}

// writeLocker writes the document of a locker.
func writeLocker(folder string, n int) error {
	if err := makeDir(folder); err != nil {
		return err
	}
	name := lockerName(n)
	text := fmt.Sprintf("# %s's locker\n\nThe code of %s's locker is %s.\n", name, name, lockerCode(n))
	return os.WriteFile(filepath.Join(folder, strings.ToLower(name)+".md"), []byte(text), 0o600)
}

// lockerName makes names that no two lockers share.
func lockerName(n int) string {
	syllables := []string{"ka", "lo", "mi", "ne", "ru", "sa", "to", "vi"}
	name := "B"
	for range 4 {
		name += syllables[n%len(syllables)]
		n /= len(syllables)
	}
	return name
}

func lockerCode(n int) string { return fmt.Sprintf("%04d-%04d", 7*n+1013, 9999-3*n) }

func makeDir(path string) error { return os.MkdirAll(path, 0o700) }
