#include "textflag.h"

// SUM adds the eight lanes of both halves of a and of b, which are the four accumulators of dot, and stores
// the result at p.
#define SUM(a, b, p) \
	VEXTRACTF64X4 $1, a, Y0; \
	VEXTRACTF64X4 $1, b, Y1; \
	VMOVAPS a, Z2; \
	VMOVAPS b, Z3; \
	VADDPS Y0, Y2, Y2; \
	VADDPS Y1, Y3, Y3; \
	VADDPS Y3, Y2, Y2; \
	VEXTRACTF128 $1, Y2, X3; \
	VADDPS X3, X2, X2; \
	VMOVHLPS X2, X2, X3; \
	VADDPS X3, X2, X2; \
	VMOVSHDUP X2, X3; \
	VADDSS X3, X2, X2; \
	VMOVSS X2, p

// PAIR adds the products of 32 numbers of an input and of two rows, Z0 to Z3.
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

#define CLEAR4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

// func dots2x4AVX512(dst *float32, stride int, x *float32, w *float32, cols int)
// Two rows of weights and four inputs, each of cols numbers, a multiple of 32: dst[i·stride/4 + j] = w[j]·x[i].
TEXT ·dots2x4AVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R12
	MOVQ x+16(FP), R8
	MOVQ w+24(FP), SI
	MOVQ cols+32(FP), CX
	LEAQ (SI)(CX*4), R11
	LEAQ (R8)(CX*4), R9
	LEAQ (R9)(CX*4), R10
	LEAQ (R10)(CX*4), R13
	XORQ BX, BX
	CLEAR4(Z16, Z17, Z18, Z19)
	CLEAR4(Z20, Z21, Z22, Z23)
	CLEAR4(Z24, Z25, Z26, Z27)
	CLEAR4(Z28, Z29, Z30, Z31)
by32:
	VMOVUPS (SI)(BX*4), Z0
	VMOVUPS 64(SI)(BX*4), Z1
	VMOVUPS (R11)(BX*4), Z2
	VMOVUPS 64(R11)(BX*4), Z3
	PAIR((R8)(BX*4), 64(R8)(BX*4), Z16, Z17, Z18, Z19)
	PAIR((R9)(BX*4), 64(R9)(BX*4), Z20, Z21, Z22, Z23)
	PAIR((R10)(BX*4), 64(R10)(BX*4), Z24, Z25, Z26, Z27)
	PAIR((R13)(BX*4), 64(R13)(BX*4), Z28, Z29, Z30, Z31)
	ADDQ $32, BX
	CMPQ BX, CX
	JLT  by32
	SUM(Z16, Z17, (DI))
	SUM(Z18, Z19, 4(DI))
	ADDQ R12, DI
	SUM(Z20, Z21, (DI))
	SUM(Z22, Z23, 4(DI))
	ADDQ R12, DI
	SUM(Z24, Z25, (DI))
	SUM(Z26, Z27, 4(DI))
	ADDQ R12, DI
	SUM(Z28, Z29, (DI))
	SUM(Z30, Z31, 4(DI))
	VZEROUPPER
	RET
