package native

import "tandem/npu"

//go:noescape
func mixBlocksAVX512(acc *float32, p *float32, n int, v *uint16)

// mixBlocks512 computes four blocks at a time.
func mixBlocks512(acc, p []float32, v []uint16) {
	const cols = 4 * npu.FactorBlock
	for ; len(acc) >= cols; acc, v = acc[cols:], v[cols*len(p):] {
		mixBlocksAVX512(&acc[0], &p[0], len(p), &v[0])
	}
	mixBlocksRows(acc, p, v)
}

var mixBlocksRows = mixBlocksBy(mixF16)
