package cli

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// listening is the state of a running server, as saved on disk.
type listening struct {
	Address string `json:"address"`
}

func (a *App) listeningPath() (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(dirs.State, "listening.json"), err
}

// Listens saves the address where this process serves, so that "cloud pair" can put it into codes. The returned function
// removes it again, unless another server has started since.
func (a *App) Listens(address string) (end func()) {
	path, err := a.listeningPath()
	if err = writeState(path, listening{address}, err); err != nil {
		a.Log.Warn("cannot save the address of this server for pairing codes", "error", err)
		return func() {}
	}
	return func() {
		if a.Listening() == address {
			os.Remove(path)
		}
	}
}

// Listening returns the address where a server of this user listens, or "" if none runs.
func (a *App) Listening() string {
	path, err := a.listeningPath()
	l, err := readState[listening](path, err)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.Log.Info("cannot read the address of the running server", "error", err)
	}
	if c, err := net.ListenPacket("udp", l.Address); err == nil && l.Address != "" { // the port is free, so that server has ended
		c.Close()
		return ""
	}
	return l.Address
}
