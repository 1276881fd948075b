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

//go:noescape
func mixFactorAVX2(acc *float32, blocks int, p *float32, ranks int, v *byte)

//go:noescape
func mixFactorAVX512(acc *float32, blocks int, p *float32, ranks int, v *byte)

func mixFactor512(acc, p []float32, v []byte, ranks int) {
	mixFactorAVX512(&acc[0], len(acc)/npu.FactorBlock, &p[0], ranks, &v[0])
}
