#include "textflag.h"

// Products of inputs with packed weights (pack.go). A vector holds four elements of each of four
// rows. SDOT by element multiplies them by the same four elements of an input. For one input, the
// kernels read a group once and keep the sums of sixteen rows. For four inputs they read it four
// times, four rows at a time: each time the integers start 16 bytes later and the scales 8. See
// kernels_arm64.s for the encodings.

// SDOTE multiplies n by word i (four bytes) of m.
#define SDOTE(d, n, m, i) WORD $(0x4F80E000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
#define SCVTF4(d, n) WORD $(0x4E21D800 | (n)<<5 | (d))
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FCVTL(d, n) WORD $(0x0E217800 | (n)<<5 | (d))
#define FCVTL2(d, n) WORD $(0x4E217800 | (n)<<5 | (d))

// SMMLA multiplies the two rows of eight bytes in n by the two in m and adds the two by two sums to
// d.
#define SMMLA(d, n, m) WORD $(0x4E80A400 | (m)<<16 | (n)<<5 | (d))

// START loads the arguments: R0 is the destination, R10 its stride in bytes, R1 the group, R2 the
// number of groups left, R3 the number of blocks and R4 the inputs. R11 is the size of one input in
// bytes.
#define START \
	MOVD dst+0(FP), R0; \
	MOVD stride+8(FP), R10; \
	LSL $2, R10, R10; \
	MOVD w+16(FP), R1; \
	MOVD groups+24(FP), R2; \
	MOVD blocks+32(FP), R3; \
	MOVD x+40(FP), R4; \
	MOVD $48, R11; \
	MUL R3, R11, R11

// WEIGHTSQ80 and WEIGHTSQ40 read the integers of a block to V0 to V7 and its scales to V8.
#define SCALES \
	FMOVD (R6), F8; \
	FCVTL(8, 8)

#define WEIGHTSQ80 \
	SCALES; \
	FMOVQ (R7), F0; \
	FMOVQ 64(R7), F1; \
	FMOVQ 128(R7), F2; \
	FMOVQ 192(R7), F3; \
	FMOVQ 256(R7), F4; \
	FMOVQ 320(R7), F5; \
	FMOVQ 384(R7), F6; \
	FMOVQ 448(R7), F7

#define WEIGHTSQ40 \
	SCALES; \
	NIBBLES

#define NIBBLES \
	FMOVQ (R7), F0; \
	FMOVQ 64(R7), F1; \
	FMOVQ 128(R7), F2; \
	FMOVQ 192(R7), F3; \
	VUSHR $4, V0.B16, V4.B16; \
	VUSHR $4, V1.B16, V5.B16; \
	VUSHR $4, V2.B16, V6.B16; \
	VUSHR $4, V3.B16, V7.B16; \
	VAND V30.B16, V0.B16, V0.B16; \
	VAND V30.B16, V1.B16, V1.B16; \
	VAND V30.B16, V2.B16, V2.B16; \
	VAND V30.B16, V3.B16, V3.B16

#define DOTS(acc) \
	SDOTE(acc, 0, 16, 0); \
	SDOTE(acc, 1, 16, 1); \
	SDOTE(acc, 2, 16, 2); \
	SDOTE(acc, 3, 16, 3); \
	SDOTE(acc, 4, 17, 0); \
	SDOTE(acc, 5, 17, 1); \
	SDOTE(acc, 6, 17, 2); \
	SDOTE(acc, 7, 17, 3)

// INPUTQ80 and INPUTQ40 multiply the block by the input at p, add the scaled sums to acc and
// advance p. Q40 stores its integers with an offset of 8, so its sums start from a value that
// cancels the offset.
#define INPUTQ80(p, acc) \
	VEOR V19.B16, V19.B16, V19.B16; \
	INPUT(p, acc)

#define INPUTQ40(p, acc) \
	FMOVS 36(p), F19; \
	VDUP V19.S[0], V19.S4; \
	INPUT(p, acc)

#define INPUT(p, acc) \
	FMOVS 32(p), F18; \
	VDUP V18.S[0], V18.S4; \
	VLD1 (p), [V16.B16, V17.B16]; \
	ADD $48, p; \
	DOTS(19); \
	FMUL4(18, 8, 18); \
	SCVTF4(19, 19); \
	FMUL4(19, 19, 18); \
	FADD4(acc, acc, 19)

// LINE prefetches a cache line a few kilobytes after p.
#define LINE(n, p) PRFM (4096+64*n)(p), PLDL1KEEP

#define LINES4(p) \
	LINE(0, p); \
	LINE(1, p); \
	LINE(2, p); \
	LINE(3, p)

#define LINES8(p) \
	LINES4(p); \
	LINE(4, p); \
	LINE(5, p); \
	LINE(6, p); \
	LINE(7, p)

// TILE multiplies by four inputs. AHEAD prefetches later integers during the pass over the first
// four rows.
#define TILE(BYTES, AHEAD, WEIGHTS, INPUTS) \
	TILEOF(32, BYTES, AHEAD, WEIGHTS, INPUTS)

#define TILEMINIMA(BYTES, WEIGHTS, INPUTS) \
	TILEOF(64, BYTES, LINES4(R7), WEIGHTS, INPUTS)

// TILEOF is for blocks of BYTES, which begin with SCALES bytes of scales.
#define TILEOF(SCALES, BYTES, AHEAD, WEIGHTS, INPUTS) \
	START; \
	VMOVI $15, V30.B16; \
group: \
	MOVD $0, R9; \
rows: \
	ADD R9<<3, R1, R6; \
	ADD $SCALES, R1, R7; \
	ADD R9<<4, R7, R7; \
	MOVD R3, R8; \
	MOVD R4, R13; \
	ADD R11, R13, R14; \
	ADD R11, R14, R15; \
	ADD R11, R15, R16; \
	VEOR V20.B16, V20.B16, V20.B16; \
	VEOR V21.B16, V21.B16, V21.B16; \
	VEOR V22.B16, V22.B16, V22.B16; \
	VEOR V23.B16, V23.B16, V23.B16; \
block: \
	CBNZ R9, near; \
	AHEAD; \
near: \
	WEIGHTS; \
	INPUTS; \
	ADD $BYTES, R6; \
	ADD $BYTES, R7; \
	SUBS $1, R8, R8; \
	BNE block; \
	MOVD R0, R17; \
	STORE4; \
	ADD $16, R0; \
	ADD $1, R9; \
	CMP $4, R9; \
	BNE rows; \
	SUB $(48+SCALES), R7, R1; \
	SUBS $1, R2, R2; \
	BNE group; \
	RET

#define STORE4 \
	FMOVQ F20, (R17); \
	ADD R10, R17; \
	FMOVQ F21, (R17); \
	ADD R10, R17; \
	FMOVQ F22, (R17); \
	ADD R10, R17; \
	FMOVQ F23, (R17)

#define INPUTS4(INPUT) \
	INPUT(R13, 20); \
	INPUT(R14, 21); \
	INPUT(R15, 22); \
	INPUT(R16, 23)

// ONE multiplies by one input. BLOCK leaves a block's sums of sixteen rows in V20 to V23 and
// advances R7 over the integers. It prefetches relative to R6, which points to the block.
#define ONE(BYTES, BLOCK) \
	ONEOF(32, BYTES, BLOCK, FCVTL, FCVTL2, NOMINIMA)

#define ONEMINIMA(BYTES, BLOCK) \
	ONEOF(64, BYTES, BLOCK, FCVTL, FCVTL2, MINIMA1)

#define NOMINIMA

// ONEOF is ONE with WIDEN and WIDEN2 to read scales. MINIMA adds the minima.
#define ONEOF(SCALES, BYTES, BLOCK, WIDEN, WIDEN2, MINIMA) \
	START; \
	VMOVI $15, V30.B16; \
group: \
	MOVD R1, R6; \
	ADD $SCALES, R1, R7; \
	MOVD R3, R8; \
	MOVD R4, R13; \
	VEOR V24.B16, V24.B16, V24.B16; \
	VEOR V25.B16, V25.B16, V25.B16; \
	VEOR V26.B16, V26.B16, V26.B16; \
	VEOR V27.B16, V27.B16, V27.B16; \
block: \
	VLD1 (R13), [V16.B16, V17.B16]; \
	BLOCK; \
	FMOVS 32(R13), F18; \
	VDUP V18.S[0], V18.S4; \
	VLD1 (R6), [V0.B16, V1.B16]; \
	WIDEN(2, 0); \
	WIDEN2(3, 0); \
	WIDEN(4, 1); \
	WIDEN2(5, 1); \
	SCALEROWS(20, 2, 24); \
	SCALEROWS(21, 3, 25); \
	SCALEROWS(22, 4, 26); \
	SCALEROWS(23, 5, 27); \
	MINIMA; \
	ADD $BYTES, R6; \
	ADD $SCALES, R7; \
	ADD $48, R13; \
	SUBS $1, R8, R8; \
	BNE block; \
	VST1.P [V24.S4, V25.S4, V26.S4, V27.S4], 64(R0); \
	MOVD R6, R1; \
	SUBS $1, R2, R2; \
	BNE group; \
	RET

#define SCALEROWS(sum, scales, acc) \
	FMUL4(scales, 18, scales); \
	SCVTF4(sum, sum); \
	FMUL4(sum, sum, scales); \
	FADD4(acc, acc, sum)

// LEAST adds the products of minima and the input's sum in V18 to acc.
#define LEAST(minima, acc) \
	FMUL4(minima, minima, 18); \
	FADD4(acc, acc, minima)

// MINIMA1 adds the minima of the block at R6.
#define MINIMA1 \
	FMOVS 44(R13), F18; \
	VDUP V18.S[0], V18.S4; \
	ADD $32, R6, R15; \
	VLD1 (R15), [V0.B16, V1.B16]; \
	FCVTL(2, 0); \
	FCVTL2(3, 0); \
	FCVTL(4, 1); \
	FCVTL2(5, 1); \
	LEAST(2, 24); \
	LEAST(3, 25); \
	LEAST(4, 26); \
	LEAST(5, 27)

// LEAST4 adds the products of minima in V9 and the sum of the input before p to acc. MINIMA4 does so for four inputs.
#define LEAST4(p, acc) \
	FMOVS -4(p), F18; \
	VDUP V18.S[0], V18.S4; \
	FMUL4(18, 9, 18); \
	FADD4(acc, acc, 18)

#define MINIMA4 \
	INPUTS4(INPUTQ80); \
	FMOVD 32(R6), F9; \
	FCVTL(9, 9); \
	LEAST4(R13, 20); \
	LEAST4(R14, 21); \
	LEAST4(R15, 22); \
	LEAST4(R16, 23)

// WORD80 and WORD40 multiply four bytes of each of sixteen rows by element i of the input. m is the
// vector with that half of the input.
#define WORD80(m, i) \
	VLD1.P 64(R7), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	SDOTE(20, 0, m, i); \
	SDOTE(21, 1, m, i); \
	SDOTE(22, 2, m, i); \
	SDOTE(23, 3, m, i)

#define WORD40(i) \
	NIBBLES40; \
	DOTS40(i)

#define NIBBLES40 \
	VLD1.P 64(R7), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	VUSHR $4, V0.B16, V4.B16; \
	VUSHR $4, V1.B16, V5.B16; \
	VUSHR $4, V2.B16, V6.B16; \
	VUSHR $4, V3.B16, V7.B16; \
	VAND V30.B16, V0.B16, V0.B16; \
	VAND V30.B16, V1.B16, V1.B16; \
	VAND V30.B16, V2.B16, V2.B16; \
	VAND V30.B16, V3.B16, V3.B16

#define DOTS40(i) \
	SDOTE(20, 0, 16, i); \
	SDOTE(21, 1, 16, i); \
	SDOTE(22, 2, 16, i); \
	SDOTE(23, 3, 16, i); \
	SDOTE(20, 4, 17, i); \
	SDOTE(21, 5, 17, i); \
	SDOTE(22, 6, 17, i); \
	SDOTE(23, 7, 17, i)

#define BLOCKQ80 \
	LINES8(R6); \
	LINE(8, R6); \
	VEOR V20.B16, V20.B16, V20.B16; \
	VEOR V21.B16, V21.B16, V21.B16; \
	VEOR V22.B16, V22.B16, V22.B16; \
	VEOR V23.B16, V23.B16, V23.B16; \
	WORD80(16, 0); \
	WORD80(16, 1); \
	WORD80(16, 2); \
	WORD80(16, 3); \
	WORD80(17, 0); \
	WORD80(17, 1); \
	WORD80(17, 2); \
	WORD80(17, 3)

#define BLOCKQ40 \
	LINES4(R6); \
	LINE(4, R6); \
	FMOVS 36(R13), F20; \
	VDUP V20.S[0], V20.S4; \
	VMOV V20.B16, V21.B16; \
	VMOV V20.B16, V22.B16; \
	VMOV V20.B16, V23.B16; \
	WORD40(0); \
	WORD40(1); \
	WORD40(2); \
	WORD40(3)

// The matrix instructions (i8mm) multiply eight bytes of two rows by eight bytes of two inputs.
// MATRIX transposes the words of a block for them: rows 0 and 1 to V24 to V27, rows 2 and 3 to V0,
// V2, V4 and V6.
#define MATRIX(WEIGHTS) \
	WEIGHTS; \
	VZIP1 V1.S4, V0.S4, V24.S4; \
	VZIP2 V1.S4, V0.S4, V0.S4; \
	VZIP1 V3.S4, V2.S4, V25.S4; \
	VZIP2 V3.S4, V2.S4, V2.S4; \
	VZIP1 V5.S4, V4.S4, V26.S4; \
	VZIP2 V5.S4, V4.S4, V4.S4; \
	VZIP1 V7.S4, V6.S4, V27.S4; \
	VZIP2 V7.S4, V6.S4, V6.S4

// TWO multiplies the block by the inputs at p and q, adds the scaled sums to a and b, and advances
// p and q. The sums start from V13, for both inputs with rows 0 and 1, and V14, for rows 2 and 3.
#define TWO(p, q, a, b) \
	VLD1 (p), [V16.B16, V17.B16]; \
	VLD1 (q), [V18.B16, V19.B16]; \
	VZIP1 V18.D2, V16.D2, V9.D2; \
	VZIP2 V18.D2, V16.D2, V10.D2; \
	VZIP1 V19.D2, V17.D2, V11.D2; \
	VZIP2 V19.D2, V17.D2, V12.D2; \
	SMMLA(13, 9, 24); \
	SMMLA(14, 9, 0); \
	SMMLA(13, 10, 25); \
	SMMLA(14, 10, 2); \
	SMMLA(13, 11, 26); \
	SMMLA(14, 11, 4); \
	SMMLA(13, 12, 27); \
	SMMLA(14, 12, 6); \
	VZIP1 V14.D2, V13.D2, V15.D2; \
	VZIP2 V14.D2, V13.D2, V13.D2; \
	SCALED(p, 15, a); \
	SCALED(q, 13, b)

#define SCALED(p, sum, acc) \
	FMOVS 32(p), F18; \
	VDUP V18.S[0], V18.S4; \
	ADD $48, p; \
	FMUL4(18, 8, 18); \
	SCVTF4(sum, sum); \
	FMUL4(sum, sum, 18); \
	FADD4(acc, acc, sum)

#define TWOQ80(p, q, a, b) \
	VEOR V13.B16, V13.B16, V13.B16; \
	VEOR V14.B16, V14.B16, V14.B16; \
	TWO(p, q, a, b)

#define TWOQ40(p, q, a, b) \
	FMOVS 36(p), F28; \
	VDUP V28.S[0], V28.S4; \
	FMOVS 36(q), F29; \
	VDUP V29.S[0], V29.S4; \
	VZIP1 V29.D2, V28.D2, V13.D2; \
	VMOV V13.B16, V14.B16; \
	TWO(p, q, a, b)

#define TWICE(TWO) \
	TWO(R13, R14, 20, 21); \
	TWO(R15, R16, 22, 23)

// func q80x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1NEON(SB), NOSPLIT, $0-48
	ONE(544, BLOCKQ80)

// func q80x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4NEON(SB), NOSPLIT, $0-48
	TILE(544, LINES8(R7), WEIGHTSQ80, INPUTS4(INPUTQ80))

// func q40x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x1NEON(SB), NOSPLIT, $0-48
	ONE(288, BLOCKQ40)

// func q40x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4NEON(SB), NOSPLIT, $0-48
	TILE(288, LINES4(R7), WEIGHTSQ40, INPUTS4(INPUTQ40))

// func q80x4I8MM(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4I8MM(SB), NOSPLIT, $0-48
	TILE(544, LINES8(R7), MATRIX(WEIGHTSQ80), TWICE(TWOQ80))

// func q40x4I8MM(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4I8MM(SB), NOSPLIT, $0-48
	TILE(288, LINES4(R7), MATRIX(WEIGHTSQ40), TWICE(TWOQ40))

// Types that are read only: see tiles_amd64.s. SDOT takes signed weights, so tables need no offset.

// SHLL widens BF16 numbers.
#define SHLL(d, n) WORD $(0x2E613800 | (n)<<5 | (d))
#define SHLL2(d, n) WORD $(0x6E613800 | (n)<<5 | (d))

#define ZEROSUMS \
	VEOR V20.B16, V20.B16, V20.B16; \
	VEOR V21.B16, V21.B16, V21.B16; \
	VEOR V22.B16, V22.B16, V22.B16; \
	VEOR V23.B16, V23.B16, V23.B16

#define BLOCKQ41 \
	LINES4(R6); \
	LINE(4, R6); \
	ZEROSUMS; \
	WORD40(0); \
	WORD40(1); \
	WORD40(2); \
	WORD40(3)

// LOOKUP replaces indices by the numbers of the table in V31.
#define LOOKUP(v) VTBL v.B16, [V31.B16], v.B16
#define LOOKUPS \
	LOOKUP(V0); \
	LOOKUP(V1); \
	LOOKUP(V2); \
	LOOKUP(V3); \
	LOOKUP(V4); \
	LOOKUP(V5); \
	LOOKUP(V6); \
	LOOKUP(V7)

#define WORDTABLE(i) \
	NIBBLES40; \
	LOOKUPS; \
	DOTS40(i)

#define BLOCKTABLE \
	LINES4(R6); \
	LINE(4, R6); \
	ZEROSUMS; \
	WORDTABLE(0); \
	WORDTABLE(1); \
	WORDTABLE(2); \
	WORDTABLE(3)

// FIFTH adds the fifth bits in bits, shifted into place, to w. V31 is their mask.
#define FIFTH(op, by, bits, w) \
	op by, bits.B16, V12.B16; \
	VAND V31.B16, V12.B16, V12.B16; \
	VORR V12.B16, w.B16, w.B16

#define FIFTH0(bits, w) \
	VAND V31.B16, bits.B16, V12.B16; \
	VORR V12.B16, w.B16, w.B16

#define LOWFIFTHS(by) \
	FIFTH(VSHL, by, V8, V0); \
	FIFTH(VSHL, by, V9, V1); \
	FIFTH(VSHL, by, V10, V2); \
	FIFTH(VSHL, by, V11, V3)

#define WORD5(i, by, by2) \
	NIBBLES40; \
	LOWFIFTHS(by); \
	FIFTH(VUSHR, by2, V8, V4); \
	FIFTH(VUSHR, by2, V9, V5); \
	FIFTH(VUSHR, by2, V10, V6); \
	FIFTH(VUSHR, by2, V11, V7); \
	DOTS40(i)

#define WORDS5 \
	LINES4(R6); \
	LINE(4, R6); \
	LINE(5, R6); \
	ADD $256, R7, R15; \
	VLD1 (R15), [V8.B16, V9.B16, V10.B16, V11.B16]; \
	NIBBLES40; \
	LOWFIFTHS($4); \
	FIFTH0(V8, V4); \
	FIFTH0(V9, V5); \
	FIFTH0(V10, V6); \
	FIFTH0(V11, V7); \
	DOTS40(0); \
	WORD5(1, $3, $1); \
	WORD5(2, $2, $2); \
	WORD5(3, $1, $3); \
	ADD $64, R7

#define BLOCKQ51 \
	ZEROSUMS; \
	WORDS5

#define BLOCKQ50 \
	FMOVS 36(R13), F20; \
	VDUP V20.S[0], V20.S4; \
	VADD V20.S4, V20.S4, V20.S4; \
	VMOV V20.B16, V21.B16; \
	VMOV V20.B16, V22.B16; \
	VMOV V20.B16, V23.B16; \
	WORDS5

#define WEIGHTSTABLE \
	WEIGHTSQ40; \
	LOOKUPS

#define WEIGHTSMX \
	FMOVD (R6), F8; \
	SHLL(8, 8); \
	NIBBLES; \
	LOOKUPS

#define WEIGHTSQ5 \
	WEIGHTSQ40; \
	FMOVQ 256(R7), F9; \
	FIFTH(VSHL, $4, V9, V0); \
	FIFTH(VSHL, $3, V9, V1); \
	FIFTH(VSHL, $2, V9, V2); \
	FIFTH(VSHL, $1, V9, V3); \
	FIFTH0(V9, V4); \
	FIFTH(VUSHR, $1, V9, V5); \
	FIFTH(VUSHR, $2, V9, V6); \
	FIFTH(VUSHR, $3, V9, V7)

#define INPUTQ50(p, acc) \
	FMOVS 36(p), F19; \
	VDUP V19.S[0], V19.S4; \
	VADD V19.S4, V19.S4, V19.S4; \
	INPUT(p, acc)

DATA tables<>+0(SB)/8, $0xf6eaddcfbfad9881
DATA tables<>+8(SB)/8, $0x7159453526190d01
DATA tables<>+16(SB)/8, $0x0c08060403020100
DATA tables<>+24(SB)/8, $0xf4f8fafcfdfeff00
GLOBL tables<>(SB), RODATA|NOPTR, $32

#define TABLE(at) \
	MOVD $tables<>+at(SB), R5; \
	VLD1 (R5), [V31.B16]

// func q41x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x1NEON(SB), NOSPLIT, $0-48
	ONEMINIMA(320, BLOCKQ41)

// func q41x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x4NEON(SB), NOSPLIT, $0-48
	TILEMINIMA(320, WEIGHTSQ40, MINIMA4)

// func q50x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x1NEON(SB), NOSPLIT, $0-48
	VMOVI $16, V31.B16
	ONE(352, BLOCKQ50)

// func q50x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x4NEON(SB), NOSPLIT, $0-48
	VMOVI $16, V31.B16
	TILE(352, LINES4(R7), WEIGHTSQ5, INPUTS4(INPUTQ50))

// func q51x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x1NEON(SB), NOSPLIT, $0-48
	VMOVI $16, V31.B16
	ONEMINIMA(384, BLOCKQ51)

// func q51x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x4NEON(SB), NOSPLIT, $0-48
	VMOVI $16, V31.B16
	TILEMINIMA(384, WEIGHTSQ5, MINIMA4)

// func iq4nlx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx1NEON(SB), NOSPLIT, $0-48
	TABLE(0)
	ONE(288, BLOCKTABLE)

// func iq4nlx4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx4NEON(SB), NOSPLIT, $0-48
	TABLE(0)
	TILE(288, LINES4(R7), WEIGHTSTABLE, INPUTS4(INPUTQ80))

// func mxfp4x1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x1NEON(SB), NOSPLIT, $0-48
	TABLE(16)
	ONEOF(32, 288, BLOCKTABLE, SHLL, SHLL2, NOMINIMA)

// func mxfp4x4NEON(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x4NEON(SB), NOSPLIT, $0-48
	TABLE(16)
	TILE(288, LINES4(R7), WEIGHTSMX, INPUTS4(INPUTQ80))
