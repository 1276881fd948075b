// What the kernels for Intel's Advanced Matrix Extensions share. A tile register holds up to sixteen rows of 64 bytes. TDPBSSD
// multiplies the int8 of A, a row for each of sixteen inputs, by those of B, whose rows hold four elements of each of sixteen rows of
// weights, as packed weights do. It adds the products to C, a row for each input, a lane for each row of weights. Go's assembler
// does not know these instructions. Their names say which tile they use and where: R14 is 64, the distance of rows.
//
// ggml sets the shapes of tiles once in each thread, and relies on them from then on. So a kernel puts back what it found.

#include "tiles_amd64.h"

#define SAVE_SHAPES_CX BYTE $0xc4; BYTE $0xe2; BYTE $0x79; BYTE $0x49; BYTE $0x01
#define SET_SHAPES_CX BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0x01
#define ZERO_0 BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x49; BYTE $0xc0
#define ZERO_1 BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x49; BYTE $0xc8
#define LOAD_2_R8_AX BYTE $0xc4; BYTE $0xc2; BYTE $0x7b; BYTE $0x4b; BYTE $0x14; BYTE $0x00
#define LOAD_2_64_R8_AX BYTE $0xc4; BYTE $0xc2; BYTE $0x7b; BYTE $0x4b; BYTE $0x54; BYTE $0x00; BYTE $64
#define LOAD_2_128_R8_AX BYTE $0xc4; BYTE $0xc2; BYTE $0x7b; BYTE $0x4b; BYTE $0x94; BYTE $0x00; LONG $128
#define LOAD_2_192_R8_AX BYTE $0xc4; BYTE $0xc2; BYTE $0x7b; BYTE $0x4b; BYTE $0x94; BYTE $0x00; LONG $192
#define LOAD_4_CX_R14 BYTE $0xc4; BYTE $0xa2; BYTE $0x7b; BYTE $0x4b; BYTE $0x24; BYTE $0x31
#define LOAD_5_4096_CX_R14 BYTE $0xc4; BYTE $0xa2; BYTE $0x7b; BYTE $0x4b; BYTE $0xac; BYTE $0x31; LONG $4096
#define STORE_0_R15_R14 BYTE $0xc4; BYTE $0x82; BYTE $0x7a; BYTE $0x4b; BYTE $0x04; BYTE $0x37
#define STORE_1_1024_R15_R14 BYTE $0xc4; BYTE $0x82; BYTE $0x7a; BYTE $0x4b; BYTE $0x8c; BYTE $0x37; LONG $1024
#define MULTIPLY_2_4 BYTE $0xc4; BYTE $0xe2; BYTE $0x5b; BYTE $0x5e; BYTE $0xc2
#define MULTIPLY_2_5 BYTE $0xc4; BYTE $0xe2; BYTE $0x53; BYTE $0x5e; BYTE $0xca

// TILES keeps the old shapes at SP, sets new ones, and lets R15 point to the rest of the frame, where C goes. DONE puts the old ones back.
#define TILES(SHAPES) \
	MOVQ SP, CX; \
	SAVE_SHAPES_CX; \
	LEAQ SHAPES<>(SB), CX; \
	SET_SHAPES_CX; \
	MOVQ $64, R14; \
	LEAQ 127(SP), R15; \
	ANDQ $~63, R15

#define DONE \
	MOVQ SP, CX; \
	SET_SHAPES_CX; \
	VZEROUPPER; \
	RET

// EACHINPUT calls F for each of sixteen inputs: with the offset of its row of C, its place, and its sums.
#define EACHINPUT(F) \
	F(0, (R8), Z16); \
	F(64, (R8)(AX*1), Z17); \
	F(128, (R8)(AX*2), Z18); \
	F(192, (R8)(R13*1), Z19); \
	F(256, (R9), Z20); \
	F(320, (R9)(AX*1), Z21); \
	F(384, (R9)(AX*2), Z22); \
	F(448, (R9)(R13*1), Z23); \
	F(512, (R10), Z24); \
	F(576, (R10)(AX*1), Z25); \
	F(640, (R10)(AX*2), Z26); \
	F(704, (R10)(R13*1), Z27); \
	F(768, (R11), Z28); \
	F(832, (R11)(AX*1), Z29); \
	F(896, (R11)(AX*2), Z30); \
	F(960, (R11)(R13*1), Z31)
