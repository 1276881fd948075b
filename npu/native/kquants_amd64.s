#include "textflag.h"

// Products of inputs with K-quants for AVX2: see kquants.go. An input block takes 320 bytes: 256
// integers, their sums at 256 and the scale at 288. An unpacked block of weights takes 384: 256
// integers, scales at 256, minima at 288, d at 320 and m at 324.

// PICK(p) shuffles a vector with eight scales in each half: it repeats scale p eight times in each
// half.
#define PICK(p) pick<>+(32*p)(SB)
#define REPEAT(at, v) \
DATA pick<>+(at+0)(SB)/8, v; \
DATA pick<>+(at+8)(SB)/8, v; \
DATA pick<>+(at+16)(SB)/8, v; \
DATA pick<>+(at+24)(SB)/8, v
REPEAT(0, $0x0100010001000100)
REPEAT(32, $0x0302030203020302)
REPEAT(64, $0x0504050405040504)
REPEAT(96, $0x0706070607060706)
REPEAT(128, $0x0908090809080908)
REPEAT(160, $0x0b0a0b0a0b0a0b0a)
REPEAT(192, $0x0d0c0d0c0d0c0d0c)
REPEAT(224, $0x0f0e0f0e0f0e0f0e)
GLOBL pick<>(SB), RODATA|NOPTR, $256

DATA order<>+0(SB)/4, $0
DATA order<>+4(SB)/4, $4
DATA order<>+8(SB)/4, $1
DATA order<>+12(SB)/4, $5
DATA order<>+16(SB)/4, $2
DATA order<>+20(SB)/4, $6
DATA order<>+24(SB)/4, $3
DATA order<>+28(SB)/4, $7
GLOBL order<>(SB), RODATA|NOPTR, $32

#define FILL(bits, x, y) \
	MOVL bits, AX; \
	VMOVD AX, x; \
	VPBROADCASTD x, y

// DOTROWS multiplies one input by weights in their file format. BLOCK multiplies a block's parts by
// the input and the scales and adds the products to Y4 and Y5. It leaves the products of the minima
// in Y3, and d and m in X6. Y15 is the nibble mask.
#define DOTROWS(SIZE, AHEAD, BLOCK) \
	MOVQ dst+0(FP), DI; \
	MOVQ w+8(FP), SI; \
	MOVQ rows+16(FP), CX; \
	MOVQ x+32(FP), R8; \
row: \
	MOVQ R8, R10; \
	MOVQ blocks+24(FP), BX; \
	VXORPS X8, X8, X8; \
block: \
	AHEAD; \
	VPXOR Y4, Y4, Y4; \
	VPXOR Y5, Y5, Y5; \
	BLOCK; \
	VPADDD Y5, Y4, Y4; \
	FINISH1; \
	ADDQ $SIZE, SI; \
	ADDQ $320, R10; \
	DECQ BX; \
	JNZ block; \
	VMOVSS X8, (DI); \
	ADDQ $4, DI; \
	DECQ CX; \
	JNZ row; \
	VZEROUPPER; \
	RET

// LARGEST sets each lane of Y0 to the larger magnitude of that lane and of the corresponding number
// at at(SI). Magnitudes compare as integers do, with NaN above all.
#define LARGEST(at) \
	VANDPS at(SI), Y15, Y1; \
	VPMAXUD Y1, Y0, Y0

// func quantizeKBlocks(dst *kInput, x *float32, blocks int)
TEXT ·quantizeKBlocks(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), CX
	FILL($0x7fffffff, X15, Y15)
	FILL($0x42fe0000, X14, Y14) // 127
	FILL($0x0da24260, X13, Y13) // 1e-30
	FILL($0x3f800000, X12, Y12) // 1
	FILL($0x01010101, X11, Y11) // 1 in bytes
	FILL($0x00010001, X10, Y10) // 1 in words
	VMOVDQU order<>(SB), Y9
block:
	VXORPS Y0, Y0, Y0
	MOVQ $8, BX
largest:
	LARGEST(0)
	LARGEST(32)
	LARGEST(64)
	LARGEST(96)
	ADDQ $128, SI
	DECQ BX
	JNZ  largest
	SUBQ $1024, SI
	VEXTRACTF128 $1, Y0, X1
	VPMAXUD X1, X0, X0
	VMOVHLPS X0, X0, X1
	VPMAXUD X1, X0, X0
	VMOVSHDUP X0, X1
	VPMAXUD X1, X0, X0
	VBROADCASTSS X0, Y0
	VDIVPS Y0, Y14, Y8        // 127/max
	VDIVSS X8, X12, X1        // its inverse
	VCMPPS $22, Y13, Y0, Y2   // not at most: NaN, too
	VANDPS Y2, Y8, Y8
	VANDPS X2, X1, X1
	VMOVSS X1, 288(DI)
	LEAQ 256(DI), R8
	LEAQ 292(DI), R9
	MOVQ $8, BX
round:
	VMULPS (SI), Y8, Y0
	VMULPS 32(SI), Y8, Y1
	VMULPS 64(SI), Y8, Y2
	VMULPS 96(SI), Y8, Y3
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPACKSSDW Y1, Y0, Y0      // packs within halves: order restores the order of groups of four bytes
	VPACKSSDW Y3, Y2, Y2
	VPACKSSWB Y2, Y0, Y0
	VPERMD Y0, Y9, Y0
	VMOVDQU Y0, (DI)
	VPMADDUBSW Y0, Y11, Y0
	VPMADDWD Y10, Y0, Y0
	VPHADDD Y0, Y0, Y0
	VPHADDD Y0, Y0, Y0        // the sums of both halves
	VEXTRACTI128 $1, Y0, X1
	VPUNPCKLWD X1, X0, X0
	VMOVD X0, AX
	ADDQ $128, SI
	ADDQ $32, DI
	MOVL AX, (R8)
	ADDQ $4, R8
	MOVL AX, DX
	SHRL $16, DX
	ADDL DX, AX
	MOVW AX, (R9)
	ADDQ $2, R9
	DECQ BX
	JNZ  round
	ADDQ $64, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// AHEAD prefetches weights a few rows ahead. Otherwise memory would be idle while unpacked rows are
// multiplied.
#define AHEAD \
	PREFETCHT0 4096(SI); \
	PREFETCHT0 4160(SI); \
	PREFETCHT0 4224(SI); \
	PREFETCHT0 4288(SI)

// SIXBITS unpacks the eight 6-bit scales and minima of the block at SI: see ScalesMinima in package
// quant. The twelve bytes are four with scales, four with minima and four with the low bits of the
// upper four scales and minima. The high bits of those are in the top two bits of the first eight
// bytes. SIXBITS leaves the scales in X1, each minimum twice in Y3, and d and m in X6. X13 to X15
// are masks.
#define SIXBITS \
	VMOVDQU 4(SI), X0; \
	VPAND X14, X0, X1; \
	VPSRLW $2, X0, X2; \
	VPAND X13, X2, X2; \
	VPSHUFD $0xaa, X0, X0; \
	VPSRLVD by0and4<>(SB), X0, X0; \
	VPAND X15, X0, X0; \
	VPOR X2, X0, X0; \
	VPUNPCKLDQ X0, X1, X1; \
	VPMOVZXBW X1, Y1; \
	VPERMQ $0xfa, Y1, Y3; \
	VPUNPCKLWD Y3, Y3, Y3; \
	VMOVD (SI), X6; \
	VCVTPH2PS X6, X6

DATA by0and4<>+0(SB)/8, $0x0000000400000000
DATA by0and4<>+8(SB)/8, $0
GLOBL by0and4<>(SB), RODATA|NOPTR, $16

#define MASKS \
	FILL($0x0f0f0f0f, X15, Y15); \
	FILL($0x3f3f3f3f, X14, Y14); \
	FILL($0x30303030, X13, Y13)

// SCALES stores the scales at 256(DI), once for the even and once for the odd groups of sixteen,
// the minima at 288(DI), and d and m at 320(DI).
#define SCALES \
	SIXBITS; \
	VMOVDQU X1, 256(DI); \
	VMOVDQU X1, 272(DI); \
	VMOVDQU Y3, 288(DI); \
	VMOVQ X6, 320(DI)

// READ4 reads parts p and p+1 of Q4_K to Y1 and Y2.
#define READ4(p) \
	VMOVDQU (16+16*p)(SI), Y1; \
	VPSRLW $4, Y1, Y2; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2

// READ5 reads parts p and p+1 of Q5_K to Y1 and Y2. Y7 holds the fifth bits. op0 and op1 shift them
// to the position that Y11 masks.
#define READ5(p, op0, by0, op1, by1) \
	VMOVDQU (48+16*p)(SI), Y1; \
	VPSRLW $4, Y1, Y2; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2; \
	op0 by0, Y7, Y9; \
	op1 by1, Y7, Y10; \
	VPAND Y11, Y9, Y9; \
	VPAND Y11, Y10, Y10; \
	VPOR Y9, Y1, Y1; \
	VPOR Y10, Y2, Y2

// ALL5 applies WHAT, a macro with the parameters of READ5, to all parts.
#define ALL5(WHAT) \
	VMOVDQU 16(SI), Y7; \
	WHAT(0, VPSLLW, $4, VPSLLW, $3); \
	WHAT(2, VPSLLW, $2, VPSLLW, $1); \
	WHAT(4, VPSLLW, $0, VPSRLW, $1); \
	WHAT(6, VPSRLW, $2, VPSRLW, $3)

// func unpackQ4K(dst *kBlock, src *byte, n int)
TEXT ·unpackQ4K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MASKS
block:
	SCALES
#define PAIR(p) \
	READ4(p); \
	VMOVDQU Y1, (32*p)(DI); \
	VMOVDQU Y2, (32*p+32)(DI)
	PAIR(0)
	PAIR(2)
	PAIR(4)
	PAIR(6)
	AHEAD
	ADDQ $144, SI
	ADDQ $384, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// func unpackQ5K(dst *kBlock, src *byte, n int)
TEXT ·unpackQ5K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MASKS
	FILL($0x10101010, X11, Y11)
block:
	SCALES
#define FIVE(p, op0, by0, op1, by1) \
	READ5(p, op0, by0, op1, by1); \
	VMOVDQU Y1, (32*p)(DI); \
	VMOVDQU Y2, (32*p+32)(DI)
	ALL5(FIVE)
	AHEAD
	ADDQ $176, SI
	ADDQ $384, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// func unpackQ6K(dst *kBlock, src *byte, n int)
TEXT ·unpackQ6K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	FILL($0x0f0f0f0f, X15, Y15)
	FILL($0x30303030, X14, Y14)
	MOVL $0x42000000, AX      // 32
	VMOVD AX, X13
	MOVQ $0x0e0c0a0806040200, AX
	VMOVQ AX, X12
	MOVQ $0x0f0d0b0907050301, AX
	VPINSRQ $1, AX, X12, X12
block:
	VMOVDQU 192(SI), X0
	VPMOVSXBW X0, Y1
	VPSHUFB X12, X0, X0
	VPMOVSXBW X0, Y0
	VMOVDQU Y0, 256(DI)
	VMOVDQU Y1, 288(DI)
	MOVWLZX 208(SI), AX
	VMOVD AX, X0
	VCVTPH2PS X0, X0
	VMULSS X13, X0, X1
	VMOVSS X0, 320(DI)
	VMOVSS X1, 324(DI)
#define SIX(half) \
	VMOVDQU (64*half)(SI), Y0; \
	VMOVDQU (64*half+32)(SI), Y1; \
	VMOVDQU (128+32*half)(SI), Y4; \
	VPSRLW $4, Y0, Y2; \
	VPSRLW $4, Y1, Y3; \
	VPSLLW $4, Y4, Y5; \
	VPSLLW $2, Y4, Y6; \
	VPSRLW $2, Y4, Y7; \
	VPAND Y15, Y0, Y0; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2; \
	VPAND Y15, Y3, Y3; \
	VPAND Y14, Y5, Y5; \
	VPAND Y14, Y6, Y6; \
	VPAND Y14, Y4, Y4; \
	VPAND Y14, Y7, Y7; \
	VPOR Y5, Y0, Y0; \
	VPOR Y6, Y1, Y1; \
	VPOR Y4, Y2, Y2; \
	VPOR Y7, Y3, Y3; \
	VMOVDQU Y0, (128*half)(DI); \
	VMOVDQU Y1, (128*half+32)(DI); \
	VMOVDQU Y2, (128*half+64)(DI); \
	VMOVDQU Y3, (128*half+96)(DI)
	SIX(0)
	SIX(1)
	AHEAD
	ADDQ $210, SI
	ADDQ $384, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// DOT multiplies the weights in Y0 by the input at a and the scales in Y1 and adds the products to
// sum.
#define DOT(a, sum) \
	VPMADDUBSW a, Y0, Y2; \
	VPMADDWD Y1, Y2, Y2; \
	VPADDD Y2, sum, sum

// FINISH1 adds up the lanes of Y4 (products) and of Y3 (minima), multiplies both sums by the
// weights' d and m (X6) and by the input's scale, and adds their difference to X8.
#define FINISH1 \
	VPUNPCKLDQ Y3, Y4, Y5; \
	VPUNPCKHDQ Y3, Y4, Y4; \
	VPADDD Y5, Y4, Y4; \
	VEXTRACTI128 $1, Y4, X5; \
	VPADDD X5, X4, X4; \
	VPSHUFD $0x4e, X4, X5; \
	VPADDD X5, X4, X4; \
	VCVTDQ2PS X4, X4; \
	VBROADCASTSS 288(R10), X7; \
	VMULPS X7, X6, X6; \
	VMULPS X6, X4, X4; \
	VMOVSHDUP X4, X5; \
	VSUBSS X5, X4, X4; \
	VADDSS X4, X8, X8

// ADD4 adds up the lanes of each of a to d and leaves the four sums in x, which is the low half of
// a.
#define ADD4(a, b, c, d, x, t) \
	VPHADDD b, a, a; \
	VPHADDD d, c, c; \
	VPHADDD c, a, a; \
	VEXTRACTI128 $1, a, t; \
	VPADDD t, x, x

// FINISH4 is FINISH1 for four inputs, whose products are in Y4 to Y7. It adds the differences to the lanes of X8.
#define FINISH4 \
	VMOVDQU 288(SI), Y15; \
	VPMADDWD 256(R10), Y15, Y0; \
	VPMADDWD 256(R10)(AX*1), Y15, Y1; \
	VPMADDWD 256(R10)(AX*2), Y15, Y2; \
	VPMADDWD 256(R10)(R13*1), Y15, Y3; \
	ADD4(Y4, Y5, Y6, Y7, X4, X5); \
	ADD4(Y0, Y1, Y2, Y3, X0, X1); \
	VMOVSS 288(R10), X6; \
	VINSERTPS $0x10, 288(R10)(AX*1), X6, X6; \
	VINSERTPS $0x20, 288(R10)(AX*2), X6, X6; \
	VINSERTPS $0x30, 288(R10)(R13*1), X6, X6; \
	VBROADCASTSS 320(SI), X13; \
	VBROADCASTSS 324(SI), X14; \
	VMULPS X6, X13, X13; \
	VMULPS X6, X14, X14; \
	VCVTDQ2PS X4, X4; \
	VCVTDQ2PS X0, X0; \
	VMULPS X13, X4, X4; \
	VMULPS X14, X0, X0; \
	VSUBPS X0, X4, X4; \
	VADDPS X4, X8, X8

// STORE4 stores the lanes of X8 in the rows of four inputs.
#define STORE4 \
	MOVQ DI, BX; \
	VMOVSS X8, (BX); \
	ADDQ R12, BX; \
	VEXTRACTPS $1, X8, (BX); \
	ADDQ R12, BX; \
	VEXTRACTPS $2, X8, (BX); \
	ADDQ R12, BX; \
	VEXTRACTPS $3, X8, (BX); \
	ADDQ $4, DI

// func mulKx1AVX2(dst *float32, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulKx1AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ x+32(FP), R8
row:
	MOVQ R8, R10
	MOVQ blocks+24(FP), BX
	VXORPS X8, X8, X8
block:
	VMOVDQU 256(SI), Y12
	VPXOR Y4, Y4, Y4
#define PART1(p) \
	VMOVDQU (32*p)(SI), Y0; \
	VPSHUFB PICK(p), Y12, Y1; \
	DOT((32*p)(R10), Y4)
	PART1(0)
	PART1(1)
	PART1(2)
	PART1(3)
	PART1(4)
	PART1(5)
	PART1(6)
	PART1(7)
	VMOVDQU 288(SI), Y3
	VPMADDWD 256(R10), Y3, Y3
	VMOVQ 320(SI), X6
	FINISH1
	ADDQ $384, SI
	ADDQ $320, R10
	DECQ BX
	JNZ  block
	VMOVSS X8, (DI)
	ADDQ $4, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func mulKx4AVX2(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulKx4AVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R12
	SHLQ $2, R12
	MOVQ w+16(FP), SI
	MOVQ rows+24(FP), CX
	MOVQ blocks+32(FP), AX
	MOVQ x+40(FP), R8
	IMULQ $320, AX          // bytes of one input
	LEAQ (AX)(AX*2), R13    // of three
row:
	MOVQ R8, R10
	MOVQ blocks+32(FP), BX
	VXORPS X8, X8, X8       // the sums of four inputs
block:
	VMOVDQU 256(SI), Y12
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
#define PART4(p) \
	VMOVDQU (32*p)(SI), Y0; \
	VPSHUFB PICK(p), Y12, Y1; \
	DOT((32*p)(R10), Y4); \
	DOT((32*p)(R10)(AX*1), Y5); \
	DOT((32*p)(R10)(AX*2), Y6); \
	DOT((32*p)(R10)(R13*1), Y7)
	PART4(0)
	PART4(1)
	PART4(2)
	PART4(3)
	PART4(4)
	PART4(5)
	PART4(6)
	PART4(7)
	FINISH4
	ADDQ $384, SI
	ADDQ $320, R10
	DECQ BX
	JNZ  block
	STORE4
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// Turned blocks of Q4_K and Q5_K, and of inputs: see kquants.go.

// TURN4 stores parts a to d as four vectors at off(DI). Vector v has number v of the groups of four bytes of each part in its lower
// half, and number v+4 in its upper half.
#define TURN4(a, b, c, d, off) \
	VPUNPCKLDQ b, a, Y8; \
	VPUNPCKHDQ b, a, Y9; \
	VPUNPCKLDQ d, c, Y10; \
	VPUNPCKHDQ d, c, Y12; \
	VPUNPCKLQDQ Y10, Y8, a; \
	VPUNPCKHQDQ Y10, Y8, b; \
	VPUNPCKLQDQ Y12, Y9, c; \
	VPUNPCKHQDQ Y12, Y9, d; \
	VMOVDQU a, (off)(DI); \
	VMOVDQU b, (off+32)(DI); \
	VMOVDQU c, (off+64)(DI); \
	VMOVDQU d, (off+96)(DI)

// TURNEDSCALES is SCALES with each scale twice.
#define TURNEDSCALES \
	SIXBITS; \
	VPERMQ $0x50, Y1, Y2; \
	VPUNPCKLWD Y2, Y2, Y2; \
	VMOVDQU Y2, 256(DI); \
	VMOVDQU Y3, 288(DI); \
	VMOVQ X6, 320(DI)

// func turnedQ4K(dst *kBlock, src *byte, n int)
TEXT ·turnedQ4K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MASKS
block:
	TURNEDSCALES
	READ4(0)
	VMOVDQA Y1, Y4
	VMOVDQA Y2, Y5
	READ4(2)
	TURN4(Y4, Y5, Y1, Y2, 0)
	READ4(4)
	VMOVDQA Y1, Y4
	VMOVDQA Y2, Y5
	READ4(6)
	TURN4(Y4, Y5, Y1, Y2, 128)
	AHEAD
	ADDQ $144, SI
	ADDQ $384, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// func turnedQ5K(dst *kBlock, src *byte, n int)
TEXT ·turnedQ5K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MASKS
	FILL($0x10101010, X11, Y11)
block:
	TURNEDSCALES
	VMOVDQU 16(SI), Y7
	READ5(0, VPSLLW, $4, VPSLLW, $3)
	VMOVDQA Y1, Y4
	VMOVDQA Y2, Y5
	READ5(2, VPSLLW, $2, VPSLLW, $1)
	TURN4(Y4, Y5, Y1, Y2, 0)
	READ5(4, VPSLLW, $0, VPSRLW, $1)
	VMOVDQA Y1, Y4
	VMOVDQA Y2, Y5
	READ5(6, VPSRLW, $2, VPSRLW, $3)
	TURN4(Y4, Y5, Y1, Y2, 128)
	AHEAD
	ADDQ $176, SI
	ADDQ $384, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// func turnInputs(dst, src *kInput, n int)
TEXT ·turnInputs(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
block:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	TURN4(Y0, Y1, Y2, Y3, 0)
	VMOVDQU 128(SI), Y0
	VMOVDQU 160(SI), Y1
	VMOVDQU 192(SI), Y2
	VMOVDQU 224(SI), Y3
	TURN4(Y0, Y1, Y2, Y3, 128)
	VMOVDQU 256(SI), Y0
	VMOVDQU 288(SI), Y1
	VMOVDQU Y0, 256(DI)
	VMOVDQU Y1, 288(DI)
	ADDQ $320, SI
	ADDQ $320, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET

// HALFTURNED multiplies four vectors at off by those of four inputs and adds the products up, as 16 bits, in a to d. The largest sum
// of Q5_K is 4·2·31·127. Then it multiplies the sums by the scales in Y12.
#define HALFTURNED(off, a, b, c, d) \
	VMOVDQU (off)(SI), Y0; \
	VPMADDUBSW (off)(R10), Y0, a; \
	VPMADDUBSW (off)(R10)(AX*1), Y0, b; \
	VPMADDUBSW (off)(R10)(AX*2), Y0, c; \
	VPMADDUBSW (off)(R10)(R13*1), Y0, d; \
	MORETURNED((off+32), a, b, c, d); \
	MORETURNED((off+64), a, b, c, d); \
	MORETURNED((off+96), a, b, c, d); \
	VPMADDWD Y12, a, a; \
	VPMADDWD Y12, b, b; \
	VPMADDWD Y12, c, c; \
	VPMADDWD Y12, d, d

#define MORETURNED(off, a, b, c, d) \
	VMOVDQU (off)(SI), Y0; \
	VPMADDUBSW (off)(R10), Y0, Y1; \
	VPMADDUBSW (off)(R10)(AX*1), Y0, Y2; \
	VPMADDUBSW (off)(R10)(AX*2), Y0, Y3; \
	VPMADDUBSW (off)(R10)(R13*1), Y0, Y14; \
	VPADDW Y1, a, a; \
	VPADDW Y2, b, b; \
	VPADDW Y3, c, c; \
	VPADDW Y14, d, d

// func mulTurned4(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulTurned4(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R12
	SHLQ $2, R12
	MOVQ w+16(FP), SI
	MOVQ rows+24(FP), CX
	MOVQ blocks+32(FP), AX
	MOVQ x+40(FP), R8
	IMULQ $320, AX          // bytes of one input
	LEAQ (AX)(AX*2), R13    // of three
row:
	MOVQ R8, R10
	MOVQ blocks+32(FP), BX
	VXORPS X8, X8, X8       // the sums of four inputs
block:
	VBROADCASTI128 256(SI), Y12
	HALFTURNED(0, Y4, Y5, Y6, Y7)
	VBROADCASTI128 272(SI), Y12
	HALFTURNED(128, Y9, Y10, Y11, Y13)
	VPADDD Y9, Y4, Y4
	VPADDD Y10, Y5, Y5
	VPADDD Y11, Y6, Y6
	VPADDD Y13, Y7, Y7
	FINISH4
	ADDQ $384, SI
	ADDQ $320, R10
	DECQ BX
	JNZ  block
	STORE4
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// Products of one input with weights in their file format: see DOTROWS.

#define AHEAD3 \
	PREFETCHT0 4096(SI); \
	PREFETCHT0 4160(SI); \
	PREFETCHT0 4224(SI)

// TABLE does what SIXBITS does, but stores each scale twice at (R9). Loading them from there does
// not slow down the computation. It also multiplies the minima by the input's sums.
#define TABLE \
	SIXBITS; \
	VPERMQ $0x50, Y1, Y2; \
	VPUNPCKLWD Y2, Y2, Y2; \
	VMOVDQA Y2, (R9); \
	VPMADDWD 256(R10), Y3, Y3

// TWO multiplies parts p, in Y1, and p+1, in Y2, by the input and the scales in Y9 and Y10 and adds
// the products to Y4 and Y5.
#define TWO(p) \
	VPMADDUBSW (32*p)(R10), Y1, Y1; \
	VPMADDUBSW (32*p+32)(R10), Y2, Y2; \
	VPMADDWD Y9, Y1, Y1; \
	VPMADDWD Y10, Y2, Y2; \
	VPADDD Y1, Y4, Y4; \
	VPADDD Y2, Y5, Y5

// SHARED loads the scales of parts p and p+1, one per part, to Y9 and Y10.
#define SHARED(p) \
	VPBROADCASTD (4*p)(R9), Y9; \
	VPBROADCASTD (4*p+4)(R9), Y10

#define TWOQ4K(p) \
	READ4(p); \
	SHARED(p); \
	TWO(p)

#define BLOCKQ4K \
	TABLE; \
	TWOQ4K(0); \
	TWOQ4K(2); \
	TWOQ4K(4); \
	TWOQ4K(6)

// func dotQ4KAVX2(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ4KAVX2(SB), NOSPLIT, $64-40
	LEAQ 31(SP), R9
	ANDQ $-32, R9
	MASKS
	DOTROWS(144, AHEAD3, BLOCKQ4K)

#define TWOQ5K(p, op0, by0, op1, by1) \
	READ5(p, op0, by0, op1, by1); \
	SHARED(p); \
	TWO(p)

#define BLOCKQ5K \
	TABLE; \
	ALL5(TWOQ5K)

// func dotQ5KAVX2(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ5KAVX2(SB), NOSPLIT, $64-40
	LEAQ 31(SP), R9
	ANDQ $-32, R9
	MASKS
	FILL($0x10101010, X11, Y11)
	DOTROWS(176, AHEAD3, BLOCKQ5K)

// TWICE loads the scales of parts p and p+1, two per part, to Y9 and Y10.
#define TWICE(p) \
	VPSHUFB PICK(p), Y12, Y9; \
	VPSHUFB PICK((p+1)), Y12, Y10

// HALFQ6K multiplies the four parts of half h. Y7 holds their fifth and sixth bits.
#define HALFQ6K(h) \
	VMOVDQU (128+32*h)(SI), Y7; \
	VMOVDQU (64*h)(SI), Y1; \
	VMOVDQU (64*h+32)(SI), Y2; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2; \
	VPSLLW $4, Y7, Y9; \
	VPSLLW $2, Y7, Y10; \
	VPAND Y14, Y9, Y9; \
	VPAND Y14, Y10, Y10; \
	VPOR Y9, Y1, Y1; \
	VPOR Y10, Y2, Y2; \
	TWICE((4*h)); \
	TWO((4*h)); \
	VMOVDQU (64*h)(SI), Y1; \
	VMOVDQU (64*h+32)(SI), Y2; \
	VPSRLW $4, Y1, Y1; \
	VPSRLW $4, Y2, Y2; \
	VPAND Y15, Y1, Y1; \
	VPAND Y15, Y2, Y2; \
	VPSRLW $2, Y7, Y10; \
	VPAND Y14, Y7, Y9; \
	VPAND Y14, Y10, Y10; \
	VPOR Y9, Y1, Y1; \
	VPOR Y10, Y2, Y2; \
	TWICE((4*h+2)); \
	TWO((4*h+2))

#define BLOCKQ6K \
	VMOVDQU 192(SI), X0; \
	VPMOVSXBW X0, Y3; \
	VPSHUFB X13, X0, X0; \
	VPMOVSXBW X0, Y12; \
	VPMADDWD 256(R10), Y3, Y3; \
	VPBROADCASTW 208(SI), X6; \
	VCVTPH2PS X6, X6; \
	VMULPS X11, X6, X6; \
	HALFQ6K(0); \
	HALFQ6K(1)

DATA oneAnd32<>+0(SB)/8, $0x420000003f800000
DATA oneAnd32<>+8(SB)/8, $0
GLOBL oneAnd32<>(SB), RODATA|NOPTR, $16

// func dotQ6KAVX2(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ6KAVX2(SB), NOSPLIT, $0-40
	FILL($0x0f0f0f0f, X15, Y15)
	FILL($0x30303030, X14, Y14)
	MOVQ $0x0e0c0a0806040200, AX
	VMOVQ AX, X13
	MOVQ $0x0f0d0b0907050301, AX
	VPINSRQ $1, AX, X13, X13
	VMOVUPS oneAnd32<>(SB), X11
	DOTROWS(210, AHEAD3, BLOCKQ6K)
