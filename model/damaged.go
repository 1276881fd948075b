package model

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"tandem/model/gguf"
	"tandem/npu"
	"tandem/npu/quant"
)

// checkNumbers returns an error if a result is NaN, since anything could be made of that.
func (m *Model) checkNumbers(results []float32) error {
	if hasNaN(results) {
		return fmt.Errorf("%s computes what is not a number (NaN): its weights are damaged, or an adapter is scaled too much; fetch or make the file again", m.config.Name)
	}
	return nil
}

func hasNaN(list []float32) bool {
	for _, x := range list {
		if x != x {
			return true
		}
	}
	return false
}

// CheckWeights reads the tensors of a file and returns an error if a weight is NaN. Not every such weight shows in the results:
// devices that round the inputs of a matrix to 8 bits make numbers of them again.
func CheckWeights(ctx context.Context, f *gguf.File) error {
	for _, info := range f.Tensors {
		t, err := f.Tensor(info.Name)
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if row := damagedRow(t); row >= 0 {
			return fmt.Errorf("tensor %q has what is not a number (NaN) in row %d: its weights are damaged; fetch or make the file again", info.Name, row)
		}
	}
	return nil
}

// damagedRow returns a row that has NaN, or −1.
func damagedRow(t npu.Tensor) int {
	workers := min(runtime.GOMAXPROCS(0), t.Rows)
	bad, size := make([]int, workers), t.Type.RowBytes(t.Cols)
	var wait sync.WaitGroup
	for i := range workers {
		wait.Go(func() {
			values := make([]float32, t.Cols)
			for row := i; row < t.Rows && bad[i] == 0; row += workers {
				if quant.Dequantize(t.Type, values, t.Data[row*size:][:size]) == nil && hasNaN(values) {
					bad[i] = row + 1
				}
			}
		})
	}
	wait.Wait()
	return slices.Max(append(bad, 0)) - 1
}
