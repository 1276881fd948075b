#include "textflag.h"

// TWO reads 32 numbers of each of two rows and stores them one row after the other. READ reads
// sixteen.
#define TWO(READ, BYTES) \
	MOVQ dst+0(FP), DI; \
	MOVQ a+8(FP), SI; \
	MOVQ b+16(FP), R8; \
	MOVQ steps+24(FP), CX; \
step: \
	READ(0, SI, 0); \
	READ(BYTES/2, SI, 64); \
	READ(0, R8, 128); \
	READ(BYTES/2, R8, 192); \
	ADDQ $BYTES, SI; \
	ADDQ $BYTES, R8; \
	ADDQ $256, DI; \
	DECQ CX; \
	JNZ  step; \
	VZEROUPPER; \
	RET

#define READF16(at, p, to) \
	PREFETCHT0 2048(p); \
	VCVTPH2PS at(p), Y0; \
	VCVTPH2PS (at+16)(p), Y1; \
	VMOVUPS Y0, to(DI); \
	VMOVUPS Y1, (to+32)(DI)

#define READBF16(at, p, to) \
	PREFETCHT0 2048(p); \
	VPMOVZXWD at(p), Y0; \
	VPMOVZXWD (at+16)(p), Y1; \
	VPSLLD $16, Y0, Y0; \
	VPSLLD $16, Y1, Y1; \
	VMOVUPS Y0, to(DI); \
	VMOVUPS Y1, (to+32)(DI)

#define READF32(at, p, to) \
	VMOVUPS at(p), Y0; \
	VMOVUPS (at+32)(p), Y1; \
	VMOVUPS Y0, to(DI); \
	VMOVUPS Y1, (to+32)(DI)

// SUM adds up the four accumulators of dot, in two vectors of 64 bytes at SI, and stores the sum of
// their lanes at DI. SI and DI advance.
#define SUM \
	VMOVUPS (SI), Y0; \
	VADDPS 32(SI), Y0, Y0; \
	VMOVUPS 64(SI), Y1; \
	VADDPS 96(SI), Y1, Y1; \
	VADDPS Y1, Y0, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VMOVHLPS X0, X0, X1; \
	VADDPS X1, X0, X0; \
	VMOVSHDUP X0, X1; \
	VADDSS X1, X0, X0; \
	VMOVSS X0, (DI); \
	ADDQ $128, SI; \
	ADDQ $4, DI

// func sumTileAVX2(dst *[8]float32, acc *tileSums)
TEXT ·sumTileAVX2(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ acc+8(FP), SI
	MOVQ $8, CX
more:
	SUM
	DECQ CX
	JNZ more
	VZEROUPPER
	RET

// PAIR multiplies 32 numbers of an input by those of two rows, Z0 to Z3, and adds the products to a
// to d.
#define PAIR(lo, hi, a, b, c, d) \
	VMOVUPS lo, Z4; \
	VMOVUPS hi, Z5; \
	VMULPS Z4, Z0, Z6; \
	VMULPS Z5, Z1, Z7; \
	VMULPS Z4, Z2, Z8; \
	VMULPS Z5, Z3, Z9; \
	VADDPS Z6, a, a; \
	VADDPS Z7, b, b; \
	VADDPS Z8, c, c; \
	VADDPS Z9, d, d

#define ACCUMULATORS(OP) \
	OP(0, Z16); \
	OP(64, Z17); \
	OP(128, Z18); \
	OP(192, Z19); \
	OP(256, Z20); \
	OP(320, Z21); \
	OP(384, Z22); \
	OP(448, Z23); \
	OP(512, Z24); \
	OP(576, Z25); \
	OP(640, Z26); \
	OP(704, Z27); \
	OP(768, Z28); \
	OP(832, Z29); \
	OP(896, Z30); \
	OP(960, Z31)

#define LOAD(at, z) VMOVUPS at(DI), z
#define STORE(at, z) VMOVUPS z, at(DI)

// func tileAVX512(acc *tileSums, x, w *float32, steps int)
TEXT ·tileAVX512(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ x+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ steps+24(FP), CX
	ACCUMULATORS(LOAD)
step:
	VMOVUPS (SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS 128(SI), Z2
	VMOVUPS 192(SI), Z3
	PAIR((R8), 64(R8), Z16, Z17, Z18, Z19)
	PAIR(128(R8), 192(R8), Z20, Z21, Z22, Z23)
	PAIR(256(R8), 320(R8), Z24, Z25, Z26, Z27)
	PAIR(384(R8), 448(R8), Z28, Z29, Z30, Z31)
	ADDQ $256, SI
	ADDQ $512, R8
	DECQ CX
	JNZ  step
	ACCUMULATORS(STORE)
	VZEROUPPER
	RET

// Without AVX-512, tiles process one of the four accumulators of all sums at a time. This leaves
// registers for the operands.

#define EIGHT(OP) \
	OP(0, Y8); \
	OP(128, Y9); \
	OP(256, Y10); \
	OP(384, Y11); \
	OP(512, Y12); \
	OP(640, Y13); \
	OP(768, Y14); \
	OP(896, Y15)

// COLUMN multiplies eight numbers of an input by those of two rows, Y0 and Y1, and adds the
// products to a and b.
#define COLUMN(at, a, b) \
	VMOVUPS at(R10), Y2; \
	VMULPS Y2, Y0, Y3; \
	VMULPS Y2, Y1, Y4; \
	VADDPS Y3, a, a; \
	VADDPS Y4, b, b

// func tileAVX2(acc *tileSums, x, w *float32, steps int)
TEXT ·tileAVX2(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ x+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ $4, DX
columns:
	MOVQ SI, R9
	MOVQ R8, R10
	MOVQ steps+24(FP), CX
	EIGHT(LOAD)
step:
	VMOVUPS (R9), Y0
	VMOVUPS 128(R9), Y1
	COLUMN(0, Y8, Y9)
	COLUMN(128, Y10, Y11)
	COLUMN(256, Y12, Y13)
	COLUMN(384, Y14, Y15)
	ADDQ $256, R9
	ADDQ $512, R10
	DECQ CX
	JNZ  step
	EIGHT(STORE)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, R8
	DECQ DX
	JNZ  columns
	VZEROUPPER
	RET

// func pairF16AVX2(dst *float32, a, b *byte, steps int)
TEXT ·pairF16AVX2(SB), NOSPLIT, $0-32
	TWO(READF16, 64)

// func pairBF16AVX2(dst *float32, a, b *byte, steps int)
TEXT ·pairBF16AVX2(SB), NOSPLIT, $0-32
	TWO(READBF16, 64)

// func pairF32AVX2(dst *float32, a, b *byte, steps int)
TEXT ·pairF32AVX2(SB), NOSPLIT, $0-32
	TWO(READF32, 128)
