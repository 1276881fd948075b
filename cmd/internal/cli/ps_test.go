package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"tandem/internal/filelock"
)

// A process is listed though its file is damaged, and forgotten once it has ended.
func TestProcessesWithADamagedFile(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := &App{Context: context.Background(), Log: slog.New(slog.DiscardHandler)}
	running, err := a.runningDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(running, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(running, "4711.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := filelock.Try(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	end := a.Register(Process{Command: "serve"})
	list, err := a.processes()
	if err != nil || len(list) != 2 || list[0].PID != 4711 || list[1].PID != os.Getpid() || list[1].Command != "serve" {
		t.Errorf("%+v, %v", list, err)
	}
	end()
	f.Close()
	if list, err := a.processes(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Of a process whose file could not be written, as on a full disk, ps says that it knows no more than its number.
func TestPsOfAnUnknownProcess(t *testing.T) {
	var out, aside strings.Builder
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := &App{Screen: &Screen{Out: &out, Aside: &aside}, Context: context.Background(), Program: "cloud", Globals: &Globals{}, Log: slog.New(slog.DiscardHandler)}
	end := a.Register(Process{Command: "serve", Model: "m", Documents: "index", Address: "127.0.0.1:4433"})
	defer end()
	running, _ := a.runningDir()
	f, err := os.Create(filepath.Join(running, "4711.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ok, err := filelock.Try(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := (&PsCmd{}).Run(a); err != nil {
		t.Fatal(err)
	}
	unknown := regexp.MustCompile(`(?m)^ *4711 +cloud \(unknown\) *$`)
	if !unknown.MatchString(out.String()) || strings.Count(out.String(), "unknown") != 1 || !strings.Contains(aside.String(), f.Name()+" is empty or damaged, as a full disk leaves it") {
		t.Errorf("%s\n%s", &out, &aside)
	}
	out.Reset()
	a.Globals.JSON = true
	if err := (&PsCmd{}).Run(a); err != nil || strings.Count(out.String(), `"unknown"`) != 1 {
		t.Errorf("%v, %s", err, &out)
	}
}

// A process that registers while another lists the processes, and forgets those that have ended, is listed from then on.
func TestRegisterWhileListed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := &App{Context: context.Background(), Log: slog.New(slog.DiscardHandler)}
	var others sync.WaitGroup
	defer others.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	others.Go(func() {
		for ctx.Err() == nil {
			if _, err := a.processes(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 100 {
		end := a.Register(Process{Command: "serve"})
		list, err := a.processes()
		if err != nil || len(list) != 1 || list[0].Command != "serve" {
			t.Fatalf("%+v, %v", list, err)
		}
		end()
	}
}

// Where another process has this one's number and file, that file stays as it is.
func TestRegisterWithATakenNumber(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	a := &App{Context: context.Background(), Log: slog.New(slog.DiscardHandler)}
	end := a.Register(Process{Command: "serve"})
	defer end()
	a.Register(Process{Command: "chat"})()
	if list, err := a.processes(); err != nil || len(list) != 1 || list[0].Command != "serve" {
		t.Errorf("%+v, %v", list, err)
	}
}

// The log warns of a server that other commands cannot find, as on a full or read-only disk. Nothing looks for a chat.
func TestRegisterWithoutFolder(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", state)
	for address, want := range map[string]string{"127.0.0.1:4433": "level=WARN", "": "level=INFO"} {
		var log strings.Builder
		a := &App{Context: context.Background(), Program: "cloud", Log: slog.New(slog.NewTextHandler(&log, nil))}
		a.Register(Process{Command: "serve", Address: address})()
		if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, want) {
			t.Errorf("at %q: %q, want %s", address, said, want)
		}
	}
}
