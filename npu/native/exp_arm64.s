#include "textflag.h"

// Softmax and SwiGLU for arm64: see dot.go, and exp in math.go. Eight lanes are two vectors that
// are processed in parallel. Macros whose names end in 2 process vectors d and d+1. See
// kernels_arm64.s for the encodings.

#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FDIV4(d, n, m) WORD $(0x6E20FC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FSUB4(d, n, m) WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d))
#define FMAX4(d, n, m) WORD $(0x4E20F400 | (m)<<16 | (n)<<5 | (d))
#define FMUL2(d, n, m) FMUL4(d, n, m); FMUL4(d+1, n+1, m+1)
#define FSUB2(d, n, m) FSUB4(d, n, m); FSUB4(d+1, n+1, m+1)
#define FADD2(d, n, m) FADD4(d, n, m); FADD4(d+1, n+1, m+1)
// BY2, PLUS2 and LESS2 use the same m for both vectors.
#define BY2(d, n, m) FMUL4(d, n, m); FMUL4(d+1, n+1, m)
#define PLUS2(d, n, m) FADD4(d, n, m); FADD4(d+1, n+1, m)
#define LESS2(d, n, m) FSUB4(d, n, m); FSUB4(d+1, n+1, m)
#define FNEG4(d, n) WORD $(0x6EA0F800 | (n)<<5 | (d))
// FCVTZS converts to integers, rounding toward zero.
#define FCVTZS(d, n) WORD $(0x4EA1B800 | (n)<<5 | (d))
// HALVE shifts signed integers right by one.
#define HALVE(d, n) WORD $(0x4F3F0400 | (n)<<5 | (d))
// FCMGT sets all bits of the lanes where n is greater than m.
#define FCMGT(d, n, m) WORD $(0x6EA0E400 | (m)<<16 | (n)<<5 | (d))
// BIC clears the bits of m in n.
#define BIC(d, n, m) WORD $(0x4E601C00 | (m)<<16 | (n)<<5 | (d))

DATA constants<>+0(SB)/4, $0x3fb8aa3b // log2 e
DATA constants<>+4(SB)/4, $0x4b400000 // 3·2^22
DATA constants<>+8(SB)/4, $0x3f318000 // ln 2, upper part
DATA constants<>+12(SB)/4, $0xb95e8083 // lower part
DATA constants<>+16(SB)/4, $0x3ab60b61 // 1/720
DATA constants<>+20(SB)/4, $0x3c088889 // 1/120
DATA constants<>+24(SB)/4, $0x3d2aaaab // 1/24
DATA constants<>+28(SB)/4, $0x3e2aaaab // 1/6
DATA constants<>+32(SB)/4, $0x3f000000 // 1/2
DATA constants<>+36(SB)/4, $0x3f800000 // 1
DATA constants<>+40(SB)/4, $0xc2aeac4f // the lowest and the highest x
DATA constants<>+44(SB)/4, $0x42b17217
DATA constants<>+48(SB)/4, $0x7f800000 // infinity
DATA constants<>+52(SB)/4, $127
GLOBL constants<>(SB), RODATA|NOPTR, $56

// CONSTANTS loads the constants to V16 to V29.
#define CONSTANTS \
	MOVD $constants<>(SB), R9; \
	VLD1R.P 4(R9), [V16.S4]; \
	VLD1R.P 4(R9), [V17.S4]; \
	VLD1R.P 4(R9), [V18.S4]; \
	VLD1R.P 4(R9), [V19.S4]; \
	VLD1R.P 4(R9), [V20.S4]; \
	VLD1R.P 4(R9), [V21.S4]; \
	VLD1R.P 4(R9), [V22.S4]; \
	VLD1R.P 4(R9), [V23.S4]; \
	VLD1R.P 4(R9), [V24.S4]; \
	VLD1R.P 4(R9), [V25.S4]; \
	VLD1R.P 4(R9), [V26.S4]; \
	VLD1R.P 4(R9), [V27.S4]; \
	VLD1R.P 4(R9), [V28.S4]; \
	VLD1R.P 4(R9), [V29.S4]

// EXP applies exp of math.go to the lanes of V0 and V1 and leaves the results in V2 and V3. It
// changes V4 to V9.
#define EXP \
	BY2(4, 0, 16); \
	PLUS2(4, 4, 17); \
	LESS2(4, 4, 17); \
	BY2(6, 4, 18); \
	FSUB2(8, 0, 6); \
	BY2(6, 4, 19); \
	FSUB2(8, 8, 6); \
	BY2(2, 8, 20); \
	PLUS2(2, 2, 21); \
	FMUL2(2, 2, 8); \
	PLUS2(2, 2, 22); \
	FMUL2(2, 2, 8); \
	PLUS2(2, 2, 23); \
	FMUL2(2, 2, 8); \
	PLUS2(2, 2, 24); \
	FMUL2(2, 2, 8); \
	FMUL2(2, 2, 8); \
	FADD2(2, 2, 8); \
	PLUS2(2, 2, 25); \
	FCVTZS(4, 4); \
	FCVTZS(5, 5); \
	HALVE(6, 4); \
	HALVE(7, 5); \
	VSUB V6.S4, V4.S4, V4.S4; \
	VSUB V7.S4, V5.S4, V5.S4; \
	VADD V29.S4, V6.S4, V6.S4; \
	VADD V29.S4, V7.S4, V7.S4; \
	VADD V29.S4, V4.S4, V4.S4; \
	VADD V29.S4, V5.S4, V5.S4; \
	VSHL $23, V6.S4, V6.S4; \
	VSHL $23, V7.S4, V7.S4; \
	VSHL $23, V4.S4, V4.S4; \
	VSHL $23, V5.S4, V5.S4; \
	FMUL2(2, 2, 6); \
	FMUL2(2, 2, 4); \
	FCMGT(4, 26, 0); \
	FCMGT(5, 26, 1); \
	BIC(2, 2, 4); \
	BIC(3, 3, 5); \
	FCMGT(4, 0, 27); \
	FCMGT(5, 1, 27); \
	VBIT V4.B16, V28.B16, V2.B16; \
	VBIT V5.B16, V28.B16, V3.B16

// func swiGLUNEON(out, gate, up *float32, n int)
// n is a nonzero multiple of 8, here and below.
TEXT ·swiGLUNEON(SB), NOSPLIT, $0-32
	MOVD out+0(FP), R0
	MOVD gate+8(FP), R1
	MOVD up+16(FP), R2
	MOVD n+24(FP), R3
	CONSTANTS
loop:
	VLD1.P 32(R1), [V10.S4, V11.S4]
	VLD1.P 32(R2), [V12.S4, V13.S4]
	FNEG4(0, 10)
	FNEG4(1, 11)
	EXP
	PLUS2(2, 2, 25)
	FDIV4(2, 10, 2)
	FDIV4(3, 11, 3)
	FMUL2(2, 2, 12)
	VST1.P [V2.S4, V3.S4], 32(R0)
	SUBS $8, R3, R3
	BNE loop
	RET

// func gateNEON(out, x, gate *float32, n int)
TEXT ·gateNEON(SB), NOSPLIT, $0-32
	MOVD out+0(FP), R0
	MOVD x+8(FP), R1
	MOVD gate+16(FP), R2
	MOVD n+24(FP), R3
	CONSTANTS
loop:
	VLD1.P 32(R1), [V10.S4, V11.S4]
	VLD1.P 32(R2), [V12.S4, V13.S4]
	FNEG4(0, 12)
	FNEG4(1, 13)
	EXP
	PLUS2(2, 2, 25)
	FDIV4(2, 10, 2)
	FDIV4(3, 11, 3)
	VLD1 (R0), [V12.S4, V13.S4]
	FADD2(2, 12, 2)
	VST1.P [V2.S4, V3.S4], 32(R0)
	SUBS $8, R3, R3
	BNE loop
	RET

// func scaleMaxVector(s *float32, n int, scale float32, top *[8]float32)
// It multiplies s[i] by scale and sets top[i mod 8] to the maximum of that lane.
TEXT ·scaleMaxVector(SB), NOSPLIT, $0-32
	MOVD s+0(FP), R0
	MOVD n+8(FP), R1
	FMOVS scale+16(FP), F2
	VDUP V2.S[0], V2.S4
	MOVD top+24(FP), R2
	VLD1 (R0), [V4.S4, V5.S4]
	BY2(4, 4, 2)
loop:
	VLD1 (R0), [V0.S4, V1.S4]
	BY2(0, 0, 2)
	VST1.P [V0.S4, V1.S4], 32(R0)
	FMAX4(4, 4, 0)
	FMAX4(5, 5, 1)
	SUBS $8, R1, R1
	BNE loop
	VST1 [V4.S4, V5.S4], (R2)
	RET

// func expSum(s *float32, n int, top float32, sum *[8]float32)
// It sets s[i] to e^(s[i]−top) and sum[i mod 8] to the sum over that lane.
TEXT ·expSum(SB), NOSPLIT, $0-32
	MOVD s+0(FP), R0
	MOVD n+8(FP), R1
	FMOVS top+16(FP), F10
	VDUP V10.S[0], V10.S4
	MOVD sum+24(FP), R2
	CONSTANTS
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
loop:
	VLD1 (R0), [V0.S4, V1.S4]
	LESS2(0, 0, 10)
	EXP
	VST1.P [V2.S4, V3.S4], 32(R0)
	FADD2(12, 12, 2)
	SUBS $8, R1, R1
	BNE loop
	VST1 [V12.S4, V13.S4], (R2)
	RET
