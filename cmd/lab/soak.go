package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/lab/soak"
)

type soakCmd struct {
	Minutes float64 `help:"How long to run, not counting the setup and the final checks." default:"5"`
	Devices int     `help:"Devices that ask; one more adds documents." default:"3"`
	Seed    uint64  `help:"Seed that decides what is disturbed, and when." default:"1"`
	Edge    string  `help:"The program edge. Default: next to this program, or in PATH." type:"existingfile" placeholder:"FILE"`
	Cloud   string  `help:"The program cloud. Default: next to this program, or in PATH." type:"existingfile" placeholder:"FILE"`
	Dir     string  `help:"An empty folder to work in, which is kept. Default: a temporary one." type:"path" placeholder:"DIR"`
	Verbose bool    `short:"v" help:"Print every fault to standard error when it occurs."`
	File    string  `arg:"" optional:"" type:"path" help:"With --json: the file for the results. Default, or with -: standard output."`
}

func (c *soakCmd) Help() string {
	return `Examples:
  go build -o bin/ ./cmd/... && bin/lab soak --minutes 1
  lab soak --minutes 30 --verbose
  lab soak --minutes 30 --json soak.json

The programs run as processes on this machine, over loopback, each in its own home folder. Clouds and devices are killed and stopped; paths stall, change their ports and flip bits; bits flip in files; disks fill up. These are losses: an answer that differs from that of an undisturbed pair and does not say so; a command that hangs, or fails without a cause; missing documents, keys or pairings; a panic. After any loss, the exit status is 1.`
}

func (c *soakCmd) Run(a *cli.App) (err error) {
	cfg := soak.Config{Edge: c.Edge, Cloud: c.Cloud, Dir: c.Dir, For: time.Duration(c.Minutes * float64(time.Minute)), Devices: c.Devices, Seed: c.Seed}
	switch {
	case runtime.GOOS == "windows":
		return errors.New("a soak needs signals that stop a process, which Windows has not")
	case !(c.Minutes > 0 && c.Minutes <= 7*24*60):
		return fmt.Errorf("--minutes %v: want more than 0, up to a week", c.Minutes)
	case c.Devices < 1 || c.Devices > 64:
		return fmt.Errorf("--devices %d: want 1 to 64", c.Devices)
	}
	if err := a.CheckJSONFile(c.File); err != nil {
		return err
	}
	for name, path := range map[string]*string{"edge": &cfg.Edge, "cloud": &cfg.Cloud} {
		if *path == "" {
			if *path, err = findProgram(name); err != nil {
				return err
			}
		}
	}
	if c.Dir == "" {
		if cfg.Dir, err = os.MkdirTemp("", "soak-*"); err != nil {
			return err
		}
		defer os.RemoveAll(cfg.Dir)
	} else if err := makeEmptyFolder(c.Dir); err != nil {
		return err
	}
	if c.Verbose {
		cfg.Log = os.Stderr
	}
	a.Progress("soaking for %v", cfg.For)
	r, err := soak.Run(a, cfg)
	a.Clear()
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		err = a.JSONTo(c.File, r)
	} else {
		c.print(a, r)
	}
	if len(r.Lost) > 0 {
		err = errors.Join(err, fmt.Errorf("lost: %d", len(r.Lost)))
	}
	return err
}

func (c *soakCmd) print(a *cli.App, r soak.Result) {
	fmt.Fprintf(a.Out, "%.0f s, %d devices: %d answers of the pair, %d degraded and marked, %d refused with a cause, %d killed; %d documents added and found; %d times mended; the cloud took at most %.0f MB\n",
		r.Seconds, c.Devices, r.Answers, r.Degraded, r.Refused, r.Killed, r.Added, r.Healed, r.Memory)
	t := cli.Table{Header: []string{"FAULT", "TIMES"}}
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		t.Add(name, fmt.Sprint(r.Faults[name]))
	}
	a.Table(t)
	fmt.Fprintf(a.Out, "lost: %d\n", len(r.Lost))
	for _, l := range r.Lost {
		fmt.Fprintln(a.Out, cli.Escape(l))
	}
}

// findProgram finds a program next to this one, or in PATH.
func findProgram(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: build it next to this program (go build -o FOLDER ./cmd/...), or name it with --%s", err, name)
	}
	return path, nil
}

// makeEmptyFolder makes a folder, or makes sure that there is nothing in it.
func makeEmptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("--dir %s: it is not empty", dir)
	}
	return err
}
