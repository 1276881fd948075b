package span

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"tandem/model/gguf"
	"tandem/npu/native"
)

// memory is a Store.
type memory struct {
	mu    sync.Mutex
	blobs map[[32]byte][]byte
	puts  int
	err   error
}

func (m *memory) Get(key [32]byte) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[key]
	return b, ok
}

func (m *memory) Put(key [32]byte, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	m.puts, m.blobs[key] = m.puts+1, b
	return nil
}

// What one reader has stored another one need not compute, and its answers are the same to the bit.
func TestStoredEncodings(t *testing.T) {
	store := &memory{blobs: map[[32]byte][]byte{}}
	const question = "When does the museum close?"
	texts := []string{museum, museum[9:], "Grüße aus Köln: 5 °C.", ""}
	open := func() *Reader {
		r, err := New(shipped(t), native.New(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	want, err := r.Read(t.Context(), question, passagesOf(t, r, texts...))
	if err != nil {
		t.Fatal(err)
	}
	check := func(how string, r *Reader, puts int) {
		t.Helper()
		got, err := r.Read(t.Context(), question, passagesOf(t, r, texts...))
		if err != nil {
			t.Fatal(how, err)
		}
		for i := range want {
			same(t, how, got[i], want[i])
		}
		if store.puts != puts {
			t.Errorf("%s: %d passages stored in all, want %d", how, store.puts, puts)
		}
	}
	r = open()
	r.Keep(store)
	check("stored", r, 3)

	// Of a question everything is computed, of a stored passage nothing.
	r = open()
	r.Keep(store)
	ps := passagesOf(t, r, texts...)
	sound := r.enter.program
	r.enter.program = failing{sound, errors.New("a passage is encoded again")}
	for _, p := range ps[:3] {
		if _, err := p.known(); err != nil {
			t.Fatal(err)
		}
	}
	r.enter.program = sound
	check("read back", r, 3)

	for key, b := range store.blobs {
		store.blobs[key] = b[:len(b)-4]
	}
	r = open()
	r.Keep(store)
	check("of another length", r, 6)

	store.blobs, store.err = map[[32]byte][]byte{}, errors.New("the disk is full")
	r = open()
	r.Keep(store)
	check("a full disk", r, 6)
}

// Files whose weights are equal but whose words are read in another way share no encodings.
func TestStoreKey(t *testing.T) {
	f := small(t)
	key := func(entries []gguf.KV) [32]byte {
		other := *f
		other.Meta = gguf.NewMeta(entries)
		return wholeOf(&other, "tensors")
	}
	entries := f.KVs()
	was := key(entries)
	for i, kv := range entries {
		changed := slices.Clone(entries)
		switch v := kv.Value.(type) {
		case []string:
			changed[i].Value = append([]string{"another"}, v...)
		default:
			changed[i].Value = "another"
		}
		if differs, want := key(changed) != was, kv.Key != Architecture+".relations"; differs != want {
			t.Errorf("%s: another key %v, want %v", kv.Key, differs, want)
		}
	}
}
