#include "textflag.h"

// Products for AVX-512 with VNNI. A vector holds two rows' blocks of 32 side by side, so its sixteen sums
// of four products are the eight lanes of both rows. VPDPBUSD multiplies unsigned by signed bytes:
// weights get an offset, and the offset's product, which all rows share, is where the sums start.

DATA nibbles<>+0(SB)/8, $0
DATA nibbles<>+8(SB)/8, $0
DATA nibbles<>+16(SB)/8, $0x0000000400000004
DATA nibbles<>+24(SB)/8, $0x0000000400000004
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

#define FILL(bits, z) \
	MOVL bits, BX; \
	VPBROADCASTD BX, z

// POINTERS: CX runs over the next four rows (see AHEAD); R11 is the bytes of a row of weights, R15 of three; AX the bytes of one input's integers, R13
// of three; DX the bytes of one input's scales, R14 of three.
#define POINTERS(SIZE); \
	MOVQ dst+0(FP), DI; \
	MOVQ w+16(FP), SI; \
	MOVQ blocks+32(FP), DX; \
	IMUL3Q $SIZE, DX, R11; \
	LEAQ (R11)(R11*2), R15; \
	SHLQ $2, DX; \
	LEAQ (DX*8), AX; \
	LEAQ (AX)(AX*2), R13; \
	LEAQ (DX)(DX*2), R14; \
	VPXORD Z8, Z8, Z8

#define INPUTS \
	MOVQ blocks+32(FP), BX; \
	MOVQ q+40(FP), R8; \
	LEAQ (R8)(AX*4), R9; \
	MOVQ d+48(FP), R10; \
	LEAQ (R10)(DX*4), R12; \
	LEAQ (SI)(R11*4), CX

#define NEXT(SIZE) \
	ADDQ $SIZE, SI; \
	ADDQ $32, R8; \
	ADDQ $32, R9; \
	ADDQ $4, R10; \
	ADDQ $4, R12; \
	DECQ BX

// SCALES reads the scales of four rows to Z2 and Z3.
#define SCALES \
	VPBROADCASTW (SI), X2; \
	VPBROADCASTW (SI)(R11*1), X12; \
	VPBROADCASTW (SI)(R11*2), X3; \
	VPBROADCASTW (SI)(R15*1), X13; \
	VINSERTI128 $1, X12, Y2, Y2; \
	VINSERTI128 $1, X13, Y3, Y3; \
	VCVTPH2PS Y2, Z2; \
	VCVTPH2PS Y3, Z3

// WEIGHTSQ80 and WEIGHTSQ40 read a block of four rows to Z0 and Z1, plus the offset of Z9.
#define WEIGHTSQ80 \
	SCALES; \
	VMOVDQU 2(SI), Y0; \
	VMOVDQU 2(SI)(R11*2), Y1; \
	VINSERTI64X4 $1, 2(SI)(R11*1), Z0, Z0; \
	VINSERTI64X4 $1, 2(SI)(R15*1), Z1, Z1; \
	VPXORD Z9, Z0, Z0; \
	VPXORD Z9, Z1, Z1

#define WEIGHTSQ40 \
	SCALES; \
	VBROADCASTI128 2(SI), Y0; \
	VBROADCASTI128 2(SI)(R11*1), Y12; \
	VBROADCASTI128 2(SI)(R11*2), Y1; \
	VBROADCASTI128 2(SI)(R15*1), Y13; \
	VINSERTI64X4 $1, Y12, Z0, Z0; \
	VINSERTI64X4 $1, Y13, Z1, Z1; \
	VPSRLVD Z10, Z0, Z0; \
	VPSRLVD Z10, Z1, Z1; \
	VPANDD Z11, Z0, Z0; \
	VPANDD Z11, Z1, Z1

// INPUT adds the products of Z0 and Z1 and the integers at q, scaled by d, to the rows' lanes.
#define INPUT(q, d, acc01, acc23) \
	VBROADCASTI64X4 q, Z4; \
	VPXORD Z5, Z5, Z5; \
	VPDPBUSD Z4, Z9, Z5; \
	VPSUBD Z5, Z8, Z5; \
	VMOVDQA64 Z5, Z6; \
	VPDPBUSD Z4, Z0, Z6; \
	VPDPBUSD Z4, Z1, Z5; \
	VMULPS.BCST d, Z2, Z7; \
	VMULPS.BCST d, Z3, Z12; \
	VCVTDQ2PS Z6, Z6; \
	VCVTDQ2PS Z5, Z5; \
	VMULPS Z7, Z6, Z6; \
	VMULPS Z12, Z5, Z5; \
	VADDPS Z6, acc01, acc01; \
	VADDPS Z5, acc23, acc23

// AHEAD fetches what the next four rows begin with while these are multiplied: rows are read side by side,
// and the processor does not foresee that.
#define AHEAD(SIZE) \
	PREFETCHT0 (CX); \
	PREFETCHT0 64(CX); \
	ADDQ $(4*SIZE), CX

// SUM2 adds the lanes of the two rows in z and stores them at(BX).
#define SUM2(z, at) \
	VSHUFF32X4 $0xB1, z, z, Z0; \
	VADDPS Z0, z, Z0; \
	VSHUFPS $0x4E, Z0, Z0, Z1; \
	VADDPS Z1, Z0, Z0; \
	VSHUFPS $0xB1, Z0, Z0, Z1; \
	VADDPS Z1, Z0, Z0; \
	VMOVSS X0, at(BX); \
	VEXTRACTF32X4 $2, Z0, X1; \
	VMOVSS X1, (at+4)(BX)

// TILE1 multiplies four rows at a time by 1 input.
#define TILE1(SIZE, WEIGHTS) \
	POINTERS(SIZE); \
row: \
	INPUTS; \
	VPXORD Z16, Z16, Z16; \
	VPXORD Z17, Z17, Z17; \
block: \
	AHEAD(SIZE); \
	WEIGHTS; \
	INPUT((R8), (R10), Z16, Z17); \
	NEXT(SIZE); \
	JNZ block; \
	MOVQ DI, BX; \
	MOVQ stride+8(FP), R8; \
	SUM2(Z16, 0); \
	SUM2(Z17, 8); \
	ADDQ R15, SI; \
	ADDQ $16, DI; \
	SUBQ $4, rows+24(FP); \
	JNZ row; \
	VZEROUPPER; \
	RET

// TILE4 multiplies four rows at a time by 4 inputs.
#define TILE4(SIZE, WEIGHTS) \
	POINTERS(SIZE); \
row: \
	INPUTS; \
	VPXORD Z16, Z16, Z16; \
	VPXORD Z17, Z17, Z17; \
	VPXORD Z18, Z18, Z18; \
	VPXORD Z19, Z19, Z19; \
	VPXORD Z20, Z20, Z20; \
	VPXORD Z21, Z21, Z21; \
	VPXORD Z22, Z22, Z22; \
	VPXORD Z23, Z23, Z23; \
block: \
	AHEAD(SIZE); \
	WEIGHTS; \
	INPUT((R8), (R10), Z16, Z17); \
	INPUT((R8)(AX*1), (R10)(DX*1), Z18, Z19); \
	INPUT((R8)(AX*2), (R10)(DX*2), Z20, Z21); \
	INPUT((R8)(R13*1), (R10)(R14*1), Z22, Z23); \
	NEXT(SIZE); \
	JNZ block; \
	MOVQ DI, BX; \
	MOVQ stride+8(FP), R8; \
	SUM2(Z16, 0); \
	SUM2(Z17, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z18, 0); \
	SUM2(Z19, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z20, 0); \
	SUM2(Z21, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z22, 0); \
	SUM2(Z23, 8); \
	ADDQ R15, SI; \
	ADDQ $16, DI; \
	SUBQ $4, rows+24(FP); \
	JNZ row; \
	VZEROUPPER; \
	RET

// TILE8 multiplies four rows at a time by 8 inputs.
#define TILE8(SIZE, WEIGHTS) \
	POINTERS(SIZE); \
row: \
	INPUTS; \
	VPXORD Z16, Z16, Z16; \
	VPXORD Z17, Z17, Z17; \
	VPXORD Z18, Z18, Z18; \
	VPXORD Z19, Z19, Z19; \
	VPXORD Z20, Z20, Z20; \
	VPXORD Z21, Z21, Z21; \
	VPXORD Z22, Z22, Z22; \
	VPXORD Z23, Z23, Z23; \
	VPXORD Z24, Z24, Z24; \
	VPXORD Z25, Z25, Z25; \
	VPXORD Z26, Z26, Z26; \
	VPXORD Z27, Z27, Z27; \
	VPXORD Z28, Z28, Z28; \
	VPXORD Z29, Z29, Z29; \
	VPXORD Z30, Z30, Z30; \
	VPXORD Z31, Z31, Z31; \
block: \
	AHEAD(SIZE); \
	WEIGHTS; \
	INPUT((R8), (R10), Z16, Z17); \
	INPUT((R8)(AX*1), (R10)(DX*1), Z18, Z19); \
	INPUT((R8)(AX*2), (R10)(DX*2), Z20, Z21); \
	INPUT((R8)(R13*1), (R10)(R14*1), Z22, Z23); \
	INPUT((R9), (R12), Z24, Z25); \
	INPUT((R9)(AX*1), (R12)(DX*1), Z26, Z27); \
	INPUT((R9)(AX*2), (R12)(DX*2), Z28, Z29); \
	INPUT((R9)(R13*1), (R12)(R14*1), Z30, Z31); \
	NEXT(SIZE); \
	JNZ block; \
	MOVQ DI, BX; \
	MOVQ stride+8(FP), R8; \
	SUM2(Z16, 0); \
	SUM2(Z17, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z18, 0); \
	SUM2(Z19, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z20, 0); \
	SUM2(Z21, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z22, 0); \
	SUM2(Z23, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z24, 0); \
	SUM2(Z25, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z26, 0); \
	SUM2(Z27, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z28, 0); \
	SUM2(Z29, 8); \
	LEAQ (BX)(R8*4), BX; \
	SUM2(Z30, 0); \
	SUM2(Z31, 8); \
	ADDQ R15, SI; \
	ADDQ $16, DI; \
	SUBQ $4, rows+24(FP); \
	JNZ row; \
	VZEROUPPER; \
	RET

// func q80x1VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)
// rows is a multiple of 4 and not 0.
TEXT ·q80x1VNNI(SB), NOSPLIT, $0-56
	FILL($0x80808080, Z9)
	TILE1(34, WEIGHTSQ80)

// func q80x4VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)
// rows is a multiple of 4 and not 0.
TEXT ·q80x4VNNI(SB), NOSPLIT, $0-56
	FILL($0x80808080, Z9)
	TILE4(34, WEIGHTSQ80)

// func q80x8VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)
// rows is a multiple of 4 and not 0.
TEXT ·q80x8VNNI(SB), NOSPLIT, $0-56
	FILL($0x80808080, Z9)
	TILE8(34, WEIGHTSQ80)

// func q40x1VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)
// rows is a multiple of 4 and not 0.
TEXT ·q40x1VNNI(SB), NOSPLIT, $0-56
	FILL($0x08080808, Z9)
	FILL($0x0f0f0f0f, Z11)
	VBROADCASTI64X4 nibbles<>(SB), Z10
	TILE1(18, WEIGHTSQ40)

// func q40x4VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)
// rows is a multiple of 4 and not 0.
TEXT ·q40x4VNNI(SB), NOSPLIT, $0-56
	FILL($0x08080808, Z9)
	FILL($0x0f0f0f0f, Z11)
	VBROADCASTI64X4 nibbles<>(SB), Z10
	TILE4(18, WEIGHTSQ40)

// func q40x8VNNI(dst *float32, stride int, w *byte, rows, blocks int, q *int8, d *float32)
// rows is a multiple of 4 and not 0.
TEXT ·q40x8VNNI(SB), NOSPLIT, $0-56
	FILL($0x08080808, Z9)
	FILL($0x0f0f0f0f, Z11)
	VBROADCASTI64X4 nibbles<>(SB), Z10
	TILE8(18, WEIGHTSQ40)
