#include "textflag.h"

// Go's assembler lacks these instructions. The arguments are numbers of vectors, see kernels_arm64.s. SXTLB widens int8, SXTL
// int16, the first half or the second.
#define SXTLB(d, n) WORD $(0x0F08A400 | (n)<<5 | (d))
#define SXTLB2(d, n) WORD $(0x4F08A400 | (n)<<5 | (d))
#define SXTL(d, n) WORD $(0x0F10A400 | (n)<<5 | (d))
#define SXTL2(d, n) WORD $(0x4F10A400 | (n)<<5 | (d))
#define SCVTF4(d, n) WORD $(0x4E21D800 | (n)<<5 | (d))
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FCVTSH(d, n) WORD $(0x1EE24000 | (n)<<5 | (d))

// FOUR adds four products to acc. V4 holds the integers, in 32 bits.
#define FOUR(acc) \
	SCVTF4(4, 4); \
	FMUL4(4, 4, 0); \
	FADD4(acc, acc, 4)

// func mixFactorNEON(acc *float32, blocks int, p *float32, ranks int, v *byte)
TEXT ·mixFactorNEON(SB), NOSPLIT, $0-40
	MOVD acc+0(FP), R0
	MOVD blocks+8(FP), R3
	MOVD v+32(FP), R1
block:
	MOVD p+16(FP), R4
	MOVD ranks+24(FP), R2
	ADD $7, R2, R5
	AND $~7, R5
	ADD R5<<1, R1, R5
	MOVD R0, R6
	VLD1.P 64(R6), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1 (R6), [V20.S4, V21.S4, V22.S4, V23.S4]
rank:
	MOVHU.P 2(R1), R7
	FMOVS.P 4(R4), F1
	FMOVS R7, F0
	FCVTSH(0, 0)
	FMULS F1, F0, F0
	VDUP V0.S[0], V0.S4
	VLD1.P 32(R5), [V1.B16, V2.B16]
	PRFM 2048(R5), PLDL1KEEP
	SXTLB(3, 1)
	SXTL(4, 3)
	FOUR(16)
	SXTL2(4, 3)
	FOUR(17)
	SXTLB2(3, 1)
	SXTL(4, 3)
	FOUR(18)
	SXTL2(4, 3)
	FOUR(19)
	SXTLB(3, 2)
	SXTL(4, 3)
	FOUR(20)
	SXTL2(4, 3)
	FOUR(21)
	SXTLB2(3, 2)
	SXTL(4, 3)
	FOUR(22)
	SXTL2(4, 3)
	FOUR(23)
	SUBS $1, R2, R2
	BNE rank
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	MOVD R5, R1
	SUBS $1, R3, R3
	BNE block
	RET
