package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Dirs are the folders of one program, after the XDG base directory specification.
type Dirs struct {
	Config string // configuration file, identity and pinned peers
	Data   string // the document index
	Cache  string // computed key-value states of passages; may be deleted at any time
	State  string // session tickets, pending pairing codes
}

// errNoHome is returned when no folder of the user can be found.
var errNoHome = errors.New("no home folder: set HOME or the XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME and XDG_STATE_HOME variables")

// findDirs returns the folders of a program ("edge" or "cloud") below tandem/. Nothing is created.
func findDirs(program string) (Dirs, error) {
	home, _ := os.UserHomeDir()
	if info, err := os.Stat(home); err == nil && !info.IsDir() { // accounts of services have /dev/null
		home = ""
	}
	pick := func(variable string, fallback ...string) (string, error) {
		if dir := os.Getenv(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, "tandem", program), nil
		}
		switch {
		case home == "":
			return "", errNoHome
		case !filepath.IsAbs(home): // it would be another folder in each working directory
			return "", fmt.Errorf("the home folder %q is not an absolute path: set HOME to one that begins at the root", home)
		}
		return filepath.Join(append(append([]string{home}, fallback...), "tandem", program)...), nil
	}
	var d Dirs
	var errs [4]error
	d.Config, errs[0] = pick("XDG_CONFIG_HOME", configBase()...)
	d.Data, errs[1] = pick("XDG_DATA_HOME", dataBase()...)
	d.Cache, errs[2] = pick("XDG_CACHE_HOME", cacheBase()...)
	d.State, errs[3] = pick("XDG_STATE_HOME", ".local", "state")
	return d, cmp.Or(errs[:]...) // they are the same
}

func configBase() []string {
	switch runtime.GOOS {
	case "darwin", "ios":
		return []string{"Library", "Application Support"}
	case "windows":
		return []string{"AppData", "Roaming"}
	}
	return []string{".config"}
}

func dataBase() []string {
	switch runtime.GOOS {
	case "darwin", "ios":
		return []string{"Library", "Application Support"}
	case "windows":
		return []string{"AppData", "Local"}
	}
	return []string{".local", "share"}
}

func cacheBase() []string {
	switch runtime.GOOS {
	case "darwin", "ios":
		return []string{"Library", "Caches"}
	case "windows":
		return []string{"AppData", "Local", "Cache"}
	}
	return []string{".cache"}
}

// MakePrivateDir creates dir for the user alone.
func MakePrivateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create %s: %w", dir, err)
	}
	return nil
}

// WriteFile replaces the program's own file at path by data in one step, readable by the user alone. What the user
// named is for WriteOutput.
func WriteFile(path string, data []byte) error {
	if err := MakePrivateDir(filepath.Dir(path)); err != nil {
		return err
	}
	return replace(path, data, 0o600)
}
