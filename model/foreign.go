package model

import (
	"encoding/binary"
	"math"

	"tandem/npu"
	"tandem/npu/quant"
)

// A foreign weight is one of a type that no device multiplies by. It is computed as a sum of products that every device
// knows (see quant.Sum): x·Wᵀ = x·Mainᵀ + x·Restᵀ + (x·Gᵀ)·Shiftsᵀ. G is the matrix of zeros and ones that adds up the
// elements of each group of x. It is small, and all products of x with groups of that size share x·Gᵀ.
type foreign struct {
	main, rest, shifts, groups *npu.Tensor // rest, shifts and groups may be nil
}

// groupSums names the product of a value with a matrix G.
type groupSums struct {
	x npu.Value
	g *npu.Tensor
}

// product is x·Wᵀ with the weight of that name, plus bias, which may be nil.
func (b *block) product(x npu.Value, name string, rows int, bias *npu.Tensor) npu.Value {
	f := b.foreignWeight(name, rows, b.Nodes[x].Width)
	if f == nil {
		return b.MatMul(x, b.matrix(name, rows, b.Nodes[x].Width), bias)
	}
	return b.sum(x, f, bias)
}

// sum is the sum of products that a foreign weight stands for, plus bias, which may be nil.
func (b *block) sum(x npu.Value, f *foreign, bias *npu.Tensor) npu.Value {
	y := b.MatMul(x, f.main, bias)
	if f.rest != nil {
		y = b.Add(y, b.MatMul(x, f.rest, nil))
	}
	if f.shifts == nil {
		return y
	}
	key := groupSums{x, f.groups}
	sums, ok := b.sums[key]
	if !ok {
		sums = b.MatMul(x, f.groups, nil)
		b.sums[key] = sums
	}
	return b.Add(y, b.MatMul(sums, f.shifts, nil))
}

// foreignWeight returns the terms of a weight of a foreign type. It returns nil for all others, for those that one matrix
// holds, and for those that cannot be found, which matrix then reports.
func (t *tensors) foreignWeight(name string, rows, cols int) *foreign {
	if f, ok := t.split[name]; ok {
		return f
	}
	t.split[name] = nil
	m, other, err := t.raw(name)
	if err != nil || !other || t.file.HeaderOnly() || m.Rows != rows || m.Cols != cols {
		return nil
	}
	sum, ok := quant.Split(m.Type, m.Data)
	if !ok || sum.Rest == nil && sum.Shifts == nil {
		return nil
	}
	term := func(suffix string, typ npu.DType, cols int, data []byte) *npu.Tensor {
		return &npu.Tensor{Name: name + suffix, Type: typ, Rows: rows, Cols: cols, Data: data}
	}
	f := &foreign{main: term("", sum.Type, cols, sum.Main)}
	if sum.Rest != nil {
		f.rest = term(".rest", sum.Type, cols, sum.Rest)
	}
	if sum.Shifts != nil {
		padded, data := padShifts(sum.Shifts, rows, cols/sum.Group)
		f.shifts = term(".shifts", npu.F32, padded, data)
		f.groups = t.groupMatrix(sum.Type, sum.Group, padded, cols)
	}
	t.found[name], t.split[name] = f.main, f
	return f
}

// padShifts returns the rows of shifts, F32 and padded with zeros to whole blocks of 32.
func padShifts(shifts []float32, rows, groups int) (padded int, data []byte) {
	padded = (groups + 31) &^ 31
	data = make([]byte, 4*rows*padded)
	for i, v := range shifts {
		at := i/groups*padded + i%groups
		binary.LittleEndian.PutUint32(data[4*at:], math.Float32bits(v))
	}
	return padded, data
}

// groupMatrix returns G for groups of that many of cols values, with rows of zeros at its end. It has the type of the
// weights that it serves, so that it shares their rounded inputs: then sums over groups are exact.
func (t *tensors) groupMatrix(typ npu.DType, group, rows, cols int) *npu.Tensor {
	key := [3]int{int(typ), group, cols}
	if g := t.groups[key]; g != nil {
		return g
	}
	g := &npu.Tensor{Name: "groups", Type: typ, Rows: rows, Cols: cols, Data: make([]byte, rows*typ.RowBytes(cols))}
	row := make([]float32, cols)
	for i := range cols / group {
		clear(row)
		for j := range group {
			row[i*group+j] = 1
		}
		if err := quant.Ones(typ, g.Row(i), row); err != nil {
			t.fail(err)
		}
	}
	t.groups[key] = g
	return g
}
