#include "textflag.h"

// Products of inputs with K-quants for AVX-512 with VNNI: see kquants.go. The dot kernels read
// blocks in their file format. An input block takes 320 bytes: 256 integers, their sums at 256 and
// the scale at 288. A panel (kPanel) takes 5,760 bytes: integers, scales at 4096, minima at 5120, d
// at 5632 and m at 5696.

#define EIGHT(name, at, v) \
DATA name<>+(at+0)(SB)/8, v; \
DATA name<>+(at+8)(SB)/8, v; \
DATA name<>+(at+16)(SB)/8, v; \
DATA name<>+(at+24)(SB)/8, v

#define HALVES(name, at, low, high) \
EIGHT(name, at, low); \
EIGHT(name, at+32, high)

// parts<>+64k holds indices into eight scales: parts 2k and 2k+1, eight times each.
HALVES(parts, 0, $0x0000000000000000, $0x0000000100000001)
HALVES(parts, 64, $0x0000000200000002, $0x0000000300000003)
HALVES(parts, 128, $0x0000000400000004, $0x0000000500000005)
HALVES(parts, 192, $0x0000000600000006, $0x0000000700000007)
GLOBL parts<>(SB), RODATA|NOPTR, $256

// sixteens<>+64k holds indices into sixteen scales: groups 4k to 4k+3 of sixteen values, four times
// each.
#define PAIRS(at, a, b, c, d) \
DATA sixteens<>+(at+0)(SB)/8, a; \
DATA sixteens<>+(at+8)(SB)/8, a; \
DATA sixteens<>+(at+16)(SB)/8, b; \
DATA sixteens<>+(at+24)(SB)/8, b; \
DATA sixteens<>+(at+32)(SB)/8, c; \
DATA sixteens<>+(at+40)(SB)/8, c; \
DATA sixteens<>+(at+48)(SB)/8, d; \
DATA sixteens<>+(at+56)(SB)/8, d
PAIRS(0, $0x0000000000000000, $0x0000000100000001, $0x0000000200000002, $0x0000000300000003)
PAIRS(64, $0x0000000400000004, $0x0000000500000005, $0x0000000600000006, $0x0000000700000007)
PAIRS(128, $0x0000000800000008, $0x0000000900000009, $0x0000000a0000000a, $0x0000000b0000000b)
PAIRS(192, $0x0000000c0000000c, $0x0000000d0000000d, $0x0000000e0000000e, $0x0000000f0000000f)
GLOBL sixteens<>(SB), RODATA|NOPTR, $256

// fifth<>+64k masks the bits that hold the fifth bits of parts 2k and 2k+1.
HALVES(fifth, 0, $0x0101010101010101, $0x0202020202020202)
HALVES(fifth, 64, $0x0404040404040404, $0x0808080808080808)
HALVES(fifth, 128, $0x1010101010101010, $0x2020202020202020)
HALVES(fifth, 192, $0x4040404040404040, $0x8080808080808080)
GLOBL fifth<>(SB), RODATA|NOPTR, $256

// byAandB holds shift counts: A for the lower half of a vector and B for the upper half.
HALVES(by0and4, 0, $0, $4)
GLOBL by0and4<>(SB), RODATA|NOPTR, $64
HALVES(by4and2, 0, $4, $2)
GLOBL by4and2<>(SB), RODATA|NOPTR, $64
HALVES(by0and2, 0, $0, $2)
GLOBL by0and2<>(SB), RODATA|NOPTR, $64

DATA oneAnd32<>+0(SB)/8, $0x420000003f800000
GLOBL oneAnd32<>(SB), RODATA|NOPTR, $8

#define BYTES(bits, z) \
	MOVL bits, AX; \
	VPBROADCASTD AX, z

// SIXBITS unpacks the eight scales and minima of the block at SI: see ScalesMinima in package
// quant. It leaves the scales in Y4, one per 32 bits, the minima in Y5, one per group of sixteen,
// and d and m in X12. The vector units are the bottleneck, so most of the work is done in general
// registers.
#define SIXBITS \
	MOVL 4(SI), AX; \
	MOVL 8(SI), DX; \
	MOVL 12(SI), R9; \
	MOVL AX, R11; \
	MOVL DX, R12; \
	MOVL R9, R13; \
	SHRL $2, R11; \
	SHRL $2, R12; \
	SHRL $4, R13; \
	ANDL $0x30303030, R11; \
	ANDL $0x30303030, R12; \
	ANDL $0x0f0f0f0f, R9; \
	ANDL $0x0f0f0f0f, R13; \
	ORL R11, R9; \
	ORL R12, R13; \
	ANDL $0x3f3f3f3f, AX; \
	ANDL $0x3f3f3f3f, DX; \
	SHLQ $32, R9; \
	SHLQ $32, R13; \
	ORQ R9, AX; \
	ORQ R13, DX; \
	VMOVQ AX, X1; \
	VMOVQ DX, X2; \
	VPMOVZXBD X1, Y4; \
	VPUNPCKLBW X2, X2, X5; \
	VPMOVZXBW X5, Y5; \
	VMOVD (SI), X12; \
	VCVTPH2PS X12, X12

#define BEGIN \
	VPXORD Z8, Z8, Z8; \
	VPXORD Z9, Z9, Z9; \
	VPXORD Z10, Z10, Z10; \
	VPXORD Z11, Z11, Z11; \
	VPXORD Z14, Z14, Z14; \
	VPXORD Z15, Z15, Z15

// SCALED multiplies the sums in Z8 to Z11 by the scales in Z4 and adds the products to Z14 and Z15.
// Each sum, of four products, fits in 16 bits. Z28 to Z31 are the indices that select the scales.
#define SCALED \
	VPERMD Z4, Z28, Z0; \
	VPERMD Z4, Z29, Z1; \
	VPERMD Z4, Z30, Z2; \
	VPERMD Z4, Z31, Z3; \
	VPDPWSSD Z0, Z8, Z14; \
	VPDPWSSD Z1, Z9, Z15; \
	VPDPWSSD Z2, Z10, Z14; \
	VPDPWSSD Z3, Z11, Z15

// DONE finishes a block. It adds up the lanes of Z14 and Z15, and the products of the minima in Y5
// and the input's sums. It multiplies both by d and m in X12 and by the input's scale, and adds the
// difference to X24. R10 advances to the next input block.
#define DONE \
	VPMADDWD 256(R10), Y5, Y5; \
	VPADDD Z15, Z14, Z14; \
	VEXTRACTI64X4 $1, Z14, Y15; \
	VPADDD Y15, Y14, Y14; \
	VPHADDD Y5, Y14, Y14; \
	VPHADDD Y14, Y14, Y14; \
	VEXTRACTI128 $1, Y14, X15; \
	VPADDD X15, X14, X14; \
	VCVTDQ2PS X14, X14; \
	VBROADCASTSS 288(R10), X13; \
	VMULPS X13, X12, X12; \
	VMULPS X12, X14, X14; \
	VMOVSHDUP X14, X15; \
	VSUBSS X15, X14, X14; \
	VADDSS X14, X24, X24; \
	ADDQ $320, R10

#define TABLES(name) \
	VMOVDQU64 name<>+0(SB), Z28; \
	VMOVDQU64 name<>+64(SB), Z29; \
	VMOVDQU64 name<>+128(SB), Z30; \
	VMOVDQU64 name<>+192(SB), Z31

// func dotQ4KVNNI(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ4KVNNI(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ x+32(FP), R8
	BYTES($0x0f0f0f0f, Z16)
	TABLES(parts)
	VMOVDQU64 by0and4<>(SB), Z17
row:
	MOVQ R8, R10
	MOVQ blocks+24(FP), BX
	VXORPS X24, X24, X24
block:
	PREFETCHT0 4096(SI)
	PREFETCHT0 4160(SI)
	SIXBITS
	BEGIN
#define FOURBIT(k, sum) \
	VBROADCASTI64X4 (16+32*k)(SI), Z6; \
	VPSRLVQ Z17, Z6, Z6; \
	VPANDD Z16, Z6, Z6; \
	VPDPBUSD (64*k)(R10), Z6, sum
	FOURBIT(0, Z8)
	FOURBIT(1, Z9)
	FOURBIT(2, Z10)
	FOURBIT(3, Z11)
	SCALED
	DONE
	ADDQ $144, SI
	DECQ BX
	JNZ  block
	VMOVSS X24, (DI)
	ADDQ $4, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func dotQ5KVNNI(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ5KVNNI(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ x+32(FP), R8
	BYTES($0x0f0f0f0f, Z16)
	BYTES($0x10101010, Z18)
	TABLES(parts)
	VMOVDQU64 by0and4<>(SB), Z17
	VMOVDQU64 fifth<>+0(SB), Z20
	VMOVDQU64 fifth<>+64(SB), Z21
	VMOVDQU64 fifth<>+128(SB), Z22
	VMOVDQU64 fifth<>+192(SB), Z23
row:
	MOVQ R8, R10
	MOVQ blocks+24(FP), BX
	VXORPS X24, X24, X24
block:
	PREFETCHT0 4096(SI)
	PREFETCHT0 4160(SI)
	PREFETCHT0 4224(SI)
	SIXBITS
	BEGIN
	VBROADCASTI64X4 16(SI), Z7
#define FIVEBIT(k, bits, sum) \
	VBROADCASTI64X4 (48+32*k)(SI), Z6; \
	VPTESTMB bits, Z7, K1; \
	VPSRLVQ Z17, Z6, Z6; \
	VPANDD Z16, Z6, Z6; \
	VPADDB Z18, Z6, K1, Z6; \
	VPDPBUSD (64*k)(R10), Z6, sum
	FIVEBIT(0, Z20, Z8)
	FIVEBIT(1, Z21, Z9)
	FIVEBIT(2, Z22, Z10)
	FIVEBIT(3, Z23, Z11)
	SCALED
	DONE
	ADDQ $176, SI
	DECQ BX
	JNZ  block
	VMOVSS X24, (DI)
	ADDQ $4, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func dotQ6KVNNI(dst *float32, w *byte, rows, blocks int, x *kInput)
TEXT ·dotQ6KVNNI(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ x+32(FP), R8
	BYTES($0x0f0f0f0f, Z16)
	BYTES($0x30303030, Z18)
	TABLES(sixteens)
	VMOVDQU64 by4and2<>(SB), Z17
	VMOVDQU64 by0and2<>(SB), Z19
	VMOVQ oneAnd32<>(SB), X25
row:
	MOVQ R8, R10
	MOVQ blocks+24(FP), BX
	VXORPS X24, X24, X24
block:
	PREFETCHT0 4096(SI)
	PREFETCHT0 4160(SI)
	PREFETCHT0 4224(SI)
	PREFETCHT0 4288(SI)
	MOVWLZX 208(SI), AX
	VPMOVSXBW 192(SI), Y5
	VPMOVZXWD Y5, Z4        // the upper halves are zero, because those of the sums hold only their signs
	VMOVD AX, X12
	VCVTPH2PS X12, X12
	VBROADCASTSS X12, X12
	VMULPS X25, X12, X12
	BEGIN
#define SIXBIT(half, low, high) \
	VMOVDQU64 (64*half)(SI), Z6; \
	VBROADCASTI64X4 (128+32*half)(SI), Z7; \
	VPANDD Z16, Z6, Z0; \
	VPSRLW $4, Z6, Z1; \
	VPSLLVQ Z17, Z7, Z2; \
	VPSRLVQ Z19, Z7, Z3; \
	VPANDD Z16, Z1, Z1; \
	VPTERNLOGD $0xf8, Z18, Z2, Z0; \
	VPTERNLOGD $0xf8, Z18, Z3, Z1; \
	VPDPBUSD (128*half)(R10), Z0, low; \
	VPDPBUSD (128*half+64)(R10), Z1, high
	SIXBIT(0, Z8, Z9)
	SIXBIT(1, Z10, Z11)
	SCALED
	DONE
	ADDQ $210, SI
	DECQ BX
	JNZ  block
	VMOVSS X24, (DI)
	ADDQ $4, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// TURN transposes sixteen bytes of each of sixteen rows, at offset at: it leaves words 0 to 3 of
// all rows in Z0 to Z3. It first loads rows 0, 4, 8 and 12 to Z0, rows 1, 5, 9 and 13 to Z1, and so
// on. SI, R9, R10 and R11 point to rows 0 to 3. R12 is the size of four rows, R13 of twelve.
#define TURN(at) \
	VMOVDQU at(SI), X0; \
	VMOVDQU at(R9), X1; \
	VMOVDQU at(R10), X2; \
	VMOVDQU at(R11), X3; \
	VINSERTI32X4 $1, at(SI)(R12*1), Z0, Z0; \
	VINSERTI32X4 $1, at(R9)(R12*1), Z1, Z1; \
	VINSERTI32X4 $1, at(R10)(R12*1), Z2, Z2; \
	VINSERTI32X4 $1, at(R11)(R12*1), Z3, Z3; \
	VINSERTI32X4 $2, at(SI)(R12*2), Z0, Z0; \
	VINSERTI32X4 $2, at(R9)(R12*2), Z1, Z1; \
	VINSERTI32X4 $2, at(R10)(R12*2), Z2, Z2; \
	VINSERTI32X4 $2, at(R11)(R12*2), Z3, Z3; \
	VINSERTI32X4 $3, at(SI)(R13*1), Z0, Z0; \
	VINSERTI32X4 $3, at(R9)(R13*1), Z1, Z1; \
	VINSERTI32X4 $3, at(R10)(R13*1), Z2, Z2; \
	VINSERTI32X4 $3, at(R11)(R13*1), Z3, Z3; \
	VPUNPCKLDQ Z1, Z0, Z4; \
	VPUNPCKLDQ Z3, Z2, Z5; \
	VPUNPCKHDQ Z1, Z0, Z6; \
	VPUNPCKHDQ Z3, Z2, Z7; \
	VPUNPCKLQDQ Z5, Z4, Z0; \
	VPUNPCKHQDQ Z5, Z4, Z1; \
	VPUNPCKLQDQ Z7, Z6, Z2; \
	VPUNPCKHQDQ Z7, Z6, Z3

// ROWS sets the registers of TURN for rows that are R8 bytes apart.
#define ROWS \
	LEAQ (SI)(R8*1), R9; \
	LEAQ (SI)(R8*2), R10; \
	LEAQ (R9)(R8*2), R11; \
	LEAQ (R8*4), R12; \
	LEAQ (R12)(R12*2), R13

#define FURTHER(n) \
	ADDQ n, SI; \
	ADDQ n, R9; \
	ADDQ n, R10; \
	ADDQ n, R11

// SCALEOF stores byte j of each word of z as the scale of both groups of sixteen in part p.
#define SCALEOF(z, p, j) \
	VPSRLD $(8*j), z, Z4; \
	VPANDD Z17, Z4, Z4; \
	VMOVDQU64 Z4, (4096+128*p)(DI); \
	VMOVDQU64 Z4, (4160+128*p)(DI)

// MINIMUMOF stores byte j of each word of z as the minimum of both groups of sixteen in part p.
#define MINIMUMOF(z, p, j) \
	VPSRLD $(8*j), z, Z4; \
	VPANDD Z17, Z4, Z4; \
	VPSLLD $16, Z4, Z5; \
	VPORD Z5, Z4, Z4; \
	VMOVDQU64 Z4, (5120+64*p)(DI)

// SIXBITPANEL stores d, m, the scales and the minima of sixteen rows of Q4_K or Q5_K.
#define SIXBITPANEL \
	BYTES($0x0f0f0f0f, Z16); \
	BYTES($0xff, Z17); \
	BYTES($0x3f3f3f3f, Z18); \
	BYTES($0x30303030, Z19); \
	TURN(0); \
	VPMOVDW Z0, Y4; \
	VPSRLD $16, Z0, Z0; \
	VPMOVDW Z0, Y5; \
	VCVTPH2PS Y4, Z4; \
	VCVTPH2PS Y5, Z5; \
	VMOVUPS Z4, 5632(DI); \
	VMOVUPS Z5, 5696(DI); \
	VPANDD Z16, Z3, Z6; \
	VPSRLD $4, Z3, Z3; \
	VPANDD Z16, Z3, Z3; \
	VPSRLD $2, Z1, Z4; \
	VPSRLD $2, Z2, Z5; \
	VPTERNLOGD $0xf8, Z19, Z4, Z6; \
	VPTERNLOGD $0xf8, Z19, Z5, Z3; \
	VPANDD Z18, Z1, Z1; \
	VPANDD Z18, Z2, Z2; \
	SCALEOF(Z1, 0, 0); \
	SCALEOF(Z1, 1, 1); \
	SCALEOF(Z1, 2, 2); \
	SCALEOF(Z1, 3, 3); \
	SCALEOF(Z6, 4, 0); \
	SCALEOF(Z6, 5, 1); \
	SCALEOF(Z6, 6, 2); \
	SCALEOF(Z6, 7, 3); \
	MINIMUMOF(Z2, 0, 0); \
	MINIMUMOF(Z2, 1, 1); \
	MINIMUMOF(Z2, 2, 2); \
	MINIMUMOF(Z2, 3, 3); \
	MINIMUMOF(Z3, 4, 0); \
	MINIMUMOF(Z3, 5, 1); \
	MINIMUMOF(Z3, 6, 2); \
	MINIMUMOF(Z3, 7, 3)

// NIBBLES stores the low nibbles of z's bytes as word i of a part, and the high nibbles as word i
// of the next part.
#define NIBBLES(z, i) \
	VPSRLD $4, z, Z4; \
	VPANDD Z16, z, z; \
	VPANDD Z16, Z4, Z4; \
	VMOVDQU64 z, (64*i)(DI); \
	VMOVDQU64 Z4, (512+64*i)(DI)

// func turnQ4K(dst *kPanel, src *byte, stride int)
TEXT ·turnQ4K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	ROWS
	SIXBITPANEL
	FURTHER($16)
	MOVQ $4, CX
pair:
	TURN(0)
	NIBBLES(Z0, 0)
	NIBBLES(Z1, 1)
	NIBBLES(Z2, 2)
	NIBBLES(Z3, 3)
	TURN(16)
	NIBBLES(Z0, 4)
	NIBBLES(Z1, 5)
	NIBBLES(Z2, 6)
	NIBBLES(Z3, 7)
	FURTHER($32)
	ADDQ $1024, DI
	DECQ CX
	JNZ  pair
	VZEROUPPER
	RET

// FIVES does what NIBBLES does for five-bit integers. The lowest two bits of each byte of h are the
// fifth bits of the low and the high nibble. FIVES shifts them out of h.
#define FIVES(z, h, i) \
	VPSRLD $4, z, Z4; \
	VPANDD Z16, z, z; \
	VPANDD Z16, Z4, Z4; \
	VPSLLD $4, h, Z5; \
	VPSLLD $3, h, Z6; \
	VPSRLD $2, h, h; \
	VPTERNLOGD $0xf8, Z18, Z5, z; \
	VPTERNLOGD $0xf8, Z18, Z6, Z4; \
	VMOVDQU64 z, (64*i)(DI); \
	VMOVDQU64 Z4, (512+64*i)(DI)

// func turnQ5K(dst *kPanel, src *byte, stride int)
TEXT ·turnQ5K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	ROWS
	SIXBITPANEL
	BYTES($0x10101010, Z18)
	TURN(16)
	VMOVDQA64 Z0, Z20
	VMOVDQA64 Z1, Z21
	VMOVDQA64 Z2, Z22
	VMOVDQA64 Z3, Z23
	TURN(32)
	VMOVDQA64 Z0, Z24
	VMOVDQA64 Z1, Z25
	VMOVDQA64 Z2, Z26
	VMOVDQA64 Z3, Z27
	FURTHER($48)
	MOVQ $4, CX
pair:
	TURN(0)
	FIVES(Z0, Z20, 0)
	FIVES(Z1, Z21, 1)
	FIVES(Z2, Z22, 2)
	FIVES(Z3, Z23, 3)
	TURN(16)
	FIVES(Z0, Z24, 4)
	FIVES(Z1, Z25, 5)
	FIVES(Z2, Z26, 6)
	FIVES(Z3, Z27, 7)
	FURTHER($32)
	ADDQ $1024, DI
	DECQ CX
	JNZ  pair
	VZEROUPPER
	RET

// SIXES does what NIBBLES does for six-bit integers. h holds their upper two bits. For the low
// nibbles it is shifted left by left bits, and the result is word i of part p. For the high nibbles
// it is shifted right by high bits, and the result is word i of part p+2.
#define SIXES(z, h, p, i, left, high) \
	VPSRLD $4, z, Z4; \
	VPANDD Z16, z, z; \
	VPANDD Z16, Z4, Z4; \
	VPSLLD left, h, Z5; \
	VPSRLD high, h, Z6; \
	VPTERNLOGD $0xf8, Z18, Z5, z; \
	VPTERNLOGD $0xf8, Z18, Z6, Z4; \
	VMOVDQU64 z, (512*p+64*i)(DI); \
	VMOVDQU64 Z4, (512*(p+2)+64*i)(DI)

// SIGNED stores the four scales in each word of z, from scale s on. It also stores them as minima,
// in pairs.
#define SIGNED(z, s) \
	VPSLLD $24, z, Z4; \
	VPSLLD $16, z, Z5; \
	VPSLLD $8, z, Z6; \
	VPSRAD $24, Z4, Z4; \
	VPSRAD $24, Z5, Z5; \
	VPSRAD $24, Z6, Z6; \
	VPSRAD $24, z, z; \
	VMOVDQU64 Z4, (4096+64*s)(DI); \
	VMOVDQU64 Z5, (4160+64*s)(DI); \
	VMOVDQU64 Z6, (4224+64*s)(DI); \
	VMOVDQU64 z, (4288+64*s)(DI); \
	VPSLLD $16, Z5, Z5; \
	VPSLLD $16, z, z; \
	VPTERNLOGD $0xf8, Z17, Z4, Z5; \
	VPTERNLOGD $0xf8, Z17, Z6, z; \
	VMOVDQU64 Z5, (5120+32*s)(DI); \
	VMOVDQU64 z, (5184+32*s)(DI)

// func turnQ6K(dst *kPanel, src *byte, stride int)
TEXT ·turnQ6K(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ stride+16(FP), R8
	ROWS
	BYTES($0x0f0f0f0f, Z16)
	BYTES($0xffff, Z17)
	BYTES($0x30303030, Z18)
	BYTES($0x42000000, Z19) // 32
	TURN(192)
	SIGNED(Z0, 0)
	SIGNED(Z1, 4)
	SIGNED(Z2, 8)
	SIGNED(Z3, 12)
	TURN(194)               // the last two bytes are d
	VPSRLD $16, Z3, Z3
	VPMOVDW Z3, Y3
	VCVTPH2PS Y3, Z3
	VMULPS Z19, Z3, Z4
	VMOVUPS Z3, 5632(DI)
	VMOVUPS Z4, 5696(DI)
#define SIXTEEN(half, g) \
	TURN((128+32*half+16*g)); \
	VMOVDQA64 Z0, Z20; \
	VMOVDQA64 Z1, Z21; \
	VMOVDQA64 Z2, Z22; \
	VMOVDQA64 Z3, Z23; \
	TURN((64*half+16*g)); \
	SIXES(Z0, Z20, (4*half), (4*g), $4, $0); \
	SIXES(Z1, Z21, (4*half), (4*g+1), $4, $0); \
	SIXES(Z2, Z22, (4*half), (4*g+2), $4, $0); \
	SIXES(Z3, Z23, (4*half), (4*g+3), $4, $0); \
	TURN((64*half+32+16*g)); \
	SIXES(Z0, Z20, (4*half+1), (4*g), $2, $2); \
	SIXES(Z1, Z21, (4*half+1), (4*g+1), $2, $2); \
	SIXES(Z2, Z22, (4*half+1), (4*g+2), $2, $2); \
	SIXES(Z3, Z23, (4*half+1), (4*g+3), $2, $2)
	SIXTEEN(0, 0)
	SIXTEEN(0, 1)
	SIXTEEN(1, 0)
	SIXTEEN(1, 1)
	VZEROUPPER
	RET

#define ZERO4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

// FOUR4 applies op to z and the words at offset at of four inputs, with the accumulators a to d. p
// points to the first input. The inputs are AX bytes apart, and R13 is 3·AX.
#define FOUR4(op, z, at, p, a, b, c, d) \
	op at(p), z, a; \
	op at(p)(AX*1), z, b; \
	op at(p)(AX*2), z, c; \
	op at(p)(R13*1), z, d

// SCALE4 multiplies the sums a to d by the scales in Z16 and adds the products to e to h.
#define SCALE4(a, b, c, d, e, f, g, h) \
	VPMULLD Z16, a, a; \
	VPMULLD Z16, b, b; \
	VPMULLD Z16, c, c; \
	VPMULLD Z16, d, d; \
	VPADDD a, e, e; \
	VPADDD b, f, f; \
	VPADDD c, g, g; \
	VPADDD d, h, h

// FLOAT converts the sums of the products (sum) and of the minima (least) to floats and scales
// them. It adds their difference to the floats at to. Z16 and Z17 hold the weights' d and m, and x
// is the address of the input's scale.
#define FLOAT(sum, least, x, to) \
	VCVTDQ2PS sum, sum; \
	VCVTDQ2PS least, least; \
	VMULPS.BCST x, Z16, Z18; \
	VMULPS.BCST x, Z17, Z19; \
	VMULPS Z18, sum, sum; \
	VMULPS Z19, least, least; \
	VSUBPS least, sum, sum; \
	VADDPS to, sum, sum; \
	VMOVUPS sum, to

// func fetchBytes(p *byte, n int)
TEXT ·fetchBytes(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
line:
	PREFETCHT1 (SI)
	ADDQ $64, SI
	SUBQ $64, CX
	JGT  line
	RET

// func mulKPanel8(dst *float32, stride int, w *kPanel, blocks int, x *kInput, each int)
TEXT ·mulKPanel8(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R12
	SHLQ $2, R12
	LEAQ (R12)(R12*2), R8   // of three
	LEAQ (DI)(R12*4), R9
	MOVQ w+16(FP), SI
	MOVQ blocks+24(FP), BX
	MOVQ x+32(FP), R10
	MOVQ each+40(FP), AX
	LEAQ (AX)(AX*2), R13    // bytes of three inputs
	LEAQ (R10)(AX*4), R11
block:
	ZERO4(Z8, Z9, Z10, Z11)
	ZERO4(Z12, Z13, Z14, Z15)
	LEAQ 4096(SI), DX
	MOVQ $16, CX
sixteen:
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
#define WORD8(k) \
	VMOVDQU64 (64*k)(SI), Z17; \
	FOUR4(VPDPBUSD.BCST, Z17, (4*k), R10, Z0, Z1, Z2, Z3); \
	FOUR4(VPDPBUSD.BCST, Z17, (4*k), R11, Z4, Z5, Z6, Z7)
	WORD8(0)
	WORD8(1)
	WORD8(2)
	WORD8(3)
	VMOVDQU64 (DX), Z16
	SCALE4(Z0, Z1, Z2, Z3, Z8, Z9, Z10, Z11)
	SCALE4(Z4, Z5, Z6, Z7, Z12, Z13, Z14, Z15)
	ADDQ $256, SI
	ADDQ $64, DX
	ADDQ $16, R10
	ADDQ $16, R11
	DECQ CX
	JNZ  sixteen
	ZERO4(Z0, Z1, Z2, Z3)
	ZERO4(Z4, Z5, Z6, Z7)
#define LEAST8(k) \
	VMOVDQU64 (1024+64*k)(SI), Z17; \
	FOUR4(VPDPWSSD.BCST, Z17, (4*k), R10, Z0, Z1, Z2, Z3); \
	FOUR4(VPDPWSSD.BCST, Z17, (4*k), R11, Z4, Z5, Z6, Z7)
	LEAST8(0)
	LEAST8(1)
	LEAST8(2)
	LEAST8(3)
	LEAST8(4)
	LEAST8(5)
	LEAST8(6)
	LEAST8(7)
	VMOVUPS 1536(SI), Z16
	VMOVUPS 1600(SI), Z17
	FLOAT(Z8, Z0, 32(R10), (DI))
	FLOAT(Z9, Z1, 32(R10)(AX*1), (DI)(R12*1))
	FLOAT(Z10, Z2, 32(R10)(AX*2), (DI)(R12*2))
	FLOAT(Z11, Z3, 32(R10)(R13*1), (DI)(R8*1))
	FLOAT(Z12, Z4, 32(R11), (R9))
	FLOAT(Z13, Z5, 32(R11)(AX*1), (R9)(R12*1))
	FLOAT(Z14, Z6, 32(R11)(AX*2), (R9)(R12*2))
	FLOAT(Z15, Z7, 32(R11)(R13*1), (R9)(R8*1))
	ADDQ $1664, SI
	ADDQ $64, R10
	ADDQ $64, R11
	DECQ BX
	JNZ  block
	VZEROUPPER
	RET

// func mulKPanel4(dst *float32, stride int, w *kPanel, blocks int, x *kInput, each int)
TEXT ·mulKPanel4(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R12
	SHLQ $2, R12
	LEAQ (R12)(R12*2), R8
	MOVQ w+16(FP), SI
	MOVQ blocks+24(FP), BX
	MOVQ x+32(FP), R10
	MOVQ each+40(FP), AX
	LEAQ (AX)(AX*2), R13
block:
	ZERO4(Z8, Z9, Z10, Z11)
	LEAQ 4096(SI), DX
	MOVQ $16, CX
sixteen:
	ZERO4(Z0, Z1, Z2, Z3)
#define WORD4(k) \
	VMOVDQU64 (64*k)(SI), Z17; \
	FOUR4(VPDPBUSD.BCST, Z17, (4*k), R10, Z0, Z1, Z2, Z3)
	WORD4(0)
	WORD4(1)
	WORD4(2)
	WORD4(3)
	VMOVDQU64 (DX), Z16
	SCALE4(Z0, Z1, Z2, Z3, Z8, Z9, Z10, Z11)
	ADDQ $256, SI
	ADDQ $64, DX
	ADDQ $16, R10
	DECQ CX
	JNZ  sixteen
	ZERO4(Z0, Z1, Z2, Z3)
#define LEAST4(k) \
	VMOVDQU64 (1024+64*k)(SI), Z17; \
	FOUR4(VPDPWSSD.BCST, Z17, (4*k), R10, Z0, Z1, Z2, Z3)
	LEAST4(0)
	LEAST4(1)
	LEAST4(2)
	LEAST4(3)
	LEAST4(4)
	LEAST4(5)
	LEAST4(6)
	LEAST4(7)
	VMOVUPS 1536(SI), Z16
	VMOVUPS 1600(SI), Z17
	FLOAT(Z8, Z0, 32(R10), (DI))
	FLOAT(Z9, Z1, 32(R10)(AX*1), (DI)(R12*1))
	FLOAT(Z10, Z2, 32(R10)(AX*2), (DI)(R12*2))
	FLOAT(Z11, Z3, 32(R10)(R13*1), (DI)(R8*1))
	ADDQ $1664, SI
	ADDQ $64, R10
	DECQ BX
	JNZ  block
	VZEROUPPER
	RET
