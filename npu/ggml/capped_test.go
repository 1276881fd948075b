package ggml

import (
	"testing"

	"tandem/npu"
	"tandem/npu/native"
)

// fusedIn returns how many fused attentions a program has for its largest number of rows.
func fusedIn(p *program) (n int, err error) {
	s, err := p.draw(drawing{p.graph.Chunk, windowBucket(1), mix{}}, func(ctx ptr) leaves { return p.trial(ctx, p.graph.Chunk) })
	if err != nil {
		return 0, err
	}
	defer p.dev.api.Free(s.ctx)
	for i := range p.dev.api.GraphNodes(s.g) {
		if p.dev.api.OpDesc(p.dev.api.GraphNode(s.g, i)) == "FLASH_ATTN_EXT" {
			n++
		}
	}
	return n, nil
}

// capped is an attention with capped scores and heads of a width.
func capped(dim int, softcap float32) *npu.Graph {
	g := npu.NewGraph("capped", 4)
	x := g.Input(64)
	rope := &npu.Rope{Pairing: npu.HalfSplit, HeadDim: dim, Dims: dim, Base: 100, Linear: 1}
	at := &npu.Attention{Heads: 4, KVHeads: 2, HeadDim: dim, Scale: 0.25, Softcap: softcap}
	q := g.Rope(g.MatMul(x, numbers("q", npu.F32, 4*dim, 64), nil), rope)
	k := g.Rope(g.MatMul(x, numbers("k", npu.F32, 2*dim, 64), nil), rope)
	y := g.Attention(q, k, g.MatMul(x, numbers("v", npu.F32, 2*dim, 64), nil), at)
	g.MatMul(y, numbers("o", npu.F32, 64, 4*dim), nil)
	return g
}

// CUDA's fused attention ends the process if scores are capped and heads are neither 128 nor 256 wide, so no GPU gets one.
func TestCappedScores(t *testing.T) { each(t, 1, testCappedScores) }

func testCappedScores(t *testing.T, d *Device) {
	for _, cpu := range []bool{true, false} {
		if d.cpu == cpu || d.cpu { // the processor can stand in for a GPU
			testCappedOn(t, d, cpu)
		}
	}
}

func testCappedOn(t *testing.T, d *Device, cpu bool) {
	was := d.cpu
	d.cpu = cpu
	defer func() { d.cpu = was }()
	for _, dim := range []int{40, 64, 72, 80, 96, 112, 128, 256} {
		for _, softcap := range []float32{0, 3} {
			g := capped(dim, softcap)
			c, err := d.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			p := c.(*program)
			n, err := fusedIn(p)
			if err != nil {
				t.Fatal(err)
			}
			safe := cpu || softcap == 0 || dim == 128 || dim == 256
			if n > 0 && !safe {
				t.Errorf("processor %v, width %d, cap %v: the attention is fused", cpu, dim, softcap)
			}
			if n == 0 && safe && p.flash {
				t.Errorf("processor %v, width %d, cap %v: the attention is not fused", cpu, dim, softcap)
			}
		}
	}
}

// The two kinds of attention agree with native's if scores are capped.
func TestCappedScoresAgreeWithNative(t *testing.T) {
	each(t, 1, func(t *testing.T, d *Device) {
		n := native.New(1)
		defer n.Close()
		for _, dim := range []int{64, 128} {
			for _, flash := range []bool{true, false} {
				d.noFlash = !flash
				if off, kept, err := compare(n, d, capped(dim, 3)); err != nil || !(off < 0.02 && kept < 1e-3) {
					t.Errorf("width %d, fused %v: off by %.2g, caches by %.2g, %v", dim, flash, off, kept, err)
				}
			}
		}
	})
}
