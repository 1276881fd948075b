// Package scripts makes random texts in many scripts, for tests.
package scripts

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// blocks are ranges of Unicode: Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Japanese, Chinese, Korean, emoji.
var blocks = [][2]rune{
	{'!', '~'}, {0xa1, 0x17f}, {0x370, 0x3ff}, {0x400, 0x4ff}, {0x5d0, 0x5ea}, {0x620, 0x64a}, {0x900, 0x97f},
	{0x3041, 0x30ff}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0x1f300, 0x1f6ff},
}

// Text returns one to four words, each of one to eight characters of one block.
func Text(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			b.WriteByte(' ')
		}
		block := blocks[r.IntN(len(blocks))]
		for range 1 + r.IntN(8) {
			if c := block[0] + rune(r.IntN(int(block[1]-block[0]+1))); utf8.ValidRune(c) {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}
