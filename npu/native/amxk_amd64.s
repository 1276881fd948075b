#include "textflag.h"
#include "amx_amd64.h"

// Products of inputs with packed K-quants (kpacked.go) by AMX. A value times its integer scale is split into 64 times one int8
// plus another from 0 to 63. So a tile adds up the products of a whole block, and vectors see two sums of it, not sixteen that have
// yet to be scaled. A wide block of sixteen rows holds the lower int8 as four tiles of sixteen words (0), then the others (4096), the
// minima in pairs (8192), d and m as float32 (8704, 8768). An input block takes 320 bytes: 256 integers, their sums of 16 at 256, the
// scale at 288 and sums of 32 at 292.

#define WIDEK 8832

// The shapes of the tiles: tiles 0 and 1 are C, of both int8, 2 is A, 4 and 5 are B.
DATA shapes256<>+0(SB)/8, $1
DATA shapes256<>+8(SB)/8, $0
DATA shapes256<>+16(SB)/8, $0x0000004000400040
DATA shapes256<>+24(SB)/8, $0x0000000000400040
DATA shapes256<>+32(SB)/8, $0
DATA shapes256<>+40(SB)/8, $0
DATA shapes256<>+48(SB)/8, $0x0000101000101010
DATA shapes256<>+56(SB)/8, $0
GLOBL shapes256<>(SB), RODATA|NOPTR, $64

// FOURTHS multiplies 64 values of the inputs, which LOAD_A reads, by both int8 of those of the weights, from CX on.
#define FOURTHS(LOAD_A) \
	LOAD_A; \
	LOAD_4_CX_R14; \
	MULTIPLY_2_4; \
	LOAD_5_4096_CX_R14; \
	MULTIPLY_2_5; \
	ADDQ $1024, CX

// SUMK scales the sums of an input, at c(R15) and c+1024(R15), and adds them less the minima to acc. PAIRS multiplies sums by
// minima, to Z14. Z8 is d, and Z9 is m.
#define SUMK(PAIRS, c, p, acc) \
	VPSLLD $6, (c+1024)(R15), Z10; \
	VPADDD c(R15), Z10, Z10; \
	VPXORD Z14, Z14, Z14; \
	VCVTDQ2PS Z10, Z10; \
	PAIRS(p); \
	VMULPS.BCST 288 p, Z8, Z11; \
	VMULPS.BCST 288 p, Z9, Z12; \
	VMULPS Z11, Z10, Z10; \
	VCVTDQ2PS Z14, Z14; \
	VMULPS Z12, Z14, Z14; \
	VSUBPS Z14, Z10, Z10; \
	VADDPS Z10, acc, acc

#define WIDEPAIRS(p) \
	VPDPWSSD.BCST 292 p, Z0, Z14; \
	VPDPWSSD.BCST 296 p, Z1, Z14; \
	VPDPWSSD.BCST 300 p, Z2, Z14; \
	VPDPWSSD.BCST 304 p, Z3, Z14

#define PAIRS8(p) \
	VPDPWSSD.BCST 256 p, Z0, Z14; \
	VPDPWSSD.BCST 260 p, Z1, Z14; \
	VPDPWSSD.BCST 264 p, Z2, Z14; \
	VPDPWSSD.BCST 268 p, Z3, Z14; \
	VPDPWSSD.BCST 272 p, Z4, Z14; \
	VPDPWSSD.BCST 276 p, Z5, Z14; \
	VPDPWSSD.BCST 280 p, Z6, Z14; \
	VPDPWSSD.BCST 284 p, Z7, Z14

#define SUM32S(c, p, acc) SUMK(WIDEPAIRS, c, p, acc)
#define SUM16S(c, p, acc) SUMK(PAIRS8, c, p, acc)

#define MINIMA32S \
	VMOVDQU64 8192(SI), Z0; \
	VMOVDQU64 8256(SI), Z1; \
	VMOVDQU64 8320(SI), Z2; \
	VMOVDQU64 8384(SI), Z3

#define MINIMA16S \
	MINIMA32S; \
	VMOVDQU64 8448(SI), Z4; \
	VMOVDQU64 8512(SI), Z5; \
	VMOVDQU64 8576(SI), Z6; \
	VMOVDQU64 8640(SI), Z7

// AMXK multiplies groups of sixteen rows, in wide blocks, by sixteen inputs.
#define AMXK(MINIMA, SUM) \
	TILES(shapes256); \
	MOVQ dst+0(FP), DI; \
	MOVQ w+16(FP), SI; \
	MOVQ groups+24(FP), DX; \
	MOVQ x+40(FP), R12; \
	IMUL3Q $320, blocks+32(FP), AX; \
	LEAQ (AX)(AX*2), R13; \
group: \
	GROUP(0); \
	CLEAR; \
block: \
	MOVQ SI, CX; \
	ZERO_0; \
	ZERO_1; \
	FOURTHS(LOAD_2_R8_AX); \
	FOURTHS(LOAD_2_64_R8_AX); \
	FOURTHS(LOAD_2_128_R8_AX); \
	FOURTHS(LOAD_2_192_R8_AX); \
	STORE_0_R15_R14; \
	STORE_1_1024_R15_R14; \
	MINIMA; \
	VMOVUPS 8704(SI), Z8; \
	VMOVUPS 8768(SI), Z9; \
	EACHINPUT(SUM); \
	ADDQ $WIDEK, SI; \
	ADDQ $320, R8; \
	ADDQ $320, R9; \
	ADDQ $320, R10; \
	ADDQ $320, R11; \
	DECQ BX; \
	JNZ block; \
	STORE16; \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ group; \
	DONE

// SPLIT multiplies the bytes of v by the words of scale, and writes both int8 of the products to tile word at. Z20 masks the even
// bytes, and Z21 six bits of each.
#define SPLIT(v, scale, at) \
	VPANDD Z20, v, Z10; \
	VPSRLW $8, v, Z11; \
	VPMULLW scale, Z10, Z10; \
	VPMULLW scale, Z11, Z11; \
	VPSLLW $8, Z11, Z12; \
	VPTERNLOGD $0xd8, Z20, Z10, Z12; \
	VPANDD Z21, Z12, Z12; \
	VMOVDQU64 Z12, (64*(at))(DI); \
	VPSRAW $6, Z10, Z10; \
	VPSLLW $2, Z11, Z11; \
	VPTERNLOGD $0xd8, Z20, Z10, Z11; \
	VMOVDQU64 Z11, (4096+64*(at))(DI)

// WIDENK loads the arguments and constants, and ENDK goes on to the next block, of SIZE bytes.
#define WIDENK \
	MOVQ dst+0(FP), DI; \
	MOVQ w+8(FP), SI; \
	MOVQ n+16(FP), DX; \
	FILL($0x00ff00ff, Z20); \
	FILL($0x3f3f3f3f, Z21); \
	FILL($0x0f0f0f0f, Z22); \
	FILL($0x10101010, Z23); \
	FILL($0x03030303, Z24); \
	FILL($0x42000000, Z25); \
	FILL($0x0000ffff, Z26)

#define ENDK(SIZE) \
	ADDQ $SIZE, SI; \
	ADDQ $WIDEK, DI; \
	DECQ DX; \
	JNZ block; \
	VZEROUPPER; \
	RET

// SCALEU sets z to the scale of a part, a byte of each row, as pairs of words.
#define SCALEU(at, z) \
	VPMOVZXBD at(SI), z; \
	VPSLLD $16, z, Z10; \
	VPORD Z10, z, z

// REST4 copies what follows the values of Q4_K and Q5_K, which are S bytes: scales, minima, d and m.
#define REST4(S) \
	VPMOVZXBW (S+128)(SI), Z10; \
	VMOVDQU64 Z10, 8192(DI); \
	VPMOVZXBW (S+160)(SI), Z10; \
	VMOVDQU64 Z10, 8256(DI); \
	VPMOVZXBW (S+192)(SI), Z10; \
	VMOVDQU64 Z10, 8320(DI); \
	VPMOVZXBW (S+224)(SI), Z10; \
	VMOVDQU64 Z10, 8384(DI); \
	VCVTPH2PS (S+256)(SI), Z10; \
	VMOVUPS Z10, 8704(DI); \
	VCVTPH2PS (S+288)(SI), Z10; \
	VMOVUPS Z10, 8768(DI)

// NIBBLESK splits word k of two parts, whose scales are Z0 and Z1.
#define NIBBLESK(part, k) \
	VMOVDQU64 (512*(part)+64*(k))(SI), Z2; \
	VPSRLW $4, Z2, Z3; \
	VPANDD Z22, Z2, Z2; \
	VPANDD Z22, Z3, Z3; \
	SPLIT(Z2, Z0, 16*(part)+(k)); \
	SPLIT(Z3, Z1, 16*(part)+8+(k))

#define PARTS4K(part) \
	SCALEU(2048+32*(part), Z0); \
	SCALEU(2064+32*(part), Z1); \
	NIBBLESK(part, 0); \
	NIBBLESK(part, 1); \
	NIBBLESK(part, 2); \
	NIBBLESK(part, 3); \
	NIBBLESK(part, 4); \
	NIBBLESK(part, 5); \
	NIBBLESK(part, 6); \
	NIBBLESK(part, 7)

// FIVESK does the same with the fifth bits in Z4, which op0 and op1 shift into place.
#define FIVESK(part, half, k, op0, by0, op1, by1) \
	VMOVDQU64 (640*(part)+320*(half)+64+64*(k))(SI), Z2; \
	VPSRLW $4, Z2, Z3; \
	VPANDD Z22, Z2, Z2; \
	VPANDD Z22, Z3, Z3; \
	op0 by0, Z4, Z5; \
	op1 by1, Z4, Z6; \
	VPTERNLOGD $0xf8, Z23, Z5, Z2; \
	VPTERNLOGD $0xf8, Z23, Z6, Z3; \
	SPLIT(Z2, Z0, 16*(part)+4*(half)+(k)); \
	SPLIT(Z3, Z1, 16*(part)+8+4*(half)+(k))

#define HALF5K(part, half) \
	VMOVDQU64 (640*(part)+320*(half))(SI), Z4; \
	FIVESK(part, half, 0, VPSLLW, $4, VPSRLW, $0); \
	FIVESK(part, half, 1, VPSLLW, $3, VPSRLW, $1); \
	FIVESK(part, half, 2, VPSLLW, $2, VPSRLW, $2); \
	FIVESK(part, half, 3, VPSLLW, $1, VPSRLW, $3)

#define PARTS5K(part) \
	SCALEU(2560+32*(part), Z0); \
	SCALEU(2576+32*(part), Z1); \
	HALF5K(part, 0); \
	HALF5K(part, 1)

// SIXTEEN6 splits four words of Q6_K, of which three have the bits of the fourth. All have the same scale.
#define SIXTEEN6(g, scale) \
	VMOVDQU64 (192*(g))(SI), Z2; \
	VMOVDQU64 (192*(g)+64)(SI), Z3; \
	VMOVDQU64 (192*(g)+128)(SI), Z4; \
	VPSRLW $6, Z2, Z5; \
	VPSRLW $6, Z3, Z6; \
	VPSRLW $6, Z4, Z7; \
	VPANDD Z24, Z5, Z5; \
	VPANDD Z24, Z6, Z6; \
	VPANDD Z24, Z7, Z7; \
	VPSLLW $4, Z5, Z5; \
	VPSLLW $2, Z6, Z6; \
	VPTERNLOGD $0xfe, Z5, Z6, Z7; \
	VPANDD Z21, Z2, Z2; \
	VPANDD Z21, Z3, Z3; \
	VPANDD Z21, Z4, Z4; \
	SPLIT(Z2, scale, 4*(g)); \
	SPLIT(Z3, scale, 4*(g)+1); \
	SPLIT(Z4, scale, 4*(g)+2); \
	SPLIT(Z7, scale, 4*(g)+3)

// PART6 takes the two scales of a part of 32 values, which are its minima, too.
#define PART6(part) \
	VPMOVSXBW (3072+32*(part))(SI), Z13; \
	VMOVDQU64 Z13, (8192+64*(part))(DI); \
	VPSLLD $16, Z13, Z0; \
	VPTERNLOGD $0xd8, Z26, Z13, Z0; \
	VPSRLD $16, Z13, Z1; \
	VPTERNLOGD $0xe4, Z26, Z13, Z1; \
	SIXTEEN6(2*(part), Z0); \
	SIXTEEN6(2*(part)+1, Z1)

// func widenQ4KAMX(dst, w *byte, n int)
TEXT ·widenQ4KAMX(SB), NOSPLIT, $0-24
	WIDENK
block:
	PARTS4K(0)
	PARTS4K(1)
	PARTS4K(2)
	PARTS4K(3)
	REST4(2048)
	ENDK(2368)

// func widenQ5KAMX(dst, w *byte, n int)
TEXT ·widenQ5KAMX(SB), NOSPLIT, $0-24
	WIDENK
block:
	PARTS5K(0)
	PARTS5K(1)
	PARTS5K(2)
	PARTS5K(3)
	REST4(2560)
	ENDK(2880)

// func widenQ6KAMX(dst, w *byte, n int)
TEXT ·widenQ6KAMX(SB), NOSPLIT, $0-24
	WIDENK
block:
	PART6(0)
	PART6(1)
	PART6(2)
	PART6(3)
	PART6(4)
	PART6(5)
	PART6(6)
	PART6(7)
	VCVTPH2PS 3328(SI), Z10
	VMOVUPS Z10, 8704(DI)
	VMULPS Z25, Z10, Z10
	VMOVUPS Z10, 8768(DI)
	ENDK(3392)

// func k32x16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·k32x16AMX(SB), 0, $2240-48
	AMXK(MINIMA32S, SUM32S)

// func k16x16AMX(dst *float32, stride int, w *byte, groups, blocks int, x *kInput)
TEXT ·k16x16AMX(SB), 0, $2240-48
	AMXK(MINIMA16S, SUM16S)
