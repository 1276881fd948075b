package lab

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"

	"tandem"
)

// textHash is a hash of a text's tokens.
func textHash(tokens []tandem.Token) string {
	h := sha256.Sum256(appendTokens(nil, tokens))
	return hex.EncodeToString(h[:])
}

func appendTokens(b []byte, tokens []tandem.Token) []byte {
	for _, t := range tokens {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	return b
}

// joinHashes is a hash of several texts in order.
func joinHashes(hashes []string) string {
	h := sha256.New()
	for _, s := range hashes {
		io.WriteString(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))
}
