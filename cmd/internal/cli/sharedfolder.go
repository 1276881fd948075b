package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/transport"
)

// SharedFolder is the folder that the replicas of a cloud share. Its key, pairings and codes take the place of the program's own.
type SharedFolder string

// Identity is the folder of the key.
func (f SharedFolder) Identity(d Dirs) string { return f.or(d.Config, "") }

// Peers is the folder of pinned keys.
func (f SharedFolder) Peers(d Dirs) string { return f.or(d.Peers(), "peers") }

// Invites is the folder of open pairing codes.
func (f SharedFolder) Invites(d Dirs) string { return f.or(d.Invites(), "invites") }

// Replicas is the list of those that run. It is nil where there is no folder.
func (f SharedFolder) Replicas() *transport.Replicas {
	if f == "" {
		return nil
	}
	return transport.OpenReplicas(filepath.Join(string(f), "replicas"))
}

// Check refuses a folder that does not exist, and one that another user may change. It makes none: where a share is not
// mounted, or the path is mistyped, that would begin another cloud, with a key of its own.
func (f SharedFolder) Check() error {
	if f == "" {
		return nil
	}
	info, err := os.Stat(string(f))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--service: there is no folder %s: mount the share, or make the folder for the first replica (mkdir -m 700 %[1]s)", Escape(string(f)))
	case err != nil:
		return fmt.Errorf("--service: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--service: %s is a file: name the folder that the replicas share", Escape(string(f)))
	}
	return f.safe(info)
}

func (f SharedFolder) or(own, shared string) string {
	if f == "" {
		return own
	}
	return filepath.Join(string(f), shared)
}
