// Package clitest runs a program in tests the way a user does: as its own process, in an empty home folder.
package clitest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"tandem/internal/lazyregexp"
)

// Main is for TestMain. It runs the tests, or the program's main in a process that Home started, which has lazyregexp.AsProgram set.
func Main(m *testing.M, main func()) {
	if os.Getenv(lazyregexp.AsProgram) != "" {
		main()
	}
	code := m.Run()
	built.remove()
	os.Exit(code)
}

// built are the programs that Build has built.
var built programs

type programs struct {
	mu    sync.Mutex
	dir   string
	paths map[string]string // by package
}

// Build returns the path of another program, which is built once for all tests of a process. It lasts until Main ends.
func Build(t *testing.T, pkg string) string {
	t.Helper()
	built.mu.Lock()
	defer built.mu.Unlock()
	if path := built.paths[pkg]; path != "" {
		return path
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "tandem-test-*")
		if err != nil {
			t.Fatal(err)
		}
		built.dir, built.paths = dir, map[string]string{}
	}
	path := filepath.Join(built.dir, filepath.Base(pkg)+".exe")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, pkg).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	built.paths[pkg] = path
	return path
}

func (p *programs) remove() { os.RemoveAll(p.dir) }

// Home is a home folder for the programs of one test, empty at first.
type Home struct {
	T   *testing.T
	Dir string
}

// NewHome makes a home folder that is removed when the test ends.
func NewHome(t *testing.T) Home { return Home{t, t.TempDir()} }

// Env returns the environment of a program in this home: that of the test without any settings of Tandem, and more.
func (h Home) Env(more ...string) []string {
	env := []string{lazyregexp.AsProgram + "=1", "HOME=" + h.Dir}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "TANDEM_") {
			env = append(env, kv)
		}
	}
	return append(env, more...)
}

// Command prepares to run the program in this home, which is also its working directory.
func (h Home) Command(ctx context.Context, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		h.T.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env, cmd.Dir = h.Env(), h.Dir
	return cmd
}

// Run runs the program and returns what it printed.
func (h Home) Run(args ...string) (stdout, stderr string, err error) {
	h.T.Helper()
	return h.RunWith(nil, args...)
}

// RunWith is Run with additions to the environment.
func (h Home) RunWith(env []string, args ...string) (stdout, stderr string, err error) {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(h.T.Context(), 5*time.Minute)
	defer cancel()
	cmd := h.Command(ctx, args...)
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// Write writes a file below dir, which it makes if need be.
func Write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FlagKinds checks that a flag's name takes values of one type in every command of a grammar, one value or several: the
// name is also that of a setting in the configuration file. It returns the number of names.
func FlagKinds(t *testing.T, grammar any) int {
	t.Helper()
	parser, err := kong.New(grammar, kong.Vars{"config": "", "log_level": "error"})
	if err != nil {
		t.Fatal(err)
	}
	kind := map[string]string{}
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			typ := f.Target.Type()
			if typ.Kind() == reflect.Slice {
				typ = typ.Elem()
			}
			k := strings.TrimPrefix(typ.String(), "u") // each command checks the range of its integers itself
			if before, ok := kind[f.Name]; ok && before != k {
				t.Errorf("--%s is a %s in %s, a %s elsewhere", f.Name, k, n.Path(), before)
			}
			kind[f.Name] = k
		}
		for _, c := range n.Children {
			visit(c)
		}
	}
	visit(parser.Model.Node)
	return len(kind)
}
