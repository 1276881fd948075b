package gguf

// Locate returns where a tensor's bytes lie on disk: the path of the file, or of the part, and the offset
// in it. ok is false for a tensor that is not there and for a model that was parsed from memory.
func (f *File) Locate(name string) (path string, offset int64, ok bool) {
	i, found := f.byName[name]
	if !found {
		return "", 0, false
	}
	if f.parts != nil {
		return f.parts[f.owner[i]].Locate(name)
	}
	if f.unmap == nil {
		return "", 0, false
	}
	return f.Name, int64(f.start + f.Tensors[i].Offset), true
}
