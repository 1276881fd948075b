#include "textflag.h"

// Products of inputs with K-quants for arm64: see kquants.go. An input block takes 320 bytes: 256
// integers, their sums and the scale. An unpacked block of weights takes 384: 256 integers, scales,
// minima, d and m.

#define SDOT(d, n, m) WORD $(0x4E809400 | (m)<<16 | (n)<<5 | (d))
// SCVTF1, FADD1, FSUB1 and FMUL1 are scalar. FSUB1 computes d = n − m.
#define SCVTF1(d, n) WORD $(0x5E21D800 | (n)<<5 | (d))
#define FADD1(d, n, m) WORD $(0x1E202800 | (m)<<16 | (n)<<5 | (d))
#define FSUB1(d, n, m) WORD $(0x1E203800 | (m)<<16 | (n)<<5 | (d))
#define FMUL1(d, n, m) WORD $(0x1E200800 | (m)<<16 | (n)<<5 | (d))
#define ADD4(d, n, m) WORD $(0x4EA08400 | (m)<<16 | (n)<<5 | (d))
// ADDV adds the four lanes of n.
#define ADDV(d, n) WORD $(0x4EB1B800 | (n)<<5 | (d))
// MLABY adds n times element i of m to d. All are 32-bit integers.
#define MLABY(d, n, m, i) WORD $(0x6F800000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
// SXTL and SXTL2 widen the lower and the upper four 16-bit integers of n.
#define SXTL(d, n) WORD $(0x0F10A400 | (n)<<5 | (d))
#define SXTL2(d, n) WORD $(0x4F10A400 | (n)<<5 | (d))
// SXTLB and SXTLB2 widen the lower and the upper eight bytes of n.
#define SXTLB(d, n) WORD $(0x0F08A400 | (n)<<5 | (d))
#define SXTLB2(d, n) WORD $(0x4F08A400 | (n)<<5 | (d))
// SMULL multiplies the lower four 16-bit integers. SMLAL and SMLAL2 multiply the lower and the
// upper four and add the products to d.
#define SMULL(d, n, m) WORD $(0x0E60C000 | (m)<<16 | (n)<<5 | (d))
#define SMLAL(d, n, m) WORD $(0x0E608000 | (m)<<16 | (n)<<5 | (d))
#define SMLAL2(d, n, m) WORD $(0x4E608000 | (m)<<16 | (n)<<5 | (d))
// FCVTL widens the lower four F16 numbers of n to F32.
#define FCVTL(d, n) WORD $(0x0E217800 | (n)<<5 | (d))
#define ZERO(v) VEOR v.B16, v.B16, v.B16

// ADDP4 and ADDP8 add neighbouring integers, of 32 and 16 bits: first those of n, then those of m.
#define ADDP4(d, n, m) WORD $(0x4EA0BC00 | (m)<<16 | (n)<<5 | (d))
#define ADDP8(d, n, m) WORD $(0x4E60BC00 | (m)<<16 | (n)<<5 | (d))
#define SCVTF4(d, n) WORD $(0x4E21D800 | (n)<<5 | (d))
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))

// DOTROWS multiplies one input by weights in their file format. V20 to V23 hold the scales and V10
// d and m. V24 and V25 sum the products of a block's parts and scales, V14 those of the minima.
#define DOTROWS(SIZE, SCALES, PARTS, LEAST) \
	MOVD dst+0(FP), R0; \
	MOVD w+8(FP), R1; \
	MOVD rows+16(FP), R2; \
	MOVD blocks+24(FP), R3; \
	MOVD x+32(FP), R4; \
row: \
	MOVD R4, R6; \
	MOVD R3, R8; \
	ZERO(V29); \
block: \
	PRFM 4096(R1), PLDL1KEEP; \
	PRFM 4160(R1), PLDL1KEEP; \
	PRFM 4224(R1), PLDL1KEEP; \
	SCALES; \
	ZERO(V24); \
	ZERO(V25); \
	PARTS; \
	VLD1.P 32(R6), [V12.B16, V13.B16]; \
	LEAST; \
	FMOVS (R6), F11; \
	VDUP V11.S[0], V11.S4; \
	ADD4(24, 24, 25); \
	ADDP4(24, 24, 14); \
	ADDP4(24, 24, 24); \
	FMUL4(11, 11, 10); \
	SCVTF4(24, 24); \
	FMUL4(24, 24, 11); \
	VDUP V24.S[1], V25.S4; \
	FSUB1(24, 24, 25); \
	FADD1(29, 29, 24); \
	ADD $32, R6; \
	ADD $SIZE, R1; \
	SUBS $1, R8, R8; \
	BNE block; \
	FMOVS.P F29, 4(R0); \
	SUBS $1, R2, R2; \
	BNE row; \
	RET

// SIXBITS unpacks the eight 6-bit scales and minima of the block at R1: see ScalesMinima in package
// quant. The twelve bytes are four with scales, four with minima and four with the low bits of the
// upper four scales and minima. The high bits of those are in the top two bits of the first eight
// bytes. SIXBITS leaves the scales in V5, the minima in V15, and d and m in V10. V28 holds 63 in
// each byte.
#define SIXBITS \
	FMOVQ 4(R1), F0; \
	VDUP V0.S[2], V3.S4; \
	VUSHR $4, V3.B16, V4.B16; \
	VZIP1 V4.S4, V3.S4, V3.S4; \
	VUSHR $6, V0.B16, V2.B16; \
	VSLI $4, V2.B16, V3.B16; \
	VAND V28.B16, V0.B16, V1.B16; \
	VZIP1 V3.S4, V1.S4, V1.S4; \
	VUXTL V1.B8, V5.H8; \
	VUXTL2 V1.B16, V15.H8; \
	FMOVS (R1), F10; \
	FCVTL(10, 10)

// SCALES stores the scales to the block at R0, once for the even and once for the odd groups of
// sixteen. Then it stores each minimum twice, and d and m.
#define SCALES \
	SIXBITS; \
	VZIP1 V15.H8, V15.H8, V2.H8; \
	VZIP2 V15.H8, V15.H8, V3.H8; \
	FSTPQ (F5, F5), 256(R0); \
	FSTPQ (F2, F3), 288(R0); \
	FMOVD F10, 320(R0)

// READ4 reads parts p and p+1 of Q4_K to V0 to V3. V30 is the nibble mask.
#define READ4(p) \
	FLDPQ (16+16*p)(R1), (F0, F1); \
	VUSHR $4, V0.B16, V2.B16; \
	VUSHR $4, V1.B16, V3.B16; \
	VAND V30.B16, V0.B16, V0.B16; \
	VAND V30.B16, V1.B16, V1.B16

// READ5 reads parts p and p+1 of Q5_K to V0 to V3. V16 and V17 hold the fifth bits.
#define READ5(p) \
	FLDPQ (48+16*p)(R1), (F0, F1); \
	VUSHR $4, V0.B16, V2.B16; \
	VUSHR $4, V1.B16, V3.B16; \
	HIGH(1, V0, V1); \
	HIGH(1, V2, V3)

// READ6 reads the four parts of one half of a Q6_K block to V0 to V7.
#define READ6(half) \
	FLDPQ (64*half)(R1), (F0, F1); \
	FLDPQ (64*half+32)(R1), (F2, F3); \
	FLDPQ (128+32*half)(R1), (F16, F17); \
	VUSHR $4, V0.B16, V4.B16; \
	VUSHR $4, V1.B16, V5.B16; \
	VUSHR $4, V2.B16, V6.B16; \
	VUSHR $4, V3.B16, V7.B16; \
	HIGH(2, V0, V1); \
	HIGH(2, V2, V3); \
	HIGH(2, V4, V5); \
	HIGH(2, V6, V7)

// func unpackQ4K(dst *kBlock, src *byte, n int)
TEXT ·unpackQ4K(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	VMOVI $63, V28.B16
	VMOVI $15, V30.B16
block:
	SCALES
#define PAIR(p) \
	READ4(p); \
	FSTPQ (F0, F1), (32*p)(R0); \
	FSTPQ (F2, F3), (32*p+32)(R0)
	PAIR(0)
	PAIR(2)
	PAIR(4)
	PAIR(6)
	ADD $144, R1
	ADD $384, R0
	SUBS $1, R2, R2
	BNE block
	RET

// HIGH masks the integers of V16 and V17 with V31 and inserts the result above the low four bits of
// v and w. Then it shifts V16 and V17 right by s bits, to the bits for the next call.
#define HIGH(s, v, w) \
	VAND V31.B16, V16.B16, V18.B16; \
	VAND V31.B16, V17.B16, V19.B16; \
	VUSHR $s, V16.B16, V16.B16; \
	VUSHR $s, V17.B16, V17.B16; \
	VSLI $4, V18.B16, v.B16; \
	VSLI $4, V19.B16, w.B16

// func unpackQ5K(dst *kBlock, src *byte, n int)
TEXT ·unpackQ5K(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	VMOVI $63, V28.B16
	VMOVI $1, V31.B16
block:
	SCALES
	FLDPQ 16(R1), (F16, F17)
#define FIVE(p) \
	READ5(p); \
	FSTPQ (F0, F1), (32*p)(R0); \
	FSTPQ (F2, F3), (32*p+32)(R0)
	FIVE(0)
	FIVE(2)
	FIVE(4)
	FIVE(6)
	ADD $176, R1
	ADD $384, R0
	SUBS $1, R2, R2
	BNE block
	RET

// func unpackQ6K(dst *kBlock, src *byte, n int)
TEXT ·unpackQ6K(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD n+16(FP), R2
	VMOVI $3, V31.B16
	FMOVS $32.0, F30
block:
	FMOVQ 192(R1), F0
	VUZP1 V0.B16, V0.B16, V1.B16
	VUZP2 V0.B16, V0.B16, V2.B16
	SXTLB(3, 0)
	SXTLB2(4, 0)
	SXTLB(1, 1)
	SXTLB(2, 2)
	MOVHU 208(R1), R3
	FMOVS R3, F5
	FCVTL(5, 5)
	FMULS F30, F5, F6
	FSTPQ (F1, F2), 256(R0)
	FSTPQ (F3, F4), 288(R0)
	FSTPS (F5, F6), 320(R0)
#define SIX(half) \
	READ6(half); \
	FSTPQ (F0, F1), (128*half)(R0); \
	FSTPQ (F2, F3), (128*half+32)(R0); \
	FSTPQ (F4, F5), (128*half+64)(R0); \
	FSTPQ (F6, F7), (128*half+96)(R0)
	SIX(0)
	SIX(1)
	ADD $210, R1
	ADD $384, R0
	SUBS $1, R2, R2
	BNE block
	RET

// WEIGHTS reads everything but the integers of the block at R1: the scales of the even groups of
// sixteen to V6 and V7, those of the odd ones to V8 and V9, the minima to V12 and V13, and d and m
// to F10 and F11.
#define WEIGHTS \
	ADD $256, R1, R9; \
	VLD1.P 32(R9), [V2.B16, V3.B16]; \
	VLD1.P 32(R9), [V12.B16, V13.B16]; \
	SXTL(6, 2); \
	SXTL2(7, 2); \
	SXTL(8, 3); \
	SXTL2(9, 3); \
	FMOVS (R9), F10; \
	FMOVS 4(R9), F11

// DOT multiplies the weights in V0 and V1 by the 32 integers at p, the sums by element i of the
// scales even and odd, and adds the products to vectors sum and sum+1. p advances to the next 32
// integers.
#define DOT(p, sum, even, odd, i) \
	VLD1.P 32(p), [V2.B16, V3.B16]; \
	ZERO(V4); \
	ZERO(V5); \
	SDOT(4, 0, 2); \
	SDOT(5, 1, 3); \
	MLABY(sum, 4, even, i); \
	MLABY(sum+1, 5, odd, i)

// FINISH adds up the lanes of sum and sum+1 and the products of the minima. It scales both as
// floats and adds their difference to the float acc. p points to the input's sums and advances to
// its next block.
#define FINISH(p, sum, acc) \
	VLD1.P 32(p), [V2.B16, V3.B16]; \
	FMOVS (p), F4; \
	ADD $32, p; \
	SMULL(14, 2, 12); \
	SMLAL2(14, 2, 12); \
	SMLAL(14, 3, 13); \
	SMLAL2(14, 3, 13); \
	ADD4(sum, sum, sum+1); \
	ADDV(14, 14); \
	ADDV(sum, sum); \
	FMULS F10, F4, F5; \
	FMULS F11, F4, F4; \
	SCVTF1(14, 14); \
	SCVTF1(sum, sum); \
	FMUL1(14, 14, 4); \
	FMUL1(sum, sum, 5); \
	FSUB1(sum, sum, 14); \
	FADD1(acc, acc, sum)

// func mulKx1NEON(dst *float32, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulKx1NEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD w+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD blocks+24(FP), R3
	MOVD x+32(FP), R4
row:
	MOVD R4, R6
	MOVD R3, R8
	ZERO(V16)
block:
	WEIGHTS
	ZERO(V24)
	ZERO(V25)
#define PART1(even, odd, i) \
	VLD1.P 32(R1), [V0.B16, V1.B16]; \
	DOT(R6, 24, even, odd, i)
	PART1(6, 8, 0)
	PART1(6, 8, 1)
	PART1(6, 8, 2)
	PART1(6, 8, 3)
	PART1(7, 9, 0)
	PART1(7, 9, 1)
	PART1(7, 9, 2)
	PART1(7, 9, 3)
	ADD $128, R1
	FINISH(R6, 24, 16)
	SUBS $1, R8, R8
	BNE block
	FMOVS.P F16, 4(R0)
	SUBS $1, R2, R2
	BNE row
	RET

// func mulKx4NEON(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulKx4NEON(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD stride+8(FP), R10
	LSL $2, R10, R10
	MOVD w+16(FP), R1
	MOVD rows+24(FP), R2
	MOVD blocks+32(FP), R3
	MOVD x+40(FP), R4
	MOVD $320, R11
	MUL R3, R11, R11 // bytes of one input
row:
	MOVD R4, R6
	ADD R11, R6, R13
	ADD R11, R13, R14
	ADD R11, R14, R15
	MOVD R3, R8
	ZERO(V16)
	ZERO(V17)
	ZERO(V18)
	ZERO(V19)
block:
	WEIGHTS
	ZERO(V24)
	ZERO(V25)
	ZERO(V26)
	ZERO(V27)
	ZERO(V28)
	ZERO(V29)
	ZERO(V30)
	ZERO(V31)
#define PART4(even, odd, i) \
	VLD1.P 32(R1), [V0.B16, V1.B16]; \
	DOT(R6, 24, even, odd, i); \
	DOT(R13, 26, even, odd, i); \
	DOT(R14, 28, even, odd, i); \
	DOT(R15, 30, even, odd, i)
	PART4(6, 8, 0)
	PART4(6, 8, 1)
	PART4(6, 8, 2)
	PART4(6, 8, 3)
	PART4(7, 9, 0)
	PART4(7, 9, 1)
	PART4(7, 9, 2)
	PART4(7, 9, 3)
	ADD $128, R1
	FINISH(R6, 24, 16)
	FINISH(R13, 26, 17)
	FINISH(R14, 28, 18)
	FINISH(R15, 30, 19)
	SUBS $1, R8, R8
	BNE block
	MOVD R0, R9
	FMOVS F16, (R9)
	ADD R10, R9
	FMOVS F17, (R9)
	ADD R10, R9
	FMOVS F18, (R9)
	ADD R10, R9
	FMOVS F19, (R9)
	ADD $4, R0
	SUBS $1, R2, R2
	BNE row
	RET

// Products of one input with weights in their file format: see DOTROWS.

// TABLE does what SIXBITS does, and widens the scales to 32 bits in V20 and V21.
#define TABLE \
	SIXBITS; \
	VUXTL V5.H4, V20.S4; \
	VUXTL2 V5.H8, V21.S4

// LEAST8 multiplies eight minima by the input's sums of 32 integers each.
#define LEAST8 \
	ADDP8(12, 12, 13); \
	SMULL(14, 12, 15); \
	SMLAL2(14, 12, 15)

// ONE multiplies a part, in vectors a and b, by the input, and adds the products times element i of
// the scales to sum.
#define ONE(a, b, scales, i, sum) \
	VLD1.P 32(R6), [V12.B16, V13.B16]; \
	ZERO(V26); \
	SDOT(26, a, 12); \
	SDOT(26, b, 13); \
	MLABY(sum, 26, scales, i)

#define TWOQ4K(p, scales, i) \
	READ4(p); \
	ONE(0, 1, scales, i, 24); \
	ONE(2, 3, scales, i+1, 25)

#define PARTSQ4K \
	TWOQ4K(0, 20, 0); \
	TWOQ4K(2, 20, 2); \
	TWOQ4K(4, 21, 0); \
	TWOQ4K(6, 21, 2)

// func dotQ4KNEON(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ4KNEON(SB), NOSPLIT, $0-40
	VMOVI $15, V30.B16
	VMOVI $63, V28.B16
	DOTROWS(144, TABLE, PARTSQ4K, LEAST8)

#define TWOQ5K(p, scales, i) \
	READ5(p); \
	ONE(0, 1, scales, i, 24); \
	ONE(2, 3, scales, i+1, 25)

#define PARTSQ5K \
	FLDPQ 16(R1), (F16, F17); \
	TWOQ5K(0, 20, 0); \
	TWOQ5K(2, 20, 2); \
	TWOQ5K(4, 21, 0); \
	TWOQ5K(6, 21, 2)

// func dotQ5KNEON(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ5KNEON(SB), NOSPLIT, $0-40
	VMOVI $1, V31.B16
	VMOVI $63, V28.B16
	DOTROWS(176, TABLE, PARTSQ5K, LEAST8)

// BYTES reads the sixteen 8-bit scales of a Q6_K block, split into those of even and odd groups of
// sixteen. The scales are the minima too, with m = 32·d.
#define BYTES \
	FMOVQ 192(R1), F15; \
	VUZP1 V15.B16, V15.B16, V0.B16; \
	VUZP2 V15.B16, V15.B16, V1.B16; \
	SXTLB(0, 0); \
	SXTLB(1, 1); \
	SXTL(20, 0); \
	SXTL2(21, 0); \
	SXTL(22, 1); \
	SXTL2(23, 1); \
	MOVHU 208(R1), R9; \
	FMOVS R9, F10; \
	FCVTL(10, 10); \
	VZIP1 V10.S4, V10.S4, V10.S4; \
	FMUL4(10, 10, 28)

#define LEAST16 \
	SXTLB(0, 15); \
	SXTLB2(1, 15); \
	SMULL(14, 12, 0); \
	SMLAL2(14, 12, 0); \
	SMLAL(14, 13, 1); \
	SMLAL2(14, 13, 1)

// EACH does what ONE does for a part whose two vectors have different scales.
#define EACH(a, b, even, odd, i) \
	VLD1.P 32(R6), [V12.B16, V13.B16]; \
	ZERO(V26); \
	ZERO(V27); \
	SDOT(26, a, 12); \
	SDOT(27, b, 13); \
	MLABY(24, 26, even, i); \
	MLABY(25, 27, odd, i)

#define HALFQ6K(half, even, odd) \
	READ6(half); \
	EACH(0, 1, even, odd, 0); \
	EACH(2, 3, even, odd, 1); \
	EACH(4, 5, even, odd, 2); \
	EACH(6, 7, even, odd, 3)

#define PARTSQ6K \
	HALFQ6K(0, 20, 22); \
	HALFQ6K(1, 21, 23)

// func dotQ6KNEON(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ6KNEON(SB), NOSPLIT, $0-40
	VMOVI $3, V31.B16
	MOVD $0x420000003f800000, R9 // 1 and 32
	FMOVD R9, F28
	DOTROWS(210, BYTES, PARTSQ6K, LEAST16)
