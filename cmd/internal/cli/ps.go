package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/filelock"
)

// Process is a running program that answers questions.
type Process struct {
	PID       int       `json:"pid"`
	Command   string    `json:"command"` // "serve", "chat"
	Model     string    `json:"model"`
	Documents string    `json:"documents"` // what it answers from, for people
	Address   string    `json:"address,omitempty"`
	Started   time.Time `json:"started"`
	Draining  bool      `json:"draining,omitempty"` // it takes no new questions
	Unknown   bool      `json:"unknown,omitempty"`  // all but the PID: its file is empty or damaged
}

func (a *App) runningDir() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.State, "running"), err
}

// Register tells "ps" about this process. It ends with the process, or when end is called. Without a home folder it does
// nothing.
func (a *App) Register(p Process) (end func()) {
	dir, err := a.runningDir()
	if err == nil {
		err = MakePrivateDir(dir)
	}
	p.PID, p.Started = os.Getpid(), time.Now().UTC().Truncate(time.Second)
	var f *os.File
	if err == nil {
		f, err = openProcess(dir, p.PID)
	}
	if err != nil {
		a.unknown(p, err)
		return func() {}
	}
	if err := json.NewEncoder(f).Encode(p); err != nil {
		a.unknown(p, err)
	}
	a.drains = func() {
		p.Draining = true
		if b, err := json.Marshal(p); err == nil {
			f.WriteAt(append(b, '\n'), 0) // in one piece, and longer than what it replaces
		}
	}
	return func() {
		a.drains = nil
		f.Close()
		os.Remove(f.Name())
	}
}

// unknown logs that other commands do not know of a process, or not where it listens.
func (a *App) unknown(p Process, err error) {
	if p.Address == "" {
		a.Log.Info("ps does not show this process", "error", err)
		return
	}
	a.Log.Warn("other commands do not find this server: tell them its address", "address", p.Address, "error", err)
}

// openProcess makes the file of a process and locks it. The lock ends with the process, whatever ends it.
func openProcess(dir string, pid int) (*os.File, error) {
	unlock, err := lockProcesses(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(pid)+".json"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	free, err := filelock.Try(f)
	if err == nil && !free { // in containers that share a folder, numbers need not differ
		err = fmt.Errorf("another process with the number %d uses %s: give each its own state folder", pid, f.Name())
	}
	if err == nil {
		err = f.Truncate(0) // what an earlier process left
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockProcesses keeps other processes from registering and from removing files until unlock is called. Without it, a file that is
// made but not locked yet would look like that of a process that has ended.
func lockProcesses(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return func() { f.Close() }, nil
}

// MarkDraining tells "ps" that this process takes no new questions.
func (a *App) MarkDraining() {
	if a.drains != nil {
		a.drains()
	}
}

// processes returns the running processes of this program and user, and forgets those that have ended.
func (a *App) processes() ([]Process, error) {
	dir, err := a.runningDir()
	if err != nil {
		return nil, err
	}
	out := []Process{}
	unlock, err := lockProcesses(dir)
	if errors.Is(err, fs.ErrNotExist) { // none has registered yet
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		p, alive, err := readProcess(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it has just ended
		case err != nil:
			return nil, err
		case !alive:
			os.Remove(path)
		default:
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(x, y Process) int { return x.Started.Compare(y.Started) })
	return out, nil
}

// readProcess reads what a process said of itself, and whether it still runs. Of a process whose file is damaged, or not written
// yet, only the PID is known.
func readProcess(path string) (p Process, alive bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return p, false, err
	}
	defer f.Close()
	free, err := filelock.Try(f)
	if err != nil || free {
		return p, false, err
	}
	b, err := io.ReadAll(f)
	if err == nil && json.Unmarshal(b, &p) != nil {
		p = Process{Unknown: true}
		p.PID, err = strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	return p, err == nil, err
}

// ServerAddress returns the address of the server of this user that started last, "" if none runs.
func (a *App) ServerAddress() string { return a.LatestServer().Address }

// LatestServer returns the server of this user that started last; its PID is 0 if none runs.
func (a *App) LatestServer() Process {
	list, err := a.processes()
	if err != nil {
		a.Log.Info("cannot tell where a server runs", "error", err)
	}
	for _, p := range slices.Backward(list) {
		if p.Command == "serve" {
			return p
		}
	}
	return Process{}
}

// PsCmd lists running processes.
type PsCmd struct{}

func (c *PsCmd) Help() string {
	return `Examples:
  ${program} ps
  ${program} ps --json | jq '.processes[].model'`
}

// Run is called by kong.
func (c *PsCmd) Run(a *App) error {
	list, err := a.processes()
	if err != nil {
		return err
	}
	if a.Globals.JSON {
		return a.JSON(map[string]any{"processes": list})
	}
	if len(list) == 0 {
		fmt.Fprintf(a.Out, "No %s is running.\n", a.Program)
		return nil
	}
	t := Table{Header: []string{"PID", "COMMAND", "MODEL", "DOCUMENTS", "ADDRESS", "SINCE"}, Right: 1}
	var unknown []int
	for _, p := range list {
		if p.Unknown {
			unknown = append(unknown, p.PID)
			t.Add(strconv.Itoa(p.PID), a.Program+" (unknown)", "", "", "", "")
			continue
		}
		command := a.Program + " " + p.Command
		if p.Draining {
			command += " (draining)"
		}
		t.Add(strconv.Itoa(p.PID), command, p.Model, p.Documents, p.Address, Day(p.Started))
	}
	a.Table(t)
	dir, err := a.runningDir()
	for _, pid := range unknown {
		a.Remark("%s is empty or damaged, as a full disk leaves it: make room and start that program again to see more of it", filepath.Join(dir, strconv.Itoa(pid)+".json"))
	}
	return err
}
