package span

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"

	"tandem/model/gguf"
)

// A Store keeps what a reader has encoded for later processes. Get returns what was last put under a key, or nothing.
type Store interface {
	Get(key [32]byte) ([]byte, bool)
	Put(key [32]byte, value []byte) error
}

// Keep makes the reader use a store for the encodings of passages: it looks there first, and puts there what it computes.
// Reading an encoding back is much faster than computing it. Call Keep before the reader is used. If the store fails, the
// reader computes the encoding.
func (r *Reader) Keep(s Store) { r.store = s }

// encoding returns what of a passage does not depend on a question, from the store or computed.
func (r *Reader) encoding(s string, t *text) (known, error) {
	if r.store == nil || len(s) > longestKept {
		return r.encode(t, false)
	}
	key := r.storeKey(s)
	if b, ok := r.store.Get(key); ok {
		if k, ok := r.unpack(b, len(t.words)); ok {
			return k, nil
		}
	}
	k, err := r.encode(t, false)
	if err != nil {
		return k, err
	}
	if err := r.store.Put(key, pack(k)); err != nil {
		r.unstored.Do(func() { slog.Warn("what was read of the passages is not stored", "error", err) })
	}
	return k, nil
}

// storeKey returns the key of a passage's encoding, which depends on the reader's file, on the rules of this package and on the
// passage. It has the same bits on every processor.
func (r *Reader) storeKey(s string) [32]byte {
	whole := r.whole()
	return sha256.Sum256(append(whole[:], s...))
}

// wholeOf returns a hash of everything in a file that encodings depend on: the tensors, through name, which contains their
// hash, and the metadata. It leaves out the relations of words, the largest part of the metadata, because encodings of single
// texts do not use them.
func wholeOf(f *gguf.File, name string) [32]byte {
	b := fmt.Appendf(nil, "passage encoding 1\x00%s\x00%d\x00", name, rules) // the name has the dictionaries, too
	for _, kv := range f.KVs() {
		if kv.Key == Architecture+".relations" {
			continue
		}
		b = fmt.Appendf(b, "%q\x00", kv.Key)
		switch v := kv.Value.(type) { // formatting the long lists would take as long as reading a passage
		case []string:
			for _, s := range v {
				b = append(append(b, s...), 0)
			}
		case []float32:
			b, _ = binary.Append(b, binary.LittleEndian, v)
		default:
			b = fmt.Append(b, v)
		}
	}
	return sha256.Sum256(b)
}

// pack returns an encoding as bytes: the aligned embeddings, then the encoded words.
func pack(k known) []byte {
	b, _ := binary.Append(make([]byte, 0, 4*(len(k.align.x)+len(k.x.x))), binary.LittleEndian, k.align.x)
	b, _ = binary.Append(b, binary.LittleEndian, k.x.x) // no error: floats have a fixed size
	return b
}

// unpack returns the encoding of n words that pack wrote, and false if the bytes are not one.
func (r *Reader) unpack(b []byte, n int) (known, bool) {
	k := known{align: newRows(n, r.align.out), x: newRows(n, len(r.ones))}
	if len(b) != 4*(len(k.align.x)+len(k.x.x)) {
		return known{}, false
	}
	at, err := binary.Decode(b, binary.LittleEndian, k.align.x)
	if err == nil {
		_, err = binary.Decode(b[at:], binary.LittleEndian, k.x.x)
	}
	return k, err == nil
}
