#include "textflag.h"

// Products with packed weights (pack.go). A vector holds four elements of each of sixteen rows, for AVX2 of
// eight; an input's same four elements, broadcast, multiply all of them. VPDPBUSD and VPMADDUBSW multiply
// unsigned by signed bytes: weights get an offset, and what it adds is where the sums start (input.low and
// .high). A tile multiplies groups of sixteen rows by a fixed number of inputs, whose pointers are R8 to R11,
// four inputs each.

#define FILL(bits, z) \
	MOVL bits, BX; \
	VPBROADCASTD BX, z

// START: DI is where sums go, SI the group's scales, DX the groups left, R12 the inputs, AX the bytes of
// one input, R13 of three. R15 is a group's bytes of scales.
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

// GROUP: CX runs over the integers, BX counts blocks.
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

// WEIGHTS read a block: scales to Z8, integers plus their offset to Z0 to Z7. Z9 is the mask of nibbles, or
// the offset of bytes.
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

// AHEAD fetches what comes some kilobytes later, scales and integers alike: without it, memory is read at half
// the speed. R14 runs ahead by a block's bytes.
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

// INPUT adds the products of the block and the input at p to acc; start is low or high.
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

#define INPUTS1(start) \
	INPUT(start, (R8), Z16)

#define INPUTS2(start) \
	INPUT(start, (R8), Z16); \
	INPUT(start, (R8)(AX*1), Z17)

#define INPUTS4(start) \
	INPUTS2(start); \
	INPUT(start, (R8)(AX*2), Z18); \
	INPUT(start, (R8)(R13*1), Z19)

#define INPUTS8(start) \
	INPUTS4(start); \
	INPUT(start, (R9), Z20); \
	INPUT(start, (R9)(AX*1), Z21); \
	INPUT(start, (R9)(AX*2), Z22); \
	INPUT(start, (R9)(R13*1), Z23)

#define INPUTS16(start) \
	INPUTS8(start); \
	INPUT(start, (R10), Z24); \
	INPUT(start, (R10)(AX*1), Z25); \
	INPUT(start, (R10)(AX*2), Z26); \
	INPUT(start, (R10)(R13*1), Z27); \
	INPUT(start, (R11), Z28); \
	INPUT(start, (R11)(AX*1), Z29); \
	INPUT(start, (R11)(AX*2), Z30); \
	INPUT(start, (R11)(R13*1), Z31)

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

// STORE writes sums; R8 is the stride in bytes, BX runs over the inputs' rows.
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

// AVX2 goes over a group twice, eight rows at a time: R14 is 0, then 1. The integers of the other half lie 32
// bytes further, scales 16.

DATA nibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibbles<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibbles<>(SB), RODATA|NOPTR, $32

#define YWEIGHTSQ40 \
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

#define YWEIGHTSQ80 \
	VMOVDQU (CX), Y0; \
	VMOVDQU 64(CX), Y1; \
	VMOVDQU 128(CX), Y2; \
	VMOVDQU 192(CX), Y3; \
	VMOVDQU 256(CX), Y4; \
	VMOVDQU 320(CX), Y5; \
	VMOVDQU 384(CX), Y6; \
	VMOVDQU 448(CX), Y7

// YQ40 adds the products of four elements to the sums of Y13: eight times at most 2·15·127 fit 16 bits.
#define YQ40(at, p, w) \
	VPBROADCASTD at p, Y12; \
	VPMADDUBSW Y12, w, Y12; \
	VPADDW Y12, Y13, Y13

#define SCALE(p, acc) \
	VCVTDQ2PS Y13, Y13; \
	VCVTPH2PS (SI), Y14; \
	VBROADCASTSS 32 p, Y12; \
	VMULPS Y14, Y12, Y12; \
	VMULPS Y12, Y13, Y13; \
	VADDPS Y13, acc, acc

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
	SCALE(p, acc)

// YQ80 gives the weights' signs to the input, so that magnitudes are the unsigned bytes.
#define YQ80(at, p, w) \
	VPBROADCASTD at p, Y12; \
	VPSIGNB w, Y12, Y12; \
	VPABSB w, Y14; \
	VPMADDUBSW Y12, Y14, Y12; \
	VPMADDWD Y15, Y12, Y12; \
	VPADDD Y12, Y13, Y13

#define YINPUTQ80(p, acc) \
	VPXOR Y13, Y13, Y13; \
	YQ80(0, p, Y0); \
	YQ80(4, p, Y1); \
	YQ80(8, p, Y2); \
	YQ80(12, p, Y3); \
	YQ80(16, p, Y4); \
	YQ80(20, p, Y5); \
	YQ80(24, p, Y6); \
	YQ80(28, p, Y7); \
	SCALE(p, acc)

#define YINPUTS1(INPUT) \
	INPUT((R8), Y8)

#define YINPUTS4(INPUT) \
	INPUT((R8), Y8); \
	INPUT((R8)(AX*1), Y9); \
	INPUT((R8)(AX*2), Y10); \
	INPUT((R8)(R13*1), Y11)

#define YSTORE1 \
	VMOVUPS Y8, (DI)

#define YSTORE4 \
	MOVQ stride+8(FP), R8; \
	SHLQ $2, R8; \
	LEAQ (R8)(R8*2), R9; \
	VMOVUPS Y8, (DI); \
	VMOVUPS Y9, (DI)(R8*1); \
	VMOVUPS Y10, (DI)(R8*2); \
	VMOVUPS Y11, (DI)(R9*1)

#define YTILE(WORDS, WEIGHTS, INPUTS, STORE) \
	START; \
	MOVL $0x00010001, BX; \
	VMOVD BX, X15; \
	VPBROADCASTD X15, Y15; \
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
	WEIGHTS; \
	INPUTS; \
	ADDQ $32, SI; \
	ADDQ $WORDS, CX; \
	ADDQ $48, R8; \
	DECQ BX; \
	JNZ block; \
	STORE; \
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
	YTILE(256, YWEIGHTSQ40, YINPUTS1(YINPUTQ40), YSTORE1)

// func q40x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4AVX2(SB), NOSPLIT, $0-48
	YTILE(256, YWEIGHTSQ40, YINPUTS4(YINPUTQ40), YSTORE4)

// func q80x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1AVX2(SB), NOSPLIT, $0-48
	YTILE(512, YWEIGHTSQ80, YINPUTS1(YINPUTQ80), YSTORE1)

// func q80x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4AVX2(SB), NOSPLIT, $0-48
	YTILE(512, YWEIGHTSQ80, YINPUTS4(YINPUTQ80), YSTORE4)
