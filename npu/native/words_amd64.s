#include "textflag.h"

// Many inputs by packed Q8_0, IQ4_NL and IQ4_XS with AVX2. The weights of a block become words of 16 bits once for all inputs, those
// of IQ4_XS times their scales, which gives 13 bits. Inputs become words too: for IQ4_XS once for sixteen rows, else once for all
// (run.widenInputs). Then one VPMADDWD multiplies two weights of eight rows by two numbers of an input. As bytes, weights would have to
// move their signs to each input first. For each four neighbouring weights of a part of 32, the first two of sixteen rows stand before
// the last two.

DATA numbers<>+0(SB)/8, $0xf6eaddcfbfad9881
DATA numbers<>+8(SB)/8, $0x7159453526190d01
DATA numbers<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA numbers<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL numbers<>(SB), RODATA|NOPTR, $32

// pairs moves the first two bytes of each four to the upper halves of words, or the last two.
DATA pairs<>+0(SB)/8, $0x0580048001800080
DATA pairs<>+8(SB)/8, $0x0d800c8009800880
DATA pairs<>+16(SB)/8, $0x0780068003800280
DATA pairs<>+24(SB)/8, $0x0f800e800b800a80
GLOBL pairs<>(SB), RODATA|NOPTR, $32

// WIDEN8 stores the bytes of eight rows in y as words, the first two of each four at at.
#define WIDEN8(y, at) \
	VPSHUFB Y12, y, Y8; \
	VPSHUFB Y13, y, Y9; \
	VPSRAW $8, Y8, Y8; \
	VPSRAW $8, Y9, Y9; \
	VMOVDQU Y8, at(DI); \
	VMOVDQU Y9, (at+64)(DI)

// scales moves the first of each two bytes to the upper halves of the two words of a row, or the second: see even in
// kpacked_amd64.s.
DATA scales<>+0(SB)/8, $0x0280028000800080
DATA scales<>+8(SB)/8, $0x0680068004800480
DATA scales<>+16(SB)/8, $0x0a800a8008800880
DATA scales<>+24(SB)/8, $0x0e800e800c800c80
DATA scales<>+32(SB)/8, $0x0380038001800180
DATA scales<>+40(SB)/8, $0x0780078005800580
DATA scales<>+48(SB)/8, $0x0b800b8009800980
DATA scales<>+56(SB)/8, $0x0f800f800d800d80
GLOBL scales<>(SB), RODATA|NOPTR, $64

#define PAIRS \
	VBROADCASTI128 pairs<>+0(SB), Y12; \
	VBROADCASTI128 pairs<>+16(SB), Y13

#define NUMBERS \
	PAIRS; \
	VBROADCASTI128 numbers<>+0(SB), Y14; \
	VBROADCASTI128 numbers<>+16(SB), Y15

// LOOKUP looks up the numbers of a word of sixteen rows: those of the lower nibbles, eight rows each, and those of the upper ones.
#define LOOKUP(at) \
	PREFETCHT0 (at+8192)(CX); \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y15, Y0, Y0; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2; \
	VPAND Y15, Y3, Y3; \
	VPSHUFB Y0, Y14, Y0; \
	VPSHUFB Y1, Y14, Y1; \
	VPSHUFB Y2, Y14, Y2; \
	VPSHUFB Y3, Y14, Y3

// func widenQ80(dst *words32, w *byte)
TEXT ·widenQ80(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	MOVQ $8, BX
	PAIRS
words:
	PREFETCHT0 8192(CX)
	VMOVDQU (CX), Y0
	VMOVDQU 32(CX), Y1
	WIDEN8(Y0, 0)
	WIDEN8(Y1, 32)
	ADDQ $64, CX
	ADDQ $128, DI
	DECQ BX
	JNZ  words
	VZEROUPPER
	RET

// func widenNL(dst *words32, w *byte)
TEXT ·widenNL(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	MOVQ $4, BX
	NUMBERS
words:
	LOOKUP(0)
	WIDEN8(Y0, 0)
	WIDEN8(Y1, 32)
	WIDEN8(Y2, 512)
	WIDEN8(Y3, 544)
	ADDQ $64, CX
	ADDQ $128, DI
	DECQ BX
	JNZ  words
	VZEROUPPER
	RET

// SCALEX reads the scales of eight rows for a part of IQ4_XS.
#define SCALEX(at, which, y) \
	VBROADCASTI128 at(R9), y; \
	VPSHUFB which, y, y; \
	VPSRAW $8, y, y

// WIDENX does what WIDEN8 does, and multiplies by the scales.
#define WIDENX(y, scales, at) \
	VPSHUFB Y12, y, Y4; \
	VPSHUFB Y13, y, Y5; \
	VPSRAW $8, Y4, Y4; \
	VPSRAW $8, Y5, Y5; \
	VPMULLW scales, Y4, Y4; \
	VPMULLW scales, Y5, Y5; \
	VMOVDQU Y4, at(DI); \
	VMOVDQU Y5, (at+64)(DI)

#define WORDX(at) \
	LOOKUP(at); \
	WIDENX(Y0, Y8, (2*at)); \
	WIDENX(Y1, Y9, (2*at+32)); \
	WIDENX(Y2, Y8, (2*at+512)); \
	WIDENX(Y3, Y9, (2*at+544))

// PARTX takes the scales of even or odd parts.
#define PARTX(which) \
	SCALEX(0, which, Y8); \
	SCALEX(16, which, Y9); \
	WORDX(0); \
	WORDX(64); \
	WORDX(128); \
	WORDX(192); \
	ADDQ $256, CX; \
	ADDQ $1024, DI

// func widenXS(dst *words256, w *byte)
TEXT ·widenXS(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	LEAQ 2048(CX), R9
	MOVQ $4, BX
	NUMBERS
parts:
	PARTX(scales<>+0(SB))
	PARTX(scales<>+32(SB))
	ADDQ $32, R9
	DECQ BX
	JNZ  parts
	VZEROUPPER
	RET

// WORDS stores 32 numbers of the input at p as words.
#define WORDS(p, to) \
	VPMOVSXBW p, Y10; \
	VPMOVSXBW 16 p, Y11; \
	VMOVDQU Y10, to(R12); \
	VMOVDQU Y11, (to+32)(R12)

#define WORDS4 \
	WORDS((R11), 0); \
	WORDS((R11)(AX*1), 64); \
	WORDS((R11)(AX*2), 128); \
	WORDS((R11)(R13*1), 192)

// TWO multiplies two weights of sixteen rows, in Y8 and Y9, by two of an input, and adds the products to a and b.
#define TWO(at, a, b) \
	VPBROADCASTD at(R10), Y10; \
	VPMADDWD Y10, Y8, Y11; \
	VPMADDWD Y10, Y9, Y12; \
	VPADDD Y11, a, a; \
	VPADDD Y12, b, b

#define STEP(k) \
	VMOVDQU (64*k)(CX), Y8; \
	VMOVDQU (64*k+32)(CX), Y9; \
	TWO((4*k), Y0, Y4); \
	TWO((4*k+64), Y1, Y5); \
	TWO((4*k+128), Y2, Y6); \
	TWO((4*k+192), Y3, Y7)

// STEPS multiplies a part of the weights by that of four inputs at R10.
#define STEPS \
	STEP(0); \
	STEP(1); \
	STEP(2); \
	STEP(3); \
	STEP(4); \
	STEP(5); \
	STEP(6); \
	STEP(7); \
	STEP(8); \
	STEP(9); \
	STEP(10); \
	STEP(11); \
	STEP(12); \
	STEP(13); \
	STEP(14); \
	STEP(15)

// PART also stores the part at R11 as words for the next time.
#define PART \
	WORDS4; \
	STEPS; \
	XCHGQ R10, R12

#define CLEAR4(a, b, c, d) \
	VPXOR a, a, a; \
	VPXOR b, b, b; \
	VPXOR c, c, c; \
	VPXOR d, d, d

// SCALES reads the scales of the weights, and makes R14 and R15 the strides of one and of three inputs' sums in bytes.
#define SCALES \
	VCVTPH2PS (BX), Y13; \
	VCVTPH2PS 16(BX), Y14; \
	SHLQ $2, R14; \
	LEAQ (R14)(R14*2), R15

// SCALED scales the sums of the input at p, whose scale is at at, and adds them to those at dst.
#define SCALED(at, p, a, b, dst) \
	VBROADCASTSS at p, Y10; \
	VMULPS Y13, Y10, Y11; \
	VMULPS Y14, Y10, Y12; \
	VCVTDQ2PS a, a; \
	VCVTDQ2PS b, b; \
	VMULPS Y11, a, a; \
	VMULPS Y12, b, b; \
	VADDPS dst, a, a; \
	VADDPS 32 dst, b, b; \
	VMOVUPS a, dst; \
	VMOVUPS b, 32 dst

// func mulWords32(dst *float32, stride int, w *words32, scales *byte, x *wordQuad, blocks, quads int)
TEXT ·mulWords32(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), BX
	MOVQ x+32(FP), R10
	MOVQ blocks+40(FP), AX
	MOVQ quads+48(FP), DX
	SCALES
	IMUL3Q $272, AX, AX
quads:
	CLEAR4(Y0, Y1, Y2, Y3)
	CLEAR4(Y4, Y5, Y6, Y7)
	STEPS
	SCALED(256, (R10), Y0, Y4, (DI))
	SCALED(260, (R10), Y1, Y5, (DI)(R14*1))
	SCALED(264, (R10), Y2, Y6, (DI)(R14*2))
	SCALED(268, (R10), Y3, Y7, (DI)(R15*1))
	ADDQ AX, R10
	LEAQ (DI)(R14*4), DI
	DECQ DX
	JNZ  quads
	VZEROUPPER
	RET

#define QUADROW(p, at) \
	VPMOVSXBW p, Y0; \
	VPMOVSXBW 16 p, Y1; \
	VMOVSS 32 p, X2; \
	VMOVDQU Y0, (64*at)(DI); \
	VMOVDQU Y1, (64*at+32)(DI); \
	VMOVSS X2, (256+4*at)(DI)

// func quadWords(dst *wordQuad, x *input, blocks int)
TEXT ·quadWords(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), DX
	IMUL3Q $48, DX, AX
	LEAQ (AX)(AX*2), R13
block:
	QUADROW((SI), 0)
	QUADROW((SI)(AX*1), 1)
	QUADROW((SI)(AX*2), 2)
	QUADROW((SI)(R13*1), 3)
	ADDQ $48, SI
	ADDQ $272, DI
	DECQ DX
	JNZ  block
	VZEROUPPER
	RET

// func mulWords256(dst *float32, stride int, w *words256, scales *byte, x *kInput, blocks, m int)
// While a part of four inputs is multiplied, the next part becomes words, or the first of the next four inputs, which R9 points to.
TEXT ·mulWords256(SB), 0, $512-56
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), BX
	MOVQ x+32(FP), R8
	MOVQ blocks+40(FP), AX
	MOVQ m+48(FP), DX
	SCALES
	IMUL3Q $320, AX, AX
	LEAQ (AX)(AX*2), R13
	MOVQ R8, R11
	MOVQ SP, R12
	WORDS4
	MOVQ SP, R10
	ADDQ $256, R12
inputs:
	LEAQ (R8)(AX*4), R9
	CMPQ DX, $4
	CMOVQEQ R8, R9 // no more inputs
	CLEAR4(Y0, Y1, Y2, Y3)
	CLEAR4(Y4, Y5, Y6, Y7)
	MOVQ R8, R11
	MOVQ $8, BX
part:
	ADDQ $32, R11
	CMPQ BX, $1
	CMOVQEQ R9, R11
	PART
	ADDQ $1024, CX
	DECQ BX
	JNZ  part
	SUBQ $8192, CX
	SCALED(288, (R8), Y0, Y4, (DI))
	SCALED(288, (R8)(AX*1), Y1, Y5, (DI)(R14*1))
	SCALED(288, (R8)(AX*2), Y2, Y6, (DI)(R14*2))
	SCALED(288, (R8)(R13*1), Y3, Y7, (DI)(R15*1))
	MOVQ R9, R8
	LEAQ (DI)(R14*4), DI
	SUBQ $4, DX
	JNZ  inputs
	VZEROUPPER
	RET
