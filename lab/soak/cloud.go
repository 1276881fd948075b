package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// cloud is "cloud serve" as a process that is killed and started again.
type cloud struct {
	home
	world            *world
	address, metrics string

	mu      sync.Mutex // guards the process
	process *exec.Cmd
	errs    *bytes.Buffer
}

func (w *world) newCloud(documents string) (*cloud, error) {
	c := &cloud{home: home{program: w.Cloud, dir: filepath.Join(w.Dir, "cloud")}, world: w}
	var err error
	if c.address, err = freeUDP(); err != nil {
		return nil, err
	}
	if c.metrics, err = freeTCP(); err != nil {
		return nil, err
	}
	if err := makeDir(c.dir); err != nil {
		return nil, err
	}
	if err := c.add(w.whole, documents); err != nil {
		return nil, err
	}
	return c, c.serve(c.home)
}

// serve starts the process in its home, or on a full disk, and waits until it listens. The error is that of a process that
// ended instead.
func (c *cloud) serve(in home) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cmd := in.command(context.WithoutCancel(c.world.whole), "serve", "--listen", c.address, "--metrics", c.metrics, "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	errs := &bytes.Buffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		return err
	}
	var said struct{ Listening string }
	wait := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	err = json.NewDecoder(bufio.NewReader(out)).Decode(&said)
	wait.Stop()
	if err != nil || said.Listening == "" { // it is ending, with an error
		wait.Reset(patience)
		defer wait.Stop()
		return fmt.Errorf("cloud serve: %w: %s", cmd.Wait(), strings.TrimSpace(errs.String()))
	}
	c.process, c.errs = cmd, errs
	return nil
}

// kill ends the process at once, and looks whether it had ended by itself.
func (c *cloud) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return
	}
	c.process.Process.Kill()
	err := c.process.Wait()
	if text := c.errs.String(); strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		c.world.lose("the cloud ended by itself (%v): %s", err, text[max(0, len(text)-2000):])
	}
	c.process = nil
}

// life disturbs the cloud until the time is over. It dies once, however short that is.
func (c *cloud) life(r *rand.Rand) {
	for c.dies(r); c.world.pause(r, 12*time.Second); c.weigh() {
		switch n := r.IntN(10); {
		case n < 4:
			c.dies(r)
		case n < 7:
			c.stalls(r)
		case n < 9:
			c.isDamaged(r)
		default:
			c.runsOutOfDisk(r)
		}
	}
}

// dies kills the process, like a power cut, and starts it again after a while.
func (c *cloud) dies(r *rand.Rand) {
	away := between(r, 3*time.Second)
	c.world.fault("cloud killed", "for %v", away.Round(time.Millisecond))
	c.kill()
	time.Sleep(away)
	c.back("after it was killed")
}

// back starts the process, which has no reason to fail.
func (c *cloud) back(when string) {
	if err := c.serve(c.home); err != nil {
		c.world.lose("the cloud does not start %s: %v", when, err)
	}
}

// stalls stops the process for a while, as a machine without memory or a laptop's lid does.
func (c *cloud) stalls(r *rand.Rand) {
	c.mu.Lock()
	p := c.process
	c.mu.Unlock()
	if p == nil {
		return
	}
	away := between(r, 8*time.Second)
	c.world.fault("cloud stopped", "for %v", away.Round(time.Millisecond))
	stop(p.Process)
	time.Sleep(away)
	goOn(p.Process)
}

// isDamaged flips a bit in a file of the cloud while it is off. It must say what is wrong, or serve the right answers.
func (c *cloud) isDamaged(r *rand.Rand) {
	c.kill()
	f, err := c.damage(r.IntN)
	if err != nil {
		c.world.lose("the cloud's files cannot be damaged: %v", err)
		c.back("after that")
		return
	}
	c.world.fault("bit flipped on the cloud's disk", "%s", f.path)
	if err := c.serve(c.home); err == nil {
		c.world.pause(r, 6*time.Second)
		c.kill()
	} else if text := err.Error(); !strings.Contains(text, f.path) && !strings.Contains(text, filepath.Dir(f.path)) {
		c.world.lose("the cloud does not say that %s is damaged: %v", f.path, err)
	}
	if err := c.repair(f); err != nil {
		c.world.lose("the cloud is not mended: %v", err)
	}
	c.back("after it was mended")
	c.world.count(func(r *Result) { r.Healed++ })
}

// repair rebuilds the index if the damaged file belongs to it, as the program's error advises, and restores any other
// file.
func (h home) repair(f flip) error {
	if in, _ := filepath.Rel(h.dir, f.path); strings.Contains(in, string(filepath.Separator)+"index"+string(filepath.Separator)) && filepath.Base(f.path) != "sources" {
		return h.must(context.Background(), nil, "index", "rebuild")
	}
	return f.restore()
}

// runsOutOfDisk starts the cloud again on a disk that takes no more bytes.
func (c *cloud) runsOutOfDisk(r *rand.Rand) {
	c.world.fault("cloud's disk full", "")
	c.kill()
	if err := c.serve(c.onFullDisk()); err == nil {
		c.world.pause(r, 6*time.Second)
		c.kill()
	} else if !strings.Contains(err.Error(), "file too large") {
		c.world.lose("on a full disk the cloud ended: %v", err)
	}
	c.back("after its disk was full")
}

// heal makes sure that the cloud serves.
func (c *cloud) heal() error {
	c.kill()
	return c.serve(c.home)
}

// weigh notes how much memory the process takes, by its own metrics.
func (c *cloud) weigh() {
	client := http.Client{Timeout: 2 * time.Second}
	got, err := client.Get("http://" + c.metrics + "/metrics")
	if err != nil {
		return
	}
	defer got.Body.Close()
	for in := bufio.NewScanner(got.Body); in.Scan(); {
		var bytes float64
		if _, err := fmt.Sscanf(in.Text(), "process_resident_memory_bytes %g", &bytes); err == nil {
			c.world.count(func(r *Result) { r.Memory = max(r.Memory, bytes/1e6) })
		}
	}
}

func freeUDP() (string, error) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.LocalAddr().String(), nil
}

func freeTCP() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
