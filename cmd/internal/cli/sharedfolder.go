package cli

import (
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

func (f SharedFolder) or(own, shared string) string {
	if f == "" {
		return own
	}
	return filepath.Join(string(f), shared)
}
