package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/filelock"
)

// A writer waits for another that is soon done, and gives up on one that is not.
func TestWritersWait(t *testing.T) {
	for _, takes := range []time.Duration{2 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			told := 0
			x := &Index{dir: t.TempDir(), opt: Options{Waiting: func() { told++ }}}
			f, err := os.Create(filepath.Join(x.dir, lockName)) // its holder has not written its number yet
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := filelock.Try(f); err != nil || !ok {
				t.Fatal(err)
			}
			holder := time.AfterFunc(takes, func() { f.Close() })
			begun := time.Now()
			unlock, err := x.lock(t.Context())
			switch took := time.Since(begun); {
			case takes < lockPatience && (err != nil || took < takes):
				t.Errorf("%v after %v", err, took)
			case takes > lockPatience && (!errors.Is(err, ErrLocked) || took > 2*lockPatience || strings.Contains(err.Error(), "process ;")):
				t.Errorf("%v after %v", err, took)
			}
			if told != 1 {
				t.Errorf("told %d times that it waits", told)
			}
			if err == nil {
				unlock()
			}
			if holder.Stop() {
				f.Close()
			}
		})
	}
}
