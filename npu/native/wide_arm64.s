#include "textflag.h"

// See kernels_arm64.s for the encodings.
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))

// ADD16 multiplies sixteen numbers of an input, in vectors x to x+3, by those of a row and adds the
// products to vectors a to a+3.
#define ADD16(x, a) \
	VLD1.P 64(R6), [V8.S4, V9.S4, V10.S4, V11.S4]; \
	FMUL4(8, 8, x); \
	FMUL4(9, 9, x+1); \
	FMUL4(10, 10, x+2); \
	FMUL4(11, 11, x+3); \
	FADD4(a, a, 8); \
	FADD4(a+1, a+1, 9); \
	FADD4(a+2, a+2, 10); \
	FADD4(a+3, a+3, 11)

// func tileNEON(acc *tileSums, x, w *float32, steps int)
// It processes one input at a time. V16 to V31 hold its sums with both rows.
TEXT ·tileNEON(SB), NOSPLIT, $0-32
	MOVD acc+0(FP), R0
	MOVD x+8(FP), R1
	MOVD $4, R4
input:
	MOVD w+16(FP), R6
	MOVD R1, R5
	MOVD steps+24(FP), R7
	MOVD R0, R8
	VLD1.P 64(R8), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R8), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1.P 64(R8), [V24.S4, V25.S4, V26.S4, V27.S4]
	VLD1 (R8), [V28.S4, V29.S4, V30.S4, V31.S4]
step:
	VLD1.P 64(R5), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R5), [V4.S4, V5.S4, V6.S4, V7.S4]
	ADD $384, R5
	ADD16(0, 16)
	ADD16(4, 20)
	ADD16(0, 24)
	ADD16(4, 28)
	SUBS $1, R7, R7
	BNE step
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	VST1.P [V24.S4, V25.S4, V26.S4, V27.S4], 64(R0)
	VST1.P [V28.S4, V29.S4, V30.S4, V31.S4], 64(R0)
	ADD $128, R1
	SUBS $1, R4, R4
	BNE input
	RET
