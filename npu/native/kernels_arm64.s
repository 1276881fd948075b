#include "textflag.h"

// arm64 kernels, for processors with the dot product instructions (ARMv8.2 SDOT, in phones since
// 2018). Each returns the same bits as its plain Go counterpart in dot.go: eight lanes are two
// vectors of four, and products and sums are rounded separately. Go's assembler lacks most
// floating-point vector instructions, so macros encode them. Their operands are register numbers,
// and the destination comes first.

#define SDOT(d, n, m) WORD $(0x4E809400 | (m)<<16 | (n)<<5 | (d))
#define SCVTF4(d, n) WORD $(0x4E21D800 | (n)<<5 | (d))
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
// FADDP adds the first two of n's four numbers.
#define FADDP(d, n) WORD $(0x7E30D800 | (n)<<5 | (d))
// FCVTL and FCVTL2 widen the lower and the upper four F16 numbers of n.
#define FCVTL(d, n) WORD $(0x0E217800 | (n)<<5 | (d))
#define FCVTL2(d, n) WORD $(0x4E217800 | (n)<<5 | (d))
#define FCVTSH(d, n) WORD $(0x1EE24000 | (n)<<5 | (d))
// SHLL and SHLL2 widen the lower and the upper four 16-bit integers of n and shift them left by 16.
#define SHLL(d, n) WORD $(0x2E613800 | (n)<<5 | (d))
#define SHLL2(d, n) WORD $(0x6E613800 | (n)<<5 | (d))

// SUM adds up the eight lanes of vectors a and a+1 and leaves the sum in scalar a. It changes V0.
#define SUM(a) \
	FADD4(a, a, a+1); \
	WORD $(0x6E004000 | (a)<<16 | (a)<<5); /* EXT V0, Va, Va, #8 */ \
	FADD4(a, a, 0); \
	FADDP(a, a)

#define ZERO(v) VEOR v.B16, v.B16, v.B16

// func dotsF32NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)
TEXT ·dotsF32NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD n+8(FP), R2
	MOVD x+16(FP), R4
	MOVD cols+24(FP), R3
	MOVD w+32(FP), R1
	MOVD stride+40(FP), R10
row:
	MOVD R4, R6
	MOVD R1, R7
	MOVD R3, R8
	ZERO(V16)
	ZERO(V17)
	ZERO(V18)
	ZERO(V19)
	ZERO(V20)
	ZERO(V21)
	ZERO(V22)
	ZERO(V23)
	SUBS $32, R8, R8
	BLT by8
by32:
	VLD1.P 32(R7), [V2.S4, V3.S4]
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(16, 16, 4)
	FADD4(17, 17, 5)
	VLD1.P 32(R7), [V2.S4, V3.S4]
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(18, 18, 4)
	FADD4(19, 19, 5)
	VLD1.P 32(R7), [V2.S4, V3.S4]
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(20, 20, 4)
	FADD4(21, 21, 5)
	VLD1.P 32(R7), [V2.S4, V3.S4]
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(22, 22, 4)
	FADD4(23, 23, 5)
	SUBS $32, R8, R8
	BGE by32
by8:
	ADDS $24, R8, R8
	BLT lanes
more8:
	VLD1.P 32(R7), [V2.S4, V3.S4]
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(16, 16, 4)
	FADD4(17, 17, 5)
	SUBS $8, R8, R8
	BGE more8
lanes:
	FADD4(16, 16, 18)
	FADD4(17, 17, 19)
	FADD4(20, 20, 22)
	FADD4(21, 21, 23)
	FADD4(16, 16, 20)
	FADD4(17, 17, 21)
	SUM(16)
	ADDS $8, R8, R8
	BEQ store
by1:
	FMOVS.P 4(R7), F1
	FMOVS.P 4(R6), F2
	FMULS F1, F2, F2
	FADDS F2, F16, F16
	SUBS $1, R8, R8
	BNE by1
store:
	FMOVS.P F16, 4(R0)
	ADD R10, R1
	SUBS $1, R2, R2
	BNE row
	RET

// func dotsF16NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)
TEXT ·dotsF16NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD n+8(FP), R2
	MOVD x+16(FP), R4
	MOVD cols+24(FP), R3
	MOVD w+32(FP), R1
	MOVD stride+40(FP), R10
row:
	MOVD R4, R6
	MOVD R1, R7
	MOVD R3, R8
	ZERO(V16)
	ZERO(V17)
	ZERO(V18)
	ZERO(V19)
	ZERO(V20)
	ZERO(V21)
	ZERO(V22)
	ZERO(V23)
	SUBS $32, R8, R8
	BLT by8
by32:
	VLD1.P 16(R7), [V1.B16]
	FCVTL(2, 1)
	FCVTL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(16, 16, 4)
	FADD4(17, 17, 5)
	VLD1.P 16(R7), [V1.B16]
	FCVTL(2, 1)
	FCVTL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(18, 18, 4)
	FADD4(19, 19, 5)
	VLD1.P 16(R7), [V1.B16]
	FCVTL(2, 1)
	FCVTL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(20, 20, 4)
	FADD4(21, 21, 5)
	VLD1.P 16(R7), [V1.B16]
	FCVTL(2, 1)
	FCVTL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(22, 22, 4)
	FADD4(23, 23, 5)
	SUBS $32, R8, R8
	BGE by32
by8:
	ADDS $24, R8, R8
	BLT lanes
more8:
	VLD1.P 16(R7), [V1.B16]
	FCVTL(2, 1)
	FCVTL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(16, 16, 4)
	FADD4(17, 17, 5)
	SUBS $8, R8, R8
	BGE more8
lanes:
	FADD4(16, 16, 18)
	FADD4(17, 17, 19)
	FADD4(20, 20, 22)
	FADD4(21, 21, 23)
	FADD4(16, 16, 20)
	FADD4(17, 17, 21)
	SUM(16)
	ADDS $8, R8, R8
	BEQ store
by1:
	MOVHU.P 2(R7), R9
	FMOVS R9, F1
	FCVTSH(1, 1)
	FMOVS.P 4(R6), F2
	FMULS F1, F2, F2
	FADDS F2, F16, F16
	SUBS $1, R8, R8
	BNE by1
store:
	FMOVS.P F16, 4(R0)
	ADD R10, R1
	SUBS $1, R2, R2
	BNE row
	RET

// func dotsBF16NEON(dst *float32, n int, x *float32, cols int, w unsafe.Pointer, stride int)
TEXT ·dotsBF16NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD n+8(FP), R2
	MOVD x+16(FP), R4
	MOVD cols+24(FP), R3
	MOVD w+32(FP), R1
	MOVD stride+40(FP), R10
row:
	MOVD R4, R6
	MOVD R1, R7
	MOVD R3, R8
	ZERO(V16)
	ZERO(V17)
	ZERO(V18)
	ZERO(V19)
	ZERO(V20)
	ZERO(V21)
	ZERO(V22)
	ZERO(V23)
	SUBS $32, R8, R8
	BLT by8
by32:
	VLD1.P 16(R7), [V1.B16]
	SHLL(2, 1)
	SHLL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(16, 16, 4)
	FADD4(17, 17, 5)
	VLD1.P 16(R7), [V1.B16]
	SHLL(2, 1)
	SHLL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(18, 18, 4)
	FADD4(19, 19, 5)
	VLD1.P 16(R7), [V1.B16]
	SHLL(2, 1)
	SHLL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(20, 20, 4)
	FADD4(21, 21, 5)
	VLD1.P 16(R7), [V1.B16]
	SHLL(2, 1)
	SHLL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(22, 22, 4)
	FADD4(23, 23, 5)
	SUBS $32, R8, R8
	BGE by32
by8:
	ADDS $24, R8, R8
	BLT lanes
more8:
	VLD1.P 16(R7), [V1.B16]
	SHLL(2, 1)
	SHLL2(3, 1)
	VLD1.P 32(R6), [V4.S4, V5.S4]
	FMUL4(4, 4, 2)
	FMUL4(5, 5, 3)
	FADD4(16, 16, 4)
	FADD4(17, 17, 5)
	SUBS $8, R8, R8
	BGE more8
lanes:
	FADD4(16, 16, 18)
	FADD4(17, 17, 19)
	FADD4(20, 20, 22)
	FADD4(21, 21, 23)
	FADD4(16, 16, 20)
	FADD4(17, 17, 21)
	SUM(16)
	ADDS $8, R8, R8
	BEQ store
by1:
	MOVHU.P 2(R7), R9
	LSL $16, R9, R9
	FMOVS R9, F1
	FMOVS.P 4(R6), F2
	FMULS F1, F2, F2
	FADDS F2, F16, F16
	SUBS $1, R8, R8
	BNE by1
store:
	FMOVS.P F16, 4(R0)
	ADD R10, R1
	SUBS $1, R2, R2
	BNE row
	RET

// func mixF16NEON(acc *float32, dim int, p *float32, n int, v *uint16, stride int)
// dim is a multiple of 8; stride counts bytes.
TEXT ·mixF16NEON(SB), NOSPLIT, $0-48
	MOVD acc+0(FP), R0
	MOVD dim+8(FP), R3
	MOVD p+16(FP), R4
	MOVD n+24(FP), R2
	MOVD v+32(FP), R1
	MOVD stride+40(FP), R10
	SUBS $32, R3, R3
	BLT by8
by32:
	MOVD R0, R5
	VLD1.P 64(R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1 (R5), [V20.S4, V21.S4, V22.S4, V23.S4]
	MOVD R4, R6
	MOVD R1, R7
	MOVD R2, R8
position32:
	FMOVS.P 4(R6), F0
	VDUP V0.S[0], V0.S4
	VLD1 (R7), [V1.B16, V2.B16, V3.B16, V4.B16]
	FCVTL(6, 1)
	FCVTL2(7, 1)
	FMUL4(6, 6, 0)
	FMUL4(7, 7, 0)
	FADD4(16, 16, 6)
	FADD4(17, 17, 7)
	FCVTL(6, 2)
	FCVTL2(7, 2)
	FMUL4(6, 6, 0)
	FMUL4(7, 7, 0)
	FADD4(18, 18, 6)
	FADD4(19, 19, 7)
	FCVTL(6, 3)
	FCVTL2(7, 3)
	FMUL4(6, 6, 0)
	FMUL4(7, 7, 0)
	FADD4(20, 20, 6)
	FADD4(21, 21, 7)
	FCVTL(6, 4)
	FCVTL2(7, 4)
	FMUL4(6, 6, 0)
	FMUL4(7, 7, 0)
	FADD4(22, 22, 6)
	FADD4(23, 23, 7)
	ADD R10, R7
	SUBS $1, R8, R8
	BNE position32
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	ADD $64, R1
	SUBS $32, R3, R3
	BGE by32
by8:
	ADDS $24, R3, R3
	BLT done
more8:
	VLD1 (R0), [V16.S4, V17.S4]
	MOVD R4, R6
	MOVD R1, R7
	MOVD R2, R8
position8:
	FMOVS.P 4(R6), F0
	VDUP V0.S[0], V0.S4
	VLD1 (R7), [V1.B16]
	FCVTL(6, 1)
	FCVTL2(7, 1)
	FMUL4(6, 6, 0)
	FMUL4(7, 7, 0)
	FADD4(16, 16, 6)
	FADD4(17, 17, 7)
	ADD R10, R7
	SUBS $1, R8, R8
	BNE position8
	VST1.P [V16.S4, V17.S4], 32(R0)
	ADD $16, R1
	SUBS $8, R3, R3
	BGE more8
done:
	RET

// func widenF16NEON(dst *float32, src *byte, n int)
// n is a nonzero multiple of 8.
TEXT ·widenF16NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
loop:
	VLD1.P 16(R1), [V0.B16]
	FCVTL(1, 0)
	FCVTL2(2, 0)
	VST1.P [V1.S4, V2.S4], 32(R0)
	SUBS $8, R2, R2
	BNE loop
	RET

// func widenBF16NEON(dst *float32, src *byte, n int)
// n is a nonzero multiple of 8.
TEXT ·widenBF16NEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
loop:
	VLD1.P 16(R1), [V0.B16]
	SHLL(1, 0)
	SHLL2(2, 0)
	VST1.P [V1.S4, V2.S4], 32(R0)
	SUBS $8, R2, R2
	BNE loop
	RET
