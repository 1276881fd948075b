#include "textflag.h"

// Products of inputs with packed Q4_K for AVX2: see packedQ4K in kpacked.go. A block of sixteen rows takes 2368 bytes: integers,
// scales at 2048, minima at 2176, d at 2304 and m at 2336. Of what is per row, the second eight rows follow the first. An input
// block takes 320 bytes: 256 integers, its scale at 288, and at 292 the sums of 32 integers each.

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

// twice shuffles eight bytes, which each half of a vector holds, to sixteen words: each byte twice.
DATA twice<>+0(SB)/8, $0x8001800180008000
DATA twice<>+8(SB)/8, $0x8003800380028002
DATA twice<>+16(SB)/8, $0x8005800580048004
DATA twice<>+24(SB)/8, $0x8007800780068006
GLOBL twice<>(SB), RODATA|NOPTR, $32

#define BLOCK 2368

// PAIRWORDS applies WORD to the eight words of parts p and p+1. Its parameters are the offsets of the word, and of the four
// elements of the input that each of the two parts multiplies.
#define PAIRWORDS(FIRST, WORD, p) \
	FIRST((256*p), (32*p), (32*p+32)); \
	WORD((256*p+64), (32*p+4), (32*p+36)); \
	WORD((256*p+128), (32*p+8), (32*p+40)); \
	WORD((256*p+192), (32*p+12), (32*p+44)); \
	WORD((256*p+256), (32*p+16), (32*p+48)); \
	WORD((256*p+320), (32*p+20), (32*p+52)); \
	WORD((256*p+384), (32*p+24), (32*p+56)); \
	WORD((256*p+448), (32*p+28), (32*p+60))

// LINE prefetches line i of a block a few kilobytes ahead. Prefetches must be spread: of many at once the processor drops some.
#define LINE(i) PREFETCHT0 (64*(i)+8192)(CX)

// AHEADAT prefetches a line of scales. One input's products with Q4_K and Q5_K do so between parts: with the five lines of AHEAD5
// in a row they take 1.2 times as long. For several inputs, and with Q6_K, the row is faster.
#define AHEADAT(at) PREFETCHT0 (at+8192)(CX)
#define NOLINES(at)

// PRODUCTS1 multiplies a word of sixteen rows by two times four elements of the input. It leaves the products with the lower
// nibbles in Y0 and Y1, with the upper ones in Y2 and Y3. Y6 is the nibble mask.
#define PRODUCTS1(at, low, high) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y6, Y0, Y0; \
	VPAND Y6, Y1, Y1; \
	VPAND Y6, Y2, Y2; \
	VPAND Y6, Y3, Y3

#define FIRST1(at, low, high) \
	PRODUCTS1(at, low, high); \
	VPMADDUBSW Y4, Y0, Y12; \
	VPMADDUBSW Y4, Y1, Y13; \
	VPMADDUBSW Y5, Y2, Y14; \
	VPMADDUBSW Y5, Y3, Y15

#define WORD1(at, low, high) \
	PRODUCTS1(at, low, high); \
	VPMADDUBSW Y4, Y0, Y0; \
	VPMADDUBSW Y4, Y1, Y1; \
	VPMADDUBSW Y5, Y2, Y2; \
	VPMADDUBSW Y5, Y3, Y3; \
	VPADDW Y0, Y12, Y12; \
	VPADDW Y1, Y13, Y13; \
	VPADDW Y2, Y14, Y14; \
	VPADDW Y3, Y15, Y15

// SCALED1 multiplies the sums of part p, of at most 16·15·127, by the scales, and adds the products to Y10 and Y11. more is how many
// bytes of a block come before the scales, beside the words: those of fifth bits.
#define SCALED1(more, p, a, b) \
	VPBROADCASTQ (2048+more+16*p)(CX), Y0; \
	VPBROADCASTQ (2056+more+16*p)(CX), Y1; \
	VPSHUFB twice<>(SB), Y0, Y0; \
	VPSHUFB twice<>(SB), Y1, Y1; \
	VPMADDWD Y0, a, a; \
	VPMADDWD Y1, b, b; \
	VPADDD a, Y10, Y10; \
	VPADDD b, Y11, Y11

#define PAIR1(p) \
	PAIRWORDS(FIRST1, WORD1, p); \
	SCALED1(0, p, Y12, Y13); \
	SCALED1(0, (p+1), Y14, Y15)

// MINIMA1 multiplies the minima of parts p and p+1 by the sums of the input's.
#define MINIMA1(more, p, a, b) \
	VPMOVZXBW (2176+more+16*p)(CX), a; \
	VPMOVZXBW (2192+more+16*p)(CX), b; \
	VPBROADCASTD (292+2*p)(R8), Y4; \
	VPMADDWD Y4, a, a; \
	VPMADDWD Y4, b, b

// GROUPS1 is a kernel. PAIRS multiplies all parts, more as for SCALED1.
#define GROUPS1(more, PAIRS) \
	MOVQ dst+0(FP), DI; \
	MOVQ w+16(FP), CX; \
	MOVQ groups+24(FP), DX; \
	MOVQ x+40(FP), R12; \
	VMOVDQU nibbles<>(SB), Y6; \
group: \
	MOVQ R12, R8; \
	MOVQ blocks+32(FP), BX; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
block: \
	VPXOR Y10, Y10, Y10; \
	VPXOR Y11, Y11, Y11; \
	PAIRS; \
	PREFETCHT0 (2048+more+8192)(CX); \
	PREFETCHT0 (2112+more+8192)(CX); \
	PREFETCHT0 (2176+more+8192)(CX); \
	PREFETCHT0 (2240+more+8192)(CX); \
	PREFETCHT0 (2304+more+8192)(CX); \
	MINIMA1(more, 0, Y2, Y3); \
	MINIMA1(more, 2, Y12, Y13); \
	VPADDD Y12, Y2, Y2; \
	VPADDD Y13, Y3, Y3; \
	MINIMA1(more, 4, Y12, Y13); \
	VPADDD Y12, Y2, Y2; \
	VPADDD Y13, Y3, Y3; \
	MINIMA1(more, 6, Y12, Y13); \
	VPADDD Y12, Y2, Y2; \
	VPADDD Y13, Y3, Y3; \
	VBROADCASTSS 288(R8), Y4; \
	VCVTPH2PS (2304+more)(CX), Y0; \
	VCVTPH2PS (2320+more)(CX), Y1; \
	VCVTPH2PS (2336+more)(CX), Y12; \
	VCVTPH2PS (2352+more)(CX), Y13; \
	VMULPS Y4, Y0, Y0; \
	VMULPS Y4, Y1, Y1; \
	VMULPS Y4, Y12, Y12; \
	VMULPS Y4, Y13, Y13; \
	VCVTDQ2PS Y10, Y10; \
	VCVTDQ2PS Y11, Y11; \
	VCVTDQ2PS Y2, Y2; \
	VCVTDQ2PS Y3, Y3; \
	VMULPS Y0, Y10, Y10; \
	VMULPS Y1, Y11, Y11; \
	VMULPS Y12, Y2, Y2; \
	VMULPS Y13, Y3, Y3; \
	VSUBPS Y2, Y10, Y10; \
	VSUBPS Y3, Y11, Y11; \
	VADDPS Y10, Y8, Y8; \
	VADDPS Y11, Y9, Y9; \
	ADDQ $(BLOCK+more), CX; \
	ADDQ $320, R8; \
	DECQ BX; \
	JNZ  block; \
	VMOVUPS Y8, (DI); \
	VMOVUPS Y9, 32(DI); \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ  group; \
	VZEROUPPER; \
	RET

#define ALL1 \
	PAIR1(0); \
	PAIR1(2); \
	PAIR1(4); \
	PAIR1(6)

// func mulQ4Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ4Kx1AVX2(SB), NOSPLIT, $0-48
	GROUPS1(0, ALL1)

// PARTS4 reads a word of eight rows: the lower nibbles to Y12, the upper ones to Y13. Y15 is the nibble mask.
#define PARTS4(at) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y12; \
	VPSRLW $4, Y12, Y13; \
	VPAND Y15, Y12, Y12; \
	VPAND Y15, Y13, Y13

#define FIRSTS4(low, high) \
	VPBROADCASTD low(R8), Y14; \
	VPMADDUBSW Y14, Y12, Y0; \
	VPBROADCASTD high(R8), Y14; \
	VPMADDUBSW Y14, Y13, Y4; \
	VPBROADCASTD low(R8)(AX*1), Y14; \
	VPMADDUBSW Y14, Y12, Y1; \
	VPBROADCASTD high(R8)(AX*1), Y14; \
	VPMADDUBSW Y14, Y13, Y5; \
	VPBROADCASTD low(R8)(AX*2), Y14; \
	VPMADDUBSW Y14, Y12, Y2; \
	VPBROADCASTD high(R8)(AX*2), Y14; \
	VPMADDUBSW Y14, Y13, Y6; \
	VPBROADCASTD low(R8)(R13*1), Y14; \
	VPMADDUBSW Y14, Y12, Y3; \
	VPBROADCASTD high(R8)(R13*1), Y14; \
	VPMADDUBSW Y14, Y13, Y7

#define ADD4(p, w, sum) \
	VPBROADCASTD p, Y14; \
	VPMADDUBSW Y14, w, Y14; \
	VPADDW Y14, sum, sum

#define ADDS4(low, high) \
	ADD4(low(R8), Y12, Y0); \
	ADD4(high(R8), Y13, Y4); \
	ADD4(low(R8)(AX*1), Y12, Y1); \
	ADD4(high(R8)(AX*1), Y13, Y5); \
	ADD4(low(R8)(AX*2), Y12, Y2); \
	ADD4(high(R8)(AX*2), Y13, Y6); \
	ADD4(low(R8)(R13*1), Y12, Y3); \
	ADD4(high(R8)(R13*1), Y13, Y7)

#define FIRST4(at, low, high) \
	PARTS4(at); \
	FIRSTS4(low, high)

#define WORD4(at, low, high) \
	PARTS4(at); \
	ADDS4(low, high)

// SCALED4 multiplies the sums of part p by the scales and adds the products to Y8 to Y11. R9 points to the scales.
#define SCALED4(p, a, b, c, d) \
	VPBROADCASTQ (16*p)(R9), Y12; \
	VPSHUFB twice<>(SB), Y12, Y12; \
	VPMADDWD Y12, a, a; \
	VPMADDWD Y12, b, b; \
	VPMADDWD Y12, c, c; \
	VPMADDWD Y12, d, d; \
	VPADDD a, Y8, Y8; \
	VPADDD b, Y9, Y9; \
	VPADDD c, Y10, Y10; \
	VPADDD d, Y11, Y11

#define PAIR4(p) \
	PAIRWORDS(FIRST4, WORD4, p); \
	SCALED4(p, Y0, Y1, Y2, Y3); \
	SCALED4((p+1), Y4, Y5, Y6, Y7)

#define MINIMUM4(p, sum) \
	VPBROADCASTD p, Y14; \
	VPMADDWD Y14, Y12, Y14; \
	VPADDD Y14, sum, sum

// MINIMA4 adds the products of the minima of parts p and p+1 to Y0 to Y3. R10 points to the minima.
#define MINIMA4(p) \
	VPMOVZXBW (16*p)(R10), Y12; \
	MINIMUM4((292+2*p)(R8), Y0); \
	MINIMUM4((292+2*p)(R8)(AX*1), Y1); \
	MINIMUM4((292+2*p)(R8)(AX*2), Y2); \
	MINIMUM4((292+2*p)(R8)(R13*1), Y3)

// DONE4 adds the scaled sums of a block to dst. Y12 is d, Y13 is m.
#define DONE4(p, sum, least, dst) \
	VBROADCASTSS 288 p, Y14; \
	VCVTDQ2PS sum, sum; \
	VCVTDQ2PS least, least; \
	VMULPS Y12, Y14, Y4; \
	VMULPS Y13, Y14, Y14; \
	VMULPS Y4, sum, sum; \
	VMULPS Y14, least, least; \
	VSUBPS least, sum, sum; \
	VADDPS dst, sum, sum; \
	VMOVUPS sum, dst

// GROUPS4 is a kernel, which reads a group twice, eight rows at a time: R11 is 2, then 1. PAIRS and more are as for GROUPS1.
#define GROUPS4(more, PAIRS) \
	MOVQ dst+0(FP), DI; \
	MOVQ stride+8(FP), R14; \
	SHLQ $2, R14; \
	LEAQ (R14)(R14*2), R15; \
	MOVQ w+16(FP), SI; \
	MOVQ groups+24(FP), DX; \
	MOVQ blocks+32(FP), AX; \
	MOVQ x+40(FP), R12; \
	IMULQ $320, AX; \
	LEAQ (AX)(AX*2), R13; \
	VMOVDQU nibbles<>(SB), Y15; \
group: \
	MOVQ $2, R11; \
half: \
	MOVQ SI, CX; \
	LEAQ (2048+more)(SI), R9; \
	LEAQ (2176+more)(SI), R10; \
	CMPQ R11, $2; \
	JEQ  first; \
	ADDQ $32, CX; \
	ADDQ $8, R9; \
	ADDQ $16, R10; \
first: \
	MOVQ R12, R8; \
	MOVQ blocks+32(FP), BX; \
	VXORPS Y0, Y0, Y0; \
	VMOVUPS Y0, (DI); \
	VMOVUPS Y0, (DI)(R14*1); \
	VMOVUPS Y0, (DI)(R14*2); \
	VMOVUPS Y0, (DI)(R15*1); \
block: \
	VPXOR Y8, Y8, Y8; \
	VPXOR Y9, Y9, Y9; \
	VPXOR Y10, Y10, Y10; \
	VPXOR Y11, Y11, Y11; \
	PAIRS; \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	MINIMA4(0); \
	MINIMA4(2); \
	MINIMA4(4); \
	MINIMA4(6); \
	VCVTPH2PS 128(R10), Y12; \
	VCVTPH2PS 160(R10), Y13; \
	DONE4((R8), Y8, Y0, (DI)); \
	DONE4((R8)(AX*1), Y9, Y1, (DI)(R14*1)); \
	DONE4((R8)(AX*2), Y10, Y2, (DI)(R14*2)); \
	DONE4((R8)(R13*1), Y11, Y3, (DI)(R15*1)); \
	ADDQ $(BLOCK+more), CX; \
	ADDQ $(BLOCK+more), R9; \
	ADDQ $(BLOCK+more), R10; \
	ADDQ $320, R8; \
	DECQ BX; \
	JNZ  block; \
	ADDQ $32, DI; \
	DECQ R11; \
	JNZ  half; \
	LEAQ -32(CX), SI; \
	DECQ DX; \
	JNZ  group; \
	VZEROUPPER; \
	RET

#define ALL4 \
	PAIR4(0); \
	PAIR4(2); \
	PAIR4(4); \
	PAIR4(6)

// func mulQ4Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ4Kx4AVX2(SB), NOSPLIT, $0-48
	GROUPS4(0, ALL4)

// Packed Q5_K: see packedQ5K in kpacked.go. Each four words follow one with their fifth bits, and scales begin at 2560. Sums of four
// products of two, at most 8·31·127, fit 16 bits.

#define FIFTHS 512

DATA fifth<>+0(SB)/8, $0x1010101010101010
DATA fifth<>+8(SB)/8, $0x1010101010101010
DATA fifth<>+16(SB)/8, $0x1010101010101010
DATA fifth<>+24(SB)/8, $0x1010101010101010
GLOBL fifth<>(SB), RODATA|NOPTR, $32

// FIFTH1 adds the fifth bits at at(CX), which it shifts into place, to two parts.
#define FIFTH1(at, op0, by0, op1, by1, low, high) \
	VMOVDQU at(CX), Y4; \
	op0 by0, Y4, Y5; \
	op1 by1, Y4, Y4; \
	VPAND Y7, Y5, Y5; \
	VPAND Y7, Y4, Y4; \
	VPOR Y5, low, low; \
	VPOR Y4, high, high

#define VALUES51(at, bits, low, high, op0, by0, op1, by1) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y6, Y0, Y0; \
	VPAND Y6, Y1, Y1; \
	VPAND Y6, Y2, Y2; \
	VPAND Y6, Y3, Y3; \
	FIFTH1(bits, op0, by0, op1, by1, Y0, Y2); \
	FIFTH1((bits+32), op0, by0, op1, by1, Y1, Y3); \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5

#define FIRST51(at, bits, low, high, op0, by0, op1, by1) \
	PREFETCHT0 (bits+8192)(CX); \
	VALUES51(at, bits, low, high, op0, by0, op1, by1); \
	VPMADDUBSW Y4, Y0, Y12; \
	VPMADDUBSW Y4, Y1, Y13; \
	VPMADDUBSW Y5, Y2, Y14; \
	VPMADDUBSW Y5, Y3, Y15

#define WORD51(at, bits, low, high, op0, by0, op1, by1) \
	VALUES51(at, bits, low, high, op0, by0, op1, by1); \
	VPMADDUBSW Y4, Y0, Y0; \
	VPMADDUBSW Y4, Y1, Y1; \
	VPMADDUBSW Y5, Y2, Y2; \
	VPMADDUBSW Y5, Y3, Y3; \
	VPADDW Y0, Y12, Y12; \
	VPADDW Y1, Y13, Y13; \
	VPADDW Y2, Y14, Y14; \
	VPADDW Y3, Y15, Y15

// WORDS5 applies FIRST and WORD to words k to k+3 of parts p and p+1.
#define WORDS5(FIRST, WORD, p, k) \
	FIRST((320*p+80*k+64), (320*p+80*k), (32*p+4*k), (32*p+4*k+32), VPSLLW, $4, VPSRLW, $0); \
	WORD((320*p+80*k+128), (320*p+80*k), (32*p+4*k+4), (32*p+4*k+36), VPSLLW, $3, VPSRLW, $1); \
	WORD((320*p+80*k+192), (320*p+80*k), (32*p+4*k+8), (32*p+4*k+40), VPSLLW, $2, VPSRLW, $2); \
	WORD((320*p+80*k+256), (320*p+80*k), (32*p+4*k+12), (32*p+4*k+44), VPSLLW, $1, VPSRLW, $3)

#define HALF51(p, k) \
	WORDS5(FIRST51, WORD51, p, k); \
	SCALED1(FIFTHS, p, Y12, Y13); \
	SCALED1(FIFTHS, (p+1), Y14, Y15)

// ALL5 applies HALF to all words.
#define ALL5(HALF) \
	HALF(0, 0); \
	HALF(0, 4); \
	HALF(2, 0); \
	HALF(2, 4); \
	HALF(4, 0); \
	HALF(4, 4); \
	HALF(6, 0); \
	HALF(6, 4)

// func mulQ5Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ5Kx1AVX2(SB), NOSPLIT, $0-48
	VMOVDQU fifth<>(SB), Y7
	GROUPS1(FIFTHS, ALL5(HALF51))

#define PARTS54(at, bits, op0, by0, op1, by1) \
	PARTS4(at); \
	VMOVDQU bits(CX), Y14; \
	op0 by0, Y14, Y14; \
	VPAND fifth<>(SB), Y14, Y14; \
	VPOR Y14, Y12, Y12; \
	VMOVDQU bits(CX), Y14; \
	op1 by1, Y14, Y14; \
	VPAND fifth<>(SB), Y14, Y14; \
	VPOR Y14, Y13, Y13

#define FIRST54(at, bits, low, high, op0, by0, op1, by1) \
	PARTS54(at, bits, op0, by0, op1, by1); \
	FIRSTS4(low, high)

#define WORD54(at, bits, low, high, op0, by0, op1, by1) \
	PARTS54(at, bits, op0, by0, op1, by1); \
	ADDS4(low, high)

#define HALF54(p, k) \
	WORDS5(FIRST54, WORD54, p, k); \
	SCALED4(p, Y0, Y1, Y2, Y3); \
	SCALED4((p+1), Y4, Y5, Y6, Y7)

// func mulQ5Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ5Kx4AVX2(SB), NOSPLIT, $0-48
	GROUPS4(FIFTHS, ALL5(HALF54))

// Packed Q6_K: see packedQ6K in kpacked.go. A block of sixteen rows takes 3392 bytes: integers, scales at 3072 and d at 3328. Values
// have 6 bits, so only two products of two fit 16 bits before the scales multiply them.

#define BLOCK6 3392

// even and odd shuffle eight pairs of bytes, four in each half of a vector, to the upper bytes of sixteen words: the first or the
// second of each pair, twice.
DATA even<>+0(SB)/8, $0x0280028000800080
DATA even<>+8(SB)/8, $0x0680068004800480
DATA even<>+16(SB)/8, $0x0a800a8008800880
DATA even<>+24(SB)/8, $0x0e800e800c800c80
GLOBL even<>(SB), RODATA|NOPTR, $32
DATA odd<>+0(SB)/8, $0x0380038001800180
DATA odd<>+8(SB)/8, $0x0780078005800580
DATA odd<>+16(SB)/8, $0x0b800b8009800980
DATA odd<>+24(SB)/8, $0x0f800f800d800d80
GLOBL odd<>(SB), RODATA|NOPTR, $32

// sixes are masks: of six bits, and of the two bits of a fourth value that three words hold each.
DATA sixes<>+0(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA sixes<>+8(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA sixes<>+16(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA sixes<>+24(SB)/8, $0x3f3f3f3f3f3f3f3f
DATA sixes<>+32(SB)/8, $0x3030303030303030
DATA sixes<>+40(SB)/8, $0x3030303030303030
DATA sixes<>+48(SB)/8, $0x3030303030303030
DATA sixes<>+56(SB)/8, $0x3030303030303030
DATA sixes<>+64(SB)/8, $0x0c0c0c0c0c0c0c0c
DATA sixes<>+72(SB)/8, $0x0c0c0c0c0c0c0c0c
DATA sixes<>+80(SB)/8, $0x0c0c0c0c0c0c0c0c
DATA sixes<>+88(SB)/8, $0x0c0c0c0c0c0c0c0c
DATA sixes<>+96(SB)/8, $0x0303030303030303
DATA sixes<>+104(SB)/8, $0x0303030303030303
DATA sixes<>+112(SB)/8, $0x0303030303030303
DATA sixes<>+120(SB)/8, $0x0303030303030303
GLOBL sixes<>(SB), RODATA|NOPTR, $128

DATA thirtyTwo<>+0(SB)/8, $0x4200000042000000
DATA thirtyTwo<>+8(SB)/8, $0x4200000042000000
DATA thirtyTwo<>+16(SB)/8, $0x4200000042000000
DATA thirtyTwo<>+24(SB)/8, $0x4200000042000000
GLOBL thirtyTwo<>(SB), RODATA|NOPTR, $32

// MASKS6 sets Y6, Y14 and Y15 to the first three masks.
#define MASKS6 \
	VMOVDQU sixes<>(SB), Y6; \
	VMOVDQU sixes<>+32(SB), Y14; \
	VMOVDQU sixes<>+64(SB), Y15

// VALUES6 unpacks sixteen values of each of eight rows, three words at at(CX), to Y0 to Y3.
#define VALUES6(at) \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+64)(CX), Y1; \
	VMOVDQU (at+128)(CX), Y2; \
	VPSRLW $2, Y0, Y3; \
	VPSRLW $4, Y1, Y4; \
	VPSRLW $6, Y2, Y5; \
	VPAND Y14, Y3, Y3; \
	VPAND Y15, Y4, Y4; \
	VPAND sixes<>+96(SB), Y5, Y5; \
	VPAND Y6, Y0, Y0; \
	VPAND Y6, Y1, Y1; \
	VPAND Y6, Y2, Y2; \
	VPOR Y4, Y3, Y3; \
	VPOR Y5, Y3, Y3

// SCALE6 spreads the scales of eight rows at at(R9), the first or the second of each pair, over the words of Y7.
#define SCALE6(at, which) \
	VBROADCASTI128 at(R9), Y7; \
	VPSHUFB which<>(SB), Y7, Y7; \
	VPSRAW $8, Y7, Y7

// HALF61 multiplies sixteen values of eight rows by the input's in Y8, Y9, Y12 and Y13.
#define HALF61(at, scale, which, acc) \
	VALUES6(at); \
	VPMADDUBSW Y8, Y0, Y0; \
	VPMADDUBSW Y9, Y1, Y1; \
	VPMADDUBSW Y12, Y2, Y2; \
	VPMADDUBSW Y13, Y3, Y3; \
	SCALE6(scale, which); \
	VPADDW Y1, Y0, Y0; \
	VPADDW Y3, Y2, Y2; \
	VPMADDWD Y7, Y0, Y0; \
	VPMADDWD Y7, Y2, Y2; \
	VPADDD Y0, acc, acc; \
	VPADDD Y2, acc, acc

#define SIXTEEN61(g, scale, which) \
	PREFETCHT0 (192*g+8192)(CX); \
	PREFETCHT0 (192*g+8256)(CX); \
	PREFETCHT0 (192*g+8320)(CX); \
	VPBROADCASTD (16*g)(R8), Y8; \
	VPBROADCASTD (16*g+4)(R8), Y9; \
	VPBROADCASTD (16*g+8)(R8), Y12; \
	VPBROADCASTD (16*g+12)(R8), Y13; \
	HALF61((192*g), scale, which, Y10); \
	HALF61((192*g+32), (scale+16), which, Y11)

#define PART61(p) \
	SIXTEEN61((2*p), (32*p), even); \
	SIXTEEN61((2*p+1), (32*p), odd)

// LEAST61 adds the products of a part's scales and the input's sums of sixteen to Y2 and Y3.
#define LEAST61(p) \
	VPMOVSXBW (32*p)(R9), Y0; \
	VPMOVSXBW (32*p+16)(R9), Y1; \
	VPBROADCASTD (256+4*p)(R8), Y4; \
	VPMADDWD Y4, Y0, Y0; \
	VPMADDWD Y4, Y1, Y1; \
	VPADDD Y0, Y2, Y2; \
	VPADDD Y1, Y3, Y3

// DONE61 adds the scaled sums of a block to dst.
#define DONE61(at, sum, least, dst) \
	VCVTPH2PS at(R9), Y12; \
	VMULPS thirtyTwo<>(SB), Y12, Y13; \
	SCALED61(sum, least, dst)

// SCALED61 is DONE61 with d in Y12 and the minima's scale in Y13.
#define SCALED61(sum, least, dst) \
	VMULPS Y12, Y5, Y12; \
	VMULPS Y13, Y5, Y13; \
	VCVTDQ2PS sum, sum; \
	VCVTDQ2PS least, least; \
	VMULPS Y12, sum, sum; \
	VMULPS Y13, least, least; \
	VSUBPS least, sum, sum; \
	VADDPS dst, sum, sum; \
	VMOVUPS sum, dst

// GROUPS61 is a kernel for one input. A block has its scales at scales and takes size bytes. BLOCKOF multiplies it and adds to dst; R9
// points to the scales.
#define GROUPS61(scales, size, BLOCKOF) \
	MOVQ dst+0(FP), DI; \
	MOVQ w+16(FP), CX; \
	MOVQ groups+24(FP), DX; \
	MOVQ x+40(FP), R12; \
	LEAQ scales(CX), R9; \
group: \
	MOVQ R12, R8; \
	MOVQ blocks+32(FP), BX; \
	VXORPS Y0, Y0, Y0; \
	VMOVUPS Y0, (DI); \
	VMOVUPS Y0, 32(DI); \
block: \
	VPXOR Y10, Y10, Y10; \
	VPXOR Y11, Y11, Y11; \
	BLOCKOF; \
	ADDQ $size, CX; \
	ADDQ $size, R9; \
	ADDQ $320, R8; \
	DECQ BX; \
	JNZ  block; \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ  group; \
	VZEROUPPER; \
	RET

#define AHEAD5(at) \
	PREFETCHT0 (at+8192)(CX); \
	PREFETCHT0 (at+8256)(CX); \
	PREFETCHT0 (at+8320)(CX); \
	PREFETCHT0 (at+8384)(CX); \
	PREFETCHT0 (at+8448)(CX)

#define LEASTS61 \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	LEAST61(0); \
	LEAST61(1); \
	LEAST61(2); \
	LEAST61(3); \
	LEAST61(4); \
	LEAST61(5); \
	LEAST61(6); \
	LEAST61(7)

#define DONES61 \
	VBROADCASTSS 288(R8), Y5; \
	DONE61(256, Y10, Y2, (DI)); \
	DONE61(272, Y11, Y3, 32(DI))

#define BLOCK61 \
	PART61(0); \
	PART61(1); \
	PART61(2); \
	PART61(3); \
	PART61(4); \
	PART61(5); \
	PART61(6); \
	PART61(7); \
	AHEAD5(3072); \
	LEASTS61; \
	DONES61

// func mulQ6Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ6Kx1AVX2(SB), NOSPLIT, $0-48
	MASKS6
	GROUPS61(3072, BLOCK6, BLOCK61)

// INPUT64 multiplies sixteen values by those of the input at p.
#define INPUT64(g, p, acc) \
	VPBROADCASTD (16*g) p, Y4; \
	VPBROADCASTD (16*g+4) p, Y5; \
	VPBROADCASTD (16*g+8) p, Y12; \
	VPBROADCASTD (16*g+12) p, Y13; \
	VPMADDUBSW Y4, Y0, Y4; \
	VPMADDUBSW Y5, Y1, Y5; \
	VPMADDUBSW Y12, Y2, Y12; \
	VPMADDUBSW Y13, Y3, Y13; \
	VPADDW Y5, Y4, Y4; \
	VPADDW Y13, Y12, Y12; \
	VPMADDWD Y7, Y4, Y4; \
	VPMADDWD Y7, Y12, Y12; \
	VPADDD Y4, acc, acc; \
	VPADDD Y12, acc, acc

#define SIXTEEN64(g, scale, which) \
	PREFETCHT0 (192*g+8192)(CX); \
	VALUES6((192*g)); \
	PREFETCHT0 (192*g+8256)(CX); \
	SCALE6(scale, which); \
	INPUT64(g, (R8), Y8); \
	PREFETCHT0 (192*g+8320)(CX); \
	INPUT64(g, (R8)(AX*1), Y9); \
	INPUT64(g, (R8)(AX*2), Y10); \
	INPUT64(g, (R8)(R13*1), Y11)

#define PART64(p) \
	SIXTEEN64((2*p), (32*p), even); \
	SIXTEEN64((2*p+1), (32*p), odd)

#define MINIMUM64(p, sum) \
	VPBROADCASTD p, Y4; \
	VPMADDWD Y4, Y12, Y4; \
	VPADDD Y4, sum, sum

// LEAST64 adds the products of a part's scales and the inputs' sums of sixteen to Y0 to Y3.
#define LEAST64(p) \
	VPMOVSXBW (32*p)(R9), Y12; \
	MINIMUM64((256+4*p)(R8), Y0); \
	MINIMUM64((256+4*p)(R8)(AX*1), Y1); \
	MINIMUM64((256+4*p)(R8)(AX*2), Y2); \
	MINIMUM64((256+4*p)(R8)(R13*1), Y3)

// GROUPS64 is GROUPS61 for four inputs. It reads a group twice, eight rows at a time: R11 is 2, then 1.
#define GROUPS64(scales, size, BLOCKOF) \
	GROUPSINTO(scales, size, BLOCKOF, ZEROS4)

#define ZEROS4 \
	VXORPS Y0, Y0, Y0; \
	VMOVUPS Y0, (DI); \
	VMOVUPS Y0, (DI)(R14*1); \
	VMOVUPS Y0, (DI)(R14*2); \
	VMOVUPS Y0, (DI)(R15*1)

#define ZEROS8 \
	ZEROS4; \
	LEAQ (DI)(R14*4), R10; \
	VMOVUPS Y0, (R10); \
	VMOVUPS Y0, (R10)(R14*1); \
	VMOVUPS Y0, (R10)(R14*2); \
	VMOVUPS Y0, (R10)(R15*1)

// GROUPSINTO clears the sums by CLEARSUMS.
#define GROUPSINTO(scales, size, BLOCKOF, CLEARSUMS) \
	MOVQ dst+0(FP), DI; \
	MOVQ stride+8(FP), R14; \
	SHLQ $2, R14; \
	LEAQ (R14)(R14*2), R15; \
	MOVQ w+16(FP), SI; \
	MOVQ groups+24(FP), DX; \
	MOVQ blocks+32(FP), AX; \
	MOVQ x+40(FP), R12; \
	IMULQ $320, AX; \
	LEAQ (AX)(AX*2), R13; \
group: \
	MOVQ $2, R11; \
	MOVQ SI, CX; \
	LEAQ scales(SI), R9; \
half: \
	MOVQ R12, R8; \
	MOVQ blocks+32(FP), BX; \
	CLEARSUMS; \
block: \
	VPXOR Y8, Y8, Y8; \
	VPXOR Y9, Y9, Y9; \
	VPXOR Y10, Y10, Y10; \
	VPXOR Y11, Y11, Y11; \
	BLOCKOF; \
	ADDQ $size, CX; \
	ADDQ $size, R9; \
	ADDQ $320, R8; \
	DECQ BX; \
	JNZ  block; \
	ADDQ $32, DI; \
	LEAQ -scales(R9), BX; \
	LEAQ 32(SI), CX; \
	LEAQ (scales+16)(SI), R9; \
	DECQ R11; \
	JNZ  half; \
	LEAQ -16(BX), SI; \
	DECQ DX; \
	JNZ  group; \
	VZEROUPPER; \
	RET

#define LEASTS64 \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	LEAST64(0); \
	LEAST64(1); \
	LEAST64(2); \
	LEAST64(3); \
	LEAST64(4); \
	LEAST64(5); \
	LEAST64(6); \
	LEAST64(7)

#define DONES4 \
	DONE4((R8), Y8, Y0, (DI)); \
	DONE4((R8)(AX*1), Y9, Y1, (DI)(R14*1)); \
	DONE4((R8)(AX*2), Y10, Y2, (DI)(R14*2)); \
	DONE4((R8)(R13*1), Y11, Y3, (DI)(R15*1))

#define DONES64 \
	VCVTPH2PS 256(R9), Y12; \
	VMULPS thirtyTwo<>(SB), Y12, Y13; \
	DONES4

#define BLOCK64 \
	MASKS6; \
	PART64(0); \
	PART64(1); \
	PART64(2); \
	PART64(3); \
	PART64(4); \
	PART64(5); \
	PART64(6); \
	PART64(7); \
	LEASTS64; \
	DONES64

// func mulQ6Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ6Kx4AVX2(SB), NOSPLIT, $0-48
	GROUPS64(3072, BLOCK6, BLOCK64)

// Packed Q2_K and Q3_K: see packedQ2K and packedQ3K in kpacked.go. A word has two bits of each of the four parts of a half. Of Q2_K
// the scales are at 1024, d at 1280 and m at 1312; of Q3_K third bits at 1024, scales at 1536, d at 1792.

#define BLOCK2 1344
#define BLOCK3 1856

DATA fours<>+0(SB)/8, $0x0404040404040404
DATA fours<>+8(SB)/8, $0x0404040404040404
DATA fours<>+16(SB)/8, $0x0404040404040404
DATA fours<>+24(SB)/8, $0x0404040404040404
GLOBL fours<>(SB), RODATA|NOPTR, $32

// FIRSTPARTS and LASTPARTS shift the bits of parts 0 and 1, or 2 and 3, of the words in a to the lowest bits of a and b.
#define FIRSTPARTS(a, b) \
	VPSRLW $2, a, b
#define LASTPARTS(a, b) \
	VPSRLW $6, a, b; \
	VPSRLW $4, a, a

// VALUES21 reads a word of sixteen rows: one part to Y0 and Y1, another to Y2 and Y3. Y6 is the mask.
#define VALUES21(PARTS, at) \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	PARTS(Y0, Y2); \
	PARTS(Y1, Y3); \
	VPAND Y6, Y0, Y0; \
	VPAND Y6, Y1, Y1; \
	VPAND Y6, Y2, Y2; \
	VPAND Y6, Y3, Y3

// THIRD adds the third bits in bits, shifted into place, to y.
#define THIRD(op, by, bits, y) \
	op by, bits, Y9; \
	VPAND Y7, Y9, Y9; \
	VPOR Y9, y, y

#define VALUES31(PARTS, at, bits, op0, by0, op1, by1) \
	VALUES21(PARTS, at); \
	VMOVDQU bits(CX), Y8; \
	THIRD(op0, by0, Y8, Y0); \
	THIRD(op1, by1, Y8, Y2); \
	VMOVDQU (bits+32)(CX), Y8; \
	THIRD(op0, by0, Y8, Y1); \
	THIRD(op1, by1, Y8, Y3)

#define STARTS1(low, high) \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPMADDUBSW Y4, Y0, Y12; \
	VPMADDUBSW Y4, Y1, Y13; \
	VPMADDUBSW Y5, Y2, Y14; \
	VPMADDUBSW Y5, Y3, Y15

#define ADDS1(low, high) \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPMADDUBSW Y4, Y0, Y0; \
	VPMADDUBSW Y4, Y1, Y1; \
	VPMADDUBSW Y5, Y2, Y2; \
	VPMADDUBSW Y5, Y3, Y3; \
	VPADDW Y0, Y12, Y12; \
	VPADDW Y1, Y13, Y13; \
	VPADDW Y2, Y14, Y14; \
	VPADDW Y3, Y15, Y15

// SCALE2 spreads the scales of eight rows at at(R9), lower nibbles, over the words of y. SCALE3 does so for Q3_K.
#define SCALE2(at, which, y) \
	VBROADCASTI128 at(R9), y; \
	VPAND nibbles<>(SB), y, y; \
	VPSHUFB which<>(SB), y, y; \
	VPSRAW $8, y, y
#define SCALE3(at, which, y) \
	VBROADCASTI128 at(R9), y; \
	VPSHUFB which<>(SB), y, y; \
	VPSRAW $8, y, y

// TOTALS21 multiplies the sums of two parts by their scales, at(R9) and at+32(R9).
#define TOTALS21(SCALE, at, which) \
	SCALE(at, which, Y0); \
	SCALE((at+16), which, Y1); \
	SCALE((at+32), which, Y2); \
	SCALE((at+48), which, Y3); \
	VPMADDWD Y0, Y12, Y12; \
	VPMADDWD Y1, Y13, Y13; \
	VPMADDWD Y2, Y14, Y14; \
	VPMADDWD Y3, Y15, Y15; \
	VPADDD Y12, Y10, Y10; \
	VPADDD Y13, Y11, Y11; \
	VPADDD Y14, Y10, Y10; \
	VPADDD Y15, Y11, Y11

// SIXTEENS21 multiplies words k to k+3 of parts p and p+1 of half h.
#define SIXTEENS21(PARTS, h, p, k, which) \
	LINE(16*h+4*p+k+0); \
	VALUES21(PARTS, (512*h+64*k)); \
	STARTS1((128*h+32*p+4*k), (128*h+32*p+4*k+32)); \
	LINE(16*h+4*p+k+1); \
	VALUES21(PARTS, (512*h+64*k+64)); \
	ADDS1((128*h+32*p+4*k+4), (128*h+32*p+4*k+36)); \
	LINE(16*h+4*p+k+2); \
	VALUES21(PARTS, (512*h+64*k+128)); \
	ADDS1((128*h+32*p+4*k+8), (128*h+32*p+4*k+40)); \
	LINE(16*h+4*p+k+3); \
	VALUES21(PARTS, (512*h+64*k+192)); \
	ADDS1((128*h+32*p+4*k+12), (128*h+32*p+4*k+44)); \
	TOTALS21(SCALE2, (128*h+32*p), which)

#define SIXTEENS31(PARTS, h, p, k, which, op0, by0, op1, by1) \
	LINE(16*h+4*p+k+0); \
	VALUES31(PARTS, (512*h+64*k), (1024+64*k), op0, by0, op1, by1); \
	STARTS1((128*h+32*p+4*k), (128*h+32*p+4*k+32)); \
	LINE(16*h+4*p+k+1); \
	VALUES31(PARTS, (512*h+64*k+64), (1088+64*k), op0, by0, op1, by1); \
	ADDS1((128*h+32*p+4*k+4), (128*h+32*p+4*k+36)); \
	LINE(16*h+4*p+k+2); \
	VALUES31(PARTS, (512*h+64*k+128), (1152+64*k), op0, by0, op1, by1); \
	ADDS1((128*h+32*p+4*k+8), (128*h+32*p+4*k+40)); \
	LINE(16*h+4*p+k+3); \
	VALUES31(PARTS, (512*h+64*k+192), (1216+64*k), op0, by0, op1, by1); \
	ADDS1((128*h+32*p+4*k+12), (128*h+32*p+4*k+44)); \
	TOTALS21(SCALE3, (128*h+32*p), which)

// ALL2 and ALL3 apply SIXTEENS to all values.
#define ALL2(SIXTEENS) \
	SIXTEENS(FIRSTPARTS, 0, 0, 0, even); \
	SIXTEENS(FIRSTPARTS, 0, 0, 4, odd); \
	SIXTEENS(LASTPARTS, 0, 2, 0, even); \
	SIXTEENS(LASTPARTS, 0, 2, 4, odd); \
	SIXTEENS(FIRSTPARTS, 1, 0, 0, even); \
	SIXTEENS(FIRSTPARTS, 1, 0, 4, odd); \
	SIXTEENS(LASTPARTS, 1, 2, 0, even); \
	SIXTEENS(LASTPARTS, 1, 2, 4, odd)

#define ALL3(SIXTEENS) \
	SIXTEENS(FIRSTPARTS, 0, 0, 0, even, VPSLLW, $2, VPSLLW, $1); \
	SIXTEENS(FIRSTPARTS, 0, 0, 4, odd, VPSLLW, $2, VPSLLW, $1); \
	SIXTEENS(LASTPARTS, 0, 2, 0, even, VPSLLW, $0, VPSRLW, $1); \
	SIXTEENS(LASTPARTS, 0, 2, 4, odd, VPSLLW, $0, VPSRLW, $1); \
	SIXTEENS(FIRSTPARTS, 1, 0, 0, even, VPSRLW, $2, VPSRLW, $3); \
	SIXTEENS(FIRSTPARTS, 1, 0, 4, odd, VPSRLW, $2, VPSRLW, $3); \
	SIXTEENS(LASTPARTS, 1, 2, 0, even, VPSRLW, $4, VPSRLW, $5); \
	SIXTEENS(LASTPARTS, 1, 2, 4, odd, VPSRLW, $4, VPSRLW, $5)

// LEAST21 adds the products of a part's minima and the input's sums of sixteen to Y2 and Y3.
#define LEAST21(p) \
	VPMOVZXBW (32*p)(R9), Y0; \
	VPMOVZXBW (32*p+16)(R9), Y1; \
	VPBROADCASTD (256+4*p)(R8), Y4; \
	VPSRLW $4, Y0, Y0; \
	VPSRLW $4, Y1, Y1; \
	VPMADDWD Y4, Y0, Y0; \
	VPMADDWD Y4, Y1, Y1; \
	VPADDD Y0, Y2, Y2; \
	VPADDD Y1, Y3, Y3

#define DONE21(at, sum, least, dst) \
	VCVTPH2PS at(R9), Y12; \
	VCVTPH2PS (at+32)(R9), Y13; \
	SCALED61(sum, least, dst)

#define BLOCK21 \
	ALL2(SIXTEENS21); \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	LEAST21(0); \
	LEAST21(1); \
	LEAST21(2); \
	LEAST21(3); \
	LEAST21(4); \
	LEAST21(5); \
	LEAST21(6); \
	LEAST21(7); \
	VBROADCASTSS 288(R8), Y5; \
	DONE21(256, Y10, Y2, (DI)); \
	DONE21(272, Y11, Y3, 32(DI))

// func mulQ2Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ2Kx1AVX2(SB), NOSPLIT, $0-48
	VMOVDQU sixes<>+96(SB), Y6
	GROUPS61(1024, BLOCK2, BLOCK21)

// OFFSET28 adds 28 times least to sum, since Q3_K's integers start at 28. It changes a and b.
#define OFFSET28(sum, least, a, b) \
	VPSLLD $5, least, a; \
	VPSLLD $2, least, b; \
	VPSUBD b, a, a; \
	VPADDD a, sum, sum

#define BLOCK31 \
	ALL3(SIXTEENS31); \
	LEASTS61; \
	OFFSET28(Y10, Y2, Y0, Y1); \
	OFFSET28(Y11, Y3, Y0, Y1); \
	DONES61

// func mulQ3Kx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ3Kx1AVX2(SB), NOSPLIT, $0-48
	VMOVDQU sixes<>+96(SB), Y6
	VMOVDQU fours<>(SB), Y7
	GROUPS61(1536, BLOCK3, BLOCK31)

// VALUES24 reads a word of eight rows: one part to Y12, another to Y13. Y15 is the mask.
#define VALUES24(PARTS, at) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y12; \
	PARTS(Y12, Y13); \
	VPAND Y15, Y12, Y12; \
	VPAND Y15, Y13, Y13

#define THIRD4(op, by, bits, y) \
	VMOVDQU bits(CX), Y14; \
	op by, Y14, Y14; \
	VPAND fours<>(SB), Y14, Y14; \
	VPOR Y14, y, y

#define VALUES34(PARTS, at, bits, op0, by0, op1, by1) \
	VALUES24(PARTS, at); \
	THIRD4(op0, by0, bits, Y12); \
	THIRD4(op1, by1, bits, Y13)

#define TOTALS24(SCALE, at, which) \
	SCALE(at, which, Y12); \
	SCALE((at+32), which, Y13); \
	VPMADDWD Y12, Y0, Y0; \
	VPMADDWD Y12, Y1, Y1; \
	VPMADDWD Y12, Y2, Y2; \
	VPMADDWD Y12, Y3, Y3; \
	VPMADDWD Y13, Y4, Y4; \
	VPMADDWD Y13, Y5, Y5; \
	VPMADDWD Y13, Y6, Y6; \
	VPMADDWD Y13, Y7, Y7; \
	VPADDD Y0, Y8, Y8; \
	VPADDD Y1, Y9, Y9; \
	VPADDD Y2, Y10, Y10; \
	VPADDD Y3, Y11, Y11; \
	VPADDD Y4, Y8, Y8; \
	VPADDD Y5, Y9, Y9; \
	VPADDD Y6, Y10, Y10; \
	VPADDD Y7, Y11, Y11

#define SIXTEENS24(PARTS, h, p, k, which) \
	VALUES24(PARTS, (512*h+64*k)); \
	FIRSTS4((128*h+32*p+4*k), (128*h+32*p+4*k+32)); \
	VALUES24(PARTS, (512*h+64*k+64)); \
	ADDS4((128*h+32*p+4*k+4), (128*h+32*p+4*k+36)); \
	VALUES24(PARTS, (512*h+64*k+128)); \
	ADDS4((128*h+32*p+4*k+8), (128*h+32*p+4*k+40)); \
	VALUES24(PARTS, (512*h+64*k+192)); \
	ADDS4((128*h+32*p+4*k+12), (128*h+32*p+4*k+44)); \
	TOTALS24(SCALE2, (128*h+32*p), which)

#define SIXTEENS34(PARTS, h, p, k, which, op0, by0, op1, by1) \
	VALUES34(PARTS, (512*h+64*k), (1024+64*k), op0, by0, op1, by1); \
	FIRSTS4((128*h+32*p+4*k), (128*h+32*p+4*k+32)); \
	VALUES34(PARTS, (512*h+64*k+64), (1088+64*k), op0, by0, op1, by1); \
	ADDS4((128*h+32*p+4*k+4), (128*h+32*p+4*k+36)); \
	VALUES34(PARTS, (512*h+64*k+128), (1152+64*k), op0, by0, op1, by1); \
	ADDS4((128*h+32*p+4*k+8), (128*h+32*p+4*k+40)); \
	VALUES34(PARTS, (512*h+64*k+192), (1216+64*k), op0, by0, op1, by1); \
	ADDS4((128*h+32*p+4*k+12), (128*h+32*p+4*k+44)); \
	TOTALS24(SCALE3, (128*h+32*p), which)

#define LEAST24(p) \
	VPMOVZXBW (32*p)(R9), Y12; \
	VPSRLW $4, Y12, Y12; \
	MINIMUM64((256+4*p)(R8), Y0); \
	MINIMUM64((256+4*p)(R8)(AX*1), Y1); \
	MINIMUM64((256+4*p)(R8)(AX*2), Y2); \
	MINIMUM64((256+4*p)(R8)(R13*1), Y3)

#define LEASTS24 \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	LEAST24(0); \
	LEAST24(1); \
	LEAST24(2); \
	LEAST24(3); \
	LEAST24(4); \
	LEAST24(5); \
	LEAST24(6); \
	LEAST24(7); \
	VCVTPH2PS 256(R9), Y12; \
	VCVTPH2PS 288(R9), Y13; \
	DONES4

#define BLOCK24 \
	VMOVDQU sixes<>+96(SB), Y15; \
	ALL2(SIXTEENS24); \
	LEASTS24

// func mulQ2Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ2Kx4AVX2(SB), NOSPLIT, $0-48
	GROUPS64(1024, BLOCK2, BLOCK24)

#define LEASTS34 \
	LEASTS64; \
	OFFSET28(Y8, Y0, Y4, Y5); \
	OFFSET28(Y9, Y1, Y4, Y5); \
	OFFSET28(Y10, Y2, Y4, Y5); \
	OFFSET28(Y11, Y3, Y4, Y5); \
	DONES64

#define BLOCK34 \
	VMOVDQU sixes<>+96(SB), Y15; \
	ALL3(SIXTEENS34); \
	LEASTS34

// func mulQ3Kx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ3Kx4AVX2(SB), NOSPLIT, $0-48
	GROUPS64(1536, BLOCK3, BLOCK34)

// For many inputs a block is unpacked once for all (unpackQ2K, unpackQ3K): for each half of the rows a part's eight words, 32 bytes
// each, follow those of the part before.

#define UNPACKED(h, p, k) \
	VMOVDQU Y12, (1024*h+256*p+32*k)(DI); \
	VMOVDQU Y13, (1024*h+256*p+256+32*k)(DI)

#define UNPACKS2(PARTS, h, p, k, which) \
	VALUES24(PARTS, (512*h+64*k)); \
	UNPACKED(h, p, (k+0)); \
	VALUES24(PARTS, (512*h+64*k+64)); \
	UNPACKED(h, p, (k+1)); \
	VALUES24(PARTS, (512*h+64*k+128)); \
	UNPACKED(h, p, (k+2)); \
	VALUES24(PARTS, (512*h+64*k+192)); \
	UNPACKED(h, p, (k+3))

#define UNPACKS3(PARTS, h, p, k, which, op0, by0, op1, by1) \
	VALUES34(PARTS, (512*h+64*k), (1024+64*k), op0, by0, op1, by1); \
	UNPACKED(h, p, (k+0)); \
	VALUES34(PARTS, (512*h+64*k+64), (1088+64*k), op0, by0, op1, by1); \
	UNPACKED(h, p, (k+1)); \
	VALUES34(PARTS, (512*h+64*k+128), (1152+64*k), op0, by0, op1, by1); \
	UNPACKED(h, p, (k+2)); \
	VALUES34(PARTS, (512*h+64*k+192), (1216+64*k), op0, by0, op1, by1); \
	UNPACKED(h, p, (k+3))

// UNPACKK stores the block at CX at DI.
#define UNPACKK(ALL) \
	VMOVDQU sixes<>+96(SB), Y15; \
	MOVQ $2, BX; \
rows: \
	ALL; \
	ADDQ $32, CX; \
	ADDQ $2048, DI; \
	DECQ BX; \
	JNZ  rows; \
	VZEROUPPER; \
	RET

// func unpackQ2K(dst *unpackedK, w *byte)
TEXT ·unpackQ2K(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	UNPACKK(ALL2(UNPACKS2))

// func unpackQ3K(dst *unpackedK, w *byte)
TEXT ·unpackQ3K(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	UNPACKK(ALL3(UNPACKS3))

#define READU(p, k) \
	VMOVDQU (256*p+32*k)(CX), Y12; \
	VMOVDQU (256*p+256+32*k)(CX), Y13

// SIXTEENSU multiplies words k to k+3 of parts p and p+1.
#define SIXTEENSU(SCALE, p, k, which) \
	READU(p, (k+0)); \
	FIRSTS4((32*p+4*k), (32*p+4*k+32)); \
	READU(p, (k+1)); \
	ADDS4((32*p+4*k+4), (32*p+4*k+36)); \
	READU(p, (k+2)); \
	ADDS4((32*p+4*k+8), (32*p+4*k+40)); \
	READU(p, (k+3)); \
	ADDS4((32*p+4*k+12), (32*p+4*k+44)); \
	TOTALS24(SCALE, (32*p), which)

#define ALLU(SCALE) \
	SIXTEENSU(SCALE, 0, 0, even); \
	SIXTEENSU(SCALE, 0, 4, odd); \
	SIXTEENSU(SCALE, 2, 0, even); \
	SIXTEENSU(SCALE, 2, 4, odd); \
	SIXTEENSU(SCALE, 4, 0, even); \
	SIXTEENSU(SCALE, 4, 4, odd); \
	SIXTEENSU(SCALE, 6, 0, even); \
	SIXTEENSU(SCALE, 6, 4, odd)

// MANYK multiplies the DX inputs at R12, in fours, by the unpacked block at CX, eight rows at a time. The scales are at R9, and
// the sums at SI.
#define MANYK(SCALE, REST) \
	SHLQ $2, R14; \
	LEAQ (R14)(R14*2), R15; \
	IMULQ $320, AX; \
	LEAQ (AX)(AX*2), R13; \
	MOVQ $2, R11; \
rows: \
	MOVQ SI, DI; \
	MOVQ R12, R8; \
	MOVQ DX, BX; \
inputs: \
	VPXOR Y8, Y8, Y8; \
	VPXOR Y9, Y9, Y9; \
	VPXOR Y10, Y10, Y10; \
	VPXOR Y11, Y11, Y11; \
	ALLU(SCALE); \
	REST; \
	LEAQ (R8)(AX*4), R8; \
	LEAQ (DI)(R14*4), DI; \
	SUBQ $4, BX; \
	JNZ  inputs; \
	ADDQ $32, SI; \
	ADDQ $2048, CX; \
	ADDQ $16, R9; \
	DECQ R11; \
	JNZ  rows; \
	VZEROUPPER; \
	RET

// func mulManyQ2K(dst *float32, stride int, w *unpackedK, scales *byte, x *kInput, blocks, m int)
TEXT ·mulManyQ2K(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), SI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), R9
	MOVQ x+32(FP), R12
	MOVQ blocks+40(FP), AX
	MOVQ m+48(FP), DX
	MANYK(SCALE2, LEASTS24)

// func mulManyQ3K(dst *float32, stride int, w *unpackedK, scales *byte, x *kInput, blocks, m int)
TEXT ·mulManyQ3K(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), SI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), R9
	MOVQ x+32(FP), R12
	MOVQ blocks+40(FP), AX
	MOVQ m+48(FP), DX
	MANYK(SCALE3, LEASTS34)

// Packed IQ4_XS: see packedXS in kpacked.go. Scales are at 2048, d at 2176. The table's numbers have 8 bits, so the scales multiply
// each product of two. As in tiles_amd64.s, the weights' signs move to the input.

#define BLOCKX 2240

DATA table<>+0(SB)/8, $0xf6eaddcfbfad9881
DATA table<>+8(SB)/8, $0x7159453526190d01
DATA table<>+16(SB)/8, $0x766a5d4f3f2d1801
DATA table<>+24(SB)/8, $0xf1d9c5b5a6998d81
GLOBL table<>(SB), RODATA|NOPTR, $32

// SIGNED multiplies weights w by four elements of the input in x, and by the scales, and adds the products to sum.
#define SIGNED(x, w, scales, sum) \
	VPSIGNB w, x, Y12; \
	VPABSB w, w; \
	VPMADDUBSW Y12, w, w; \
	VPMADDWD scales, w, w; \
	VPADDD w, sum, sum

#define WORDX1(at, low) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD (low+16)(R8), Y5; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y6, Y0, Y0; \
	VPAND Y6, Y1, Y1; \
	VPAND Y6, Y2, Y2; \
	VPAND Y6, Y3, Y3; \
	VPSHUFB Y0, Y14, Y0; \
	VPSHUFB Y1, Y14, Y1; \
	VPSHUFB Y2, Y14, Y2; \
	VPSHUFB Y3, Y14, Y3; \
	SIGNED(Y4, Y0, Y8, Y10); \
	SIGNED(Y4, Y1, Y9, Y11); \
	SIGNED(Y5, Y2, Y8, Y10); \
	SIGNED(Y5, Y3, Y9, Y11)

#define PARTX1(p, at, which) \
	SCALE3(at, which, Y8); \
	SCALE3((at+16), which, Y9); \
	WORDX1((256*p), (32*p)); \
	WORDX1((256*p+64), (32*p+4)); \
	WORDX1((256*p+128), (32*p+8)); \
	WORDX1((256*p+192), (32*p+12))

#define DONEX1(at, sum, dst) \
	VCVTPH2PS at(R9), Y12; \
	VMULPS Y12, Y5, Y12; \
	VCVTDQ2PS sum, sum; \
	VMULPS Y12, sum, sum; \
	VADDPS dst, sum, sum; \
	VMOVUPS sum, dst

#define BLOCKX1 \
	PARTX1(0, 0, even); \
	PARTX1(1, 0, odd); \
	PARTX1(2, 32, even); \
	PARTX1(3, 32, odd); \
	PARTX1(4, 64, even); \
	PARTX1(5, 64, odd); \
	PARTX1(6, 96, even); \
	PARTX1(7, 96, odd); \
	PREFETCHT0 (2048+8192)(CX); \
	PREFETCHT0 (2112+8192)(CX); \
	PREFETCHT0 (2176+8192)(CX); \
	VBROADCASTSS 288(R8), Y5; \
	DONEX1(128, Y10, (DI)); \
	DONEX1(144, Y11, 32(DI))

// func mulXSx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx1AVX2(SB), NOSPLIT, $0-48
	VMOVDQU nibbles<>(SB), Y6
	VBROADCASTI128 table<>(SB), Y14
	GROUPS61(2048, BLOCKX, BLOCKX1)

// SIGNED4 multiplies weights, whose magnitudes are in Y13, by four elements of the input at p and by the scales in Y11.
#define SIGNED4(at, p, acc) \
	VPBROADCASTD at p, Y10; \
	VPSIGNB Y12, Y10, Y10; \
	VPMADDUBSW Y10, Y13, Y10; \
	VPMADDWD Y11, Y10, Y10; \
	VPADDD Y10, acc, acc

#define FOURX(at) \
	SIGNED4(at, (R8), Y0); \
	SIGNED4(at, (R8)(AX*1), Y1); \
	SIGNED4(at, (R8)(AX*2), Y2); \
	SIGNED4(at, (R8)(R13*1), Y3)

// EIGHTX is for eight inputs: R10 points to the last four.
#define EIGHTX(at) \
	FOURX(at); \
	SIGNED4(at, (R10), Y4); \
	SIGNED4(at, (R10)(AX*1), Y5); \
	SIGNED4(at, (R10)(AX*2), Y6); \
	SIGNED4(at, (R10)(R13*1), Y7)

// WORDX looks up the numbers of a word of eight rows, first of the lower nibbles, and multiplies them by several inputs.
#define WORDX(INPUTS, at, low) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y15; \
	VPAND nibbles<>(SB), Y15, Y12; \
	VPSHUFB Y12, Y14, Y12; \
	VPABSB Y12, Y13; \
	INPUTS(low); \
	VPSRLW $4, Y15, Y15; \
	VPAND nibbles<>(SB), Y15, Y15; \
	VPSHUFB Y15, Y14, Y12; \
	VPABSB Y12, Y13; \
	INPUTS((low+16))

#define PARTX(INPUTS, part, which) \
	SCALE3(0, which, Y11); \
	WORDX(INPUTS, (256*part), (32*part)); \
	WORDX(INPUTS, (256*part+64), (32*part+4)); \
	WORDX(INPUTS, (256*part+128), (32*part+8)); \
	WORDX(INPUTS, (256*part+192), (32*part+12))

// PAIRSX multiplies the parts of a block, two at a time: all of them would take half of the nearest cache for instructions. It
// leaves CX, R8 and R10 256 inputs and 2048 bytes on, and R9 at the end of the scales.
#define PAIRSX(INPUTS) \
	MOVQ $4, left-8(SP); \
parts: \
	PARTX(INPUTS, 0, even); \
	PARTX(INPUTS, 1, odd); \
	ADDQ $512, CX; \
	ADDQ $64, R8; \
	ADDQ $64, R10; \
	ADDQ $32, R9; \
	DECQ left-8(SP); \
	JNZ parts

#define DONEX(p, sum, dst) \
	VBROADCASTSS 32 p, Y10; \
	VMULPS Y12, Y10, Y10; \
	VCVTDQ2PS sum, sum; \
	VMULPS Y10, sum, sum; \
	VADDPS dst, sum, sum; \
	VMOVUPS sum, dst

#define DONEX4(p, dst, a, b, c, d) \
	DONEX((p), a, (dst)); \
	DONEX((p)(AX*1), b, (dst)(R14*1)); \
	DONEX((p)(AX*2), c, (dst)(R14*2)); \
	DONEX((p)(R13*1), d, (dst)(R15*1))

#define CLEARX(a, b, c, d) \
	VPXOR a, a, a; \
	VPXOR b, b, b; \
	VPXOR c, c, c; \
	VPXOR d, d, d

#define BLOCKX4 \
	CLEARX(Y0, Y1, Y2, Y3); \
	PAIRSX(FOURX); \
	VCVTPH2PS (R9), Y12; \
	DONEX4(R8, DI, Y0, Y1, Y2, Y3); \
	SUBQ $2048, CX; \
	SUBQ $256, R8; \
	SUBQ $128, R9

#define BLOCKX8 \
	CLEARX(Y0, Y1, Y2, Y3); \
	CLEARX(Y4, Y5, Y6, Y7); \
	LEAQ (R8)(AX*4), R10; \
	PAIRSX(EIGHTX); \
	VCVTPH2PS (R9), Y12; \
	DONEX4(R8, DI, Y0, Y1, Y2, Y3); \
	LEAQ (DI)(R14*4), R8; \
	DONEX4(R10, R8, Y4, Y5, Y6, Y7); \
	SUBQ $2048, CX; \
	MOVQ R10, R8; \
	SUBQ AX, R8; \
	SUBQ R13, R8; \
	SUBQ $256, R8; \
	SUBQ $128, R9

// func mulXSx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx4AVX2(SB), NOSPLIT, $8-48
	VBROADCASTI128 table<>(SB), Y14
	GROUPS64(2048, BLOCKX, BLOCKX4)

// func mulXSx8AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx8AVX2(SB), NOSPLIT, $8-48
	VBROADCASTI128 table<>(SB), Y14
	GROUPSINTO(2048, BLOCKX, BLOCKX8, ZEROS8)

// The same for AVX-512 with VNNI, sixteen rows at a time.

// PARTS reads a word: the lower nibbles to Z24, the upper ones to Z25. Z26 is the nibble mask.
#define PARTS(at) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU64 at(CX), Z24; \
	VPSRLW $4, Z24, Z25; \
	VPANDD Z26, Z24, Z24; \
	VPANDD Z26, Z25, Z25

// DOT multiplies both by two times four elements of the input at p.
#define DOT(low, high, p, a, b) \
	VPDPBUSD.BCST low p, Z24, a; \
	VPDPBUSD.BCST high p, Z25, b

#define DOTS(low, high, r, a, b, c, d, e, f, g, h) \
	DOT(low, high, (r), a, e); \
	DOT(low, high, (r)(AX*1), b, f); \
	DOT(low, high, (r)(AX*2), c, g); \
	DOT(low, high, (r)(R13*1), d, h)

#define CLEAR4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

// TOTAL multiplies the sum of a part by its scales, in Z27, and adds the product to total.
#define TOTAL(sum, total) \
	VPMULLD Z27, sum, sum; \
	VPADDD sum, total, total

#define SCALESOF(p) \
	VPMOVZXBD (2048+16*p)(CX), Z27

#define MINIMAOF(p) \
	VPMOVZXBW (2176+16*p)(CX), Z27

#define MINIMA(p, r, a, b, c, d) \
	VPDPWSSD.BCST (292+2*p)(r), Z27, a; \
	VPDPWSSD.BCST (292+2*p)(r)(AX*1), Z27, b; \
	VPDPWSSD.BCST (292+2*p)(r)(AX*2), Z27, c; \
	VPDPWSSD.BCST (292+2*p)(r)(R13*1), Z27, d

// DONE adds the scaled sums of a block to dst. Z24 is d, Z25 is m.
#define DONE(p, sum, least, dst) \
	VCVTDQ2PS sum, sum; \
	VCVTDQ2PS least, least; \
	VMULPS.BCST 288 p, Z24, Z27; \
	VMULPS Z27, sum, sum; \
	VMULPS.BCST 288 p, Z25, Z27; \
	VMULPS Z27, least, least; \
	VSUBPS least, sum, sum; \
	VADDPS dst, sum, sum; \
	VMOVUPS sum, dst

// GROUPS is a kernel. CLEAR clears dst, BLOCKOF multiplies a block and adds to dst. R8 and R9 point to four inputs each, DI and
// R10 to their results.
#define GROUPS(CLEAR, BLOCKOF) \
	MASK($0x0f0f0f0f, Z26); \
	GROUPSOF(BLOCK, CLEAR, BLOCKOF)

#define MASK(bits, z) \
	MOVL bits, BX; \
	VPBROADCASTD BX, z

// GROUPSOF is GROUPS with blocks of size bytes.
#define GROUPSOF(size, CLEAR, BLOCKOF) \
	MOVQ dst+0(FP), DI; \
	MOVQ stride+8(FP), R14; \
	SHLQ $2, R14; \
	LEAQ (R14)(R14*2), R15; \
	LEAQ (DI)(R14*4), R10; \
	MOVQ w+16(FP), CX; \
	MOVQ groups+24(FP), DX; \
	MOVQ blocks+32(FP), AX; \
	MOVQ x+40(FP), R12; \
	IMULQ $320, AX; \
	LEAQ (AX)(AX*2), R13; \
group: \
	MOVQ R12, R8; \
	LEAQ (R8)(AX*4), R9; \
	MOVQ blocks+32(FP), BX; \
	VPXORD Z0, Z0, Z0; \
	CLEAR; \
block: \
	BLOCKOF; \
	ADDQ $size, CX; \
	ADDQ $320, R8; \
	ADDQ $320, R9; \
	DECQ BX; \
	JNZ  block; \
	ADDQ $64, DI; \
	ADDQ $64, R10; \
	DECQ DX; \
	JNZ  group; \
	VZEROUPPER; \
	RET

#define CLEARED1 \
	VMOVUPS Z0, (DI)

#define CLEARED4(dst) \
	VMOVUPS Z0, (dst); \
	VMOVUPS Z0, (dst)(R14*1); \
	VMOVUPS Z0, (dst)(R14*2); \
	VMOVUPS Z0, (dst)(R15*1)

#define CLEARED8 \
	CLEARED4(DI); \
	CLEARED4(R10)

#define ONE(at, low, high) \
	PARTS(at); \
	DOT(low, high, (R8), Z0, Z8)

#define PAIROF1(p) \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z8, Z8, Z8; \
	PAIRWORDS(ONE, ONE, p); \
	SCALESOF(p); \
	TOTAL(Z0, Z16); \
	SCALESOF((p+1)); \
	TOTAL(Z8, Z16)

#define LEAST1(p) \
	MINIMAOF(p); \
	VPDPWSSD.BCST (292+2*p)(R8), Z27, Z0

#define BLOCKOF1 \
	VPXORD Z16, Z16, Z16; \
	PAIROF1(0); \
	AHEADAT(2048); \
	PAIROF1(2); \
	AHEADAT(2112); \
	PAIROF1(4); \
	AHEADAT(2176); \
	PAIROF1(6); \
	AHEADAT(2240); \
	VPXORD Z0, Z0, Z0; \
	LEAST1(0); \
	AHEADAT(2304); \
	LEAST1(2); \
	LEAST1(4); \
	LEAST1(6); \
	VCVTPH2PS 2304(CX), Z24; \
	VCVTPH2PS 2336(CX), Z25; \
	DONE((R8), Z16, Z0, (DI))

// func mulQ4Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ4Kx1VNNI(SB), NOSPLIT, $0-48
	GROUPS(CLEARED1, BLOCKOF1)

#define FOUR(at, low, high) \
	PARTS(at); \
	DOTS(low, high, R8, Z0, Z1, Z2, Z3, Z8, Z9, Z10, Z11)

#define TOTALS(a, b, c, d, ta, tb, tc, td) \
	TOTAL(a, ta); \
	TOTAL(b, tb); \
	TOTAL(c, tc); \
	TOTAL(d, td)

#define PAIROF4(p) \
	CLEAR4(Z0, Z1, Z2, Z3); \
	CLEAR4(Z8, Z9, Z10, Z11); \
	PAIRWORDS(FOUR, FOUR, p); \
	SCALESOF(p); \
	TOTALS(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19); \
	SCALESOF((p+1)); \
	TOTALS(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19)

#define LEAST4(p) \
	MINIMAOF(p); \
	MINIMA(p, R8, Z0, Z1, Z2, Z3)

#define DONES(r, a, b, c, d, la, lb, lc, ld, dst) \
	DONE((r), a, la, (dst)); \
	DONE((r)(AX*1), b, lb, (dst)(R14*1)); \
	DONE((r)(AX*2), c, lc, (dst)(R14*2)); \
	DONE((r)(R13*1), d, ld, (dst)(R15*1))

#define BLOCKOF4 \
	AHEAD5(2048); \
	CLEAR4(Z16, Z17, Z18, Z19); \
	PAIROF4(0); \
	PAIROF4(2); \
	PAIROF4(4); \
	PAIROF4(6); \
	CLEAR4(Z0, Z1, Z2, Z3); \
	LEAST4(0); \
	LEAST4(2); \
	LEAST4(4); \
	LEAST4(6); \
	VCVTPH2PS 2304(CX), Z24; \
	VCVTPH2PS 2336(CX), Z25; \
	DONES(R8, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, DI)

// func mulQ4Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ4Kx4VNNI(SB), NOSPLIT, $0-48
	GROUPS(CLEARED4(DI), BLOCKOF4)

#define EIGHT(at, low, high) \
	FOUR(at, low, high); \
	DOTS(low, high, R9, Z4, Z5, Z6, Z7, Z12, Z13, Z14, Z15)

#define PAIROF8(p) \
	CLEAR4(Z0, Z1, Z2, Z3); \
	CLEAR4(Z4, Z5, Z6, Z7); \
	CLEAR4(Z8, Z9, Z10, Z11); \
	CLEAR4(Z12, Z13, Z14, Z15); \
	PAIRWORDS(EIGHT, EIGHT, p); \
	SCALESOF(p); \
	TOTALS(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19); \
	TOTALS(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23); \
	SCALESOF((p+1)); \
	TOTALS(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19); \
	TOTALS(Z12, Z13, Z14, Z15, Z20, Z21, Z22, Z23)

#define LEAST8(p) \
	LEAST4(p); \
	MINIMA(p, R9, Z4, Z5, Z6, Z7)

#define BLOCKOF8 \
	AHEAD5(2048); \
	CLEAR4(Z16, Z17, Z18, Z19); \
	CLEAR4(Z20, Z21, Z22, Z23); \
	PAIROF8(0); \
	PAIROF8(2); \
	PAIROF8(4); \
	PAIROF8(6); \
	CLEAR4(Z0, Z1, Z2, Z3); \
	CLEAR4(Z4, Z5, Z6, Z7); \
	LEAST8(0); \
	LEAST8(2); \
	LEAST8(4); \
	LEAST8(6); \
	VCVTPH2PS 2304(CX), Z24; \
	VCVTPH2PS 2336(CX), Z25; \
	DONES(R8, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, DI); \
	DONES(R9, Z20, Z21, Z22, Z23, Z4, Z5, Z6, Z7, R10)

// func mulQ4Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ4Kx8VNNI(SB), NOSPLIT, $0-48
	GROUPS(CLEARED8, BLOCKOF8)

// Q2_K and Q3_K. Z26 is the mask of two bits, Z28 that of the third.

#define PARTS2(PARTS, at) \
	VMOVDQU64 at(CX), Z24; \
	PARTS(Z24, Z25); \
	VPANDD Z26, Z24, Z24; \
	VPANDD Z26, Z25, Z25

#define THIRDS(op, by, z) \
	op by, Z29, Z27; \
	VPTERNLOGD $0xF8, Z28, Z27, z

#define PARTS3(PARTS, at, bits, op0, by0, op1, by1) \
	PARTS2(PARTS, at); \
	VMOVDQU64 bits(CX), Z29; \
	THIRDS(op0, by0, Z24); \
	THIRDS(op1, by1, Z25)

// SCALESEVEN2 and SCALESODD2 read the first or second of sixteen pairs of scales of Q2_K to Z27, SCALESEVEN3 and SCALESODD3 those of Q3_K
// and IQ4_XS.
#define SCALESEVEN2(at) \
	VPMOVZXBW at(CX), Z27; \
	VPSLLD $28, Z27, Z27; \
	VPSRLD $28, Z27, Z27
#define SCALESODD2(at) \
	VPMOVZXBW at(CX), Z27; \
	VPSLLD $12, Z27, Z27; \
	VPSRLD $28, Z27, Z27
#define SCALESEVEN3(at) \
	VPMOVSXBW at(CX), Z27; \
	VPSLLD $16, Z27, Z27; \
	VPSRAD $16, Z27, Z27
#define SCALESODD3(at) \
	VPMOVSXBW at(CX), Z27; \
	VPSRAD $16, Z27, Z27

#define DOTS1(low, high) \
	DOT(low, high, (R8), Z0, Z8)
#define DOTS4(low, high) \
	DOTS(low, high, R8, Z0, Z1, Z2, Z3, Z8, Z9, Z10, Z11)
#define DOTS8(low, high) \
	DOTS4(low, high); \
	DOTS(low, high, R9, Z4, Z5, Z6, Z7, Z12, Z13, Z14, Z15)

#define CLEARS1 \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z8, Z8, Z8
#define CLEARS4 \
	CLEAR4(Z0, Z1, Z2, Z3); \
	CLEAR4(Z8, Z9, Z10, Z11)
#define CLEARS8 \
	CLEARS4; \
	CLEAR4(Z4, Z5, Z6, Z7); \
	CLEAR4(Z12, Z13, Z14, Z15)

// LOWER and UPPER add the scaled sums of the first and the second of two parts to the totals.
#define LOWER1 \
	TOTAL(Z0, Z16)
#define LOWER4 \
	TOTALS(Z0, Z1, Z2, Z3, Z16, Z17, Z18, Z19)
#define LOWER8 \
	LOWER4; \
	TOTALS(Z4, Z5, Z6, Z7, Z20, Z21, Z22, Z23)
#define UPPER1 \
	TOTAL(Z8, Z16)
#define UPPER4 \
	TOTALS(Z8, Z9, Z10, Z11, Z16, Z17, Z18, Z19)
#define UPPER8 \
	UPPER4; \
	TOTALS(Z12, Z13, Z14, Z15, Z20, Z21, Z22, Z23)

#define TOTALS1 VPXORD Z16, Z16, Z16
#define TOTALS4 CLEAR4(Z16, Z17, Z18, Z19)
#define TOTALS8 \
	TOTALS4; \
	CLEAR4(Z20, Z21, Z22, Z23)

#define SIXTEENS2(DOTSOF, CLEARS, LOWER, UPPER, PARTS, h, p, k, SCALES) \
	CLEARS; \
	LINE(16*h+4*p+k+0); \
	PARTS2(PARTS, (512*h+64*k)); \
	DOTSOF((128*h+32*p+4*k), (128*h+32*p+4*k+32)); \
	LINE(16*h+4*p+k+1); \
	PARTS2(PARTS, (512*h+64*k+64)); \
	DOTSOF((128*h+32*p+4*k+4), (128*h+32*p+4*k+36)); \
	LINE(16*h+4*p+k+2); \
	PARTS2(PARTS, (512*h+64*k+128)); \
	DOTSOF((128*h+32*p+4*k+8), (128*h+32*p+4*k+40)); \
	LINE(16*h+4*p+k+3); \
	PARTS2(PARTS, (512*h+64*k+192)); \
	DOTSOF((128*h+32*p+4*k+12), (128*h+32*p+4*k+44)); \
	SCALES((1024+128*h+32*p)); \
	LOWER; \
	SCALES((1056+128*h+32*p)); \
	UPPER

#define SIXTEENS3(DOTSOF, CLEARS, LOWER, UPPER, PARTS, h, p, k, SCALES, op0, by0, op1, by1) \
	CLEARS; \
	LINE(16*h+4*p+k+0); \
	PARTS3(PARTS, (512*h+64*k), (1024+64*k), op0, by0, op1, by1); \
	DOTSOF((128*h+32*p+4*k), (128*h+32*p+4*k+32)); \
	LINE(16*h+4*p+k+1); \
	PARTS3(PARTS, (512*h+64*k+64), (1088+64*k), op0, by0, op1, by1); \
	DOTSOF((128*h+32*p+4*k+4), (128*h+32*p+4*k+36)); \
	LINE(16*h+4*p+k+2); \
	PARTS3(PARTS, (512*h+64*k+128), (1152+64*k), op0, by0, op1, by1); \
	DOTSOF((128*h+32*p+4*k+8), (128*h+32*p+4*k+40)); \
	LINE(16*h+4*p+k+3); \
	PARTS3(PARTS, (512*h+64*k+192), (1216+64*k), op0, by0, op1, by1); \
	DOTSOF((128*h+32*p+4*k+12), (128*h+32*p+4*k+44)); \
	SCALES((1536+128*h+32*p)); \
	LOWER; \
	SCALES((1568+128*h+32*p)); \
	UPPER

#define HALF2(D, C, L, U, h) \
	SIXTEENS2(D, C, L, U, FIRSTPARTS, h, 0, 0, SCALESEVEN2); \
	SIXTEENS2(D, C, L, U, FIRSTPARTS, h, 0, 4, SCALESODD2); \
	SIXTEENS2(D, C, L, U, LASTPARTS, h, 2, 0, SCALESEVEN2); \
	SIXTEENS2(D, C, L, U, LASTPARTS, h, 2, 4, SCALESODD2)

#define PAIR3(D, C, L, U, PARTS, h, p, op0, by0, op1, by1) \
	SIXTEENS3(D, C, L, U, PARTS, h, p, 0, SCALESEVEN3, op0, by0, op1, by1); \
	SIXTEENS3(D, C, L, U, PARTS, h, p, 4, SCALESODD3, op0, by0, op1, by1)

#define WHOLE3(D, C, L, U) \
	PAIR3(D, C, L, U, FIRSTPARTS, 0, 0, VPSLLW, $2, VPSLLW, $1); \
	PAIR3(D, C, L, U, LASTPARTS, 0, 2, VPSLLW, $0, VPSRLW, $1); \
	PAIR3(D, C, L, U, FIRSTPARTS, 1, 0, VPSRLW, $2, VPSRLW, $3); \
	PAIR3(D, C, L, U, LASTPARTS, 1, 2, VPSRLW, $4, VPSRLW, $5)

// LEASTSOF applies LEAST to the eight pairs of minima, which it reads by READ, and adds their products with the input's sums to Z0 and so on.
#define MINIMA16(at) \
	VPMOVZXBW at(CX), Z27; \
	VPSRLW $4, Z27, Z27
#define SIGNED16(at) \
	VPMOVSXBW at(CX), Z27

#define SUMS1(sums) \
	VPDPWSSD.BCST sums(R8), Z27, Z0
#define SUMS4(sums) \
	SUMS1(sums); \
	VPDPWSSD.BCST sums(R8)(AX*1), Z27, Z1; \
	VPDPWSSD.BCST sums(R8)(AX*2), Z27, Z2; \
	VPDPWSSD.BCST sums(R8)(R13*1), Z27, Z3
#define SUMS8(sums) \
	SUMS4(sums); \
	VPDPWSSD.BCST sums(R9), Z27, Z4; \
	VPDPWSSD.BCST sums(R9)(AX*1), Z27, Z5; \
	VPDPWSSD.BCST sums(R9)(AX*2), Z27, Z6; \
	VPDPWSSD.BCST sums(R9)(R13*1), Z27, Z7

#define LEASTSOF(READ, SUMS, at) \
	READ(at); \
	SUMS(256); \
	READ((at+32)); \
	SUMS(260); \
	READ((at+64)); \
	SUMS(264); \
	READ((at+96)); \
	SUMS(268); \
	READ((at+128)); \
	SUMS(272); \
	READ((at+160)); \
	SUMS(276); \
	READ((at+192)); \
	SUMS(280); \
	READ((at+224)); \
	SUMS(284)

#define ENDS1 \
	DONE((R8), Z16, Z0, (DI))
#define ENDS4 \
	DONES(R8, Z16, Z17, Z18, Z19, Z0, Z1, Z2, Z3, DI)
#define ENDS8 \
	ENDS4; \
	DONES(R9, Z20, Z21, Z22, Z23, Z4, Z5, Z6, Z7, R10)

#define BLOCKOF2(D, C, L, U, T, SUMS, ENDS) \
	T; \
	HALF2(D, C, L, U, 0); \
	HALF2(D, C, L, U, 1); \
	C; \
	LEASTSOF(MINIMA16, SUMS, 1024); \
	VCVTPH2PS 1280(CX), Z24; \
	VCVTPH2PS 1312(CX), Z25; \
	ENDS

// OFFSETS28 is OFFSET28 for all totals.
#define OFFSETS1 \
	OFFSET28(Z16, Z0, Z24, Z25)
#define OFFSETS4 \
	OFFSETS1; \
	OFFSET28(Z17, Z1, Z24, Z25); \
	OFFSET28(Z18, Z2, Z24, Z25); \
	OFFSET28(Z19, Z3, Z24, Z25)
#define OFFSETS8 \
	OFFSETS4; \
	OFFSET28(Z20, Z4, Z24, Z25); \
	OFFSET28(Z21, Z5, Z24, Z25); \
	OFFSET28(Z22, Z6, Z24, Z25); \
	OFFSET28(Z23, Z7, Z24, Z25)

#define BLOCKOF3(D, C, L, U, T, SUMS, OFFSETS, ENDS) \
	T; \
	WHOLE3(D, C, L, U); \
	C; \
	LEASTSOF(SIGNED16, SUMS, 1536); \
	OFFSETS; \
	VCVTPH2PS 1792(CX), Z24; \
	VMULPS.BCST thirtyTwo<>(SB), Z24, Z25; \
	ENDS

#define BLOCKOF21 BLOCKOF2(DOTS1, CLEARS1, LOWER1, UPPER1, TOTALS1, SUMS1, ENDS1)
#define BLOCKOF24 BLOCKOF2(DOTS4, CLEARS4, LOWER4, UPPER4, TOTALS4, SUMS4, ENDS4)
#define BLOCKOF28 BLOCKOF2(DOTS8, CLEARS8, LOWER8, UPPER8, TOTALS8, SUMS8, ENDS8)
#define BLOCKOF31 BLOCKOF3(DOTS1, CLEARS1, LOWER1, UPPER1, TOTALS1, SUMS1, OFFSETS1, ENDS1)
#define BLOCKOF34 BLOCKOF3(DOTS4, CLEARS4, LOWER4, UPPER4, TOTALS4, SUMS4, OFFSETS4, ENDS4)
#define BLOCKOF38 BLOCKOF3(DOTS8, CLEARS8, LOWER8, UPPER8, TOTALS8, SUMS8, OFFSETS8, ENDS8)

// Q5_K. Z26 is the mask of nibbles, Z28 that of the fifth bits.

#define PARTS5(at, op0, by0, op1, by1) \
	PARTS(at); \
	THIRDS(op0, by0, Z24); \
	THIRDS(op1, by1, Z25)

#define WORDSOF5(DOTSOF, p, k) \
	PREFETCHT0 (320*p+80*k+8192)(CX); \
	VMOVDQU64 (320*p+80*k)(CX), Z29; \
	PARTS5((320*p+80*k+64), VPSLLW, $4, VPSRLW, $0); \
	DOTSOF((32*p+4*k), (32*p+4*k+32)); \
	PARTS5((320*p+80*k+128), VPSLLW, $3, VPSRLW, $1); \
	DOTSOF((32*p+4*k+4), (32*p+4*k+36)); \
	PARTS5((320*p+80*k+192), VPSLLW, $2, VPSRLW, $2); \
	DOTSOF((32*p+4*k+8), (32*p+4*k+40)); \
	PARTS5((320*p+80*k+256), VPSLLW, $1, VPSRLW, $3); \
	DOTSOF((32*p+4*k+12), (32*p+4*k+44))

#define PAIR5(D, C, L, U, p) \
	C; \
	WORDSOF5(D, p, 0); \
	WORDSOF5(D, p, 4); \
	VPMOVZXBD (2560+16*p)(CX), Z27; \
	L; \
	VPMOVZXBD (2576+16*p)(CX), Z27; \
	U

#define LEAST5(SUMS, p) \
	VPMOVZXBW (2688+16*p)(CX), Z27; \
	SUMS((292+2*p))

#define BLOCKOF5(ALL, EACH, D, C, L, U, T, SUMS, ENDS) \
	ALL(2560); \
	T; \
	PAIR5(D, C, L, U, 0); \
	EACH(2560); \
	PAIR5(D, C, L, U, 2); \
	EACH(2624); \
	PAIR5(D, C, L, U, 4); \
	EACH(2688); \
	PAIR5(D, C, L, U, 6); \
	EACH(2752); \
	C; \
	LEAST5(SUMS, 0); \
	EACH(2816); \
	LEAST5(SUMS, 2); \
	LEAST5(SUMS, 4); \
	LEAST5(SUMS, 6); \
	VCVTPH2PS 2816(CX), Z24; \
	VCVTPH2PS 2848(CX), Z25; \
	ENDS

#define BLOCKOF51 BLOCKOF5(NOLINES, AHEADAT, DOTS1, CLEARS1, LOWER1, UPPER1, TOTALS1, SUMS1, ENDS1)
#define BLOCKOF54 BLOCKOF5(AHEAD5, NOLINES, DOTS4, CLEARS4, LOWER4, UPPER4, TOTALS4, SUMS4, ENDS4)
#define BLOCKOF58 BLOCKOF5(AHEAD5, NOLINES, DOTS8, CLEARS8, LOWER8, UPPER8, TOTALS8, SUMS8, ENDS8)

// IQ4_XS. Z28 is the table, whose numbers have an offset of 128: LEASTSX cancels it.
#define PARTSX(at) \
	PARTS(at); \
	VPSHUFB Z24, Z28, Z24; \
	VPSHUFB Z25, Z28, Z25

#define DOTX(low, p, sum) \
	VPDPBUSD.BCST low p, Z24, sum; \
	VPDPBUSD.BCST (low+16) p, Z25, sum

#define DOTSX1(low) \
	DOTX(low, (R8), Z0)
#define DOTSX4(low) \
	DOTSX1(low); \
	DOTX(low, (R8)(AX*1), Z1); \
	DOTX(low, (R8)(AX*2), Z2); \
	DOTX(low, (R8)(R13*1), Z3)
#define DOTSX8(low) \
	DOTSX4(low); \
	DOTX(low, (R9), Z4); \
	DOTX(low, (R9)(AX*1), Z5); \
	DOTX(low, (R9)(AX*2), Z6); \
	DOTX(low, (R9)(R13*1), Z7)

#define PARTOFX(DOTSOF, CLEARS, LOWER, p, at, SCALES) \
	CLEARS; \
	PARTSX((256*p)); \
	DOTSOF((32*p)); \
	PARTSX((256*p+64)); \
	DOTSOF((32*p+4)); \
	PARTSX((256*p+128)); \
	DOTSOF((32*p+8)); \
	PARTSX((256*p+192)); \
	DOTSOF((32*p+12)); \
	SCALES(at); \
	LOWER

// LEASTX subtracts 128 times least from sum, and ENDX adds the scaled sum to dst. Z24 is d.
#define LEASTX(sum, least) \
	VPSLLD $7, least, least; \
	VPSUBD least, sum, sum

#define ENDX(p, sum, dst) \
	VCVTDQ2PS sum, sum; \
	VMULPS.BCST 288 p, Z24, Z27; \
	VMULPS Z27, sum, sum; \
	VADDPS dst, sum, sum; \
	VMOVUPS sum, dst

#define ENDSX1 \
	LEASTX(Z16, Z0); \
	ENDX((R8), Z16, (DI))
#define ENDSX4 \
	ENDSX1; \
	LEASTX(Z17, Z1); \
	LEASTX(Z18, Z2); \
	LEASTX(Z19, Z3); \
	ENDX((R8)(AX*1), Z17, (DI)(R14*1)); \
	ENDX((R8)(AX*2), Z18, (DI)(R14*2)); \
	ENDX((R8)(R13*1), Z19, (DI)(R15*1))
#define ENDSX8 \
	ENDSX4; \
	LEASTX(Z20, Z4); \
	LEASTX(Z21, Z5); \
	LEASTX(Z22, Z6); \
	LEASTX(Z23, Z7); \
	ENDX((R9), Z20, (R10)); \
	ENDX((R9)(AX*1), Z21, (R10)(R14*1)); \
	ENDX((R9)(AX*2), Z22, (R10)(R14*2)); \
	ENDX((R9)(R13*1), Z23, (R10)(R15*1))

#define BLOCKOFX(D, C, L, T, SUMS, ENDS) \
	T; \
	PARTOFX(D, C, L, 0, 2048, SCALESEVEN3); \
	PARTOFX(D, C, L, 1, 2048, SCALESODD3); \
	PARTOFX(D, C, L, 2, 2080, SCALESEVEN3); \
	PARTOFX(D, C, L, 3, 2080, SCALESODD3); \
	PARTOFX(D, C, L, 4, 2112, SCALESEVEN3); \
	PARTOFX(D, C, L, 5, 2112, SCALESODD3); \
	PARTOFX(D, C, L, 6, 2144, SCALESEVEN3); \
	PARTOFX(D, C, L, 7, 2144, SCALESODD3); \
	PREFETCHT0 (2048+8192)(CX); \
	PREFETCHT0 (2112+8192)(CX); \
	PREFETCHT0 (2176+8192)(CX); \
	C; \
	SIGNED16(2048); \
	SUMS(292); \
	SIGNED16(2080); \
	SUMS(296); \
	SIGNED16(2112); \
	SUMS(300); \
	SIGNED16(2144); \
	SUMS(304); \
	VCVTPH2PS 2176(CX), Z24; \
	ENDS

#define CLEARSX1 VPXORD Z0, Z0, Z0
#define CLEARSX4 CLEAR4(Z0, Z1, Z2, Z3)
#define CLEARSX8 \
	CLEARSX4; \
	CLEAR4(Z4, Z5, Z6, Z7)

#define BLOCKOFX1 BLOCKOFX(DOTSX1, CLEARSX1, LOWER1, TOTALS1, SUMS1, ENDSX1)
#define BLOCKOFX4 BLOCKOFX(DOTSX4, CLEARSX4, LOWER4, TOTALS4, SUMS4, ENDSX4)
#define BLOCKOFX8 BLOCKOFX(DOTSX8, CLEARSX8, LOWER8, TOTALS8, SUMS8, ENDSX8)

// func mulQ2Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ2Kx1VNNI(SB), NOSPLIT, $0-48
	MASK($0x03030303, Z26)
	GROUPSOF(BLOCK2, CLEARED1, BLOCKOF21)

// func mulQ2Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ2Kx4VNNI(SB), NOSPLIT, $0-48
	MASK($0x03030303, Z26)
	GROUPSOF(BLOCK2, CLEARED4(DI), BLOCKOF24)

// func mulQ2Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ2Kx8VNNI(SB), NOSPLIT, $0-48
	MASK($0x03030303, Z26)
	GROUPSOF(BLOCK2, CLEARED8, BLOCKOF28)

// func mulQ3Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ3Kx1VNNI(SB), NOSPLIT, $0-48
	MASK($0x03030303, Z26)
	MASK($0x04040404, Z28)
	GROUPSOF(BLOCK3, CLEARED1, BLOCKOF31)

// func mulQ3Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ3Kx4VNNI(SB), NOSPLIT, $0-48
	MASK($0x03030303, Z26)
	MASK($0x04040404, Z28)
	GROUPSOF(BLOCK3, CLEARED4(DI), BLOCKOF34)

// func mulQ3Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ3Kx8VNNI(SB), NOSPLIT, $0-48
	MASK($0x03030303, Z26)
	MASK($0x04040404, Z28)
	GROUPSOF(BLOCK3, CLEARED8, BLOCKOF38)

// func mulQ5Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ5Kx1VNNI(SB), NOSPLIT, $0-48
	MASK($0x0f0f0f0f, Z26)
	MASK($0x10101010, Z28)
	GROUPSOF((BLOCK+FIFTHS), CLEARED1, BLOCKOF51)

// func mulQ5Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ5Kx4VNNI(SB), NOSPLIT, $0-48
	MASK($0x0f0f0f0f, Z26)
	MASK($0x10101010, Z28)
	GROUPSOF((BLOCK+FIFTHS), CLEARED4(DI), BLOCKOF54)

// func mulQ5Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ5Kx8VNNI(SB), NOSPLIT, $0-48
	MASK($0x0f0f0f0f, Z26)
	MASK($0x10101010, Z28)
	GROUPSOF((BLOCK+FIFTHS), CLEARED8, BLOCKOF58)

// func mulXSx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx1VNNI(SB), NOSPLIT, $0-48
	MASK($0x0f0f0f0f, Z26)
	VBROADCASTI32X4 table<>+16(SB), Z28
	GROUPSOF(BLOCKX, CLEARED1, BLOCKOFX1)

// func mulXSx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx4VNNI(SB), NOSPLIT, $0-48
	MASK($0x0f0f0f0f, Z26)
	VBROADCASTI32X4 table<>+16(SB), Z28
	GROUPSOF(BLOCKX, CLEARED4(DI), BLOCKOFX4)

// func mulXSx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulXSx8VNNI(SB), NOSPLIT, $0-48
	MASK($0x0f0f0f0f, Z26)
	VBROADCASTI32X4 table<>+16(SB), Z28
	GROUPSOF(BLOCKX, CLEARED8, BLOCKOFX8)

// Q6_K. Z26 is the mask of six bits; Z30, Z31 and Z15 are those of the two bits of a fourth value that three words hold each.
#define PARTS6(at) \
	PREFETCHT0 (at+8192)(CX); \
	PREFETCHT0 (at+8256)(CX); \
	PREFETCHT0 (at+8320)(CX); \
	VMOVDQU64 at(CX), Z24; \
	VMOVDQU64 (at+64)(CX), Z25; \
	VMOVDQU64 (at+128)(CX), Z28; \
	VPSRLW $2, Z24, Z29; \
	VPSRLW $4, Z25, Z27; \
	VPSRLW $6, Z28, Z14; \
	VPANDD Z30, Z29, Z29; \
	VPTERNLOGD $0xF8, Z31, Z27, Z29; \
	VPTERNLOGD $0xF8, Z15, Z14, Z29; \
	VPANDD Z26, Z24, Z24; \
	VPANDD Z26, Z25, Z25; \
	VPANDD Z26, Z28, Z28

// DOT6 multiplies sixteen values by the input's at p.
#define DOT6(g, p, sum) \
	VPDPBUSD.BCST (16*g) p, Z24, sum; \
	VPDPBUSD.BCST (16*g+4) p, Z25, sum; \
	VPDPBUSD.BCST (16*g+8) p, Z28, sum; \
	VPDPBUSD.BCST (16*g+12) p, Z29, sum

#define DOTS61(g) \
	DOT6(g, (R8), Z0)
#define DOTS64(g) \
	DOTS61(g); \
	DOT6(g, (R8)(AX*1), Z1); \
	DOT6(g, (R8)(AX*2), Z2); \
	DOT6(g, (R8)(R13*1), Z3)
#define DOTS68(g) \
	DOTS64(g); \
	DOT6(g, (R9), Z4); \
	DOT6(g, (R9)(AX*1), Z5); \
	DOT6(g, (R9)(AX*2), Z6); \
	DOT6(g, (R9)(R13*1), Z7)

#define PARTOF6(DOTSOF, CLEARS, LOWER, p) \
	CLEARS; \
	PARTS6((384*p)); \
	DOTSOF((2*p)); \
	SCALESEVEN3((3072+32*p)); \
	LOWER; \
	CLEARS; \
	PARTS6((384*p+192)); \
	DOTSOF((2*p+1)); \
	SCALESODD3((3072+32*p)); \
	LOWER

#define BLOCKOF6(D, C, L, T, SUMS, ENDS) \
	T; \
	PARTOF6(D, C, L, 0); \
	PARTOF6(D, C, L, 1); \
	PARTOF6(D, C, L, 2); \
	PARTOF6(D, C, L, 3); \
	PARTOF6(D, C, L, 4); \
	PARTOF6(D, C, L, 5); \
	PARTOF6(D, C, L, 6); \
	PARTOF6(D, C, L, 7); \
	AHEAD5(3072); \
	C; \
	LEASTSOF(SIGNED16, SUMS, 3072); \
	VCVTPH2PS 3328(CX), Z24; \
	VMULPS.BCST thirtyTwo<>(SB), Z24, Z25; \
	ENDS

#define BLOCKOF61 BLOCKOF6(DOTS61, CLEARSX1, LOWER1, TOTALS1, SUMS1, ENDS1)
#define BLOCKOF64 BLOCKOF6(DOTS64, CLEARSX4, LOWER4, TOTALS4, SUMS4, ENDS4)
#define BLOCKOF68 BLOCKOF6(DOTS68, CLEARSX8, LOWER8, TOTALS8, SUMS8, ENDS8)

// func mulQ6Kx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ6Kx1VNNI(SB), NOSPLIT, $0-48
	MASK($0x3f3f3f3f, Z26)
	MASK($0x30303030, Z30)
	MASK($0x0c0c0c0c, Z31)
	MASK($0x03030303, Z15)
	GROUPSOF(BLOCK6, CLEARED1, BLOCKOF61)

// func mulQ6Kx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ6Kx4VNNI(SB), NOSPLIT, $0-48
	MASK($0x3f3f3f3f, Z26)
	MASK($0x30303030, Z30)
	MASK($0x0c0c0c0c, Z31)
	MASK($0x03030303, Z15)
	GROUPSOF(BLOCK6, CLEARED4(DI), BLOCKOF64)

// func mulQ6Kx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·mulQ6Kx8VNNI(SB), NOSPLIT, $0-48
	MASK($0x3f3f3f3f, Z26)
	MASK($0x30303030, Z30)
	MASK($0x0c0c0c0c, Z31)
	MASK($0x03030303, Z15)
	GROUPSOF(BLOCK6, CLEARED8, BLOCKOF68)
