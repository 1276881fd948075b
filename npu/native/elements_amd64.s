#include "textflag.h"

// Element-wise kernels. n is a nonzero multiple of 8.

#define NEXT8(label) \
	ADDQ $32, SI; \
	ADDQ $32, DX; \
	ADDQ $32, DI; \
	SUBQ $8, CX; \
	JNZ  label; \
	VZEROUPPER; \
	RET

// func scaleAVX2(out, x, w *float32, n int, by float32)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-36
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSS by+32(FP), Y1
loop:
	VMULPS (SI), Y1, Y0
	VMULPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	NEXT8(loop)

// func addAVX2(out, x, y *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ y+16(FP), DX
	MOVQ n+24(FP), CX
loop:
	VMOVUPS (SI), Y0
	VADDPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	NEXT8(loop)

// func floorAVX2(out, x *float32, n int, by, least float32)
TEXT ·floorAVX2(SB), NOSPLIT, $0-32
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS by+24(FP), Y1
	VBROADCASTSS least+28(FP), Y2
loop:
	VADDPS (SI), Y1, Y0
	VMAXPS Y2, Y0, Y0 // of NaN and least, least
	VMOVUPS Y0, (DI)
	NEXT8(loop)

// func rotateAVX2(a, b, cos, sin *float32, n int)
TEXT ·rotateAVX2(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), R8
	MOVQ cos+16(FP), SI
	MOVQ sin+24(FP), DX
	MOVQ n+32(FP), CX
loop:
	VMOVUPS (DI), Y0
	VMOVUPS (R8), Y1
	VMOVUPS (SI), Y2
	VMOVUPS (DX), Y3
	VMULPS Y2, Y0, Y4
	VMULPS Y3, Y1, Y5
	VMULPS Y3, Y0, Y0
	VMULPS Y2, Y1, Y1
	VSUBPS Y5, Y4, Y4
	VADDPS Y1, Y0, Y0
	VMOVUPS Y4, (DI)
	VMOVUPS Y0, (R8)
	ADDQ $32, R8
	NEXT8(loop)

DATA minusInf<>+0(SB)/4, $0xFF800000
GLOBL minusInf<>(SB), RODATA|NOPTR, $4

// LARGER makes max the larger of itself and x, and keeps it where x is NaN: the second operand wins then.
#define LARGER(max, x, at) \
	VMOVUPS at(SI), x; \
	VMAXPS max, x, max

// func maximaAVX2(dst, x *float32, blocks int)
// It sets dst[i] to the largest of x[64·i:][:64] that is not NaN, −Inf if there is none. blocks is not zero.
TEXT ·maximaAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ blocks+16(FP), CX
	VBROADCASTSS minusInf<>(SB), Y7
loop:
	VMOVAPS Y7, Y0
	VMOVAPS Y7, Y1
	LARGER(Y0, Y2, 0)
	LARGER(Y1, Y3, 32)
	LARGER(Y0, Y4, 64)
	LARGER(Y1, Y5, 96)
	LARGER(Y0, Y2, 128)
	LARGER(Y1, Y3, 160)
	LARGER(Y0, Y4, 192)
	LARGER(Y1, Y5, 224)
	VMAXPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VSHUFPS $0x4E, X0, X0, X1
	VMAXPS X1, X0, X0
	VSHUFPS $0xB1, X0, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS X0, (DI)
	ADDQ $256, SI
	ADDQ $4, DI
	DECQ CX
	JNZ  loop
	VZEROUPPER
	RET
