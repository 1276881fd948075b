package transport

import (
	"sync"
	"testing"
)

// Programs that start together in a fresh folder have one key.
func TestOneIdentity(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		ids := make([]ID, 8)
		var start, all sync.WaitGroup
		start.Add(1)
		for i := range ids {
			all.Go(func() {
				start.Wait()
				id, err := LoadOrCreateIdentity(dir)
				if err != nil {
					t.Error(err)
				}
				ids[i] = id.ID
			})
		}
		start.Done()
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("keys %s and %s", id.Short(), ids[0].Short())
			}
		}
	}
}
