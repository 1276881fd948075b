#include "textflag.h"

// Attention kernels: see attention.go for what they compute. Strides are in bytes.

// QUERIES loads the arguments: R8 points to the first query and R9 to the fifth. AX is the size of
// one query in bytes, R13 of three.
#define QUERIES \
	MOVQ dst+0(FP), DI; \
	MOVQ stride+8(FP), R10; \
	MOVQ turned+16(FP), SI; \
	MOVQ q+24(FP), R8; \
	MOVQ dim+32(FP), AX; \
	MOVQ AX, CX; \
	SHLQ $2, AX; \
	LEAQ (AX)(AX*2), R13; \
	LEAQ (R8)(AX*4), R9; \
	LEAQ (R10)(R10*2), R11

// VALUES sets BX to the values, from element SI on, and R8 to the weights.
#define VALUES \
	MOVQ p+16(FP), R8; \
	MOVQ v+40(FP), BX; \
	LEAQ (BX)(SI*2), BX; \
	MOVQ n+32(FP), CX

// ACROSS gives ui elements i, 4+i, 8+i and 12+i of the four keys in Z0 to Z3: element i of each, then element 4+i of each, and so on.
#define ACROSS(u0, u1, u2, u3) \
	VUNPCKLPS Z1, Z0, Z4; \
	VUNPCKHPS Z1, Z0, Z5; \
	VUNPCKLPS Z3, Z2, Z6; \
	VUNPCKHPS Z3, Z2, Z7; \
	VUNPCKLPD Z6, Z4, u0; \
	VUNPCKHPD Z6, Z4, u1; \
	VUNPCKLPD Z7, Z5, u2; \
	VUNPCKHPD Z7, Z5, u3

// QUAD reads sixteen elements of each of four keys at R8, for ACROSS. R8 advances by four keys.
#define QUAD(u0, u1, u2, u3) \
	VCVTPH2PS (R8), Z0; \
	VCVTPH2PS (R8)(R9*1), Z1; \
	VCVTPH2PS (R8)(R9*2), Z2; \
	VCVTPH2PS (R8)(R10*1), Z3; \
	LEAQ (R8)(R9*4), R8; \
	ACROSS(u0, u1, u2, u3)

// COLUMNS stores elements c, 4+c, 8+c and 12+c of sixteen keys.
#define COLUMNS(c, u, v, w, x) \
	VSHUFF32X4 $0x44, v, u, Z0; \
	VSHUFF32X4 $0x44, x, w, Z1; \
	VSHUFF32X4 $0xEE, v, u, Z2; \
	VSHUFF32X4 $0xEE, x, w, Z3; \
	VSHUFF32X4 $0x88, Z1, Z0, Z4; \
	VSHUFF32X4 $0xDD, Z1, Z0, Z5; \
	VSHUFF32X4 $0x88, Z3, Z2, Z6; \
	VSHUFF32X4 $0xDD, Z3, Z2, Z7; \
	VMOVUPS Z4, (64*c)(DI); \
	VMOVUPS Z5, (64*c+256)(DI); \
	VMOVUPS Z6, (64*c+512)(DI); \
	VMOVUPS Z7, (64*c+768)(DI)

// SIXTEEN stores all sixteen elements of sixteen keys.
#define SIXTEEN \
	COLUMNS(0, Z16, Z20, Z24, Z28); \
	COLUMNS(1, Z17, Z21, Z25, Z29); \
	COLUMNS(2, Z18, Z22, Z26, Z30); \
	COLUMNS(3, Z19, Z23, Z27, Z31); \
	ADDQ $1024, DI

// func turnAVX512(dst *float32, k *uint16, stride, dim int)
// dim is a multiple of 16.
TEXT ·turnAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ k+8(FP), SI
	MOVQ stride+16(FP), R9
	MOVQ dim+24(FP), CX
	LEAQ (R9)(R9*2), R10
elements:
	MOVQ SI, R8
	QUAD(Z16, Z17, Z18, Z19)
	QUAD(Z20, Z21, Z22, Z23)
	QUAD(Z24, Z25, Z26, Z27)
	QUAD(Z28, Z29, Z30, Z31)
	SIXTEEN
	ADDQ $32, SI
	SUBQ $16, CX
	JNZ  elements
	VZEROUPPER
	RET

// SCATTER stores the eight numbers in Y0 sixteen apart.
#define SCATTER \
	VEXTRACTF128 $1, Y0, X1; \
	VMOVSS X0, (R10); \
	VEXTRACTPS $1, X0, 64(R10); \
	VEXTRACTPS $2, X0, 128(R10); \
	VEXTRACTPS $3, X0, 192(R10); \
	VMOVSS X1, 256(R10); \
	VEXTRACTPS $1, X1, 320(R10); \
	VEXTRACTPS $2, X1, 384(R10); \
	VEXTRACTPS $3, X1, 448(R10); \
	ADDQ $512, R10

// func turnAVX2(dst *float32, k *uint16, stride, dim int)
// dim is a multiple of 8.
TEXT ·turnAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ k+8(FP), SI
	MOVQ stride+16(FP), R9
	MOVQ $16, BX
key:
	MOVQ SI, R8
	MOVQ DI, R10
	MOVQ dim+24(FP), CX
elements:
	VCVTPH2PS (R8), Y0
	SCATTER
	ADDQ $16, R8
	SUBQ $8, CX
	JNZ  elements
	ADDQ R9, SI
	ADDQ $4, DI
	DECQ BX
	JNZ  key
	VZEROUPPER
	RET

// SCALED reads sixteen int8 at off(p), part of a block of a CacheQ8_0 at p whose F16 scale comes first. y is the lower
// part of scale.
#define SCALED(p, off, out, y, scale) \
	VPBROADCASTW p, y; \
	VCVTPH2PS y, scale; \
	VPMOVSXBD off, out; \
	VCVTDQ2PS out, out; \
	VMULPS scale, out, out

// QUAD80 is QUAD for the int8 from off on of the blocks of four keys at R8.
#define QUAD80(off, u0, u1, u2, u3) \
	SCALED((R8), off(R8), Z0, Y8, Z8); \
	SCALED((R8)(R9*1), off(R8)(R9*1), Z1, Y9, Z9); \
	SCALED((R8)(R9*2), off(R8)(R9*2), Z2, Y8, Z8); \
	SCALED((R8)(R10*1), off(R8)(R10*1), Z3, Y9, Z9); \
	LEAQ (R8)(R9*4), R8; \
	ACROSS(u0, u1, u2, u3)

#define HALF80(off) \
	MOVQ SI, R8; \
	QUAD80(off, Z16, Z17, Z18, Z19); \
	QUAD80(off, Z20, Z21, Z22, Z23); \
	QUAD80(off, Z24, Z25, Z26, Z27); \
	QUAD80(off, Z28, Z29, Z30, Z31); \
	SIXTEEN

// func turnQ80AVX512(dst *float32, k *uint16, stride, dim int)
// dim is a multiple of 32.
TEXT ·turnQ80AVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ k+8(FP), SI
	MOVQ stride+16(FP), R9
	MOVQ dim+24(FP), CX
	LEAQ (R9)(R9*2), R10
block:
	HALF80(2)
	HALF80(18)
	ADDQ $34, SI
	SUBQ $32, CX
	JNZ  block
	VZEROUPPER
	RET

// SCATTER80 does so with eight numbers of a key, from off on. Y8 is the scale.
#define SCATTER80(off) \
	VPMOVSXBD off(R8), Y0; \
	VCVTDQ2PS Y0, Y0; \
	VMULPS Y8, Y0, Y0; \
	SCATTER

// func turnQ80AVX2(dst *float32, k *uint16, stride, dim int)
// dim is a multiple of 32.
TEXT ·turnQ80AVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ k+8(FP), SI
	MOVQ stride+16(FP), R9
	MOVQ $16, BX
key:
	MOVQ SI, R8
	MOVQ DI, R10
	MOVQ dim+24(FP), CX
block:
	VPBROADCASTW (R8), X8
	VCVTPH2PS X8, Y8
	SCATTER80(2)
	SCATTER80(10)
	SCATTER80(18)
	SCATTER80(26)
	ADDQ $34, R8
	SUBQ $32, CX
	JNZ  block
	ADDQ R9, SI
	ADDQ $4, DI
	DECQ BX
	JNZ  key
	VZEROUPPER
	RET

// ADD80 adds the product of the weight in Y9 and eight numbers, from off on, of a block at R11 whose scale is Y8.
#define ADD80(off, acc) \
	VPMOVSXBD off(R11), Y4; \
	VCVTDQ2PS Y4, Y4; \
	VMULPS Y8, Y4, Y4; \
	VMULPS Y9, Y4, Y4; \
	VADDPS Y4, acc, acc

// func mixQ80AVX2(acc *float32, dim int, p *float32, n int, v *uint16, stride int)
// dim is a multiple of 32; stride counts bytes.
TEXT ·mixQ80AVX2(SB), NOSPLIT, $0-48
	MOVQ acc+0(FP), DI
	MOVQ dim+8(FP), DX
	MOVQ v+32(FP), SI
	MOVQ stride+40(FP), R12
block:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
	MOVQ p+16(FP), R10
	MOVQ SI, R11
	MOVQ n+24(FP), CX
position:
	VBROADCASTSS (R10), Y9
	VPBROADCASTW (R11), X8
	VCVTPH2PS X8, Y8
	ADD80(2, Y0)
	ADD80(10, Y1)
	ADD80(18, Y2)
	ADD80(26, Y3)
	ADDQ $4, R10
	ADDQ R12, R11
	DECQ CX
	JNZ  position
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $34, SI
	SUBQ $32, DX
	JNZ  block
	VZEROUPPER
	RET

// func fetchRows(p *uint16, stride, n int)
// It prefetches sixteen rows. n and stride are in bytes.
TEXT ·fetchRows(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ stride+8(FP), R9
	MOVQ $16, CX
row:
	MOVQ SI, BX
	MOVQ n+16(FP), DX
line:
	PREFETCHT0 (BX)
	ADDQ $64, BX
	SUBQ $64, DX
	JG   line
	ADDQ R9, SI
	DECQ CX
	JNZ  row
	RET

#define ZQUERY(q, t, acc) \
	VMULPS.BCST q, Z0, t; \
	VADDPS t, acc, acc

#define CLEAR4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

// func scores4AVX512(dst *float32, stride int, turned, q *float32, dim int)
TEXT ·scores4AVX512(SB), NOSPLIT, $0-40
	QUERIES
	CLEAR4(Z8, Z9, Z10, Z11)
element:
	VMOVUPS (SI), Z0
	ZQUERY((R8), Z1, Z8)
	ZQUERY((R8)(AX*1), Z2, Z9)
	ZQUERY((R8)(AX*2), Z3, Z10)
	ZQUERY((R8)(R13*1), Z4, Z11)
	ADDQ $64, SI
	ADDQ $4, R8
	DECQ CX
	JNZ  element
	VMOVUPS Z8, (DI)
	VMOVUPS Z9, (DI)(R10*1)
	VMOVUPS Z10, (DI)(R10*2)
	VMOVUPS Z11, (DI)(R11*1)
	VZEROUPPER
	RET

// func scores8AVX512(dst *float32, stride int, turned, q *float32, dim int)
TEXT ·scores8AVX512(SB), NOSPLIT, $0-40
	QUERIES
	CLEAR4(Z8, Z9, Z10, Z11)
	CLEAR4(Z12, Z13, Z14, Z15)
element:
	VMOVUPS (SI), Z0
	ZQUERY((R8), Z1, Z8)
	ZQUERY((R8)(AX*1), Z2, Z9)
	ZQUERY((R8)(AX*2), Z3, Z10)
	ZQUERY((R8)(R13*1), Z4, Z11)
	ZQUERY((R9), Z1, Z12)
	ZQUERY((R9)(AX*1), Z2, Z13)
	ZQUERY((R9)(AX*2), Z3, Z14)
	ZQUERY((R9)(R13*1), Z4, Z15)
	ADDQ $64, SI
	ADDQ $4, R8
	ADDQ $4, R9
	DECQ CX
	JNZ  element
	VMOVUPS Z8, (DI)
	VMOVUPS Z9, (DI)(R10*1)
	VMOVUPS Z10, (DI)(R10*2)
	VMOVUPS Z11, (DI)(R11*1)
	LEAQ (DI)(R10*4), DI
	VMOVUPS Z12, (DI)
	VMOVUPS Z13, (DI)(R10*1)
	VMOVUPS Z14, (DI)(R10*2)
	VMOVUPS Z15, (DI)(R11*1)
	VZEROUPPER
	RET

#define YQUERY(q, low, high) \
	VBROADCASTSS q, Y2; \
	VMULPS Y2, Y0, Y3; \
	VMULPS Y2, Y1, Y4; \
	VADDPS Y3, low, low; \
	VADDPS Y4, high, high

// func scores4AVX2(dst *float32, stride int, turned, q *float32, dim int)
TEXT ·scores4AVX2(SB), NOSPLIT, $0-40
	QUERIES
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	VXORPS Y12, Y12, Y12
	VXORPS Y13, Y13, Y13
	VXORPS Y14, Y14, Y14
	VXORPS Y15, Y15, Y15
element:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	YQUERY((R8), Y8, Y9)
	YQUERY((R8)(AX*1), Y10, Y11)
	YQUERY((R8)(AX*2), Y12, Y13)
	YQUERY((R8)(R13*1), Y14, Y15)
	ADDQ $64, SI
	ADDQ $4, R8
	DECQ CX
	JNZ  element
	VMOVUPS Y8, (DI)
	VMOVUPS Y9, 32(DI)
	VMOVUPS Y10, (DI)(R10*1)
	VMOVUPS Y11, 32(DI)(R10*1)
	VMOVUPS Y12, (DI)(R10*2)
	VMOVUPS Y13, 32(DI)(R10*2)
	VMOVUPS Y14, (DI)(R11*1)
	VMOVUPS Y15, 32(DI)(R11*1)
	VZEROUPPER
	RET

// MIX multiplies the values in Z0 to Z3 by p and adds the products to the sums a to d.
#define MIX(p, a, b, c, d) \
	VBROADCASTSS p, Z4; \
	VMULPS Z4, Z0, Z5; \
	VMULPS Z4, Z1, Z6; \
	VMULPS Z4, Z2, Z7; \
	VMULPS Z4, Z3, Z8; \
	VADDPS Z5, a, a; \
	VADDPS Z6, b, b; \
	VADDPS Z7, c, c; \
	VADDPS Z8, d, d

// MIXES does so for the four sums, and goes on to the next position.
#define MIXES \
	MIX((R8), Z16, Z17, Z18, Z19); \
	MIX((R8)(R12*1), Z20, Z21, Z22, Z23); \
	MIX((R8)(R12*2), Z24, Z25, Z26, Z27); \
	MIX((R8)(R13*1), Z28, Z29, Z30, Z31); \
	ADDQ AX, BX; \
	ADDQ $4, R8

// ADVANCE moves the sums' pointers on.
#define ADVANCE(bytes) \
	ADDQ $bytes, DI; \
	ADDQ $bytes, R9; \
	ADDQ $bytes, R10; \
	ADDQ $bytes, R11

#define SUMS(op4) \
	op4(DI, Z16, Z17, Z18, Z19); \
	op4(R9, Z20, Z21, Z22, Z23); \
	op4(R10, Z24, Z25, Z26, Z27); \
	op4(R11, Z28, Z29, Z30, Z31)

#define LOAD4(p, a, b, c, d) \
	VMOVUPS (p), a; \
	VMOVUPS 64(p), b; \
	VMOVUPS 128(p), c; \
	VMOVUPS 192(p), d

#define STORE4(p, a, b, c, d) \
	VMOVUPS a, (p); \
	VMOVUPS b, 64(p); \
	VMOVUPS c, 128(p); \
	VMOVUPS d, 192(p)

// func mix4AVX512(acc *float32, dim int, p *float32, stride, n int, v *uint16, stepV int)
// dim is a multiple of 16. DI, R9, R10 and R11 point to the four sums. SI is the index of the
// current element, and DX the number of elements left.
TEXT ·mix4AVX512(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ dim+8(FP), DX
	MOVQ stride+24(FP), R12
	MOVQ stepV+48(FP), AX
	LEAQ (R12)(R12*2), R13
	LEAQ (DI)(DX*4), R9
	LEAQ (R9)(DX*4), R10
	LEAQ (R10)(DX*4), R11
	XORQ SI, SI
	SUBQ $64, DX
	JLT  by16
by64:
	SUMS(LOAD4)
	VALUES
position64:
	VCVTPH2PS (BX), Z0
	VCVTPH2PS 32(BX), Z1
	VCVTPH2PS 64(BX), Z2
	VCVTPH2PS 96(BX), Z3
	MIXES
	DECQ CX
	JNZ  position64
	SUMS(STORE4)
	ADVANCE(256)
	ADDQ $64, SI
	SUBQ $64, DX
	JGE  by64
by16:
	ADDQ $48, DX
	JLT  done
more16:
	VMOVUPS (DI), Z16
	VMOVUPS (R9), Z20
	VMOVUPS (R10), Z24
	VMOVUPS (R11), Z28
	VALUES
position16:
	VCVTPH2PS (BX), Z0
	VMULPS.BCST (R8), Z0, Z1
	VMULPS.BCST (R8)(R12*1), Z0, Z2
	VMULPS.BCST (R8)(R12*2), Z0, Z3
	VMULPS.BCST (R8)(R13*1), Z0, Z4
	VADDPS Z1, Z16, Z16
	VADDPS Z2, Z20, Z20
	VADDPS Z3, Z24, Z24
	VADDPS Z4, Z28, Z28
	ADDQ AX, BX
	ADDQ $4, R8
	DECQ CX
	JNZ  position16
	VMOVUPS Z16, (DI)
	VMOVUPS Z20, (R9)
	VMOVUPS Z24, (R10)
	VMOVUPS Z28, (R11)
	ADVANCE(64)
	ADDQ $16, SI
	SUBQ $16, DX
	JGE  more16
done:
	VZEROUPPER
	RET

// MIX2 multiplies the values in Z0 and Z1 by p and adds the products to the sums a and b.
#define MIX2(p, a, b) \
	VBROADCASTSS p, Z4; \
	VMULPS Z4, Z0, Z5; \
	VMULPS Z4, Z1, Z6; \
	VADDPS Z5, a, a; \
	VADDPS Z6, b, b

#define LOAD2(p, a, b) \
	VMOVUPS (p), a; \
	VMOVUPS 64(p), b

#define STORE2(p, a, b) \
	VMOVUPS a, (p); \
	VMOVUPS b, 64(p)

// func mix4Q80AVX512(acc *float32, dim int, p *float32, stride, n int, v *uint16, stepV int)
// dim is a multiple of 32. DI, R9, R10 and R11 point to the four sums, and SI to the first position's block.
TEXT ·mix4Q80AVX512(SB), NOSPLIT, $0-56
	MOVQ acc+0(FP), DI
	MOVQ dim+8(FP), DX
	MOVQ stride+24(FP), R12
	MOVQ v+40(FP), SI
	MOVQ stepV+48(FP), AX
	LEAQ (R12)(R12*2), R13
	LEAQ (DI)(DX*4), R9
	LEAQ (R9)(DX*4), R10
	LEAQ (R10)(DX*4), R11
	SUBQ $64, DX
	JLT  last
by64:
	SUMS(LOAD4)
	MOVQ SI, BX
	MOVQ p+16(FP), R8
	MOVQ n+32(FP), CX
position64:
	VPBROADCASTW (BX), Y8
	VPBROADCASTW 34(BX), Y9
	VCVTPH2PS Y8, Z8
	VCVTPH2PS Y9, Z9
	VPMOVSXBD 2(BX), Z0
	VPMOVSXBD 18(BX), Z1
	VPMOVSXBD 36(BX), Z2
	VPMOVSXBD 52(BX), Z3
	VCVTDQ2PS Z0, Z0
	VCVTDQ2PS Z1, Z1
	VCVTDQ2PS Z2, Z2
	VCVTDQ2PS Z3, Z3
	VMULPS Z8, Z0, Z0
	VMULPS Z8, Z1, Z1
	VMULPS Z9, Z2, Z2
	VMULPS Z9, Z3, Z3
	MIXES
	DECQ CX
	JNZ  position64
	SUMS(STORE4)
	ADVANCE(256)
	ADDQ $68, SI
	SUBQ $64, DX
	JGE  by64
last:
	ADDQ $32, DX
	JNZ  done
	LOAD2(DI, Z16, Z17)
	LOAD2(R9, Z20, Z21)
	LOAD2(R10, Z24, Z25)
	LOAD2(R11, Z28, Z29)
	MOVQ SI, BX
	MOVQ p+16(FP), R8
	MOVQ n+32(FP), CX
position32:
	SCALED((BX), 2(BX), Z0, Y8, Z8)
	SCALED((BX), 18(BX), Z1, Y9, Z9)
	MIX2((R8), Z16, Z17)
	MIX2((R8)(R12*1), Z20, Z21)
	MIX2((R8)(R12*2), Z24, Z25)
	MIX2((R8)(R13*1), Z28, Z29)
	ADDQ AX, BX
	ADDQ $4, R8
	DECQ CX
	JNZ  position32
	STORE2(DI, Z16, Z17)
	STORE2(R9, Z20, Z21)
	STORE2(R10, Z24, Z25)
	STORE2(R11, Z28, Z29)
done:
	VZEROUPPER
	RET

// func narrowAVX2(dst *uint16, src *float32, n int)
// n is a nonzero multiple of 8.
TEXT ·narrowAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
loop:
	VMOVUPS (SI), Y0
	VCVTPS2PH $0, Y0, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JNZ  loop
	VZEROUPPER
	RET
