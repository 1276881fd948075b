package npu

import (
	"fmt"
	"math/bits"
)

// RowMask says which slots of its sequence's cache a row of a draft tree attends to, and where the row's own key and
// value go. The nodes of the tree lie in slots from Base on, parents before children; every node comes after the slots
// below Base. A row attends to those slots, then to its ancestors' in the order of their slots, then to its own: the
// same keys in the same order as in plain decoding of its path. Several runs may compute one tree. A row outside a
// tree has Slot and Base at its position, and no ancestors.
//
// A row with Until attends both ways instead (llada.cpp §2.1): to all slots below Until, whether they come before or after its
// own. All rows of a run write their keys and values before any attends.
type RowMask struct {
	Slot      int32  // where the row's own key and value go
	Base      int32  // Slot is at most MaxTree-1 above it
	Ancestors uint64 // bit j is the node in slot Base+j; only bits below Slot-Base
	Until     int32  // for a row that attends both ways: more than Slot, and Base is Slot; else 0
}

// MaxTree is the maximum number of nodes in a draft tree.
const MaxTree = 64

// Check returns an error if the mask attends to a slot at or after its own.
func (m RowMask) Check() error {
	if m.Until != 0 {
		if m.Slot < 0 || m.Until <= m.Slot || m.Base != m.Slot || m.Ancestors != 0 {
			return fmt.Errorf("a row in slot %d of a tree from slot %d with ancestors %b cannot attend to the slots below %d", m.Slot, m.Base, m.Ancestors, m.Until)
		}
		return nil
	}
	if d := m.Slot - m.Base; m.Base < 0 || d < 0 || d >= MaxTree || m.Ancestors>>d != 0 {
		return fmt.Errorf("a row in slot %d of a tree from slot %d cannot have ancestors %b", m.Slot, m.Base, m.Ancestors)
	}
	return nil
}

// Attends returns the number of slots that the row attends to, including its own.
func (m RowMask) Attends() int {
	if m.Until != 0 {
		return int(m.Until)
	}
	return int(m.Base) + bits.OnesCount64(m.Ancestors) + 1
}

// Count returns the number of slots that the row attends to within a window (see Within).
func (m RowMask) Count(window int) int {
	n := m.Attends()
	switch {
	case window <= 0:
		return n
	case m.Until != 0:
		from, to := m.around(window)
		return to - from
	}
	return min(n, window)
}

// around returns the window of a row that attends both ways: the slots at most half of it before or after its own.
func (m RowMask) around(window int) (from, to int) {
	return max(0, int(m.Slot)-window/2), min(int(m.Until), int(m.Slot)+window/2+1)
}

// Within is Path without the first positions, so that at most the last window are left; 0 stands for all. A row that
// attends both ways has half of its window on either side.
func (m RowMask) Within(window int, f func(slot, n int)) {
	if window > 0 && m.Until != 0 {
		from, to := m.around(window)
		f(from, to-from)
		return
	}
	skip := 0
	if all := m.Attends(); window > 0 && all > window {
		skip = all - window
	}
	m.Path(func(slot, n int) {
		if k := min(skip, n); k > 0 {
			skip, slot, n = skip-k, slot+k, n-k
		}
		if n > 0 {
			f(slot, n)
		}
	})
}

// Reach returns the end of the slots that the row attends to.
func (m RowMask) Reach() int { return max(int(m.Slot)+1, int(m.Until)) }

// Path calls f, in order, for each run of consecutive slots that the row attends to: n slots, starting at slot.
func (m RowMask) Path(f func(slot, n int)) {
	if m.Until != 0 {
		f(0, int(m.Until))
		return
	}
	all := m.Ancestors | 1<<(m.Slot-m.Base)
	// The first run continues into the tree while ancestors follow without a gap.
	n := bits.TrailingZeros64(^all)
	f(0, int(m.Base)+n)
	for at := n; ; {
		rest := all >> at // 0 if at is 64
		if at >= MaxTree || rest == 0 {
			return
		}
		at += bits.TrailingZeros64(rest)
		n = bits.TrailingZeros64(^(all >> at))
		f(int(m.Base)+at, n)
		at += n
	}
}
