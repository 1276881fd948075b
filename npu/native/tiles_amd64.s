#include "textflag.h"

// Products of inputs with packed weights (pack.go). A vector holds four elements of each of sixteen
// rows (eight for AVX2). The same four elements of an input, broadcast, multiply all of them.
// VPDPBUSD and VPMADDUBSW multiply unsigned by signed bytes. The weights get an offset to make them
// unsigned, and the sums start from a value (input.low or .high) that cancels it. A tile multiplies
// groups of sixteen rows by a fixed number of inputs. R8 to R11 point to four inputs each.

#define FILL(bits, z) \
	MOVL bits, BX; \
	VPBROADCASTD BX, z

// START loads the arguments: DI is the destination, SI the group's scales, DX the number of groups
// left and R12 the inputs. AX is the size of one input in bytes, R13 of three, R15 of a group's
// scales.
#define START \
	MOVQ dst+0(FP), DI; \
	MOVQ w+16(FP), SI; \
	MOVQ groups+24(FP), DX; \
	MOVQ blocks+32(FP), AX; \
	MOVQ x+40(FP), R12; \
	MOVQ AX, R15; \
	SHLQ $5, R15; \
	ADDQ $63, R15; \
	ANDQ $-64, R15; \
	IMUL3Q $48, AX, AX; \
	LEAQ (AX)(AX*2), R13

// GROUP sets CX to the group's integers, BX to the number of blocks and R8 to R11 to the inputs.
#define GROUP \
	LEAQ (SI)(R15*1), CX; \
	MOVQ blocks+32(FP), BX; \
	MOVQ R12, R8; \
	LEAQ (R8)(AX*4), R9; \
	LEAQ (R9)(AX*4), R10; \
	LEAQ (R10)(AX*4), R11

#define NEXT(WORDS) \
	ADDQ $32, SI; \
	ADDQ $WORDS, CX; \
	ADDQ $48, R8; \
	ADDQ $48, R9; \
	ADDQ $48, R10; \
	ADDQ $48, R11; \
	DECQ BX

// WEIGHTSQ40 and WEIGHTSQ80 read a block: its scales to Z8 and its integers, with their offset, to
// Z0 to Z7. Z9 is the nibble mask or the offset of bytes.
#define WEIGHTSQ40 \
	AHEADQ40; \
	VCVTPH2PS (SI), Z8; \
	VMOVDQU64 (CX), Z0; \
	VMOVDQU64 64(CX), Z1; \
	VMOVDQU64 128(CX), Z2; \
	VMOVDQU64 192(CX), Z3; \
	VPSRLW $4, Z0, Z4; \
	VPSRLW $4, Z1, Z5; \
	VPSRLW $4, Z2, Z6; \
	VPSRLW $4, Z3, Z7; \
	VPANDD Z9, Z0, Z0; \
	VPANDD Z9, Z1, Z1; \
	VPANDD Z9, Z2, Z2; \
	VPANDD Z9, Z3, Z3; \
	VPANDD Z9, Z4, Z4; \
	VPANDD Z9, Z5, Z5; \
	VPANDD Z9, Z6, Z6; \
	VPANDD Z9, Z7, Z7

#define WEIGHTSQ80 \
	AHEADQ80; \
	VCVTPH2PS (SI), Z8; \
	VPXORD (CX), Z9, Z0; \
	VPXORD 64(CX), Z9, Z1; \
	VPXORD 128(CX), Z9, Z2; \
	VPXORD 192(CX), Z9, Z3; \
	VPXORD 256(CX), Z9, Z4; \
	VPXORD 320(CX), Z9, Z5; \
	VPXORD 384(CX), Z9, Z6; \
	VPXORD 448(CX), Z9, Z7

// AHEADQ40 and AHEADQ80 prefetch scales and integers a few kilobytes ahead. Without them, memory is
// read at half the speed. They advance R14 by the size of a block.
#define AHEADBY 8192
#define AHEADQ40 \
	PREFETCHT0 AHEADBY(R14); \
	PREFETCHT0 (AHEADBY+64)(R14); \
	PREFETCHT0 (AHEADBY+128)(R14); \
	PREFETCHT0 (AHEADBY+192)(R14); \
	PREFETCHT0 (AHEADBY+256)(R14); \
	ADDQ $288, R14

#define AHEADQ80 \
	PREFETCHT0 AHEADBY(R14); \
	PREFETCHT0 (AHEADBY+64)(R14); \
	PREFETCHT0 (AHEADBY+128)(R14); \
	PREFETCHT0 (AHEADBY+192)(R14); \
	PREFETCHT0 (AHEADBY+256)(R14); \
	PREFETCHT0 (AHEADBY+320)(R14); \
	PREFETCHT0 (AHEADBY+384)(R14); \
	PREFETCHT0 (AHEADBY+448)(R14); \
	PREFETCHT0 (AHEADBY+512)(R14); \
	ADDQ $544, R14

// INPUT multiplies the block by the input at p and adds the scaled sums to acc. start is the offset
// of input.low or input.high.
#define INPUT(start, p, acc) \
	VPBROADCASTD start p, Z10; \
	VPDPBUSD.BCST 0 p, Z0, Z10; \
	VPDPBUSD.BCST 4 p, Z1, Z10; \
	VPDPBUSD.BCST 8 p, Z2, Z10; \
	VPDPBUSD.BCST 12 p, Z3, Z10; \
	VPDPBUSD.BCST 16 p, Z4, Z10; \
	VPDPBUSD.BCST 20 p, Z5, Z10; \
	VPDPBUSD.BCST 24 p, Z6, Z10; \
	VPDPBUSD.BCST 28 p, Z7, Z10; \
	VMULPS.BCST 32 p, Z8, Z11; \
	VCVTDQ2PS Z10, Z10; \
	VMULPS Z11, Z10, Z10; \
	VADDPS Z10, acc, acc

// SCALED multiplies the sums of one input by the scales and adds them to acc.
#define SCALED(p, sum, acc) \
	VMULPS.BCST 32 p, Z8, Z14; \
	VCVTDQ2PS sum, sum; \
	VMULPS Z14, sum, sum; \
	VADDPS sum, acc, acc

// FOURTH multiplies four bytes of a block by those of four inputs at p0 to p3.
#define FOURTH(at, w, p0, p1, p2, p3, s0, s1, s2, s3) \
	VPDPBUSD.BCST at p0, w, s0; \
	VPDPBUSD.BCST at p1, w, s1; \
	VPDPBUSD.BCST at p2, w, s2; \
	VPDPBUSD.BCST at p3, w, s3

#define BEGIN4(start, p0, p1, p2, p3, s0, s1, s2, s3) \
	VPBROADCASTD start p0, s0; \
	VPBROADCASTD start p1, s1; \
	VPBROADCASTD start p2, s2; \
	VPBROADCASTD start p3, s3

// INPUT4 does what INPUT does for four inputs by turns: the sums of one input wait for each other, and the processor looks
// ahead only so far.
#define INPUT4(start, p0, p1, p2, p3, a0, a1, a2, a3) \
	BEGIN4(start, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(0, Z0, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(4, Z1, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(8, Z2, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(12, Z3, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(16, Z4, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(20, Z5, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(24, Z6, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	FOURTH(28, Z7, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
	SCALED(p0, Z10, a0); \
	SCALED(p1, Z11, a1); \
	SCALED(p2, Z12, a2); \
	SCALED(p3, Z13, a3)

// EIGHTH is FOURTH for eight inputs.
#define EIGHTH(at, w) \
	FOURTH(at, w, (R8), (R8)(AX*1), (R8)(AX*2), (R8)(R13*1), Z10, Z11, Z12, Z13); \
	FOURTH(at, w, (R9), (R9)(AX*1), (R9)(AX*2), (R9)(R13*1), Z24, Z25, Z26, Z27)

#define INPUTS1(start) \
	INPUT(start, (R8), Z16)

#define INPUTS2(start) \
	INPUT(start, (R8), Z16); \
	INPUT(start, (R8)(AX*1), Z17)

#define INPUTS4(start) \
	INPUT4(start, (R8), (R8)(AX*1), (R8)(AX*2), (R8)(R13*1), Z16, Z17, Z18, Z19)

#define INPUTS8(start) \
	BEGIN4(start, (R8), (R8)(AX*1), (R8)(AX*2), (R8)(R13*1), Z10, Z11, Z12, Z13); \
	BEGIN4(start, (R9), (R9)(AX*1), (R9)(AX*2), (R9)(R13*1), Z24, Z25, Z26, Z27); \
	EIGHTH(0, Z0); \
	EIGHTH(4, Z1); \
	EIGHTH(8, Z2); \
	EIGHTH(12, Z3); \
	EIGHTH(16, Z4); \
	EIGHTH(20, Z5); \
	EIGHTH(24, Z6); \
	EIGHTH(28, Z7); \
	SCALED((R8), Z10, Z16); \
	SCALED((R8)(AX*1), Z11, Z17); \
	SCALED((R8)(AX*2), Z12, Z18); \
	SCALED((R8)(R13*1), Z13, Z19); \
	SCALED((R9), Z24, Z20); \
	SCALED((R9)(AX*1), Z25, Z21); \
	SCALED((R9)(AX*2), Z26, Z22); \
	SCALED((R9)(R13*1), Z27, Z23)

#define INPUTS16(start) \
	INPUTS4(start); \
	INPUT4(start, (R9), (R9)(AX*1), (R9)(AX*2), (R9)(R13*1), Z20, Z21, Z22, Z23); \
	INPUT4(start, (R10), (R10)(AX*1), (R10)(AX*2), (R10)(R13*1), Z24, Z25, Z26, Z27); \
	INPUT4(start, (R11), (R11)(AX*1), (R11)(AX*2), (R11)(R13*1), Z28, Z29, Z30, Z31)

#define CLEAR4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

#define CLEAR \
	CLEAR4(Z16, Z17, Z18, Z19); \
	CLEAR4(Z20, Z21, Z22, Z23); \
	CLEAR4(Z24, Z25, Z26, Z27); \
	CLEAR4(Z28, Z29, Z30, Z31)

// STORE1 to STORE16 write the sums. R8 is the stride in bytes, and BX moves over the inputs' rows.
#define STORE1 \
	VMOVUPS Z16, (DI)

#define STORE2 \
	MOVQ stride+8(FP), R8; \
	SHLQ $2, R8; \
	LEAQ (DI)(R8*2), BX; \
	LEAQ (R8)(R8*2), R9; \
	VMOVUPS Z16, (DI); \
	VMOVUPS Z17, (DI)(R8*1)

#define FOUR(a, b, c, d) \
	VMOVUPS a, (BX); \
	VMOVUPS b, (BX)(R8*1); \
	VMOVUPS c, (BX)(R8*2); \
	VMOVUPS d, (BX)(R9*1); \
	LEAQ (BX)(R8*4), BX

#define STORE4 \
	STORE2; \
	VMOVUPS Z18, (BX); \
	VMOVUPS Z19, (BX)(R8*1); \
	LEAQ (BX)(R8*2), BX

#define STORE8 \
	STORE4; \
	FOUR(Z20, Z21, Z22, Z23)

#define STORE16 \
	STORE8; \
	FOUR(Z24, Z25, Z26, Z27); \
	FOUR(Z28, Z29, Z30, Z31)

#define TILE(WORDS, WEIGHTS, INPUTS, STORE) \
	START; \
	MOVQ SI, R14; \
group: \
	GROUP; \
	CLEAR; \
block: \
	WEIGHTS; \
	INPUTS; \
	NEXT(WORDS); \
	JNZ block; \
	STORE; \
	MOVQ CX, SI; \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ group; \
	VZEROUPPER; \
	RET

// func q40x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(256, WEIGHTSQ40, INPUTS1(36), STORE1)

// func q40x2VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x2VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(256, WEIGHTSQ40, INPUTS2(36), STORE2)

// func q40x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(256, WEIGHTSQ40, INPUTS4(36), STORE4)

// func q40x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(256, WEIGHTSQ40, INPUTS8(36), STORE8)

// func q40x16VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x16VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(256, WEIGHTSQ40, INPUTS16(36), STORE16)

// func q80x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(512, WEIGHTSQ80, INPUTS1(40), STORE1)

// func q80x2VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x2VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(512, WEIGHTSQ80, INPUTS2(40), STORE2)

// func q80x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(512, WEIGHTSQ80, INPUTS4(40), STORE4)

// func q80x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(512, WEIGHTSQ80, INPUTS8(40), STORE8)

// func q80x16VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x16VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(512, WEIGHTSQ80, INPUTS16(40), STORE16)

// For one input, the AVX2 kernels read a group once and keep the sums of sixteen rows. For four
// inputs they read it twice, eight rows at a time: R14 is 2, then 1. The integers of the second
// half start 32 bytes later, its scales 16.

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

// WORDSQ40 and WORDSQ80 apply WORD to each word of a block. Its parameters are the offsets of the
// word and of the input's four elements that it multiplies, two times four for nibbles.
#define WORDSQ40(WORD) \
	WORD(0, 0, 16); \
	WORD(64, 4, 20); \
	WORD(128, 8, 24); \
	WORD(192, 12, 28)

#define WORDSQ80(WORD) \
	WORD(0, 0); \
	WORD(64, 4); \
	WORD(128, 8); \
	WORD(192, 12); \
	WORD(256, 16); \
	WORD(320, 20); \
	WORD(384, 24); \
	WORD(448, 28)

#define YWEIGHTSQ40 \
	PREFETCHT0 AHEADBY(CX); \
	PREFETCHT0 (AHEADBY+64)(CX); \
	PREFETCHT0 (AHEADBY+128)(CX); \
	PREFETCHT0 (AHEADBY+192)(CX); \
	VMOVDQU (CX), Y0; \
	VMOVDQU 64(CX), Y1; \
	VMOVDQU 128(CX), Y2; \
	VMOVDQU 192(CX), Y3; \
	VPSRLW $4, Y0, Y4; \
	VPSRLW $4, Y1, Y5; \
	VPSRLW $4, Y2, Y6; \
	VPSRLW $4, Y3, Y7; \
	VMOVDQU nibbles<>(SB), Y12; \
	VPAND Y12, Y0, Y0; \
	VPAND Y12, Y1, Y1; \
	VPAND Y12, Y2, Y2; \
	VPAND Y12, Y3, Y3; \
	VPAND Y12, Y4, Y4; \
	VPAND Y12, Y5, Y5; \
	VPAND Y12, Y6, Y6; \
	VPAND Y12, Y7, Y7

// YQ40 multiplies four elements and adds the products to the sums in Y13. Eight of them, at most
// 2·15·127 each, fit in 16 bits.
#define YQ40(at, p, w) \
	VPBROADCASTD at p, Y12; \
	VPMADDUBSW Y12, w, Y12; \
	VPADDW Y12, Y13, Y13

// SCALE multiplies a block's sum by the scales of the weights (Y14) and of the input and adds the
// product to acc.
#define SCALE(sum, p, acc) \
	VCVTDQ2PS sum, sum; \
	VBROADCASTSS 32 p, Y12; \
	VMULPS Y14, Y12, Y12; \
	VMULPS Y12, sum, sum; \
	VADDPS sum, acc, acc

#define YINPUTQ40(p, acc) \
	VPXOR Y13, Y13, Y13; \
	YQ40(0, p, Y0); \
	YQ40(4, p, Y1); \
	YQ40(8, p, Y2); \
	YQ40(12, p, Y3); \
	YQ40(16, p, Y4); \
	YQ40(20, p, Y5); \
	YQ40(24, p, Y6); \
	YQ40(28, p, Y7); \
	VPMADDWD Y15, Y13, Y13; \
	VPBROADCASTD 36 p, Y12; \
	VPADDD Y12, Y13, Y13; \
	SCALE(Y13, p, acc)

// SCALES scales the sums of four inputs, Y4 to Y7, and adds them to Y8 to Y11.
#define SCALES \
	VCVTPH2PS (SI), Y14; \
	SCALE(Y4, (R8), Y8); \
	SCALE(Y5, (R8)(AX*1), Y9); \
	SCALE(Y6, (R8)(AX*2), Y10); \
	SCALE(Y7, (R8)(R13*1), Y11)

// YQ80 multiplies four elements of weights and of an input and adds the products to sum. It moves
// the signs of the weights (Y0) to the input, so that the weights' magnitudes (Y1) are the unsigned
// bytes.
#define YQ80(at, p, sum) \
	VPBROADCASTD at p, Y2; \
	VPSIGNB Y0, Y2, Y2; \
	VPMADDUBSW Y2, Y1, Y2; \
	VPMADDWD Y15, Y2, Y2; \
	VPADDD Y2, sum, sum

#define YWORDQ80(at, four) \
	PREFETCHT0 (AHEADBY+at)(CX); \
	VMOVDQU at(CX), Y0; \
	VPABSB Y0, Y1; \
	YQ80(four, (R8), Y4); \
	YQ80(four, (R8)(AX*1), Y5); \
	YQ80(four, (R8)(AX*2), Y6); \
	YQ80(four, (R8)(R13*1), Y7)

#define YFOURQ80 \
	VPXOR Y4, Y4, Y4; \
	VPXOR Y5, Y5, Y5; \
	VPXOR Y6, Y6, Y6; \
	VPXOR Y7, Y7, Y7; \
	WORDSQ80(YWORDQ80); \
	SCALES

#define YFOURQ40 \
	YWEIGHTSQ40; \
	VCVTPH2PS (SI), Y14; \
	YINPUTQ40((R8), Y8); \
	YINPUTQ40((R8)(AX*1), Y9); \
	YINPUTQ40((R8)(AX*2), Y10); \
	YINPUTQ40((R8)(R13*1), Y11)

#define YSTORE4 \
	MOVQ stride+8(FP), R8; \
	SHLQ $2, R8; \
	LEAQ (R8)(R8*2), R9; \
	VMOVUPS Y8, (DI); \
	VMOVUPS Y9, (DI)(R8*1); \
	VMOVUPS Y10, (DI)(R8*2); \
	VMOVUPS Y11, (DI)(R9*1)

// YONEQ40 multiplies the nibbles of sixteen rows at at(CX) by two times four elements of the input
// and adds the products to Y12 and Y13.
#define YONEQ40(at, low, high) \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y14, Y0, Y0; \
	VPAND Y14, Y1, Y1; \
	VPAND Y14, Y2, Y2; \
	VPAND Y14, Y3, Y3; \
	VPMADDUBSW Y4, Y0, Y0; \
	VPMADDUBSW Y4, Y1, Y1; \
	VPMADDUBSW Y5, Y2, Y2; \
	VPMADDUBSW Y5, Y3, Y3; \
	VPADDW Y0, Y12, Y12; \
	VPADDW Y1, Y13, Y13; \
	VPADDW Y2, Y12, Y12; \
	VPADDW Y3, Y13, Y13

#define YBLOCKQ40 \
	AHEADQ40; \
	VPXOR Y12, Y12, Y12; \
	VPXOR Y13, Y13, Y13; \
	WORDSQ40(YONEQ40); \
	VPMADDWD Y15, Y12, Y12; \
	VPMADDWD Y15, Y13, Y13; \
	VPBROADCASTD 36(R8), Y0; \
	VPADDD Y0, Y12, Y12; \
	VPADDD Y0, Y13, Y13

// YONEQ80 does what YONEQ40 does for bytes.
#define YONEQ80(at, four) \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPBROADCASTD four(R8), Y4; \
	VPSIGNB Y0, Y4, Y2; \
	VPSIGNB Y1, Y4, Y3; \
	VPABSB Y0, Y0; \
	VPABSB Y1, Y1; \
	VPMADDUBSW Y2, Y0, Y0; \
	VPMADDUBSW Y3, Y1, Y1; \
	VPMADDWD Y15, Y0, Y0; \
	VPMADDWD Y15, Y1, Y1; \
	VPADDD Y0, Y12, Y12; \
	VPADDD Y1, Y13, Y13

#define YBLOCKQ80 \
	AHEADQ80; \
	VPXOR Y12, Y12, Y12; \
	VPXOR Y13, Y13, Y13; \
	WORDSQ80(YONEQ80)

// YONE multiplies by one input. BLOCK leaves a block's sums in Y12 and Y13.
#define YONE(WORDS, BLOCK) \
	START; \
	MOVQ SI, R14; \
group: \
	LEAQ (SI)(R15*1), CX; \
	MOVQ blocks+32(FP), BX; \
	MOVQ R12, R8; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
block: \
	BLOCK; \
	VCVTDQ2PS Y12, Y12; \
	VCVTDQ2PS Y13, Y13; \
	VCVTPH2PS (SI), Y0; \
	VCVTPH2PS 16(SI), Y1; \
	VBROADCASTSS 32(R8), Y2; \
	VMULPS Y0, Y2, Y0; \
	VMULPS Y1, Y2, Y1; \
	VMULPS Y0, Y12, Y12; \
	VMULPS Y1, Y13, Y13; \
	VADDPS Y12, Y8, Y8; \
	VADDPS Y13, Y9, Y9; \
	ADDQ $32, SI; \
	ADDQ $WORDS, CX; \
	ADDQ $48, R8; \
	DECQ BX; \
	JNZ block; \
	VMOVUPS Y8, (DI); \
	VMOVUPS Y9, 32(DI); \
	MOVQ CX, SI; \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ group; \
	VZEROUPPER; \
	RET

#define YFILL(bits, x, y) \
	MOVL bits, BX; \
	VMOVD BX, x; \
	VPBROADCASTD x, y

// YFOUR multiplies by four inputs. BLOCK multiplies a block and adds the scaled sums to Y8 to Y11.
#define YFOUR(WORDS, BLOCK) \
	START; \
group: \
	MOVQ $2, R14; \
	LEAQ (SI)(R15*1), CX; \
half: \
	MOVQ blocks+32(FP), BX; \
	MOVQ R12, R8; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11; \
block: \
	BLOCK; \
	ADDQ $32, SI; \
	ADDQ $WORDS, CX; \
	ADDQ $48, R8; \
	DECQ BX; \
	JNZ block; \
	YSTORE4; \
	ADDQ $32, DI; \
	DECQ R14; \
	JEQ next; \
	MOVQ blocks+32(FP), BX; \
	IMUL3Q $WORDS, BX, R8; \
	SUBQ R8, CX; \
	ADDQ $32, CX; \
	SHLQ $5, BX; \
	SUBQ BX, SI; \
	ADDQ $16, SI; \
	JMP half; \
next: \
	LEAQ -32(CX), SI; \
	DECQ DX; \
	JNZ group; \
	VZEROUPPER; \
	RET

// func q40x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	YONE(256, YBLOCKQ40)

// func q40x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOUR(256, YFOURQ40)

// func q80x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YONE(512, YBLOCKQ80)

// func q80x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOUR(512, YFOURQ80)

// AVX-VNNI provides VPDPBUSD for vectors of 32 bytes on processors without AVX-512. Sums start as in
// the kernels for AVX-512.

// DPBUSD multiplies four neighbouring bytes of w (unsigned) and x (signed) and adds the products to
// sum. All three are numbers of vectors. Go's assembler has this instruction only as part of
// AVX-512.
#define DPBUSD(x, w, sum) \
	BYTE $0xc4; \
	BYTE $(0x42|(8-(sum&8))<<4|(8-(x&8))<<2); \
	BYTE $((15-w)<<3|5); \
	BYTE $0x50; \
	BYTE $(0xc0|(sum&7)<<3|(x&7))

#define VONEQ40(at, low, high) \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y15, Y0, Y0; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2; \
	VPAND Y15, Y3, Y3; \
	DPBUSD(4, 0, 12); \
	DPBUSD(4, 1, 13); \
	DPBUSD(5, 2, 12); \
	DPBUSD(5, 3, 13)

#define VBLOCKQ40 \
	AHEADQ40; \
	VPBROADCASTD 36(R8), Y12; \
	VMOVDQU Y12, Y13; \
	WORDSQ40(VONEQ40)

#define VONEQ80(at, four) \
	VPXOR at(CX), Y15, Y0; \
	VPXOR (at+32)(CX), Y15, Y1; \
	VPBROADCASTD four(R8), Y4; \
	DPBUSD(4, 0, 12); \
	DPBUSD(4, 1, 13)

#define VBLOCKQ80 \
	AHEADQ80; \
	VPBROADCASTD 40(R8), Y12; \
	VMOVDQU Y12, Y13; \
	WORDSQ80(VONEQ80)

#define VQ40(low, high, p, sum) \
	VPBROADCASTD low p, Y2; \
	VPBROADCASTD high p, Y3; \
	DPBUSD(2, 0, sum); \
	DPBUSD(3, 1, sum)

#define VWORDQ40(at, low, high) \
	PREFETCHT0 (AHEADBY+at)(CX); \
	VMOVDQU at(CX), Y0; \
	VPSRLW $4, Y0, Y1; \
	VPAND Y15, Y0, Y0; \
	VPAND Y15, Y1, Y1; \
	VQ40(low, high, (R8), 4); \
	VQ40(low, high, (R8)(AX*1), 5); \
	VQ40(low, high, (R8)(AX*2), 6); \
	VQ40(low, high, (R8)(R13*1), 7)

#define VQ80(at, p, sum) \
	VPBROADCASTD at p, Y2; \
	DPBUSD(2, 0, sum)

#define VWORDQ80(at, four) \
	PREFETCHT0 (AHEADBY+at)(CX); \
	VPXOR at(CX), Y15, Y0; \
	VQ80(four, (R8), 4); \
	VQ80(four, (R8)(AX*1), 5); \
	VQ80(four, (R8)(AX*2), 6); \
	VQ80(four, (R8)(R13*1), 7)

// VSTARTS loads the values from which the sums of four inputs start. at is the offset of input.low
// or input.high.
#define VSTARTS(at) \
	VPBROADCASTD at(R8), Y4; \
	VPBROADCASTD at(R8)(AX*1), Y5; \
	VPBROADCASTD at(R8)(AX*2), Y6; \
	VPBROADCASTD at(R8)(R13*1), Y7

#define VFOURQ40 \
	VSTARTS(36); \
	WORDSQ40(VWORDQ40); \
	SCALES

#define VFOURQ80 \
	VSTARTS(40); \
	WORDSQ80(VWORDQ80); \
	SCALES

// func q40x1AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x1AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X15, Y15)
	YONE(256, VBLOCKQ40)

// func q40x4AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X15, Y15)
	YFOUR(256, VFOURQ40)

// func q80x1AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x80808080, X15, Y15)
	YONE(512, VBLOCKQ80)

// func q80x4AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x80808080, X15, Y15)
	YFOUR(512, VFOURQ80)
