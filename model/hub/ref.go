package hub

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Ref names something on the hub.
type Ref struct {
	Repo     string // OWNER/NAME
	Revision string // branch, tag or commit; "main" by default
	What     string // a file, or part of a file's name such as a quantisation; empty for the usual one
}

func (r Ref) String() string {
	s := "hf:" + r.Repo
	if r.Revision != "main" {
		s += "@" + r.Revision
	}
	if r.What != "" {
		s += ":" + r.What
	}
	return s
}

var (
	repoName     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)
	revisionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$`)
)

// ParseRef reads hf:OWNER/REPO[@REVISION][:FILE-OR-QUANT], the address of a repository or file on the hub's
// site, or a short name from the table such as qwen2.5:0.5b (Names lists them).
func ParseRef(s string) (Ref, error) {
	bad := func(why string) (Ref, error) {
		return Ref{}, fmt.Errorf("%q: %s: want hf:OWNER/REPO, hf:OWNER/REPO:QUANT, hf:OWNER/REPO:FILE.gguf or one of %s",
			s, why, strings.Join(Names(), ", "))
	}
	rest, ok := strings.CutPrefix(s, "hf:")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "hf.co/"); !ok {
			rest, ok = strings.CutPrefix(s, DefaultEndpoint+"/")
		}
		if ok {
			rest = fromSite(rest)
		}
	}
	if !ok {
		r, ok := alias(s)
		switch {
		case !ok:
			return bad("not a known name")
		case leadsOut(r.What), strings.Contains(r.What, ":"):
			return bad("no quantization is called that")
		}
		return r, nil
	}
	r := Ref{Revision: "main"}
	r.Repo, r.What, _ = strings.Cut(rest, ":")
	if repo, revision, ok := strings.Cut(r.Repo, "@"); ok {
		r.Repo, r.Revision = repo, revision
		if !revisionName.MatchString(revision) || strings.Contains(revision, "..") {
			return bad("the revision is malformed")
		}
	}
	r.Repo = strings.TrimSuffix(r.Repo, "/")
	if !repoName.MatchString(r.Repo) || strings.Contains(r.Repo, "..") {
		return bad("the repository is malformed")
	}
	if leadsOut(r.What) {
		return bad("the file's name leads out of the repository")
	}
	if strings.HasSuffix(rest, ":") {
		return bad("nothing follows the colon")
	}
	return r, nil
}

// fromSite returns what an address of the hub's site names, as after hf:. It is that of a repository, of a revision, of a file's
// page, or of a download.
func fromSite(address string) string {
	for _, kind := range []string{"/blob/", "/resolve/", "/tree/"} {
		repo, path, ok := strings.Cut(address, kind)
		if !ok {
			continue
		}
		path, _, _ = strings.Cut(path, "?")
		switch revision, file, _ := strings.Cut(path, "/"); {
		case file != "" && kind != "/tree/":
			return repo + "@" + revision + ":" + file
		case file == "" && kind == "/tree/":
			return repo + "@" + revision
		}
	}
	return address
}

// leadsOut reports whether a file's name is one of no file in a repository.
func leadsOut(name string) bool {
	return strings.Contains(name, "/") && !filepath.IsLocal(name) || strings.Contains(name, "..") || strings.ContainsAny(name, "\\\x00")
}

// short is the table of short names. The first size of each is its default.
var short = map[string][]struct{ size, repo string }{
	"qwen2.5": {
		{"0.5b", "Qwen/Qwen2.5-0.5B-Instruct-GGUF"}, {"1.5b", "Qwen/Qwen2.5-1.5B-Instruct-GGUF"},
		{"3b", "Qwen/Qwen2.5-3B-Instruct-GGUF"}, {"7b", "Qwen/Qwen2.5-7B-Instruct-GGUF"},
	},
	"qwen2.5-coder": {
		{"1.5b", "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"}, {"7b", "Qwen/Qwen2.5-Coder-7B-Instruct-GGUF"},
	},
	"llama3.2": {{"1b", "bartowski/Llama-3.2-1B-Instruct-GGUF"}, {"3b", "bartowski/Llama-3.2-3B-Instruct-GGUF"}},
	"llama3.1": {{"8b", "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF"}},
	"smollm2": {
		{"135m", "bartowski/SmolLM2-135M-Instruct-GGUF"}, {"360m", "bartowski/SmolLM2-360M-Instruct-GGUF"},
		{"1.7b", "bartowski/SmolLM2-1.7B-Instruct-GGUF"},
	},
	"tinyllama": {{"1.1b", "TheBloke/TinyLlama-1.1B-Chat-v1.0-GGUF"}},
	"mistral":   {{"7b", "TheBloke/Mistral-7B-Instruct-v0.2-GGUF"}},
}

// Names lists the short names with their sizes.
func Names() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(short)) {
		for _, m := range short[name] {
			list = append(list, name+":"+m.size)
		}
	}
	return list
}

// alias reads NAME[:SIZE[-instruct][-QUANT]], as users of other tools write it.
func alias(s string) (Ref, bool) {
	name, tag, _ := strings.Cut(strings.ToLower(s), ":")
	sizes, ok := short[name]
	if !ok {
		return Ref{}, false
	}
	size, quant, _ := strings.Cut(tag, "-")
	if size == "" || size == "latest" {
		size = sizes[0].size
	}
	for _, chat := range []string{"instruct", "chat"} {
		quant = strings.TrimPrefix(strings.TrimPrefix(quant, chat), "-")
	}
	for _, m := range sizes {
		if m.size == size {
			return Ref{Repo: m.repo, Revision: "main", What: quant}, true
		}
	}
	return Ref{}, false
}
