package remote

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"tandem"
)

// key identifies a prompt.
type key [sha256.Size]byte

func keyOf(prompt []tandem.Token) key {
	b := make([]byte, 0, 4*len(prompt))
	for _, t := range prompt {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	return sha256.Sum256(b)
}

// kept holds rows up to a number of bytes. Beyond them it drops those that were not used for the longest time. It is safe for
// concurrent use.
type kept struct {
	limit int64

	mu    sync.Mutex
	bytes int64
	rows  map[key]*list.Element
	order list.List // of keptRow, the latest used first
}

type keptRow struct {
	key key
	row row
}

func (k keptRow) bytes() int64 { return 256 + 8*int64(len(k.row.ids)) } // with what map and list take

func newKept(limit int64) *kept { return &kept{limit: limit, rows: map[key]*list.Element{}} }

func (k *kept) get(at key) (row, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.rows[at]
	if e == nil {
		return row{}, false
	}
	k.order.MoveToFront(e)
	return e.Value.(keptRow).row, true
}

// put keeps a row and returns what is kept: an earlier row for the prompt stays, since it may have been used.
func (k *kept) put(at key, r row) row {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.rows[at]; e != nil {
		k.order.MoveToFront(e)
		return e.Value.(keptRow).row
	}
	one := keptRow{at, r}
	k.rows[at] = k.order.PushFront(one)
	for k.bytes += one.bytes(); k.bytes > k.limit; {
		oldest := k.order.Remove(k.order.Back()).(keptRow)
		delete(k.rows, oldest.key)
		k.bytes -= oldest.bytes()
	}
	return r
}
