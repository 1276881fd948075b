#include "textflag.h"

// MIXFACTOR begins a block: CX is the number of ranks left, R8 points to p, R9 to the scales and R10 to the integers.
#define MIXFACTOR \
	MOVQ p+16(FP), R8; \
	MOVQ ranks+24(FP), CX; \
	MOVQ SI, R9; \
	LEAQ 7(CX), R10; \
	ANDQ $-8, R10; \
	LEAQ (SI)(R10*2), R10

// SCALES8 multiplies eight scales by p and stores the products in the frame, to which R11 points. BX is how many of them
// count.
#define SCALES8 \
	VCVTPH2PS (R9), Y15; \
	VMULPS (R8), Y15, Y15; \
	VMOVUPS Y15, s-32(SP); \
	LEAQ s-32(SP), R11; \
	MOVQ $8, BX; \
	CMPQ CX, BX; \
	CMOVQLT CX, BX; \
	SUBQ BX, CX; \
	ADDQ $16, R9; \
	ADDQ $32, R8

#define MIXAHEAD 4096

// func mixBlocksAVX512(acc *float32, p *float32, n int, v *uint16)
// Four blocks of 32 columns, each with n rows one after the other: R8 to R11 point to their rows, and Z0 to Z7 hold the sums.
// It prefetches the next four blocks: factors are read once in a pass, so they come from memory, and four runs of rows are too
// short for the processor to foresee.
TEXT ·mixBlocksAVX512(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ v+24(FP), R8
	MOVQ CX, AX
	SHLQ $6, AX
	LEAQ (R8)(AX*1), R9
	LEAQ (R8)(AX*2), R10
	LEAQ (R9)(AX*2), R11
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	VMOVUPS 192(DI), Z3
	VMOVUPS 256(DI), Z4
	VMOVUPS 320(DI), Z5
	VMOVUPS 384(DI), Z6
	VMOVUPS 448(DI), Z7
row:
	VBROADCASTSS (SI), Z16
	PREFETCHT0 (R8)(AX*4)
	PREFETCHT0 (R9)(AX*4)
	PREFETCHT0 (R10)(AX*4)
	PREFETCHT0 (R11)(AX*4)
	VCVTPH2PS (R8), Z8
	VCVTPH2PS 32(R8), Z9
	VCVTPH2PS (R9), Z10
	VCVTPH2PS 32(R9), Z11
	VCVTPH2PS (R10), Z12
	VCVTPH2PS 32(R10), Z13
	VCVTPH2PS (R11), Z14
	VCVTPH2PS 32(R11), Z15
	VMULPS Z16, Z8, Z8
	VMULPS Z16, Z9, Z9
	VMULPS Z16, Z10, Z10
	VMULPS Z16, Z11, Z11
	VMULPS Z16, Z12, Z12
	VMULPS Z16, Z13, Z13
	VMULPS Z16, Z14, Z14
	VMULPS Z16, Z15, Z15
	VADDPS Z8, Z0, Z0
	VADDPS Z9, Z1, Z1
	VADDPS Z10, Z2, Z2
	VADDPS Z11, Z3, Z3
	VADDPS Z12, Z4, Z4
	VADDPS Z13, Z5, Z5
	VADDPS Z14, Z6, Z6
	VADDPS Z15, Z7, Z7
	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	ADDQ $64, R11
	ADDQ $4, SI
	DECQ CX
	JNZ  row
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	VMOVUPS Z4, 256(DI)
	VMOVUPS Z5, 320(DI)
	VMOVUPS Z6, 384(DI)
	VMOVUPS Z7, 448(DI)
	VZEROUPPER
	RET

// func mixFactorAVX512(acc *float32, blocks int, p *float32, ranks int, v *byte)
TEXT ·mixFactorAVX512(SB), NOSPLIT, $32-40
	MOVQ acc+0(FP), DI
	MOVQ blocks+8(FP), DX
	MOVQ v+32(FP), SI
block:
	MIXFACTOR
	VMOVUPS (DI), Z0
	VMOVUPS 64(DI), Z1
eight:
	SCALES8
rank:
	PREFETCHT0 MIXAHEAD(R10)
	VBROADCASTSS (R11), Z2
	VPMOVSXBD (R10), Z3
	VPMOVSXBD 16(R10), Z4
	VCVTDQ2PS Z3, Z3
	VCVTDQ2PS Z4, Z4
	VMULPS Z2, Z3, Z3
	VMULPS Z2, Z4, Z4
	VADDPS Z3, Z0, Z0
	VADDPS Z4, Z1, Z1
	ADDQ $4, R11
	ADDQ $32, R10
	DECQ BX
	JNZ  rank
	TESTQ CX, CX
	JNZ  eight
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	ADDQ $128, DI
	MOVQ R10, SI
	DECQ DX
	JNZ  block
	VZEROUPPER
	RET

// func mixFactorAVX2(acc *float32, blocks int, p *float32, ranks int, v *byte)
TEXT ·mixFactorAVX2(SB), NOSPLIT, $32-40
	MOVQ acc+0(FP), DI
	MOVQ blocks+8(FP), DX
	MOVQ v+32(FP), SI
block:
	MIXFACTOR
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	VMOVUPS 96(DI), Y3
eight:
	SCALES8
rank:
	PREFETCHT0 MIXAHEAD(R10)
	VBROADCASTSS (R11), Y8
	VPMOVSXBD (R10), Y4
	VPMOVSXBD 8(R10), Y5
	VPMOVSXBD 16(R10), Y6
	VPMOVSXBD 24(R10), Y7
	VCVTDQ2PS Y4, Y4
	VCVTDQ2PS Y5, Y5
	VCVTDQ2PS Y6, Y6
	VCVTDQ2PS Y7, Y7
	VMULPS Y8, Y4, Y4
	VMULPS Y8, Y5, Y5
	VMULPS Y8, Y6, Y6
	VMULPS Y8, Y7, Y7
	VADDPS Y4, Y0, Y0
	VADDPS Y5, Y1, Y1
	VADDPS Y6, Y2, Y2
	VADDPS Y7, Y3, Y3
	ADDQ $4, R11
	ADDQ $32, R10
	DECQ BX
	JNZ  rank
	TESTQ CX, CX
	JNZ  eight
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ $128, DI
	MOVQ R10, SI
	DECQ DX
	JNZ  block
	VZEROUPPER
	RET
