// Products of inputs with packed weights (pack.go). A vector holds four elements of each of sixteen
// rows (eight for AVX2). The same four elements of an input, broadcast, multiply all of them.
// VPDPBUSD and VPMADDUBSW multiply unsigned by signed bytes. The weights get an offset to make them
// unsigned, and the sums start from a value (input.low or .high) that cancels it. A tile multiplies
// groups of sixteen rows by a fixed number of inputs. R8 to R11 point to four inputs each.

#define FILL(bits, z) \
	MOVL bits, BX; \
	VPBROADCASTD BX, z

// ARGS loads the arguments: DI is the destination, SI the group's scales, DX the number of groups
// left and R12 the inputs. AX is the size of one input in bytes, R13 of three.
#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ w+16(FP), SI; \
	MOVQ groups+24(FP), DX; \
	MOVQ blocks+32(FP), AX; \
	MOVQ x+40(FP), R12; \
	IMUL3Q $48, AX, AX; \
	LEAQ (AX)(AX*2), R13

// GROUP sets CX to the integers of the group's first block, SCALES bytes after its scales, BX to the
// number of blocks and R8 to R11 to the inputs.
#define GROUP(SCALES) \
	LEAQ SCALES(SI), CX; \
	MOVQ blocks+32(FP), BX; \
	MOVQ R12, R8; \
	LEAQ (R8)(AX*4), R9; \
	LEAQ (R9)(AX*4), R10; \
	LEAQ (R10)(AX*4), R11

#define NEXT(BYTES) \
	ADDQ $BYTES, SI; \
	ADDQ $BYTES, CX; \
	ADDQ $48, R8; \
	ADDQ $48, R9; \
	ADDQ $48, R10; \
	ADDQ $48, R11; \
	DECQ BX

// WEIGHTSQ40 and WEIGHTSQ80 read a block: its scales to Z8 and its integers, with their offset, to
// Z0 to Z7. Z9 is the nibble mask or the offset of bytes.
#define WEIGHTSQ40 \
	AHEAD288; \
	VCVTPH2PS (SI), Z8; \
	NIBBLES

#define NIBBLES \
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
	AHEAD544; \
	VCVTPH2PS (SI), Z8; \
	VPXORD (CX), Z9, Z0; \
	VPXORD 64(CX), Z9, Z1; \
	VPXORD 128(CX), Z9, Z2; \
	VPXORD 192(CX), Z9, Z3; \
	VPXORD 256(CX), Z9, Z4; \
	VPXORD 320(CX), Z9, Z5; \
	VPXORD 384(CX), Z9, Z6; \
	VPXORD 448(CX), Z9, Z7

// AHEAD288 to AHEAD544 prefetch as many bytes, the size of a block, a few kilobytes ahead. Without
// them, memory is read at half the speed.
#define AHEADBY 8192
#define AHEAD288 \
	PREFETCHT0 AHEADBY(SI); \
	PREFETCHT0 (AHEADBY+64)(SI); \
	PREFETCHT0 (AHEADBY+128)(SI); \
	PREFETCHT0 (AHEADBY+192)(SI); \
	PREFETCHT0 (AHEADBY+256)(SI)

#define AHEAD352 \
	AHEAD288; \
	PREFETCHT0 (AHEADBY+320)(SI)

#define AHEAD544 \
	AHEAD352; \
	PREFETCHT0 (AHEADBY+384)(SI); \
	PREFETCHT0 (AHEADBY+448)(SI); \
	PREFETCHT0 (AHEADBY+512)(SI)

// LOW, HIGH and ZERO set z to what the sums of the input at p start from: input.low, input.high or 0. TWICELOW is for an offset
// of 16 in the weights.
#define LOW(p, z) VPBROADCASTD 36 p, z
#define HIGH(p, z) VPBROADCASTD 40 p, z
#define ZERO(p, z) VPXORD z, z, z
#define TWICELOW(p, z) \
	VPBROADCASTD 36 p, z; \
	VPADDD z, z, z

// INPUT multiplies the block by the input at p and adds the scaled sums to acc. START is one of the above.
#define INPUT(START, p, acc) \
	START(p, Z10); \
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

#define BEGIN4(START, p0, p1, p2, p3, s0, s1, s2, s3) \
	START(p0, s0); \
	START(p1, s1); \
	START(p2, s2); \
	START(p3, s3)

// INPUT4 does what INPUT does for four inputs by turns: the sums of one input wait for each other, and the processor looks
// ahead only so far.
#define INPUT4(START, p0, p1, p2, p3, a0, a1, a2, a3) \
	BEGIN4(START, p0, p1, p2, p3, Z10, Z11, Z12, Z13); \
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

#define INPUTS1(START) \
	INPUT(START, (R8), Z16)

#define INPUTS2(START) \
	INPUT(START, (R8), Z16); \
	INPUT(START, (R8)(AX*1), Z17)

#define INPUTS4(START) \
	INPUT4(START, (R8), (R8)(AX*1), (R8)(AX*2), (R8)(R13*1), Z16, Z17, Z18, Z19)

#define INPUTS8(START) \
	BEGIN4(START, (R8), (R8)(AX*1), (R8)(AX*2), (R8)(R13*1), Z10, Z11, Z12, Z13); \
	BEGIN4(START, (R9), (R9)(AX*1), (R9)(AX*2), (R9)(R13*1), Z24, Z25, Z26, Z27); \
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

#define INPUTS16(START) \
	INPUTS4(START); \
	INPUT4(START, (R9), (R9)(AX*1), (R9)(AX*2), (R9)(R13*1), Z20, Z21, Z22, Z23); \
	INPUT4(START, (R10), (R10)(AX*1), (R10)(AX*2), (R10)(R13*1), Z24, Z25, Z26, Z27); \
	INPUT4(START, (R11), (R11)(AX*1), (R11)(AX*2), (R11)(R13*1), Z28, Z29, Z30, Z31)

#define CLEAR4(a, b, c, d) \
	VPXORD a, a, a; \
	VPXORD b, b, b; \
	VPXORD c, c, c; \
	VPXORD d, d, d

#define CLEAR8 \
	CLEAR4(Z16, Z17, Z18, Z19); \
	CLEAR4(Z20, Z21, Z22, Z23)

#define CLEAR \
	CLEAR8; \
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

// TILE8 is for blocks of BYTES, with 32 bytes of scales. TILE is the same for up to sixteen inputs.
#define TILE8(BYTES, WEIGHTS, INPUTS, STORE) \
	TILEOF(32, BYTES, WEIGHTS, INPUTS, STORE, CLEAR8)

#define TILE(BYTES, WEIGHTS, INPUTS, STORE) \
	TILEOF(32, BYTES, WEIGHTS, INPUTS, STORE, CLEAR)

// TILEMINIMA is for blocks with minima after the scales.
#define TILEMINIMA(BYTES, WEIGHTS, INPUTS, STORE) \
	TILEOF(64, BYTES, WEIGHTS, INPUTS, STORE, CLEAR8)

#define TILEOF(SCALES, BYTES, WEIGHTS, INPUTS, STORE, CLEARSUMS) \
	ARGS; \
group: \
	GROUP(SCALES); \
	CLEARSUMS; \
block: \
	WEIGHTS; \
	INPUTS; \
	NEXT(BYTES); \
	JNZ block; \
	STORE; \
	ADDQ $64, DI; \
	DECQ DX; \
	JNZ group; \
	VZEROUPPER; \
	RET

// FIFTH adds the fifth bits in Z15, shifted into place, to z. Z28 is their mask.
#define FIFTH(op, by, z) \
	op by, Z15, Z14; \
	VPTERNLOGD $0xF8, Z28, Z14, z

#define WEIGHTSQ5(AHEAD) \
	AHEAD; \
	VCVTPH2PS (SI), Z8; \
	NIBBLES; \
	VMOVDQU64 256(CX), Z15; \
	FIFTH(VPSLLW, $4, Z0); \
	FIFTH(VPSLLW, $3, Z1); \
	FIFTH(VPSLLW, $2, Z2); \
	FIFTH(VPSLLW, $1, Z3); \
	FIFTH(VPSRLW, $0, Z4); \
	FIFTH(VPSRLW, $1, Z5); \
	FIFTH(VPSRLW, $2, Z6); \
	FIFTH(VPSRLW, $3, Z7)

#define WEIGHTSQ41 \
	AHEAD288; \
	VCVTPH2PS (SI), Z8; \
	NIBBLES

// LOOKUP replaces the indices by the numbers of the table in Z28.
#define LOOKUP \
	VPSHUFB Z0, Z28, Z0; \
	VPSHUFB Z1, Z28, Z1; \
	VPSHUFB Z2, Z28, Z2; \
	VPSHUFB Z3, Z28, Z3; \
	VPSHUFB Z4, Z28, Z4; \
	VPSHUFB Z5, Z28, Z5; \
	VPSHUFB Z6, Z28, Z6; \
	VPSHUFB Z7, Z28, Z7

#define WEIGHTSNL \
	WEIGHTSQ40; \
	LOOKUP

#define WEIGHTSMX \
	AHEAD288; \
	VPMOVZXWD (SI), Z8; \
	VPSLLD $16, Z8, Z8; \
	NIBBLES; \
	LOOKUP

// Tables: the numbers of IQ4_NL plus 128, of MXFP4 plus 128, of IQ4_NL as they are, and of MXFP4 plus 12.
DATA tables<>+0(SB)/8, $0x766a5d4f3f2d1801
DATA tables<>+8(SB)/8, $0xf1d9c5b5a6998d81
DATA tables<>+16(SB)/8, $0x8c88868483828180
DATA tables<>+24(SB)/8, $0x74787a7c7d7e7f80
DATA tables<>+32(SB)/8, $0xf6eaddcfbfad9881
DATA tables<>+40(SB)/8, $0x7159453526190d01
DATA tables<>+48(SB)/8, $0x181412100f0e0d0c
DATA tables<>+56(SB)/8, $0x00040608090a0b0c
GLOBL tables<>(SB), RODATA|NOPTR, $64

#define TABLE(at) VBROADCASTI32X4 tables<>+at(SB), Z28
