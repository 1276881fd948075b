package cli

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/filelock"
)

// A process is listed though its file is damaged, and forgotten once it has ended.
func TestProcessesWithADamagedFile(t *testing.T) {
	dir := t.TempDir()
	a := &App{Context: context.Background(), dirs: Dirs{State: dir}, Log: slog.New(slog.DiscardHandler)}
	running := filepath.Join(dir, "running")
	if err := os.Mkdir(running, 0o700); err != nil {
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
