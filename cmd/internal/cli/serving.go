package cli

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// listening is what is kept of a running server.
type listening struct {
	Address string `json:"address"`
}

func (a *App) listeningPath() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.State, "listening.json"), err
}

// Listens notes the address where this program serves, for the one that prints pairing codes. What it returns takes
// that back, unless another server has begun since.
func (a *App) Listens(address string) (end func()) {
	path, err := a.listeningPath()
	if err = writeState(path, listening{address}, err); err != nil {
		a.Log.Warn("pairing codes do not know where this server listens", "error", err)
		return func() {}
	}
	return func() {
		if a.Listening() == address {
			os.Remove(path)
		}
	}
}

// Listening is where this user's server listens, "" when none runs.
func (a *App) Listening() string {
	path, err := a.listeningPath()
	l, err := readState[listening](path, err)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.Log.Info("not known where the server listens", "error", err)
	}
	if c, err := net.ListenPacket("udp", l.Address); err == nil && l.Address != "" { // nobody does any more, however it ended
		c.Close()
		return ""
	}
	return l.Address
}
