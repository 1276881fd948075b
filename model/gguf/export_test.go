package gguf

// Int returns an integer value of any width that fits an int64.
func (m Meta) Int(key string) (int64, bool) {
	v, _ := m.Value(key)
	return integer(v)
}

// Bools returns an array of booleans.
func (m Meta) Bools(key string) ([]bool, bool) {
	v, _ := m.Value(key)
	b, ok := v.([]bool)
	return b, ok
}
