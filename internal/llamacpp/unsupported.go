//go:build static || !(amd64 || arm64) || !(darwin || (linux && (cgo || (ggml && !android))))

package llamacpp

import "errors"

// Lib stands for the library, which this program cannot load.
type Lib struct{}

// Model stands for an open model.
type Model struct{}

// Session stands for a context.
type Session struct{}

var errUnsupported = errors.New("this program was built without it: on Linux, build with cgo or the build tag ggml")

// Load always fails on this platform.
func Load() (*Lib, error) { return nil, errUnsupported }

// Variant returns "".
func (*Lib) Variant() string { return "" }

// Quantize always fails on this platform.
func (*Lib) Quantize(uint32, []byte, []float32) error { return errUnsupported }

// QuantizeFile always fails on this platform.
func (*Lib) QuantizeFile(string, string, uint32) error { return errUnsupported }

// Dequantize always fails on this platform.
func (*Lib) Dequantize(string, []float32, []byte) error { return errUnsupported }

// Open always fails on this platform.
func (*Lib) Open(string, bool) (*Model, error) { return nil, errUnsupported }

// ApplyTemplate always fails on this platform.
func (*Lib) ApplyTemplate(string, []Message, bool) (string, error) { return "", errUnsupported }

// Close does nothing.
func (*Model) Close() {}

// Size returns 0.
func (*Model) Size() int { return 0 }

// Tokenize always fails on this platform.
func (*Model) Tokenize(string, bool, bool) ([]int32, error) { return nil, errUnsupported }

// Pair always fails on this platform.
func (*Model) Pair(first, second string) ([]int32, error) { return nil, errUnsupported }

// Piece always fails on this platform.
func (*Model) Piece(int32) ([]byte, error) { return nil, errUnsupported }

// IsEOG returns false.
func (*Model) IsEOG(int32) bool { return false }

// Embedding always fails on this platform.
func (*Model) Embedding([]int32, int) ([]float32, error) { return nil, errUnsupported }

// Logits always fails on this platform.
func (*Model) Logits([]int32) ([][]float32, error) { return nil, errUnsupported }

// PlainLogits always fails on this platform.
func (*Model) PlainLogits([]int32) ([][]float32, error) { return nil, errUnsupported }

// Adapter stands for an adapter's file.
type Adapter struct{}

// Adapter always fails on this platform.
func (*Model) Adapter(string) (*Adapter, error) { return nil, errUnsupported }

// LogitsWith always fails on this platform.
func (*Model) LogitsWith([]int32, []*Adapter, []float32) ([][]float32, error) {
	return nil, errUnsupported
}

// Use always fails on this platform.
func (*Session) Use([]*Adapter, []float32) error { return errUnsupported }

// OpenFast always fails on this platform.
func (*Lib) OpenFast(path, device string) (*Model, error) { return nil, errUnsupported }

// NewSession always fails on this platform.
func (*Model) NewSession(threads, positions, sequences int) (*Session, error) {
	return nil, errUnsupported
}

// Close does nothing.
func (*Session) Close() {}

// Clear does nothing.
func (*Session) Clear() {}

// Copy does nothing.
func (*Session) Copy(from, to int32) {}

// Truncate does nothing.
func (*Session) Truncate(seq, n int32) bool { return false }

// Decode always fails on this platform.
func (*Session) Decode(tokens, pos, seq []int32, want []int8) error { return errUnsupported }
