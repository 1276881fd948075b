package npu

import "time"

// Traits holds the properties of a device. A device that wraps another returns the other's traits, except for those that
// the wrapping changes. The zero value describes a device that does not run on this machine's processor, gives the same
// results as native, and has no preferences.
type Traits struct {
	// Rounding is empty if results equal those of the native device bit for bit. Otherwise it names the arithmetic:
	// results equal native's up to rounding, and what was computed with other arithmetic must not be mixed in.
	Rounding string
	// Processor reports whether this machine's processor computes, from its memory.
	Processor bool
	// LayersAtOnce is how many layers to compile into one program, because the beginning and end of a run cost
	// something. 0 counts as 1.
	LayersAtOnce int
	// RowsAtOnce is the number of rows that one run should have if there are enough, or 0 for no preference.
	RowsAtOnce int
	// PassesAtOnce is how many runs of programs with many rows should be in progress at the same time, because a single run
	// leaves the device idle at times. 0 counts as 1.
	PassesAtOnce int
	// Packer packs weights into the layout that the device reads; nil if it reads weights as files store them.
	Packer Packer
	// Host returns memory for n numbers that the device writes to without another copy, for the Out of programs, and a function
	// that frees it. It returns nil if there is none left. It is nil if any memory is as good. The garbage collector does not
	// free such memory, and a slice of it does not keep it.
	Host func(n int) (mem []float32, free func())
	// Second returns a device with a group of threads of its own, whose results are the same bit for bit. It computes while this
	// one does and reads weights where this one keeps them, in its layout. Nil if there is no such device.
	Second func() Device
	// SyncClocks sets the clocks of a simulated device and of the Second device to the later of the two, after both have
	// computed at the same time. Only a device that Second returned has it; nil for devices that take real time.
	SyncClocks func()
	// Clock is the clock of a simulated device; nil for a device that takes real time.
	Clock Clock
	// Scheduler chooses the programs that compute a model's passes; nil if the smallest that fit will do.
	Scheduler Scheduler
}

// PackedBytes returns the size of a tensor as the device reads it, and whether it is packed.
func (t Traits) PackedBytes(w *Tensor) (n int, packed bool) {
	if t.Packer != nil {
		if rows, bytes := t.Packer.Group(w); rows > 0 {
			return (w.Rows + rows - 1) / rows * bytes, true
		}
	}
	return w.Rows * w.Type.RowBytes(w.Cols), false
}

// Packer packs some weights into a device's layout, in groups of rows, one after the other. To stage weights for the
// device, pack them while loading and set Tensor.Packed. Otherwise the device packs them again in every run.
type Packer interface {
	// Group returns the number of rows of the tensor in a group, and the bytes of a group; 0, 0 for weights that the
	// device reads as files store them.
	Group(t *Tensor) (rows, bytes int)
	// PackGroup packs the group that begins with the given row.
	PackGroup(dst []byte, t *Tensor, row int)
	// PackFactors moves an adapter's factors, LoRA-A and LoRA-B of each weight in the order in which passes read them, into
	// memory that the device reads fast. It packs those that the device has a layout for and sets their Tensor.Packed. The
	// device reads factors that are not packed too, but more slowly.
	PackFactors(a, b []*Tensor)
}

// Clock is the virtual time of a simulated device. It passes while the device is busy, also within a run, when the
// device calls the run's Stage. Code that loads graphs or stages weights for the device tells its clock. All methods may
// be called during a run.
type Clock interface {
	// Now returns the time.
	Now() time.Duration
	// LoadGraphs takes the time to load graphs that run with Args.Loaded.
	LoadGraphs(graphs []*Graph)
	// Map makes a mapping of the given size for weights, before or after any Move. It fails if the device has no
	// addresses left.
	Map(bytes int64) error
	// Unmap releases a mapping.
	Unmap(bytes int64)
	// Largest returns the most bytes that one mapping may have.
	Largest() int64
	// Move brings bytes into a mapping. It begins at from or, if later, when everything mapped and moved before is
	// done. It returns when the transfer begins and ends.
	Move(bytes int64, from time.Duration) (begins, ends time.Duration)
	// Await makes the device wait until the given time.
	Await(until time.Duration)
}
