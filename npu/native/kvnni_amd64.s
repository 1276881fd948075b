#include "textflag.h"

// Products with K-quants for AVX-512 with VNNI: see kquants.go, and kquants_amd64.s for the places in
// blocks. A vector holds two parts of 32; the sums of their four products fit 16 bits, so VPDPWSSD scales and
// adds them at once. spread<>+64k says where, among eight scales of even sixteens and eight of odd ones,
// those of parts 2k and 2k+1 are.
#define FOUR(at, v) \
DATA spread<>+(at+0)(SB)/8, v; \
DATA spread<>+(at+8)(SB)/8, v
FOUR(0, $0x0000000000000000)
FOUR(16, $0x0000000800000008)
FOUR(32, $0x0000000100000001)
FOUR(48, $0x0000000900000009)
FOUR(64, $0x0000000200000002)
FOUR(80, $0x0000000a0000000a)
FOUR(96, $0x0000000300000003)
FOUR(112, $0x0000000b0000000b)
FOUR(128, $0x0000000400000004)
FOUR(144, $0x0000000c0000000c)
FOUR(160, $0x0000000500000005)
FOUR(176, $0x0000000d0000000d)
FOUR(192, $0x0000000600000006)
FOUR(208, $0x0000000e0000000e)
FOUR(224, $0x0000000700000007)
FOUR(240, $0x0000000f0000000f)
GLOBL spread<>(SB), RODATA|NOPTR, $256

#define SPREAD \
	VMOVDQU64 spread<>+0(SB), Z28; \
	VMOVDQU64 spread<>+64(SB), Z29; \
	VMOVDQU64 spread<>+128(SB), Z30; \
	VMOVDQU64 spread<>+192(SB), Z31

// WEIGHTS reads a block: scales to Z2 to Z5, integers to Z6 to Z9, d, m and minima to Y20 to Y22.
#define WEIGHTS \
	VPMOVZXWD 256(SI), Z1; \
	VPERMD Z1, Z28, Z2; \
	VPERMD Z1, Z29, Z3; \
	VPERMD Z1, Z30, Z4; \
	VPERMD Z1, Z31, Z5; \
	VMOVDQU64 (SI), Z6; \
	VMOVDQU64 64(SI), Z7; \
	VMOVDQU64 128(SI), Z8; \
	VMOVDQU64 192(SI), Z9; \
	VBROADCASTSS 320(SI), Y20; \
	VBROADCASTSS 324(SI), Y21; \
	VMOVDQU64 288(SI), Y22

// INPUT adds the products of a block and the input at (R10)(i) to acc.
#define INPUT(i, acc) \
	VPXORD Z10, Z10, Z10; \
	VPXORD Z11, Z11, Z11; \
	VPXORD Z12, Z12, Z12; \
	VPXORD Z13, Z13, Z13; \
	VPXORD Z14, Z14, Z14; \
	VPXORD Z15, Z15, Z15; \
	VPDPBUSD (R10)(i), Z6, Z10; \
	VPDPBUSD 64(R10)(i), Z7, Z11; \
	VPDPBUSD 128(R10)(i), Z8, Z12; \
	VPDPBUSD 192(R10)(i), Z9, Z13; \
	VPDPWSSD Z2, Z10, Z14; \
	VPDPWSSD Z3, Z11, Z15; \
	VPDPWSSD Z4, Z12, Z14; \
	VPDPWSSD Z5, Z13, Z15; \
	VBROADCASTSS 288(R10)(i), Y10; \
	VPMADDWD 256(R10)(i), Y22, Y11; \
	VPADDD Z15, Z14, Z14; \
	VEXTRACTI64X4 $1, Z14, Y15; \
	VPADDD Y15, Y14, Y14; \
	VMULPS Y10, Y20, Y12; \
	VMULPS Y10, Y21, Y13; \
	VCVTDQ2PS Y14, Y14; \
	VCVTDQ2PS Y11, Y11; \
	VMULPS Y12, Y14, Y14; \
	VMULPS Y13, Y11, Y11; \
	VADDPS Y14, acc, acc; \
	VSUBPS Y11, acc, acc

// SUM adds the eight lanes of y and stores them at (BX).
#define SUM(y) \
	VMOVAPS y, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0; \
	VMOVHLPS X0, X0, X1; \
	VADDPS X1, X0, X0; \
	VMOVSHDUP X0, X1; \
	VADDSS X1, X0, X0; \
	VMOVSS X0, (BX)

// func mulKx1VNNI(dst *float32, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulKx1VNNI(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), SI
	MOVQ rows+16(FP), CX
	MOVQ x+32(FP), R8
	XORQ AX, AX
	SPREAD
row:
	MOVQ R8, R10
	MOVQ blocks+24(FP), BX
	VPXORD Z24, Z24, Z24
block:
	WEIGHTS
	INPUT(AX*1, Y24)
	ADDQ $384, SI
	ADDQ $320, R10
	DECQ BX
	JNZ  block
	MOVQ DI, BX
	SUM(Y24)
	ADDQ $4, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET

// func mulKx4VNNI(dst *float32, stride int, w *kBlock, rows, blocks int, x *kInput)
TEXT ·mulKx4VNNI(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R12
	SHLQ $2, R12
	MOVQ w+16(FP), SI
	MOVQ rows+24(FP), CX
	MOVQ blocks+32(FP), AX
	MOVQ x+40(FP), R8
	IMULQ $320, AX          // bytes of one input
	LEAQ (AX)(AX*2), R13    // of three
	XORQ R9, R9
	SPREAD
row:
	MOVQ R8, R10
	MOVQ blocks+32(FP), BX
	VPXORD Z24, Z24, Z24
	VPXORD Z25, Z25, Z25
	VPXORD Z26, Z26, Z26
	VPXORD Z27, Z27, Z27
block:
	WEIGHTS
	INPUT(R9*1, Y24)
	INPUT(AX*1, Y25)
	INPUT(AX*2, Y26)
	INPUT(R13*1, Y27)
	ADDQ $384, SI
	ADDQ $320, R10
	DECQ BX
	JNZ  block
	MOVQ DI, BX
	SUM(Y24)
	ADDQ R12, BX
	SUM(Y25)
	ADDQ R12, BX
	SUM(Y26)
	ADDQ R12, BX
	SUM(Y27)
	ADDQ $4, DI
	DECQ CX
	JNZ  row
	VZEROUPPER
	RET
