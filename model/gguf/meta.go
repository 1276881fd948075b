package gguf

import "math"

// Meta is the metadata of a file: an ordered list of keys and values. The second result of a typed getter is false if
// the key is absent or its value has another kind.
type Meta struct {
	list  []KV
	index map[string]int
}

// NewMeta makes metadata from entries, without a file. Of equal keys, the last counts.
func NewMeta(entries []KV) Meta {
	m := Meta{list: entries, index: make(map[string]int, len(entries))}
	for i, kv := range entries {
		m.index[kv.Key] = i
	}
	return m
}

// KVs returns all entries in the order of the file. The caller must not change them.
func (m Meta) KVs() []KV { return m.list }

// Keys returns all keys in the order of the file.
func (m Meta) Keys() []string {
	keys := make([]string, len(m.list))
	for i, kv := range m.list {
		keys[i] = kv.Key
	}
	return keys
}

// Value returns the value of a key. See KV for the possible types.
func (m Meta) Value(key string) (any, bool) {
	i, ok := m.index[key]
	if !ok {
		return nil, false
	}
	return m.list[i].Value, true
}

// String returns a string value.
func (m Meta) String(key string) (string, bool) {
	v, _ := m.Value(key)
	s, ok := v.(string)
	return s, ok
}

// Bool returns a boolean value.
func (m Meta) Bool(key string) (value, ok bool) {
	v, _ := m.Value(key)
	value, ok = v.(bool)
	return value, ok
}

// Uint returns a non-negative integer value of any width.
func (m Meta) Uint(key string) (uint64, bool) {
	v, _ := m.Value(key)
	if u, ok := v.(uint64); ok {
		return u, true
	}
	i, ok := integer(v)
	return uint64(i), ok && i >= 0
}

// Float returns a floating-point value of either width.
func (m Meta) Float(key string) (float64, bool) {
	v, _ := m.Value(key)
	switch x := v.(type) {
	case float32:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// Strings returns an array of strings. The caller must not change it.
func (m Meta) Strings(key string) ([]string, bool) {
	v, _ := m.Value(key)
	s, ok := v.([]string)
	return s, ok
}

// Ints returns an array of integers of any width that all fit an int64.
func (m Meta) Ints(key string) ([]int64, bool) {
	v, _ := m.Value(key)
	switch x := v.(type) {
	case []int64:
		return x, true
	case []uint64:
		for _, u := range x {
			if u > math.MaxInt64 {
				return nil, false
			}
		}
		return widen[int64](x), true
	case []uint8:
		return widen[int64](x), true
	case []int8:
		return widen[int64](x), true
	case []uint16:
		return widen[int64](x), true
	case []int16:
		return widen[int64](x), true
	case []uint32:
		return widen[int64](x), true
	case []int32:
		return widen[int64](x), true
	}
	return nil, false
}

// Floats returns an array of floating-point numbers of either width, as float32.
func (m Meta) Floats(key string) ([]float32, bool) {
	v, _ := m.Value(key)
	switch x := v.(type) {
	case []float32:
		return x, true
	case []float64:
		return widen[float32](x), true
	}
	return nil, false
}

func integer(v any) (int64, bool) {
	switch x := v.(type) {
	case uint8:
		return int64(x), true
	case int8:
		return int64(x), true
	case uint16:
		return int64(x), true
	case int16:
		return int64(x), true
	case uint32:
		return int64(x), true
	case int32:
		return int64(x), true
	case int64:
		return x, true
	case uint64:
		return int64(x), x <= math.MaxInt64
	}
	return 0, false
}

type number interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

func widen[T, F number](from []F) []T {
	to := make([]T, len(from))
	for i, x := range from {
		to[i] = T(x)
	}
	return to
}
