#include "textflag.h"
#include "amx_amd64.h"

// Products of packed weights in blocks of 32 (pack.go) by AMX. Tile 0 is C, 2 is A and 4 is B.

// The shapes of the tiles for blocks of 32: the palette, then bytes of a row, then rows.
DATA shapes32<>+0(SB)/8, $1
DATA shapes32<>+8(SB)/8, $0
DATA shapes32<>+16(SB)/8, $0x0000002000000040
DATA shapes32<>+24(SB)/8, $0x0000000000000040
DATA shapes32<>+32(SB)/8, $0
DATA shapes32<>+40(SB)/8, $0
DATA shapes32<>+48(SB)/8, $0x0000000800100010
DATA shapes32<>+56(SB)/8, $0
GLOBL shapes32<>(SB), RODATA|NOPTR, $64

// SUM scales the sums of an input, at c(R15), by the scales in Z8 and its own, and adds them to acc.
#define SUM(c, p, acc) \
	VCVTDQ2PS c(R15), Z10; \
	VMULPS.BCST 32 p, Z8, Z11; \
	VMULPS Z11, Z10, Z10; \
	VADDPS Z10, acc, acc

// LEASTOF adds the minima in Z9, times the sum of the input.
#define LEASTOF(c, p, acc) \
	VMULPS.BCST 44 p, Z9, Z11; \
	VADDPS Z11, acc, acc

// AMX multiplies groups of sixteen rows by sixteen inputs. A block is BYTES long and begins with SCALES bytes of scales, which
// READ reads to Z8. MORE comes after the sums.
#define AMX(SCALES, BYTES, READ, MORE) \
	TILES(shapes32); \
	ARGS; \
group: \
	GROUP(SCALES); \
	CLEAR; \
block: \
	LOAD_4_CX_R14; \
	LOAD_2_R8_AX; \
	ZERO_0; \
	MULTIPLY_2_4; \
	STORE_0_R15_R14; \
	READ; \
	EACHINPUT(SUM); \
	MORE; \
	NEXT(BYTES); \
	JNZ block; \
	STORE16; \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ group; \
	DONE

#define SCALESF16 \
	AHEAD544; \
	VCVTPH2PS (SI), Z8

#define SCALESF32 VMOVUPS (SI), Z8
#define NOMORE
#define MINIMAF32 \
	VMOVUPS 64(SI), Z9; \
	EACHINPUT(LEASTOF)

// WIDEN writes n blocks with F32 scales, any F32 minima, and integers of 8 bits: those that WEIGHTS reads less the offset in Z30.
#define WIDEN(SCALES, BYTES, WEIGHTS, TO, MINIMA) \
	MOVQ dst+0(FP), DI; \
	MOVQ w+8(FP), SI; \
	MOVQ n+16(FP), DX; \
	LEAQ SCALES(SI), CX; \
block: \
	WEIGHTS; \
	VMOVUPS Z8, (DI); \
	MINIMA; \
	VPSUBB Z30, Z0, Z0; \
	VPSUBB Z30, Z1, Z1; \
	VPSUBB Z30, Z2, Z2; \
	VPSUBB Z30, Z3, Z3; \
	VPSUBB Z30, Z4, Z4; \
	VPSUBB Z30, Z5, Z5; \
	VPSUBB Z30, Z6, Z6; \
	VPSUBB Z30, Z7, Z7; \
	VMOVDQU64 Z0, TO(DI); \
	VMOVDQU64 Z1, (TO+64)(DI); \
	VMOVDQU64 Z2, (TO+128)(DI); \
	VMOVDQU64 Z3, (TO+192)(DI); \
	VMOVDQU64 Z4, (TO+256)(DI); \
	VMOVDQU64 Z5, (TO+320)(DI); \
	VMOVDQU64 Z6, (TO+384)(DI); \
	VMOVDQU64 Z7, (TO+448)(DI); \
	ADDQ $(TO+512), DI; \
	ADDQ $BYTES, SI; \
	ADDQ $BYTES, CX; \
	DECQ DX; \
	JNZ block; \
	VZEROUPPER; \
	RET

// MINIMATO is what WIDEN does with minima.
#define MINIMATO \
	VCVTPH2PS 32(SI), Z10; \
	VMOVUPS Z10, 64(DI)

// func q80x16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x16AMX(SB), 0, $1216-48
	AMX(32, 544, SCALESF16, NOMORE)

// func widex16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·widex16AMX(SB), 0, $1216-48
	AMX(64, 576, SCALESF32, NOMORE)

// func wideMinimax16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·wideMinimax16AMX(SB), 0, $1216-48
	AMX(128, 640, SCALESF32, MINIMAF32)

// func widenQ40AMX(dst, w *byte, n int)
TEXT ·widenQ40AMX(SB), NOSPLIT, $0-24
	FILL($0x0f0f0f0f, Z9)
	FILL($0x08080808, Z30)
	WIDEN(32, 288, WEIGHTSQ40, 64, NOMORE)

// func widenQ50AMX(dst, w *byte, n int)
TEXT ·widenQ50AMX(SB), NOSPLIT, $0-24
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	VMOVDQA64 Z28, Z30
	WIDEN(32, 352, WEIGHTSQ5(AHEAD352), 64, NOMORE)

// func widenNLAMX(dst, w *byte, n int)
TEXT ·widenNLAMX(SB), NOSPLIT, $0-24
	FILL($0x0f0f0f0f, Z9)
	FILL($0x80808080, Z30)
	TABLE(0)
	WIDEN(32, 288, WEIGHTSNL, 64, NOMORE)

// func widenMXAMX(dst, w *byte, n int)
TEXT ·widenMXAMX(SB), NOSPLIT, $0-24
	FILL($0x0f0f0f0f, Z9)
	FILL($0x80808080, Z30)
	TABLE(16)
	WIDEN(32, 288, WEIGHTSMX, 64, NOMORE)

// func widenQ41AMX(dst, w *byte, n int)
TEXT ·widenQ41AMX(SB), NOSPLIT, $0-24
	FILL($0x0f0f0f0f, Z9)
	VPXORD Z30, Z30, Z30
	WIDEN(64, 320, WEIGHTSQ41, 128, MINIMATO)

// func widenQ51AMX(dst, w *byte, n int)
TEXT ·widenQ51AMX(SB), NOSPLIT, $0-24
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	VPXORD Z30, Z30, Z30
	WIDEN(64, 384, WEIGHTSQ5(AHEAD352), 128, MINIMATO)
