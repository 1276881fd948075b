#include "textflag.h"

// Attention kernels: see attention.go for what they compute. Strides are in bytes. See
// kernels_arm64.s for the encodings.

#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FCVTL(d, n) WORD $(0x0E217800 | (n)<<5 | (d))
#define FCVTL2(d, n) WORD $(0x4E217800 | (n)<<5 | (d))
// FCVTN and FCVTN2 convert four F32 numbers to F16, to the lower and the upper half of d.
#define FCVTN(d, n) WORD $(0x0E216800 | (n)<<5 | (d))
#define FCVTN2(d, n) WORD $(0x4E216800 | (n)<<5 | (d))

#define SCATTER4(v) \
	VST1.P v.S[0], (R6)(R8); \
	VST1.P v.S[1], (R6)(R8); \
	VST1.P v.S[2], (R6)(R8); \
	VST1.P v.S[3], (R6)(R8)

// func turnNEON(dst *float32, k *uint16, stride, dim int)
// dim is a multiple of 8.
TEXT ·turnNEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD k+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD $16, R4
	MOVD $64, R8
key:
	MOVD R1, R5
	MOVD R0, R6
	MOVD dim+24(FP), R7
elements:
	VLD1.P 16(R5), [V0.B16]
	FCVTL(1, 0)
	FCVTL2(2, 0)
	SCATTER4(V1)
	SCATTER4(V2)
	SUBS $8, R7, R7
	BNE elements
	ADD R2, R1
	ADD $4, R0
	SUBS $1, R4, R4
	BNE key
	RET

// SXTL8 and SXTL8U widen the lower and the upper eight int8 to int16, SXTL4 and SXTL4U four int16 to int32, and SCVTF4
// converts four int32.
#define SXTL8(d, n) WORD $(0x0F08A400 | (n)<<5 | (d))
#define SXTL8U(d, n) WORD $(0x4F08A400 | (n)<<5 | (d))
#define SXTL4(d, n) WORD $(0x0F10A400 | (n)<<5 | (d))
#define SXTL4U(d, n) WORD $(0x4F10A400 | (n)<<5 | (d))
#define SCVTF4(d, n) WORD $(0x4E21D800 | (n)<<5 | (d))

// WIDEN80 converts the sixteen int8 in n to numbers in V2 to V5, times the scale in V7. It uses V6.
#define WIDEN80(n) \
	SXTL8(6, n); \
	SXTL4(2, 6); \
	SXTL4U(3, 6); \
	SXTL8U(6, n); \
	SXTL4(4, 6); \
	SXTL4U(5, 6); \
	SCVTF4(2, 2); \
	SCVTF4(3, 3); \
	SCVTF4(4, 4); \
	SCVTF4(5, 5); \
	FMUL4(2, 2, 7); \
	FMUL4(3, 3, 7); \
	FMUL4(4, 4, 7); \
	FMUL4(5, 5, 7)

// SCALE80 reads the scale of a block at p.
#define SCALE80(p) \
	VLD1R (p), [V7.H8]; \
	FCVTL(7, 7)

// func turnQ80NEON(dst *float32, k *uint16, stride, dim int)
// dim is a multiple of 32.
TEXT ·turnQ80NEON(SB), NOSPLIT, $0-32
	MOVD dst+0(FP), R0
	MOVD k+8(FP), R1
	MOVD stride+16(FP), R2
	MOVD $16, R4
	MOVD $64, R8
key:
	MOVD R1, R5
	MOVD R0, R6
	MOVD dim+24(FP), R7
block:
	SCALE80(R5)
	ADD $2, R5
	VLD1.P 32(R5), [V0.B16, V1.B16]
	WIDEN80(0)
	SCATTER4(V2)
	SCATTER4(V3)
	SCATTER4(V4)
	SCATTER4(V5)
	WIDEN80(1)
	SCATTER4(V2)
	SCATTER4(V3)
	SCATTER4(V4)
	SCATTER4(V5)
	SUBS $32, R7, R7
	BNE block
	ADD R2, R1
	ADD $4, R0
	SUBS $1, R4, R4
	BNE key
	RET

// MIX80 adds the products of V2 to V5 and the weight in V8 to the sums a to a+3.
#define MIX80(a) \
	FMUL4(2, 2, 8); \
	FMUL4(3, 3, 8); \
	FMUL4(4, 4, 8); \
	FMUL4(5, 5, 8); \
	FADD4(a, a, 2); \
	FADD4(a+1, a+1, 3); \
	FADD4(a+2, a+2, 4); \
	FADD4(a+3, a+3, 5)

// func mixQ80NEON(acc *float32, dim int, p *float32, n int, v *uint16, stride int)
// dim is a multiple of 32; stride counts bytes.
TEXT ·mixQ80NEON(SB), NOSPLIT, $0-48
	MOVD acc+0(FP), R0
	MOVD dim+8(FP), R3
	MOVD v+32(FP), R1
	MOVD stride+40(FP), R10
block:
	MOVD R0, R5
	VLD1.P 64(R5), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1 (R5), [V20.S4, V21.S4, V22.S4, V23.S4]
	MOVD p+16(FP), R6
	MOVD R1, R7
	MOVD n+24(FP), R8
position:
	FMOVS.P 4(R6), F8
	VDUP V8.S[0], V8.S4
	SCALE80(R7)
	ADD $2, R7, R9
	VLD1 (R9), [V0.B16, V1.B16]
	WIDEN80(0)
	MIX80(16)
	WIDEN80(1)
	MIX80(20)
	ADD R10, R7
	SUBS $1, R8, R8
	BNE position
	VST1.P [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	ADD $34, R1
	SUBS $32, R3, R3
	BNE block
	RET

// func fetchRows(p *uint16, stride, n int)
// It prefetches sixteen rows. n and stride are in bytes.
TEXT ·fetchRows(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD $16, R4
row:
	MOVD R0, R2
	MOVD n+16(FP), R3
line:
	PRFM (R2), PLDL1KEEP
	ADD $64, R2
	SUBS $64, R3, R3
	BGT line
	ADD R1, R0
	SUBS $1, R4, R4
	BNE row
	RET

#define QUERY(p, a) \
	FMOVS.P 4(p), F4; \
	VDUP V4.S[0], V4.S4; \
	FMUL4(5, 0, 4); \
	FMUL4(6, 1, 4); \
	FMUL4(7, 2, 4); \
	FMUL4(8, 3, 4); \
	FADD4(a, a, 5); \
	FADD4(a+1, a+1, 6); \
	FADD4(a+2, a+2, 7); \
	FADD4(a+3, a+3, 8)

#define CLEAR4(a, b, c, d) \
	VEOR a.B16, a.B16, a.B16; \
	VEOR b.B16, b.B16, b.B16; \
	VEOR c.B16, c.B16, c.B16; \
	VEOR d.B16, d.B16, d.B16

// func scores4NEON(dst *float32, stride int, turned, q *float32, dim int)
TEXT ·scores4NEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD turned+16(FP), R2
	MOVD q+24(FP), R3
	MOVD dim+32(FP), R7
	LSL $2, R7, R8
	ADD R8, R3, R4
	ADD R8, R4, R5
	ADD R8, R5, R6
	CLEAR4(V16, V17, V18, V19)
	CLEAR4(V20, V21, V22, V23)
	CLEAR4(V24, V25, V26, V27)
	CLEAR4(V28, V29, V30, V31)
element:
	VLD1.P 64(R2), [V0.S4, V1.S4, V2.S4, V3.S4]
	QUERY(R3, 16)
	QUERY(R4, 20)
	QUERY(R5, 24)
	QUERY(R6, 28)
	SUBS $1, R7, R7
	BNE element
	VST1 [V16.S4, V17.S4, V18.S4, V19.S4], (R0)
	ADD R1, R0
	VST1 [V20.S4, V21.S4, V22.S4, V23.S4], (R0)
	ADD R1, R0
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R0)
	ADD R1, R0
	VST1 [V28.S4, V29.S4, V30.S4, V31.S4], (R0)
	RET

// func narrowNEON(dst *uint16, src *float32, n int)
// n is a nonzero multiple of 8.
TEXT ·narrowNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
loop:
	VLD1.P 32(R1), [V0.S4, V1.S4]
	FCVTN(2, 0)
	FCVTN2(2, 1)
	VST1.P [V2.B16], 16(R0)
	SUBS $8, R2, R2
	BNE loop
	RET
