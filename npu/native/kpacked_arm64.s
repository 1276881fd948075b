#include "textflag.h"

// Products of one input with packed K-quants that are read only: see kpacked.go and kpacked_amd64.s. A group is read four times, four
// rows at a time: a lane of a vector is a row. See kernels_arm64.s for the encodings.

#define SDOTE(d, n, m, i) WORD $(0x4F80E000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))
#define SCVTF4(d, n) WORD $(0x4E21D800 | (n)<<5 | (d))
#define FMUL4(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADD4(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FSUB4(d, n, m) WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d))
#define FCVTL(d, n) WORD $(0x0E217800 | (n)<<5 | (d))

// MLA4 adds the products of integers, MLAE those with integer i of m.
#define MLA4(d, n, m) WORD $(0x4EA09400 | (m)<<16 | (n)<<5 | (d))
#define MLAE(d, n, m, i) WORD $(0x6F800000 | ((i)&1)<<21 | ((i)>>1)<<11 | (m)<<16 | (n)<<5 | (d))

// SXTL8 and UXTL8 widen eight bytes, SXTL4 and SXTL4U the lower and the upper four of eight int16.
#define SXTL8(d, n) WORD $(0x0F08A400 | (n)<<5 | (d))
#define UXTL8(d, n) WORD $(0x2F08A400 | (n)<<5 | (d))
#define SXTL4(d, n) WORD $(0x0F10A400 | (n)<<5 | (d))
#define SXTL4U(d, n) WORD $(0x4F10A400 | (n)<<5 | (d))

// SSHR16 shifts four int32 by 16.
#define SSHR16(d, n) WORD $(0x4F300400 | (n)<<5 | (d))

// GROUPS is a kernel: R6 points to the words of four rows of a block, R7 to their scales, R8 to their d and R13 to the input. BLOCKOF
// adds the block to V28.
#define GROUPS(scales, d, size, BLOCKOF) \
	MOVD dst+0(FP), R0; \
	MOVD w+16(FP), R1; \
	MOVD groups+24(FP), R2; \
	MOVD blocks+32(FP), R3; \
	MOVD x+40(FP), R4; \
group: \
	MOVD $0, R9; \
rows: \
	ADD R9<<4, R1, R6; \
	ADD R9<<3, R1, R7; \
	ADD $d, R7, R8; \
	ADD $scales, R7, R7; \
	MOVD R4, R13; \
	MOVD R3, R10; \
	VEOR V28.B16, V28.B16, V28.B16; \
block: \
	VEOR V21.B16, V21.B16, V21.B16; \
	VEOR V22.B16, V22.B16, V22.B16; \
	BLOCKOF; \
	ADD $size, R6; \
	ADD $size, R7; \
	ADD $size, R8; \
	ADD $320, R13; \
	SUBS $1, R10, R10; \
	BNE block; \
	FMOVQ F28, (R0); \
	ADD $16, R0; \
	ADD $1, R9; \
	CMP $4, R9; \
	BNE rows; \
	SUB $48, R6, R1; \
	SUBS $1, R2, R2; \
	BNE group; \
	RET

// SUMS reads the input's sums of sixteen to V24 to V27.
#define SUMS \
	ADD $256, R13, R11; \
	VLD1 (R11), [V24.H8, V25.H8]; \
	SXTL4U(27, 25); \
	SXTL4(26, 25); \
	SXTL4U(25, 24); \
	SXTL4(24, 24)

// DOTS multiplies four words by sixteen elements of the input and adds their products with the scales in V18 to V21.
#define DOTS(input) \
	FMOVQ input(R13), F16; \
	VEOR V20.B16, V20.B16, V20.B16; \
	SDOTE(20, 4, 16, 0); \
	SDOTE(20, 5, 16, 1); \
	SDOTE(20, 6, 16, 2); \
	SDOTE(20, 7, 16, 3); \
	MLA4(21, 20, 18)

// WORDS reads words k to k+3 of a half.
#define WORDS(at) \
	FMOVQ (at)(R6), F0; \
	FMOVQ (at+64)(R6), F1; \
	FMOVQ (at+128)(R6), F2; \
	FMOVQ (at+192)(R6), F3

#define BITS0 \
	VAND V30.B16, V0.B16, V4.B16; \
	VAND V30.B16, V1.B16, V5.B16; \
	VAND V30.B16, V2.B16, V6.B16; \
	VAND V30.B16, V3.B16, V7.B16

#define BITS(by) \
	VUSHR by, V0.B16, V4.B16; \
	VUSHR by, V1.B16, V5.B16; \
	VUSHR by, V2.B16, V6.B16; \
	VUSHR by, V3.B16, V7.B16; \
	VAND V30.B16, V4.B16, V4.B16; \
	VAND V30.B16, V5.B16, V5.B16; \
	VAND V30.B16, V6.B16, V6.B16; \
	VAND V30.B16, V7.B16, V7.B16

// SCALES2 reads the scales of Q2_K's groups g to V18 and adds their minima times the input's sum, element i of sums. by and by2 shift
// the scale and the minimum to the top: of the first or the second of a pair.
#define SCALES2(at, by, by2, sums, i) \
	FMOVD at(R7), F17; \
	UXTL8(17, 17); \
	VSHL by, V17.S4, V18.S4; \
	VSHL by2, V17.S4, V17.S4; \
	VUSHR $28, V18.S4, V18.S4; \
	VUSHR $28, V17.S4, V17.S4; \
	MLAE(22, 17, sums, i)

// SIXTEENS2 multiplies four words of all parts of half h, from word k on. Parts' scales are 32 bytes apart.
#define SIXTEENS2(h, k, by, by2, s0, i0, i1) \
	WORDS((512*h+64*k)); \
	SCALES2((128*h), by, by2, s0, i0); \
	BITS0; \
	DOTS((128*h+4*k)); \
	SCALES2((128*h+32), by, by2, s0, i1); \
	BITS($2); \
	DOTS((128*h+4*k+32)); \
	SCALES2((128*h+64), by, by2, (s0+1), i0); \
	BITS($4); \
	DOTS((128*h+4*k+64)); \
	SCALES2((128*h+96), by, by2, (s0+1), i1); \
	BITS($6); \
	DOTS((128*h+4*k+96))

// DONE adds the scaled sums of a block to V28. V0 is d, V1 is m.
#define DONE \
	FMOVS 288(R13), F2; \
	VDUP V2.S[0], V2.S4; \
	FMUL4(0, 0, 2); \
	FMUL4(1, 1, 2); \
	SCVTF4(21, 21); \
	SCVTF4(22, 22); \
	FMUL4(21, 21, 0); \
	FMUL4(22, 22, 1); \
	FSUB4(21, 21, 22); \
	FADD4(28, 28, 21)

#define BLOCK2 \
	SUMS; \
	SIXTEENS2(0, 0, $28, $24, 24, 0, 2); \
	SIXTEENS2(0, 4, $12, $8, 24, 1, 3); \
	SIXTEENS2(1, 0, $28, $24, 26, 0, 2); \
	SIXTEENS2(1, 4, $12, $8, 26, 1, 3); \
	FMOVD (R8), F0; \
	FMOVD 32(R8), F1; \
	FCVTL(0, 0); \
	FCVTL(1, 1); \
	DONE

// func mulQ2Kx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ2Kx1NEON(SB), NOSPLIT, $0-48
	VMOVI $3, V30.B16
	GROUPS(1024, 1280, 1344, BLOCK2)

// EVEN and ODD read the first or second of four pairs of scales to V18.
#define EVEN(at) \
	FMOVD at(R7), F17; \
	SXTL8(17, 17); \
	VSHL $16, V17.S4, V18.S4; \
	SSHR16(18, 18)
#define ODD(at) \
	FMOVD at(R7), F17; \
	SXTL8(17, 17); \
	SSHR16(18, 17)

// THIRDS adds the third bits in V8 to V11, shifted into place. V31 is their mask.
#define THIRD(op, by, bits, w) \
	op by, bits.B16, V12.B16; \
	VAND V31.B16, V12.B16, V12.B16; \
	VORR V12.B16, w.B16, w.B16
#define THIRDS(op, by) \
	THIRD(op, by, V8, V4); \
	THIRD(op, by, V9, V5); \
	THIRD(op, by, V10, V6); \
	THIRD(op, by, V11, V7)
#define THIRD0(bits, w) \
	VAND V31.B16, bits.B16, V12.B16; \
	VORR V12.B16, w.B16, w.B16

#define THIRDWORDS(at) \
	FMOVQ (1024+at)(R6), F8; \
	FMOVQ (1088+at)(R6), F9; \
	FMOVQ (1152+at)(R6), F10; \
	FMOVQ (1216+at)(R6), F11

#define FIRSTHALF3(k, SCALES, i0, i1) \
	WORDS((64*k)); \
	THIRDWORDS((64*k)); \
	SCALES(0); \
	MLAE(22, 18, 24, i0); \
	BITS0; \
	THIRDS(VSHL, $2); \
	DOTS((4*k)); \
	SCALES(32); \
	MLAE(22, 18, 24, i1); \
	BITS($2); \
	THIRDS(VSHL, $1); \
	DOTS((4*k+32)); \
	SCALES(64); \
	MLAE(22, 18, 25, i0); \
	BITS($4); \
	THIRD0(V8, V4); \
	THIRD0(V9, V5); \
	THIRD0(V10, V6); \
	THIRD0(V11, V7); \
	DOTS((4*k+64)); \
	SCALES(96); \
	MLAE(22, 18, 25, i1); \
	BITS($6); \
	THIRDS(VUSHR, $1); \
	DOTS((4*k+96))

#define LASTHALF3(k, SCALES, i0, i1) \
	WORDS((512+64*k)); \
	THIRDWORDS((64*k)); \
	SCALES(128); \
	MLAE(22, 18, 26, i0); \
	BITS0; \
	THIRDS(VUSHR, $2); \
	DOTS((128+4*k)); \
	SCALES(160); \
	MLAE(22, 18, 26, i1); \
	BITS($2); \
	THIRDS(VUSHR, $3); \
	DOTS((160+4*k)); \
	SCALES(192); \
	MLAE(22, 18, 27, i0); \
	BITS($4); \
	THIRDS(VUSHR, $4); \
	DOTS((192+4*k)); \
	SCALES(224); \
	MLAE(22, 18, 27, i1); \
	BITS($6); \
	THIRDS(VUSHR, $5); \
	DOTS((224+4*k))

// BLOCK3 adds 28 times the minima's sum to the other, since Q3_K's integers start at 28.
#define BLOCK3 \
	SUMS; \
	FIRSTHALF3(0, EVEN, 0, 2); \
	FIRSTHALF3(4, ODD, 1, 3); \
	LASTHALF3(0, EVEN, 0, 2); \
	LASTHALF3(4, ODD, 1, 3); \
	VSHL $5, V22.S4, V0.S4; \
	VSHL $2, V22.S4, V1.S4; \
	VSUB V1.S4, V0.S4, V0.S4; \
	VADD V0.S4, V21.S4, V21.S4; \
	FMOVD (R8), F0; \
	FCVTL(0, 0); \
	FMUL4(1, 0, 29); \
	DONE

// func mulQ3Kx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ3Kx1NEON(SB), NOSPLIT, $0-48
	VMOVI $3, V30.B16
	VMOVI $4, V31.B16
	FMOVS $32.0, F29
	VDUP V29.S[0], V29.S4
	GROUPS(1536, 1792, 1856, BLOCK3)

DATA table<>+0(SB)/8, $0xf6eaddcfbfad9881
DATA table<>+8(SB)/8, $0x7159453526190d01
GLOBL table<>(SB), RODATA|NOPTR, $16

// WORDX multiplies word k of a part: V16 and V17 are its input.
#define WORDX(at, k) \
	FMOVQ (at)(R6), F0; \
	VUSHR $4, V0.B16, V1.B16; \
	VAND V30.B16, V0.B16, V0.B16; \
	VTBL V0.B16, [V31.B16], V0.B16; \
	VTBL V1.B16, [V31.B16], V1.B16; \
	SDOTE(20, 0, 16, k); \
	SDOTE(20, 1, 17, k)

#define PARTX(p, SCALES, at) \
	FMOVQ (32*p)(R13), F16; \
	VEOR V20.B16, V20.B16, V20.B16; \
	SCALES(at); \
	FMOVQ (32*p+16)(R13), F17; \
	WORDX((256*p), 0); \
	WORDX((256*p+64), 1); \
	WORDX((256*p+128), 2); \
	WORDX((256*p+192), 3); \
	MLA4(21, 20, 18)

#define BLOCKX \
	PARTX(0, EVEN, 0); \
	PARTX(1, ODD, 0); \
	PARTX(2, EVEN, 32); \
	PARTX(3, ODD, 32); \
	PARTX(4, EVEN, 64); \
	PARTX(5, ODD, 64); \
	PARTX(6, EVEN, 96); \
	PARTX(7, ODD, 96); \
	FMOVD (R8), F0; \
	FCVTL(0, 0); \
	FMOVS 288(R13), F2; \
	VDUP V2.S[0], V2.S4; \
	FMUL4(0, 0, 2); \
	SCVTF4(21, 21); \
	FMUL4(21, 21, 0); \
	FADD4(28, 28, 21)

// func mulXSx1NEON(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx1NEON(SB), NOSPLIT, $0-48
	MOVD $table<>(SB), R5
	VLD1 (R5), [V31.B16]
	VMOVI $15, V30.B16
	GROUPS(2048, 2176, 2240, BLOCKX)
