package sim

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed soc/*.json
var embedded embed.FS

// common is the file of values that all chips share. A chip's own file overrides it.
const common = "common"

// Files are parameter files by name without ".json", before carried-over values are computed.
type Files map[string]SoC

// Default returns this package's files. Its tests check them.
var Default = sync.OnceValue(func() Files {
	dir, err := fs.Sub(embedded, "soc")
	if err != nil {
		panic(err)
	}
	files, err := readFiles(dir)
	if err != nil {
		panic(err)
	}
	return files
})

// readFiles reads a folder of parameter files.
func readFiles(dir fs.FS) (Files, error) {
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return nil, err
	}
	files := Files{}
	for _, name := range names {
		data, err := fs.ReadFile(dir, name)
		var s SoC
		if err == nil {
			err = json.Unmarshal(data, &s)
		}
		if err != nil {
			return nil, fmt.Errorf("parameters of %s: %w", name, err)
		}
		files[strings.TrimSuffix(name, path.Ext(name))] = s
	}
	return files, nil
}

// Names lists the chips.
func Names() []string { return Default().Names() }

// Names lists the chips.
func (f Files) Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f)), func(name string) bool { return name == common })
}

// Open returns a chip's parameters.
func Open(soc string) (SoC, error) { return Default().Open(soc) }

// Open returns a chip's parameters, including those that all chips share and those that are carried over.
func (f Files) Open(soc string) (SoC, error) {
	s, ok := f[soc]
	if !ok || soc == common {
		return s, fmt.Errorf("no chip %q: use one of %s", soc, strings.Join(f.Names(), ", "))
	}
	shared := f[common]
	var err error
	complete := func(stack string, own, shared map[string]Param) map[string]Param {
		params := maps.Clone(shared)
		if params == nil {
			params = map[string]Param{}
		}
		maps.Copy(params, own)
		for _, name := range slices.Sorted(maps.Keys(params)) {
			p, e := f.value(nil, path.Join(soc, stack, name))
			if params[name] = p; err == nil {
				err = e
			}
		}
		return params
	}
	s.Chip = complete("", s.Chip, shared.Chip)
	stacks := map[string]Stack{}
	for _, of := range []map[string]Stack{shared.Stacks, s.Stacks} {
		for name := range of {
			own, all := s.Stacks[name], shared.Stacks[name]
			if own.About == "" {
				own.About = all.About
			}
			stacks[name] = Stack{own.About, complete(name, own.Params, all.Params)}
		}
	}
	s.Stacks = stacks
	return s, err
}

// Find returns the costs of "sm8750" or "sm8750/mllm".
func Find(name string) (Costs, error) { return Default().Find(name) }

// Find returns the costs of "sm8750" or "sm8750/mllm".
func (f Files) Find(name string) (Costs, error) {
	soc, stack, named := strings.Cut(strings.ToLower(name), "/")
	s, err := f.Open(soc)
	if err != nil {
		return Costs{}, err
	}
	if !named {
		stack = defaultStack
	}
	return s.Costs(stack)
}

// Raw returns the value at a place in a chip's own file, such as "sm8650/qnn/matrix" or "sm8750/cpu_stream", or in the
// common one, such as "common/map".
func (f Files) Raw(at string) (Param, bool) {
	file, params, name := f.find(at)
	if file == "" {
		return Param{}, false
	}
	p, ok := params[name]
	return p, ok
}

// find splits "sm8650/qnn/matrix" into its file, the values there and its name. file is empty if there is no such
// place.
func (f Files) find(at string) (file string, params map[string]Param, name string) {
	parts := strings.Split(at, "/")
	s, ok := f[parts[0]]
	switch {
	case ok && len(parts) == 2:
		return parts[0], s.Chip, parts[1]
	case ok && len(parts) == 3:
		return parts[0], s.Stacks[parts[1]].Params, parts[2]
	}
	return "", nil, ""
}

// value returns the value at a place such as "sm8650/qnn/matrix", from the chip's file or the common one. It computes
// values that are carried over. via are the places that led here.
func (f Files) value(via []string, at string) (Param, error) {
	if slices.Contains(via, at) {
		return Param{}, fmt.Errorf("%s is carried over from itself: %s", at, strings.Join(append(via, at), ", "))
	}
	soc, rest, _ := strings.Cut(at, "/")
	p, ok := f.Raw(at)
	if !ok {
		if p, ok = f.Raw(path.Join(common, rest)); !ok || f[soc].SoC == "" {
			return p, fmt.Errorf("no parameter %s, which %s is carried over from", at, strings.Join(via, ", "))
		}
	}
	err := p.check()
	switch {
	case err != nil:
	case p.As == "" && p.Times != 0:
		err = errors.New("has a factor but is not carried over")
	case p.As != "" && (p.Value != 0 || p.Unit != "" || p.Times < 0):
		err = errors.New("is carried over: leave out its value and unit, and use a factor above 0")
	}
	if err != nil {
		return p, fmt.Errorf("%s %w", at, err)
	}
	if p.As == "" {
		p.Root, p.RootFitted = at, p.Fitted != ""
		return p, nil
	}
	from := p.As
	if own, same := strings.CutPrefix(from, "same/"); same {
		from = soc + "/" + own
	}
	of, err := f.value(append(slices.Clip(via), at), from)
	p.Value, p.Unit, p.Root, p.RootFitted = of.Value, of.Unit, of.Root, of.RootFitted
	if p.Times > 0 {
		p.Value *= p.Times
	}
	return p, err
}

// With returns the files with another value at a place such as "sm8650/qnn/matrix" or "common/map", and with everything
// that is carried over from there. The lab's tests of sensitivity use it.
func (f Files) With(at string, value float64) (Files, error) {
	p, ok := f.Raw(at)
	if !ok || p.As != "" {
		return nil, fmt.Errorf("%s has no value that could be replaced", at)
	}
	p.Value = value
	file, params, name := f.find(at)
	params = maps.Clone(params)
	params[name] = p
	files, s := maps.Clone(f), f[file]
	if parts := strings.Split(at, "/"); len(parts) == 2 {
		s.Chip = params
	} else {
		s.Stacks = maps.Clone(s.Stacks)
		s.Stacks[parts[1]] = Stack{s.Stacks[parts[1]].About, params}
	}
	files[file] = s
	return files, nil
}
