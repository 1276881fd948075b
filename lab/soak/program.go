package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// patience is how long a command may take on a busy machine before it counts as lost.
const patience = 2 * time.Minute

// home is a home folder in which a program runs.
type home struct {
	program, dir string
	full         bool // its disk takes no byte more
}

// onFullDisk returns the home as it is while its disk is full.
func (h home) onFullDisk() home {
	h.full = true
	return h
}

// said is what a command printed, and how it ended.
type said struct {
	out, errs []byte
	err       error
}

// about is the end of a command, for a message.
func (s said) about() string {
	text := strings.TrimSpace(string(s.errs))
	if len(text) > 600 {
		text = "…" + text[len(text)-600:]
	}
	return fmt.Sprintf("%v: %s", s.err, text)
}

// mentions reports whether a command named one of some things in its errors.
func (s said) mentions(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.Contains(string(s.errs), n) })
}

// command prepares to run the program in its home.
func (h home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.program, args...)
	if h.full { // the limit of a process on the files that it writes stands in for a full disk
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -f 0; exec "$0" "$@"`, h.program}, args...)...)
	}
	cmd.Dir, cmd.WaitDelay = h.dir, time.Second
	cmd.Env = []string{"HOME=" + h.dir}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "TANDEM_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd
}

// run runs a command. meanwhile is called when it has begun; it may be nil.
func (h home) run(ctx context.Context, meanwhile func(*os.Process), args ...string) said {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errHung)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := h.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Start()
	if err == nil {
		if meanwhile != nil {
			meanwhile(cmd.Process)
		}
		err = cmd.Wait()
	}
	if context.Cause(ctx) == errHung {
		err = errHung
	}
	return said{out.Bytes(), errs.Bytes(), err}
}

var errHung = fmt.Errorf("it did not end within %v", patience)

// must runs a command that has no reason to fail, and reads its JSON into v unless that is nil.
func (h home) must(ctx context.Context, v any, args ...string) error {
	s := h.run(ctx, nil, args...)
	if s.err != nil {
		return fmt.Errorf("%s %s: %s", filepath.Base(h.program), strings.Join(args, " "), s.about())
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(s.out, v); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(h.program), strings.Join(args, " "), err)
	}
	return nil
}

// add indexes a folder.
func (h home) add(ctx context.Context, folder string) error {
	return h.must(ctx, nil, "index", "add", folder)
}

// flip is a flipped bit in a file.
type flip struct {
	path   string
	before []byte // the file's bytes
}

// damage flips a bit of a file in the home. pick chooses a number below its argument.
func (h home) damage(pick func(int) int) (f flip, err error) {
	var files []string
	err = filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, e := d.Info(); e == nil && info.Size() > 0 {
				files = append(files, path)
			}
		}
		return err
	})
	if err != nil {
		return f, err
	}
	if len(files) == 0 {
		return f, errNoFiles
	}
	f.path = files[pick(len(files))]
	if f.before, err = os.ReadFile(f.path); err != nil {
		return f, err
	}
	bit := pick(8 * len(f.before))
	return f, overwrite(f.path, int64(bit/8), f.before[bit/8]^1<<(bit%8))
}

// overwrite changes a byte of a file in its place, as a fault of a disk does.
func overwrite(path string, at int64, b byte) error {
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = out.WriteAt([]byte{b}, at)
	return errors.Join(err, out.Close())
}

// names are the words by which an error may name the damaged file: itself and its folder.
func (f flip) names() []string { return []string{f.path, filepath.Dir(f.path)} }

// restore brings the file back as it was, if it is still there.
func (f flip) restore() error {
	if _, err := os.Stat(f.path); err != nil {
		return nil // replaced meanwhile
	}
	return os.WriteFile(f.path, f.before, 0o600)
}
