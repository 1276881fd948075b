package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
)

// splitName matches the name of one part of a model in several files: NAME-00002-of-00005.gguf. Parts count
// from 1 in names, and from 0 under the key split.no.
var splitName = regexp.MustCompile(`^(.*)-([0-9]{5})-of-([0-9]{5})\.gguf$`)

// SplitPaths returns the paths of all parts of a model, given the path of any of them; nil for a path that
// is not named like a part.
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

// SplitBase returns what the parts of a model are called by: the path of a part without its number, or
// the path itself when it is not named like a part.
func SplitBase(path string) string {
	if m := splitName.FindStringSubmatch(path); m != nil && SplitPaths(path) != nil {
		return m[1] + ".gguf"
	}
	return path
}

// part returns which part of how many a file is; count is 0 or 1 for a whole model.
func (f *File) part() (no, count uint64) {
	no, _ = f.Uint("split.no")
	count, _ = f.Uint("split.count")
	return no, count
}

// join opens the other parts of the model that f, which was opened at path, is one of, and returns the
// whole. On failure everything is closed, f too.
func (f *File) join(path string) (_ *File, err error) {
	_, count := f.part()
	paths := SplitPaths(path)
	if uint64(len(paths)) != count {
		f.Close()
		return nil, fmt.Errorf("%s: it is one of %d parts of a model: give it a name like NAME-00001-of-%05d.gguf and keep the other parts beside it", path, count, count)
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
				return nil, fmt.Errorf("%s: part %d of %d of the model is missing: %s must lie beside it", path, i+1, count, p)
			} else if err != nil {
				return nil, err
			}
		}
		whole.parts = append(whole.parts, part)
		if no, n := part.part(); no != uint64(i) || n != count {
			return nil, fmt.Errorf("%s: it says that it is part %d of %d, not %d of %d as its name: the parts belong to different models", p, no+1, n, i+1, count)
		}
		for _, t := range part.Tensors {
			if _, twice := whole.byName[t.Name]; twice {
				return nil, fmt.Errorf("%s: tensor %.200q occurs in another part too", p, t.Name)
			}
			whole.byName[t.Name] = len(whole.Tensors)
			whole.Tensors = append(whole.Tensors, t)
			whole.owner = append(whole.owner, i)
		}
	}
	first := whole.parts[0]
	whole.Meta, whole.Version, whole.Alignment = first.Meta, first.Version, first.Alignment
	if n, ok := first.Uint("split.tensors.count"); ok && n != uint64(len(whole.Tensors)) {
		return nil, fmt.Errorf("%s: the parts hold %d tensors, the first says %d: download them again", whole.Name, len(whole.Tensors), n)
	}
	return whole, nil
}
