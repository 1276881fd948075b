#include "textflag.h"

// Element-wise kernels. n is a nonzero multiple of 8. See kernels_arm64.s for the encodings.
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
// FMAXNM4 and FMAXNMV keep the number where the other one is NaN.
#define FMAXNM4(d, n, m) WORD $(0x4E20C400 | (m)<<16 | (n)<<5 | (d))
#define FMAXNMV(d, n) WORD $(0x6E30C800 | (n)<<5 | (d))
#define FSUB4(d, n, m) WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d))

// func scaleNEON(out, x, w *float32, n int, by float32)
TEXT ·scaleNEON(SB), NOSPLIT, $0-36
	MOVD out+0(FP), R0
	MOVD x+8(FP), R1
	MOVD w+16(FP), R2
	MOVD n+24(FP), R3
	FMOVS by+32(FP), F4
	VDUP V4.S[0], V4.S4
loop:
	VLD1.P 32(R1), [V0.S4, V1.S4]
	VLD1.P 32(R2), [V2.S4, V3.S4]
	FMUL4(0, 0, 4)
	FMUL4(1, 1, 4)
	FMUL4(0, 0, 2)
	FMUL4(1, 1, 3)
	VST1.P [V0.S4, V1.S4], 32(R0)
	SUBS $8, R3, R3
	BNE loop
	RET

// func addNEON(out, x, y *float32, n int)
TEXT ·addNEON(SB), NOSPLIT, $0-32
	MOVD out+0(FP), R0
	MOVD x+8(FP), R1
	MOVD y+16(FP), R2
	MOVD n+24(FP), R3
loop:
	VLD1.P 32(R1), [V0.S4, V1.S4]
	VLD1.P 32(R2), [V2.S4, V3.S4]
	FADD4(0, 0, 2)
	FADD4(1, 1, 3)
	VST1.P [V0.S4, V1.S4], 32(R0)
	SUBS $8, R3, R3
	BNE loop
	RET

// func floorNEON(out, x *float32, n int, by, least float32)
TEXT ·floorNEON(SB), NOSPLIT, $0-32
	MOVD out+0(FP), R0
	MOVD x+8(FP), R1
	MOVD n+16(FP), R3
	FMOVS by+24(FP), F4
	FMOVS least+28(FP), F5
	VDUP V4.S[0], V4.S4
	VDUP V5.S[0], V5.S4
loop:
	VLD1.P 32(R1), [V0.S4, V1.S4]
	FADD4(0, 0, 4)
	FADD4(1, 1, 4)
	FMAXNM4(0, 0, 5)
	FMAXNM4(1, 1, 5)
	VST1.P [V0.S4, V1.S4], 32(R0)
	SUBS $8, R3, R3
	BNE loop
	RET

// func rotateNEON(a, b, cos, sin *float32, n int)
TEXT ·rotateNEON(SB), NOSPLIT, $0-40
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD cos+16(FP), R2
	MOVD sin+24(FP), R3
	MOVD n+32(FP), R4
loop:
	VLD1 (R0), [V0.S4, V1.S4]
	VLD1 (R1), [V2.S4, V3.S4]
	VLD1.P 32(R2), [V4.S4, V5.S4]
	VLD1.P 32(R3), [V6.S4, V7.S4]
	FMUL4(8, 0, 4)
	FMUL4(9, 1, 5)
	FMUL4(10, 2, 6)
	FMUL4(11, 3, 7)
	FMUL4(0, 0, 6)
	FMUL4(1, 1, 7)
	FMUL4(2, 2, 4)
	FMUL4(3, 3, 5)
	FSUB4(8, 8, 10)
	FSUB4(9, 9, 11)
	FADD4(0, 0, 2)
	FADD4(1, 1, 3)
	VST1.P [V8.S4, V9.S4], 32(R0)
	VST1.P [V0.S4, V1.S4], 32(R1)
	SUBS $8, R4, R4
	BNE loop
	RET

// func maximaNEON(dst, x *float32, blocks int)
// It sets dst[i] to the largest of x[64·i:][:64] that is not NaN, −Inf if there is none.
TEXT ·maximaNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD blocks+16(FP), R2
	MOVW $0xFF800000, R4
	VDUP R4, V16.S4
loop:
	VMOV V16.B16, V17.B16
	VMOV V16.B16, V18.B16
	MOVD $4, R3
quarter:
	VLD1.P 64(R1), [V0.S4, V1.S4, V2.S4, V3.S4]
	FMAXNM4(17, 17, 0)
	FMAXNM4(18, 18, 1)
	FMAXNM4(17, 17, 2)
	FMAXNM4(18, 18, 3)
	SUBS $1, R3, R3
	BNE quarter
	FMAXNM4(17, 17, 18)
	FMAXNMV(17, 17)
	FMOVS.P F17, 4(R0)
	SUBS $1, R2, R2
	BNE loop
	RET
