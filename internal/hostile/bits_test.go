package hostile

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem"
	"tandem/decoder/kvstore"
	"tandem/internal/tinymodel"
	"tandem/model"
	"tandem/node"
	"tandem/npu/native"
	"tandem/retrieval/passages"
	"tandem/retrieval/search"
	"tandem/transport"
)

// A device keeps an index, KV caches and session tickets on disk. With a bit flipped in any of their files it gives the
// answer of before, or an error that names the file or its folder.
func TestFlippedBits(t *testing.T) {
	s := newSides(t)
	g := newTarget(t, s, 1)
	defer g.stop()
	d := newDisk(t, g)
	for range 2 { // the second answer reads what the first has left
		if got, err := d.ask(t); err != nil || !slices.Equal(got, g.want) {
			t.Fatalf("%v, %v, want %v", got, err, g.want)
		}
	}
	saved := d.files(t)
	kinds := map[string]int{}
	for path := range saved {
		kinds[strings.Split(path, string(filepath.Separator))[0]]++
	}
	if len(kinds) != 3 || len(saved) < 6 {
		t.Fatalf("the device keeps %v", kinds)
	}
	refused := 0
	rounds(t, func(r *rand.Rand) {
		for _, path := range slices.Sorted(maps.Keys(saved)) {
			for range 4 {
				d.restore(t, saved)
				damaged := slices.Clone(saved[path])
				bit := r.IntN(8 * len(damaged))
				damaged[bit/8] ^= 1 << (bit % 8)
				if err := os.WriteFile(filepath.Join(d.dir, path), damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := d.ask(t)
				switch {
				case err == nil && !slices.Equal(got, g.want):
					t.Errorf("bit %d of %s: %v, before %v", bit, path, got, g.want)
				case err != nil && !strings.Contains(err.Error(), filepath.Dir(filepath.Join(d.dir, path))):
					t.Errorf("bit %d of %s: the error names neither the file nor its folder: %v", bit, path, err)
				case err != nil:
					refused++
				}
			}
		}
	})
	if refused == 0 {
		t.Error("no flipped bit was noticed")
	}
}

// disk is a device with its files.
type disk struct {
	*target
	dir string
}

func newDisk(t *testing.T, g *target) disk {
	t.Helper()
	d := disk{g, t.TempDir()}
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "note.txt"), []byte("The cabin is at the harbour."), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := search.Open(filepath.Join(d.dir, "index"), search.Options{Words: passages.SentenceWords})
	if err == nil {
		_, err = x.Add(t.Context(), docs, nil)
		err = errors.Join(err, x.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ask opens everything again, as a program does when it starts, and asks.
func (d disk) ask(t *testing.T) (ids []tandem.Token, err error) {
	t.Helper()
	x, err := search.Open(filepath.Join(d.dir, "index"), search.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	kv, err := kvstore.Open(filepath.Join(d.dir, "kv"), 1<<20)
	if err != nil {
		return nil, err
	}
	own := d.sides
	own[tandem.Device].Documents, own[tandem.Device].KV = x, kv
	device := own.device(d.honest[0], d.id, d.address)
	device.Cloud = node.NewRemoteCloud(func(ctx context.Context, _ string) (*transport.Conn, error) {
		return transport.Dial(ctx, d.address, transport.ClientConfig{
			Identity: d.honest[0], Peer: d.id, Hello: d.hello(tandem.Device), Log: quiet(), Tickets: transport.OpenTickets(filepath.Join(d.dir, "sessions")),
		})
	}, 0, "the cloud")
	device.Require = true
	ids, _, err = ask(t.Context(), device, 1)
	return ids, errors.Join(err, device.Close())
}

// files returns the device's files with their bytes.
func (d disk) files(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(d.dir, path)
		if len(b) > 0 {
			all[rel] = b
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// restore makes the device's files what they were.
func (d disk) restore(t *testing.T, saved map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(d.dir); err != nil {
		t.Fatal(err)
	}
	for path, b := range saved {
		path = filepath.Join(d.dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A bit flips in a model of which no checksum is on record. The file is refused, or answers with it end: its weights may be
// infinite or no numbers. (With a checksum the file is refused wherever the bit is: see package model/hub.)
func TestFlippedModel(t *testing.T) {
	s := newSides(t)
	file := tinymodel.GGUF(tinymodel.Spec{Layers: 1, Dim: 64, FF: 64, Heads: 2, KVHeads: 1, Context: 256})
	head := 8 * 4096 // most of what can go wrong is in the header
	refused := 0
	rounds(t, func(r *rand.Rand) {
		for i := range 120 {
			bit := r.IntN(8 * len(file))
			if i%2 == 0 {
				bit = r.IntN(head)
			}
			damaged := slices.Clone(file)
			damaged[bit/8] ^= 1 << (bit % 8)
			m, err := model.OpenBytes("damaged", damaged, native.New(1))
			if err != nil {
				refused++
				continue
			}
			own := s[tandem.Device]
			own.Model = m
			ids, _, err := ask(t.Context(), &node.Device{Local: own}, 1)
			if err == nil && len(ids) > settings(1).MaxTokens {
				t.Errorf("bit %d: %d tokens", bit, len(ids))
			}
			if err := m.Close(); err != nil {
				t.Errorf("bit %d: %v", bit, err)
			}
		}
	})
	if refused == 0 {
		t.Error("no damaged model was refused")
	}
}
