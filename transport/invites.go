package transport

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxInvites bounds the codes that are open at once.
const maxInvites = 32

// Invites holds the secrets of open pairing codes, each as a file of a directory, so that one program can print a code and
// another can serve it. Redeeming a code removes its file. Only one attempt can do that, so a code works once.
type Invites struct{ dir string }

// OpenInvites uses the directory dir, which need not exist yet.
func OpenInvites(dir string) *Invites { return &Invites{dir} }

type invite struct {
	Secret  []byte    `json:"secret"`
	Expires time.Time `json:"expires"`

	// The same by a clock that cannot be set back, where there is one: the run of the machine, and how long it has run then.
	Run   string        `json:"run,omitempty"`
	Until time.Duration `json:"until,omitempty"`
}

// over reports whether the invite is no longer valid.
func (i invite) over(now time.Time) bool {
	run, since := uptime()
	return now.After(i.Expires) || run != "" && run == i.Run && since > i.Until
}

// New opens a pairing code for the cloud with the given key, reachable at addrs, for the time life.
func (v *Invites) New(cloud ID, addrs []string, life time.Duration) (Code, error) {
	c := Code{Addrs: addrs, Pin: [pinSize]byte(cloud[:])}
	rand.Read(c.Secret[:])
	if _, err := c.marshal(); err != nil {
		return Code{}, err
	}
	open, err := v.open(time.Now())
	if err != nil {
		return Code{}, err
	}
	if len(open) >= maxInvites {
		return Code{}, fmt.Errorf("pairing: %d codes are open already; the first expires at %s", len(open), soonest(open).Format(time.TimeOnly))
	}
	run, since := uptime()
	data, err := json.Marshal(invite{Secret: c.Secret[:], Expires: time.Now().Add(life), Run: run, Until: since + life})
	if err != nil {
		return Code{}, fmt.Errorf("pairing: %w", err)
	}
	name := sha256.Sum256(c.Secret[:])
	if err := writeFile(filepath.Join(v.dir, hex.EncodeToString(name[:8])+".json"), data); err != nil {
		return Code{}, fmt.Errorf("pairing: store the code: %w", err)
	}
	return c, nil
}

func soonest(open map[string]invite) (t time.Time) {
	for _, i := range open {
		t = earlier(t, i.Expires)
	}
	return t
}

// open returns the invites that are still valid, by file, and removes the others.
func (v *Invites) open(now time.Time) (map[string]invite, error) {
	entries, err := os.ReadDir(v.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("pairing: list open codes: %w", err)
	}
	open := map[string]invite{}
	for _, e := range entries {
		path := filepath.Join(v.dir, e.Name())
		if !strings.HasSuffix(path, ".json") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			continue // used in the meantime
		}
		var i invite
		if json.Unmarshal(data, &i) != nil || len(i.Secret) != secretSize || i.over(now) {
			os.Remove(path)
			continue
		}
		open[path] = i
	}
	return open, nil
}

// redeem uses up the invite whose secret produced mac, and returns the secret.
func (v *Invites) redeem(now time.Time, binding, mac []byte) (secret []byte, ok bool, err error) {
	open, err := v.open(now)
	if err != nil {
		return nil, false, err
	}
	for path, i := range open {
		if hmac.Equal(mac, proof(i.Secret, "device", binding)) && os.Remove(path) == nil {
			return i.Secret, true, nil
		}
	}
	return nil, false, nil
}
