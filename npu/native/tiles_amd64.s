#include "textflag.h"
#include "tiles_amd64.h"

// func q40x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(288, WEIGHTSQ40, INPUTS1(LOW), STORE1)

// func q40x2VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x2VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(288, WEIGHTSQ40, INPUTS2(LOW), STORE2)

// func q40x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(288, WEIGHTSQ40, INPUTS4(LOW), STORE4)

// func q40x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(288, WEIGHTSQ40, INPUTS8(LOW), STORE8)

// func q40x16VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x16VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILE(288, WEIGHTSQ40, INPUTS16(LOW), STORE16)

// func q80x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(544, WEIGHTSQ80, INPUTS1(HIGH), STORE1)

// func q80x2VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x2VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(544, WEIGHTSQ80, INPUTS2(HIGH), STORE2)

// func q80x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(544, WEIGHTSQ80, INPUTS4(HIGH), STORE4)

// func q80x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(544, WEIGHTSQ80, INPUTS8(HIGH), STORE8)

// func q80x16VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x16VNNI(SB), NOSPLIT, $0-48
	FILL($0x80808080, Z9)
	TILE(544, WEIGHTSQ80, INPUTS16(HIGH), STORE16)

// For one input, the AVX2 kernels read a group once and keep the sums of sixteen rows. For four
// inputs they read it twice, except that of Q8_0, eight rows at a time: R14 is 2, then 1. The
// integers of the second half start 32 bytes later, its scales 16.

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
	AHEAD288; \
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
	AHEAD544; \
	VPXOR Y12, Y12, Y12; \
	VPXOR Y13, Y13, Y13; \
	WORDSQ80(YONEQ80)

// HALVES and BFLOATS read the scales of eight rows, of 16 bits each.
#define HALVES(at, y) VCVTPH2PS at(SI), y
#define BFLOATS(at, y) \
	VPMOVZXWD at(SI), y; \
	VPSLLD $16, y, y

// YONE multiplies by one input. BLOCK leaves a block's sums in Y12 and Y13.
#define YONE(BYTES, BLOCK) \
	YONEOF(32, BYTES, BLOCK, HALVES, NOMINIMA)

#define NOMINIMA

#define YONEOF(SCALES, BYTES, BLOCK, SCALESOF, MINIMA) \
	ARGS; \
group: \
	LEAQ SCALES(SI), CX; \
	MOVQ blocks+32(FP), BX; \
	MOVQ R12, R8; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
block: \
	BLOCK; \
	VCVTDQ2PS Y12, Y12; \
	VCVTDQ2PS Y13, Y13; \
	SCALESOF(0, Y0); \
	SCALESOF(16, Y1); \
	VBROADCASTSS 32(R8), Y2; \
	VMULPS Y0, Y2, Y0; \
	VMULPS Y1, Y2, Y1; \
	VMULPS Y0, Y12, Y12; \
	VMULPS Y1, Y13, Y13; \
	VADDPS Y12, Y8, Y8; \
	VADDPS Y13, Y9, Y9; \
	MINIMA; \
	ADDQ $BYTES, SI; \
	ADDQ $BYTES, CX; \
	ADDQ $48, R8; \
	DECQ BX; \
	JNZ block; \
	VMOVUPS Y8, (DI); \
	VMOVUPS Y9, 32(DI); \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ group; \
	VZEROUPPER; \
	RET

// YMINIMA adds the products of the minima and the input's sum to Y8 and Y9.
#define YMINIMA \
	HALVES(32, Y0); \
	HALVES(48, Y1); \
	VBROADCASTSS 44(R8), Y2; \
	VMULPS Y0, Y2, Y0; \
	VMULPS Y1, Y2, Y1; \
	VADDPS Y0, Y8, Y8; \
	VADDPS Y1, Y9, Y9

#define YONEMINIMA(BYTES, BLOCK) \
	YONEOF(64, BYTES, BLOCK, HALVES, YMINIMA)

#define YFILL(bits, x, y) \
	MOVL bits, BX; \
	VMOVD BX, x; \
	VPBROADCASTD x, y

// YFOUR multiplies by four inputs. BLOCK multiplies a block and adds the scaled sums to Y8 to Y11.
#define YFOUR(BYTES, BLOCK) \
	YFOUROF(32, BYTES, BLOCK)

#define YFOUROF(SCALES, BYTES, BLOCK) \
	ARGS; \
group: \
	MOVQ $2, R14; \
	LEAQ SCALES(SI), CX; \
half: \
	MOVQ blocks+32(FP), BX; \
	MOVQ R12, R8; \
	VXORPS Y8, Y8, Y8; \
	VXORPS Y9, Y9, Y9; \
	VXORPS Y10, Y10, Y10; \
	VXORPS Y11, Y11, Y11; \
block: \
	BLOCK; \
	ADDQ $BYTES, SI; \
	ADDQ $BYTES, CX; \
	ADDQ $48, R8; \
	DECQ BX; \
	JNZ block; \
	YSTORE4; \
	ADDQ $32, DI; \
	DECQ R14; \
	JEQ next; \
	MOVQ blocks+32(FP), BX; \
	IMUL3Q $BYTES, BX, BX; \
	SUBQ BX, CX; \
	ADDQ $32, CX; \
	SUBQ BX, SI; \
	ADDQ $16, SI; \
	JMP half; \
next: \
	SUBQ $16, SI; \
	DECQ DX; \
	JNZ group; \
	VZEROUPPER; \
	RET

// YLEAST adds the products of the minima in Y0 and the input's sum to acc.
#define YLEAST(p, acc) \
	VBROADCASTSS 44 p, Y1; \
	VMULPS Y0, Y1, Y1; \
	VADDPS Y1, acc, acc

#define YMINIMA4(BLOCK) \
	BLOCK; \
	HALVES(32, Y0); \
	YLEAST((R8), Y8); \
	YLEAST((R8)(AX*1), Y9); \
	YLEAST((R8)(AX*2), Y10); \
	YLEAST((R8)(R13*1), Y11)

#define YFOURMINIMA(BYTES, BLOCK) \
	YFOUROF(64, BYTES, YMINIMA4(BLOCK))

// func q40x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	YONE(288, YBLOCKQ40)

// func q40x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOUR(288, YFOURQ40)

// func q80x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YONE(544, YBLOCKQ80)

// Y16Q80 multiplies four weights of sixteen rows (Y8 and Y9, whose magnitudes are in Y10 and Y11) by those of the input at p, to which it
// moves the signs of the weights. SUM puts the products into a and b, or adds them.
#define Y16Q80(SUM, at, p, a, b) \
	VPBROADCASTD at p, Y12; \
	VPSIGNB Y8, Y12, Y13; \
	VPSIGNB Y9, Y12, Y12; \
	VPMADDUBSW Y13, Y10, Y13; \
	VPMADDUBSW Y12, Y11, Y12; \
	SUM(Y13, a); \
	SUM(Y12, b)

#define YFIRST(y, sum) VPMADDWD Y15, y, sum
#define YMORE(y, sum) \
	VPMADDWD Y15, y, y; \
	VPADDD y, sum, sum

#define Y16WORDQ80(SUM, at, four) \
	PREFETCHT0 (AHEADBY+at)(CX); \
	VMOVDQU at(CX), Y8; \
	VMOVDQU (at+32)(CX), Y9; \
	VPABSB Y8, Y10; \
	VPABSB Y9, Y11; \
	Y16Q80(SUM, four, (R8), Y0, Y4); \
	Y16Q80(SUM, four, (R8)(AX*1), Y1, Y5); \
	Y16Q80(SUM, four, (R8)(AX*2), Y2, Y6); \
	Y16Q80(SUM, four, (R8)(R13*1), Y3, Y7)

// Y16SCALED scales the sums of the input at p and adds them to those at at(SP).
#define Y16SCALED(p, a, b, at) \
	VBROADCASTSS 32 p, Y10; \
	VMULPS Y8, Y10, Y11; \
	VMULPS Y9, Y10, Y10; \
	VCVTDQ2PS a, a; \
	VCVTDQ2PS b, b; \
	VMULPS Y11, a, a; \
	VMULPS Y10, b, b; \
	VADDPS at(SP), a, a; \
	VADDPS (at+32)(SP), b, b; \
	VMOVUPS a, at(SP); \
	VMOVUPS b, (at+32)(SP)

#define YMOVE(at, p) \
	VMOVUPS at(SP), Y0; \
	VMOVUPS (at+32)(SP), Y1; \
	VMOVUPS Y0, p; \
	VMOVUPS Y1, 32 p

// func q80x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
// It reads a group once, and keeps the sums of sixteen rows on the stack.
TEXT ·q80x4AVX2(SB), NOSPLIT, $256-48
	YFILL($0x00010001, X15, Y15)
	MOVQ stride+8(FP), R14
	SHLQ $2, R14
	LEAQ (R14)(R14*2), R15
	ARGS
group:
	LEAQ 32(SI), CX
	MOVQ blocks+32(FP), BX
	MOVQ R12, R8
	VPXOR Y14, Y14, Y14
	VMOVDQU Y14, (SP)
	VMOVDQU Y14, 32(SP)
	VMOVDQU Y14, 64(SP)
	VMOVDQU Y14, 96(SP)
	VMOVDQU Y14, 128(SP)
	VMOVDQU Y14, 160(SP)
	VMOVDQU Y14, 192(SP)
	VMOVDQU Y14, 224(SP)
block:
	Y16WORDQ80(YFIRST, 0, 0)
	Y16WORDQ80(YMORE, 64, 4)
	Y16WORDQ80(YMORE, 128, 8)
	Y16WORDQ80(YMORE, 192, 12)
	Y16WORDQ80(YMORE, 256, 16)
	Y16WORDQ80(YMORE, 320, 20)
	Y16WORDQ80(YMORE, 384, 24)
	Y16WORDQ80(YMORE, 448, 28)
	VCVTPH2PS (SI), Y8
	VCVTPH2PS 16(SI), Y9
	Y16SCALED((R8), Y0, Y4, 0)
	Y16SCALED((R8)(AX*1), Y1, Y5, 64)
	Y16SCALED((R8)(AX*2), Y2, Y6, 128)
	Y16SCALED((R8)(R13*1), Y3, Y7, 192)
	ADDQ $544, SI
	ADDQ $544, CX
	ADDQ $48, R8
	DECQ BX
	JNZ  block
	YMOVE(0, (DI))
	YMOVE(64, (DI)(R14*1))
	YMOVE(128, (DI)(R14*2))
	YMOVE(192, (DI)(R15*1))
	ADDQ $64, DI
	DECQ DX
	JNZ  group
	VZEROUPPER
	RET

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
	AHEAD288; \
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
	AHEAD544; \
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
	YONE(288, VBLOCKQ40)

// func q40x4AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q40x4AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X15, Y15)
	YFOUR(288, VFOURQ40)

// func q80x1AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x1AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x80808080, X15, Y15)
	YONE(544, VBLOCKQ80)

// func q80x4AVXVNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q80x4AVXVNNI(SB), NOSPLIT, $0-48
	YFILL($0x80808080, X15, Y15)
	YFOUR(544, VFOURQ80)

// Q4_1 and Q5_1 have minima. Q5_0 and Q5_1 have a fifth word of each row, whose
// bits 0 to 3 of each byte are the fifth bits of the words' lower nibbles, and bits 4 to 7 those of the upper ones. The nibbles of
// IQ4_NL and MXFP4 are indices of a table. MXFP4's scales are BF16.

// LEAST adds the products of the minima in Z0 and the input's sum to acc.
#define LEAST(p, acc) \
	VMULPS.BCST 44 p, Z0, Z14; \
	VADDPS Z14, acc, acc

// MINIMA1 to MINIMA8 do what INPUTS1 to INPUTS8 do and then add the minima.
#define MINIMA1 \
	INPUTS1(ZERO); \
	VCVTPH2PS 32(SI), Z0; \
	LEAST((R8), Z16)

#define MINIMA4 \
	INPUTS4(ZERO); \
	VCVTPH2PS 32(SI), Z0; \
	LEAST((R8), Z16); \
	LEAST((R8)(AX*1), Z17); \
	LEAST((R8)(AX*2), Z18); \
	LEAST((R8)(R13*1), Z19)

#define MINIMA8 \
	INPUTS8(ZERO); \
	VCVTPH2PS 32(SI), Z0; \
	LEAST((R8), Z16); \
	LEAST((R8)(AX*1), Z17); \
	LEAST((R8)(AX*2), Z18); \
	LEAST((R8)(R13*1), Z19); \
	LEAST((R9), Z20); \
	LEAST((R9)(AX*1), Z21); \
	LEAST((R9)(AX*2), Z22); \
	LEAST((R9)(R13*1), Z23)

// func q41x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILEMINIMA(320, WEIGHTSQ41, MINIMA1, STORE1)

// func q41x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILEMINIMA(320, WEIGHTSQ41, MINIMA4, STORE4)

// func q41x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TILEMINIMA(320, WEIGHTSQ41, MINIMA8, STORE8)

// func q50x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	TILE8(352, WEIGHTSQ5(AHEAD352), INPUTS1(TWICELOW), STORE1)

// func q50x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	TILE8(352, WEIGHTSQ5(AHEAD352), INPUTS4(TWICELOW), STORE4)

// func q50x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	TILE8(352, WEIGHTSQ5(AHEAD352), INPUTS8(TWICELOW), STORE8)

// func q51x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	TILEMINIMA(384, WEIGHTSQ5(AHEAD352), MINIMA1, STORE1)

// func q51x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	TILEMINIMA(384, WEIGHTSQ5(AHEAD352), MINIMA4, STORE4)

// func q51x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	FILL($0x10101010, Z28)
	TILEMINIMA(384, WEIGHTSQ5(AHEAD352), MINIMA8, STORE8)

// func iq4nlx1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TABLE(0)
	TILE8(288, WEIGHTSNL, INPUTS1(HIGH), STORE1)

// func iq4nlx4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TABLE(0)
	TILE8(288, WEIGHTSNL, INPUTS4(HIGH), STORE4)

// func iq4nlx8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TABLE(0)
	TILE8(288, WEIGHTSNL, INPUTS8(HIGH), STORE8)

// func mxfp4x1VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x1VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TABLE(16)
	TILE8(288, WEIGHTSMX, INPUTS1(HIGH), STORE1)

// func mxfp4x4VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x4VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TABLE(16)
	TILE8(288, WEIGHTSMX, INPUTS4(HIGH), STORE4)

// func mxfp4x8VNNI(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x8VNNI(SB), NOSPLIT, $0-48
	FILL($0x0f0f0f0f, Z9)
	TABLE(16)
	TILE8(288, WEIGHTSMX, INPUTS8(HIGH), STORE8)

// The same for AVX2.

DATA sixteens<>+0(SB)/8, $0x1010101010101010
DATA sixteens<>+8(SB)/8, $0x1010101010101010
DATA sixteens<>+16(SB)/8, $0x1010101010101010
DATA sixteens<>+24(SB)/8, $0x1010101010101010
GLOBL sixteens<>(SB), RODATA|NOPTR, $32

// YZERO, YLOW2 and YLOW15 add to sum what sums start from, for offsets of 0, 16 and 12 in the weights. They change t.
#define YZERO(p, sum, t)
#define YLOW2(p, sum, t) \
	VPBROADCASTD 36 p, t; \
	VPADDD t, sum, sum; \
	VPADDD t, sum, sum
#define YLOW15(p, sum, t) \
	VPBROADCASTD 36 p, t; \
	VPADDD t, sum, sum; \
	VPSRAD $1, t, t; \
	VPADDD t, sum, sum

#define YBLOCKQ41 \
	AHEAD288; \
	VPXOR Y12, Y12, Y12; \
	VPXOR Y13, Y13, Y13; \
	WORDSQ40(YONEQ40); \
	VPMADDWD Y15, Y12, Y12; \
	VPMADDWD Y15, Y13, Y13

// YNIBBLES reads the nibbles of sixteen rows to Y0 to Y3.
#define YNIBBLES(at) \
	VMOVDQU at(CX), Y0; \
	VMOVDQU (at+32)(CX), Y1; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPAND Y14, Y0, Y0; \
	VPAND Y14, Y1, Y1; \
	VPAND Y14, Y2, Y2; \
	VPAND Y14, Y3, Y3

// YSUMS multiplies by two times four elements of the input and adds the products to the sums in Y12, Y13, Y6 and Y7. Four of
// them, at most 2·31·127 each, fit in 16 bits.
#define YSUMS(low, high) \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPMADDUBSW Y4, Y0, Y0; \
	VPMADDUBSW Y4, Y1, Y1; \
	VPMADDUBSW Y5, Y2, Y2; \
	VPMADDUBSW Y5, Y3, Y3; \
	VPADDW Y0, Y12, Y12; \
	VPADDW Y1, Y13, Y13; \
	VPADDW Y2, Y6, Y6; \
	VPADDW Y3, Y7, Y7

#define YFIFTH(op, by, bits, y) \
	op by, bits, Y4; \
	VPAND sixteens<>(SB), Y4, Y4; \
	VPOR Y4, y, y

#define YONEQ5(at, low, high, op, by, by2) \
	YNIBBLES(at); \
	YFIFTH(op, by, Y10, Y0); \
	YFIFTH(op, by, Y11, Y1); \
	YFIFTH(VPSRLW, by2, Y10, Y2); \
	YFIFTH(VPSRLW, by2, Y11, Y3); \
	YSUMS(low, high)

#define YCLEARSUMS \
	VPXOR Y12, Y12, Y12; \
	VPXOR Y13, Y13, Y13; \
	VPXOR Y6, Y6, Y6; \
	VPXOR Y7, Y7, Y7

#define YADDSUMS(START) \
	VPMADDWD Y15, Y12, Y12; \
	VPMADDWD Y15, Y13, Y13; \
	VPMADDWD Y15, Y6, Y6; \
	VPMADDWD Y15, Y7, Y7; \
	VPADDD Y6, Y12, Y12; \
	VPADDD Y7, Y13, Y13; \
	START((R8), Y12, Y4); \
	START((R8), Y13, Y4)

#define YBLOCKQ5(AHEAD, START) \
	AHEAD; \
	VMOVDQU 256(CX), Y10; \
	VMOVDQU 288(CX), Y11; \
	YCLEARSUMS; \
	YONEQ5(0, 0, 16, VPSLLW, $4, $0); \
	YONEQ5(64, 4, 20, VPSLLW, $3, $1); \
	YONEQ5(128, 8, 24, VPSLLW, $2, $2); \
	YONEQ5(192, 12, 28, VPSLLW, $1, $3); \
	YADDSUMS(START)

// YONEMX looks numbers up in the table in Y11.
#define YONEMX(at, low, high) \
	YNIBBLES(at); \
	VPSHUFB Y0, Y11, Y0; \
	VPSHUFB Y1, Y11, Y1; \
	VPSHUFB Y2, Y11, Y2; \
	VPSHUFB Y3, Y11, Y3; \
	YSUMS(low, high)

#define YBLOCKMX \
	AHEAD288; \
	YCLEARSUMS; \
	WORDSQ40(YONEMX); \
	YADDSUMS(YLOW15)

// YSIGNED multiplies signed weights by the four elements of the input in x and adds the products to sum. It moves the signs of the
// weights to the input, so that the unsigned bytes are the magnitudes of the weights.
#define YSIGNED(x, w, sum) \
	VPSIGNB w, x, Y7; \
	VPABSB w, w; \
	VPMADDUBSW Y7, w, w; \
	VPMADDWD Y15, w, w; \
	VPADDD w, sum, sum

#define YONENL(at, low, high) \
	YNIBBLES(at); \
	VPBROADCASTD low(R8), Y4; \
	VPBROADCASTD high(R8), Y5; \
	VPSHUFB Y0, Y11, Y0; \
	VPSHUFB Y1, Y11, Y1; \
	VPSHUFB Y2, Y11, Y2; \
	VPSHUFB Y3, Y11, Y3; \
	YSIGNED(Y4, Y0, Y12); \
	YSIGNED(Y4, Y1, Y13); \
	YSIGNED(Y5, Y2, Y12); \
	YSIGNED(Y5, Y3, Y13)

#define YBLOCKNL \
	AHEAD288; \
	VPXOR Y12, Y12, Y12; \
	VPXOR Y13, Y13, Y13; \
	WORDSQ40(YONENL)

// YINPUT5 multiplies by the input at p, with two sums of 16 bits, and adds the scaled sums to acc.
#define YINPUT5(START, p, acc) \
	VPBROADCASTD 0 p, Y12; \
	VPMADDUBSW Y12, Y0, Y13; \
	YQ40(4, p, Y1); \
	YQ40(8, p, Y2); \
	YQ40(12, p, Y3); \
	VPMADDWD ones16<>(SB), Y13, Y15; \
	VPBROADCASTD 16 p, Y12; \
	VPMADDUBSW Y12, Y4, Y13; \
	YQ40(20, p, Y5); \
	YQ40(24, p, Y6); \
	YQ40(28, p, Y7); \
	VPMADDWD ones16<>(SB), Y13, Y13; \
	VPADDD Y15, Y13, Y13; \
	START(p, Y13, Y12); \
	SCALE(Y13, p, acc)

DATA ones16<>+0(SB)/8, $0x0001000100010001
DATA ones16<>+8(SB)/8, $0x0001000100010001
DATA ones16<>+16(SB)/8, $0x0001000100010001
DATA ones16<>+24(SB)/8, $0x0001000100010001
GLOBL ones16<>(SB), RODATA|NOPTR, $32

#define YINPUTS5(START) \
	YINPUT5(START, (R8), Y8); \
	YINPUT5(START, (R8)(AX*1), Y9); \
	YINPUT5(START, (R8)(AX*2), Y10); \
	YINPUT5(START, (R8)(R13*1), Y11)

#define YFIFTH4(op, by, y) \
	op by, Y13, Y14; \
	VPAND Y12, Y14, Y14; \
	VPOR Y14, y, y

#define YWEIGHTSQ5 \
	YWEIGHTSQ40; \
	VMOVDQU 256(CX), Y13; \
	VMOVDQU sixteens<>(SB), Y12; \
	YFIFTH4(VPSLLW, $4, Y0); \
	YFIFTH4(VPSLLW, $3, Y1); \
	YFIFTH4(VPSLLW, $2, Y2); \
	YFIFTH4(VPSLLW, $1, Y3); \
	YFIFTH4(VPSRLW, $0, Y4); \
	YFIFTH4(VPSRLW, $1, Y5); \
	YFIFTH4(VPSRLW, $2, Y6); \
	YFIFTH4(VPSRLW, $3, Y7)

#define YFOURQ5(START) \
	YWEIGHTSQ5; \
	HALVES(0, Y14); \
	YINPUTS5(START)

#define YWEIGHTSMX \
	YWEIGHTSQ40; \
	VBROADCASTI128 tables<>+48(SB), Y12; \
	VPSHUFB Y0, Y12, Y0; \
	VPSHUFB Y1, Y12, Y1; \
	VPSHUFB Y2, Y12, Y2; \
	VPSHUFB Y3, Y12, Y3; \
	VPSHUFB Y4, Y12, Y4; \
	VPSHUFB Y5, Y12, Y5; \
	VPSHUFB Y6, Y12, Y6; \
	VPSHUFB Y7, Y12, Y7

#define YFOURMX \
	YWEIGHTSMX; \
	BFLOATS(0, Y14); \
	YINPUTS5(YLOW15)

#define YINPUTQ41(p, acc) \
	VPBROADCASTD 0 p, Y12; \
	VPMADDUBSW Y12, Y0, Y13; \
	YQ40(4, p, Y1); \
	YQ40(8, p, Y2); \
	YQ40(12, p, Y3); \
	YQ40(16, p, Y4); \
	YQ40(20, p, Y5); \
	YQ40(24, p, Y6); \
	YQ40(28, p, Y7); \
	VPMADDWD Y15, Y13, Y13; \
	SCALE(Y13, p, acc)

#define YFOURQ41 \
	YWEIGHTSQ40; \
	HALVES(0, Y14); \
	YINPUTQ41((R8), Y8); \
	YINPUTQ41((R8)(AX*1), Y9); \
	YINPUTQ41((R8)(AX*2), Y10); \
	YINPUTQ41((R8)(R13*1), Y11)

// YNL multiplies four signed weights, whose magnitudes are in size, by those of the input at p.
#define YNL(at, p, w, size, sum) \
	VPBROADCASTD at p, Y2; \
	VPSIGNB w, Y2, Y2; \
	VPMADDUBSW Y2, size, Y2; \
	VPMADDWD Y15, Y2, Y2; \
	VPADDD Y2, sum, sum

#define YWORDNL(at, low, high) \
	PREFETCHT0 (AHEADBY+at)(CX); \
	VMOVDQU at(CX), Y0; \
	VPSRLW $4, Y0, Y1; \
	VPAND nibbles<>(SB), Y0, Y0; \
	VPAND nibbles<>(SB), Y1, Y1; \
	VPSHUFB Y0, Y13, Y0; \
	VPSHUFB Y1, Y13, Y1; \
	VPABSB Y0, Y3; \
	VPABSB Y1, Y12; \
	YNL(low, (R8), Y0, Y3, Y4); \
	YNL(low, (R8)(AX*1), Y0, Y3, Y5); \
	YNL(low, (R8)(AX*2), Y0, Y3, Y6); \
	YNL(low, (R8)(R13*1), Y0, Y3, Y7); \
	YNL(high, (R8), Y1, Y12, Y4); \
	YNL(high, (R8)(AX*1), Y1, Y12, Y5); \
	YNL(high, (R8)(AX*2), Y1, Y12, Y6); \
	YNL(high, (R8)(R13*1), Y1, Y12, Y7)

#define YFOURNL \
	VPXOR Y4, Y4, Y4; \
	VPXOR Y5, Y5, Y5; \
	VPXOR Y6, Y6, Y6; \
	VPXOR Y7, Y7, Y7; \
	WORDSQ40(YWORDNL); \
	SCALES

// func q41x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	YONEMINIMA(320, YBLOCKQ41)

// func q41x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q41x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOURMINIMA(320, YFOURQ41)

// func q50x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	YONE(352, YBLOCKQ5(AHEAD352, YLOW2))

// func q50x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q50x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOUR(352, YFOURQ5(YLOW2))

// func q51x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	YONEMINIMA(384, YBLOCKQ5(AHEAD352, YZERO))

// func q51x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·q51x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOURMINIMA(384, YFOURQ5(YZERO))

// func iq4nlx1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	VBROADCASTI128 tables<>+32(SB), Y11
	YONE(288, YBLOCKNL)

// func iq4nlx4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·iq4nlx4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	VBROADCASTI128 tables<>+32(SB), Y13
	YFOUR(288, YFOURNL)

// func mxfp4x1AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x1AVX2(SB), NOSPLIT, $0-48
	YFILL($0x0f0f0f0f, X14, Y14)
	YFILL($0x00010001, X15, Y15)
	VBROADCASTI128 tables<>+48(SB), Y11
	YONEOF(32, 288, YBLOCKMX, BFLOATS, NOMINIMA)

// func mxfp4x4AVX2(dst *float32, stride int, w *byte, groups, blocks int, x *input)
TEXT ·mxfp4x4AVX2(SB), NOSPLIT, $0-48
	YFILL($0x00010001, X15, Y15)
	YFOUR(288, YFOURMX)

// Many inputs by packed Q5_0, Q5_1 and MXFP4 with AVX2. The integers of a block become bytes once for all inputs: those of eight rows
// follow each other, word by word.

// YUNPACK stores the bytes of the block at CX, which WEIGHTS reads, at DI.
#define YUNPACK(WEIGHTS) \
	MOVQ $2, DX; \
rows: \
	WEIGHTS; \
	VMOVDQU Y0, (DI); \
	VMOVDQU Y1, 32(DI); \
	VMOVDQU Y2, 64(DI); \
	VMOVDQU Y3, 96(DI); \
	VMOVDQU Y4, 128(DI); \
	VMOVDQU Y5, 160(DI); \
	VMOVDQU Y6, 192(DI); \
	VMOVDQU Y7, 224(DI); \
	ADDQ $32, CX; \
	ADDQ $256, DI; \
	DECQ DX; \
	JNZ rows; \
	VZEROUPPER; \
	RET

// func bytesQ5(dst *bytes32, w *byte)
TEXT ·bytesQ5(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	YUNPACK(YWEIGHTSQ5)

// func bytesMX(dst *bytes32, w *byte)
TEXT ·bytesMX(SB), NOSPLIT, $0-16
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), CX
	YUNPACK(YWEIGHTSMX)

// YLEASTS adds the products of the minima and the inputs' sums to Y8 to Y11.
#define YLEASTS \
	HALVES(32, Y13); \
	YLEASTOF((R8), Y8); \
	YLEASTOF((R8)(AX*1), Y9); \
	YLEASTOF((R8)(AX*2), Y10); \
	YLEASTOF((R8)(R13*1), Y11)

#define YLEASTOF(p, acc) \
	VBROADCASTSS 44 p, Y12; \
	VMULPS Y13, Y12, Y12; \
	VADDPS Y12, acc, acc

// YMANY multiplies the DX inputs at R12, in fours, by the bytes at CX and the scales at SI, eight rows at a time, and adds the products to
// the sums at DI.
#define YMANY(SCALESOF, START, MINIMA) \
	SHLQ $2, R14; \
	LEAQ (R14)(R14*2), R15; \
	IMUL3Q $48, AX, AX; \
	LEAQ (AX)(AX*2), R13; \
	MOVQ $2, R11; \
rows: \
	VMOVDQU (CX), Y0; \
	VMOVDQU 32(CX), Y1; \
	VMOVDQU 64(CX), Y2; \
	VMOVDQU 96(CX), Y3; \
	VMOVDQU 128(CX), Y4; \
	VMOVDQU 160(CX), Y5; \
	VMOVDQU 192(CX), Y6; \
	VMOVDQU 224(CX), Y7; \
	SCALESOF(0, Y14); \
	MOVQ R12, R8; \
	MOVQ DI, R9; \
	MOVQ DX, BX; \
inputs: \
	VMOVUPS (R9), Y8; \
	VMOVUPS (R9)(R14*1), Y9; \
	VMOVUPS (R9)(R14*2), Y10; \
	VMOVUPS (R9)(R15*1), Y11; \
	YINPUTS5(START); \
	MINIMA; \
	VMOVUPS Y8, (R9); \
	VMOVUPS Y9, (R9)(R14*1); \
	VMOVUPS Y10, (R9)(R14*2); \
	VMOVUPS Y11, (R9)(R15*1); \
	LEAQ (R8)(AX*4), R8; \
	LEAQ (R9)(R14*4), R9; \
	SUBQ $4, BX; \
	JNZ inputs; \
	ADDQ $256, CX; \
	ADDQ $16, SI; \
	ADDQ $32, DI; \
	DECQ R11; \
	JNZ rows; \
	VZEROUPPER; \
	RET

// func mulBytesQ50(dst *float32, stride int, w *bytes32, scales *byte, x *input, blocks, m int)
TEXT ·mulBytesQ50(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), SI
	MOVQ x+32(FP), R12
	MOVQ blocks+40(FP), AX
	MOVQ m+48(FP), DX
	YMANY(HALVES, YLOW2, NOMINIMA)

// func mulBytesQ51(dst *float32, stride int, w *bytes32, scales *byte, x *input, blocks, m int)
TEXT ·mulBytesQ51(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), SI
	MOVQ x+32(FP), R12
	MOVQ blocks+40(FP), AX
	MOVQ m+48(FP), DX
	YMANY(HALVES, YZERO, YLEASTS)

// func mulBytesMX(dst *float32, stride int, w *bytes32, scales *byte, x *input, blocks, m int)
TEXT ·mulBytesMX(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R14
	MOVQ w+16(FP), CX
	MOVQ scales+24(FP), SI
	MOVQ x+32(FP), R12
	MOVQ blocks+40(FP), AX
	MOVQ m+48(FP), DX
	YMANY(BFLOATS, YLOW15, NOMINIMA)
