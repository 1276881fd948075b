package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
)

// splitName matches the name of a part of a model in several files: NAME-00002-of-00005.gguf. Names number the parts
// from 1, the key split.no from 0.
var splitName = regexp.MustCompile(`^(.*)-([0-9]{5})-of-([0-9]{5})\.gguf$`)

// SplitPaths returns the paths of all parts of a model, given that of any part. It returns nil if the path does not
// have the form of a part's name.
func SplitPaths(path string) []string {
	m := splitName.FindStringSubmatch(path)
	if m == nil {
		return nil
	}
	no, _ := strconv.Atoi(m[2])
	count, _ := strconv.Atoi(m[3])
	if no < 1 || no > count {
		return nil
	}
	paths := make([]string, count)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s-%05d-of-%s.gguf", m[1], i+1, m[3])
	}
	return paths
}

// SplitBase returns the path of a part without its number. It returns other paths unchanged.
func SplitBase(path string) string {
	if m := splitName.FindStringSubmatch(path); m != nil && SplitPaths(path) != nil {
		return m[1] + ".gguf"
	}
	return path
}

// part returns the number of a part, from 0, and how many parts there are. For a whole model, count is 0 or 1.
func (f *File) part() (no, count uint64) {
	no, _ = f.Uint("split.no")
	count, _ = f.Uint("split.count")
	return no, count
}

// join returns the whole model of which f, opened at path, is one part. It opens the other parts. On failure it closes
// all parts, f too.
func (f *File) join(path string) (_ *File, err error) {
	_, count := f.part()
	paths := SplitPaths(path)
	if uint64(len(paths)) != count {
		f.Close()
		return nil, fmt.Errorf("%s: it is one of %d parts of a model: name it like NAME-00001-of-%05d.gguf and keep the other parts in the same folder", path, count, count)
	}
	whole := &File{Name: SplitBase(path), byName: map[string]int{}}
	defer func() {
		if err != nil {
			f.Close()
			whole.Close()
		}
	}()
	for i, p := range paths {
		part := f
		if p != path {
			if part, err = openOne(p); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s: part %d of %d of the model is missing: %s must be in the same folder", path, i+1, count, p)
			} else if err != nil {
				return nil, err
			}
		}
		whole.parts = append(whole.parts, part)
		if no, n := part.part(); no != uint64(i) || n != count {
			return nil, fmt.Errorf("%s: its metadata says part %d of %d, its name %d of %d: the parts belong to different models", p, no+1, n, i+1, count)
		}
		for _, t := range part.Tensors {
			if _, twice := whole.byName[t.Name]; twice {
				return nil, fmt.Errorf("%s: tensor %.200q also occurs in another part", p, t.Name)
			}
			whole.byName[t.Name] = len(whole.Tensors)
			whole.Tensors = append(whole.Tensors, t)
			whole.owner = append(whole.owner, i)
		}
	}
	first := whole.parts[0]
	whole.Meta, whole.Version, whole.Alignment = first.Meta, first.Version, first.Alignment
	if n, ok := first.Uint("split.tensors.count"); ok && n != uint64(len(whole.Tensors)) {
		return nil, fmt.Errorf("%s: the parts hold %d tensors, but the first part says %d: download them again", whole.Name, len(whole.Tensors), n)
	}
	return whole, nil
}
