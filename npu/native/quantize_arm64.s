#include "textflag.h"

// Quantization to 8 bits for arm64: see quantizePlain in dot.go and quantizeKPlain in kquants.go.
// See kernels_arm64.s for the encodings.

#define FABS4(d, n) WORD $(0x4EA0F800 | (n)<<5 | (d))
#define FMAX4(d, n, m) WORD $(0x4E20F400 | (m)<<16 | (n)<<5 | (d))
// FMAXV sets d to the largest of n's four numbers.
#define FMAXV(d, n) WORD $(0x6E30F800 | (n)<<5 | (d))
// FMULBY multiplies by element 0 of m.
#define FMULBY(d, n, m) WORD $(0x4F809000 | (m)<<16 | (n)<<5 | (d))
// FCVTNS rounds to integers, ties to even.
#define FCVTNS(d, n) WORD $(0x4E21A800 | (n)<<5 | (d))
#define FCVTN(d, n) WORD $(0x0E216800 | (n)<<5 | (d))
#define FCVTL(d, n) WORD $(0x0E217800 | (n)<<5 | (d))
// UZP1H and UZP1B keep the lower halves of the 32-bit and the 16-bit integers of n and m.
#define UZP1H(d, n, m) WORD $(0x4E401800 | (m)<<16 | (n)<<5 | (d))
#define UZP1B(d, n, m) WORD $(0x4E001800 | (m)<<16 | (n)<<5 | (d))
// SADDLP adds neighbouring bytes of n, SADALP adds such sums to d.
#define SADDLP(d, n) WORD $(0x4E202800 | (n)<<5 | (d))
#define SADALP(d, n) WORD $(0x4E206800 | (n)<<5 | (d))
// SADDLV adds up eight 16-bit integers.
#define SADDLV(d, n) WORD $(0x4E703800 | (n)<<5 | (d))
// SADDLVB adds up sixteen bytes.
#define SADDLVB(d, n) WORD $(0x4E303800 | (n)<<5 | (d))
#define ZERO(v) VEOR v.B16, v.B16, v.B16

// LARGEST sets each lane of V0 to the largest magnitude in that lane of vectors 16 to 23. It
// changes V1 to V7.
#define LARGEST \
	FABS4(0, 16); \
	FABS4(1, 17); \
	FABS4(2, 18); \
	FABS4(3, 19); \
	FABS4(4, 20); \
	FABS4(5, 21); \
	FABS4(6, 22); \
	FABS4(7, 23); \
	FMAX4(0, 0, 1); \
	FMAX4(2, 2, 3); \
	FMAX4(4, 4, 5); \
	FMAX4(6, 6, 7); \
	FMAX4(0, 0, 2); \
	FMAX4(4, 4, 6); \
	FMAX4(0, 0, 4)

// ROUND multiplies the sixteen numbers of vectors a to a+3 by F31, rounds them and leaves the bytes
// in a.
#define ROUND(a) \
	FMULBY(a, a, 31); \
	FMULBY(a+1, a+1, 31); \
	FMULBY(a+2, a+2, 31); \
	FMULBY(a+3, a+3, 31); \
	FCVTNS(a, a); \
	FCVTNS(a+1, a+1); \
	FCVTNS(a+2, a+2); \
	FCVTNS(a+3, a+3); \
	UZP1H(a, a, a+1); \
	UZP1H(a+2, a+2, a+3); \
	UZP1B(a, a, a+2)

// CONSTANTS sets F30 to 127, F29 to 1e-30 and F28 to 0.
#define CONSTANTS \
	MOVW $0x42fe0000, R3; \
	FMOVS R3, F30; \
	MOVW $0x0da24260, R3; \
	FMOVS R3, F29; \
	ZERO(V28)

// func quantizeNEON(dst *input, x *float32, blocks int)
// A block takes 48 bytes: 32 integers, d, low, high and sum.
TEXT ·quantizeNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD blocks+16(FP), R2
	CONSTANTS
block:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	LARGEST
	FMAXV(0, 0)
	FDIVS F30, F0, F1 // max/127, as an F16 holds it
	FCVTN(1, 1)
	FCVTL(1, 1)
	FDIVS F0, F30, F31 // 127/max, or 0
	FCMPS F29, F0
	FCSELS GT, F31, F28, F31
	ROUND(16)
	ROUND(20)
	FSTPQ (F16, F20), (R0)
	FMOVS F1, 32(R0)
	SADDLP(0, 16)
	SADALP(0, 20)
	SADDLV(0, 0)
	FMOVS F0, R3
	NEGW R3<<3, R4
	NEGW R3<<7, R5
	STPW (R4, R5), 36(R0)
	SCVTFWS R3, F2
	FMULS F1, F2, F2
	FMOVS F2, 44(R0)
	ADD $48, R0
	SUBS $1, R2, R2
	BNE block
	RET

// func quantizeKBlocks(dst *kInput, x *float32, blocks int)
// A block takes 320 bytes: 256 integers, their sums at 256, its scale at 288, wider sums at 292.
TEXT ·quantizeKBlocks(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD x+8(FP), R1
	MOVD blocks+16(FP), R2
	CONSTANTS
	FMOVS $1.0, F27
block:
	MOVD R1, R4
	MOVD $8, R3
	ZERO(V26)
largest:
	VLD1.P 64(R4), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R4), [V20.S4, V21.S4, V22.S4, V23.S4]
	LARGEST
	FMAX4(26, 26, 0)
	SUBS $1, R3, R3
	BNE largest
	FMAXV(0, 26)
	FDIVS F0, F30, F31 // 127/max
	FDIVS F31, F27, F1 // its inverse
	FCMPS F29, F0
	FCSELS GT, F31, F28, F31
	FCSELS HI, F1, F28, F1 // of NaN, NaN
	FMOVS F1, 288(R0)
	ADD $256, R0, R4
	ADD $292, R0, R5
	MOVD $8, R3
round:
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	ROUND(16)
	ROUND(20)
	SADDLVB(0, 16)
	SADDLVB(1, 20)
	FSTPQ.P (F16, F20), 32(R0)
	VST1.P V0.H[0], 2(R4)
	VST1.P V1.H[0], 2(R4)
	VADD V0.H8, V1.H8, V0.H8
	VST1.P V0.H[0], 2(R5)
	SUBS $1, R3, R3
	BNE round
	ADD $64, R0
	SUBS $1, R2, R2
	BNE block
	RET
