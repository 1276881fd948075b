package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/atomicfile"
	"tandem/model/gguf"
)

// A Repo is one commit of a repository.
type Repo struct {
	Name   string // OWNER/NAME
	Commit string // 40 hex digits
	Files  []File // by name
}

// A File is one file of a repository. Sum is the SHA-256 of a large file, and git's name of a small one: the SHA-1 of
// "blob", size and content. It is empty if the listing does not give it.
type File struct {
	Name string
	Size int64
	Sum  string // 64 or 40 hex digits
}

// Bounds on the answers of a server.
const (
	maxListing = 64 << 20 // bytes
	maxFiles   = 100_000
	maxSize    = 1 << 44 // bytes of one file
)

var hexSum = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// List lists the files of a repository. Offline, it lists those in the cache.
func (c *Client) List(ctx context.Context, ref Ref) (*Repo, error) {
	if c.Offline {
		return c.cached(ref)
	}
	address := c.Endpoint.JoinPath("api/models", ref.Repo, "revision", url.PathEscape(ref.Revision))
	address.RawQuery = "blobs=true"
	var body []byte
	err := c.retry(ctx, func() error {
		res, err := c.get(ctx, address, "")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return c.statusError(res, ref.Repo, ref.Repo)
		}
		body, err = io.ReadAll(io.LimitReader(res.Body, maxListing+1))
		return temporary(err)
	})
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", ref, err)
	}
	repo, err := parseRepo(body)
	if err != nil {
		return nil, fmt.Errorf("list %s: the answer of %s is not the hub's: %w", ref, c.Endpoint.Host, err)
	}
	repo.Name = ref.Repo
	return repo, nil
}

// cached lists the files of the snapshot of a revision, as noted by Remember.
func (c *Client) cached(ref Ref) (*Repo, error) {
	repo := &Repo{Name: ref.Repo, Commit: ref.Revision}
	if b, err := os.ReadFile(c.refFile(ref)); err == nil {
		repo.Commit = strings.TrimSpace(string(b))
	}
	if len(repo.Commit) == 40 && hexSum.MatchString(repo.Commit) {
		root := c.Snapshot(repo)
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // unreadable files count as absent
			if err == nil && !e.IsDir() {
				if f, ok := cachedFile(root, path); ok {
					repo.Files = append(repo.Files, f)
				}
			}
			return nil
		})
	}
	if len(repo.Files) == 0 {
		return nil, fmt.Errorf("%s: HF_HUB_OFFLINE is set, and %s holds no file of it: unset it to download", ref, c.Cache)
	}
	slices.SortFunc(repo.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return repo, nil
}

// cachedFile describes a file of a snapshot. It has no checksum if it is not a link to a blob.
func cachedFile(root, path string) (f File, ok bool) {
	info, err := os.Stat(path)
	name, e := filepath.Rel(root, path)
	if err != nil || e != nil || !info.Mode().IsRegular() {
		return f, false
	}
	f = File{Name: filepath.ToSlash(name), Size: info.Size()}
	if blob, err := filepath.EvalSymlinks(path); err == nil && hexSum.MatchString(filepath.Base(blob)) {
		f.Sum = filepath.Base(blob)
	}
	return f, true
}

// parseRepo reads and checks the hub's description of a repository.
func parseRepo(b []byte) (*Repo, error) {
	if len(b) > maxListing {
		return nil, fmt.Errorf("more than %d bytes", maxListing)
	}
	var answer struct {
		SHA      string `json:"sha"`
		Siblings []struct {
			Name string `json:"rfilename"`
			Size int64  `json:"size"`
			Blob string `json:"blobId"`
			LFS  *struct {
				SHA256 string `json:"sha256"`
				Size   int64  `json:"size"`
			} `json:"lfs"`
		} `json:"siblings"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return nil, err
	}
	if len(answer.SHA) != 40 || !hexSum.MatchString(answer.SHA) {
		return nil, fmt.Errorf("commit %.80q", answer.SHA)
	}
	if len(answer.Siblings) > maxFiles {
		return nil, fmt.Errorf("%d files", len(answer.Siblings))
	}
	repo := &Repo{Commit: answer.SHA}
	for _, s := range answer.Siblings {
		f := File{Name: s.Name, Size: s.Size, Sum: s.Blob}
		if s.LFS != nil {
			f.Sum, f.Size = s.LFS.SHA256, s.LFS.Size
		}
		// On every system: a name that is harmless here may leave the folder elsewhere.
		if !filepath.IsLocal(f.Name) || path.Clean(f.Name) != f.Name || strings.ContainsAny(f.Name, "\\:\x00") {
			return nil, fmt.Errorf("file name %.80q", f.Name)
		}
		if f.Sum != "" && !hexSum.MatchString(f.Sum) || f.Size < 0 || f.Size > maxSize {
			return nil, fmt.Errorf("file %.80q: checksum %.80q, %d bytes", f.Name, f.Sum, f.Size)
		}
		repo.Files = append(repo.Files, f)
	}
	slices.SortFunc(repo.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return repo, nil
}

// usual are the quantisations to choose from if none is named, best first.
var usual = []string{"q4_k_m", "q4_0", "q8_0", "q5_k_m", "q6_k", "f16", "bf16"}

// Select returns the files that what names: the file of exactly that name, the one model whose name holds it
// (ignoring case; with all parts of a model in several files) or, if it is empty, the usual quantisation.
// "safetensors" selects what a conversion needs.
func (r *Repo) Select(what string) ([]File, error) {
	groups, names := r.models()
	for _, f := range r.Files {
		if f.Name == what {
			if g := groups[gguf.SplitBase(f.Name)]; g != nil && strings.HasSuffix(f.Name, ".gguf") {
				return checkParts(r.Name, g)
			}
			return []File{f}, nil
		}
	}
	if strings.EqualFold(what, "safetensors") {
		return r.safetensors()
	}
	if len(names) == 0 {
		if files, err := r.safetensors(); err == nil && what == "" {
			return nil, fmt.Errorf("%s holds no GGUF file, but safetensors (%d files): pull hf:%s:safetensors and convert them", r.Name, len(files), r.Name)
		}
		return nil, fmt.Errorf("%s holds no GGUF file", r.Name)
	}
	if len(names) == 1 && what == "" {
		return checkParts(r.Name, groups[names[0]])
	}
	wanted := usual
	if what != "" {
		wanted = []string{strings.ToLower(what)}
	}
	for _, w := range wanted {
		var hits []string
		for _, n := range names {
			if holdsWord(strings.ToLower(strings.TrimSuffix(n, ".gguf")), w) {
				hits = append(hits, n)
			}
		}
		switch {
		case len(hits) == 1:
			return checkParts(r.Name, groups[hits[0]])
		case len(hits) > 1:
			return nil, fmt.Errorf("%s: %q may be %s: say which", r.Name, w, strings.Join(hits, ", "))
		}
	}
	if what == "" {
		what = "usual quantisation"
	}
	return nil, fmt.Errorf("%s holds no %s: choose one of %s", r.Name, what, strings.Join(names, ", "))
}

// models groups GGUF files by model; files that go with models, such as projectors for pictures, are left.
func (r *Repo) models() (groups map[string][]File, names []string) {
	groups = map[string][]File{}
	for _, f := range r.Files {
		base := strings.ToLower(path.Base(f.Name))
		if !strings.HasSuffix(base, ".gguf") || strings.HasPrefix(base, "mmproj") || strings.Contains(base, "imatrix") {
			continue
		}
		name := gguf.SplitBase(f.Name)
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], f)
	}
	return groups, names
}

func checkParts(repo string, files []File) ([]File, error) {
	paths := gguf.SplitPaths(files[0].Name)
	if paths != nil && len(paths) != len(files) {
		return nil, fmt.Errorf("%s: %s is in %d parts, and the repository holds %d of them", repo, gguf.SplitBase(files[0].Name), len(paths), len(files))
	}
	return files, nil
}

// holdsWord reports whether name contains word without an adjacent letter, digit or underscore: m-q4_0 contains q4_0,
// but m-q4_k_m does not contain q4_k.
func holdsWord(name, word string) bool {
	inside := func(b byte) bool { return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' }
	for i := 0; ; {
		j := strings.Index(name[i:], word)
		if j < 0 || word == "" {
			return false
		}
		i += j
		end := i + len(word)
		if (i == 0 || !inside(name[i-1])) && (end == len(name) || !inside(name[end])) {
			return true
		}
		i++
	}
}

// safetensors returns the weights, the configuration and the tokenizer.
func (r *Repo) safetensors() ([]File, error) {
	var files []File
	weights := false
	for _, f := range r.Files {
		switch f.Name {
		case "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt",
			"tokenizer.model", "chat_template.jinja", "special_tokens_map.json", "model.safetensors.index.json":
			files = append(files, f)
			continue
		}
		if path.Dir(f.Name) == "." && strings.HasPrefix(f.Name, "model") && strings.HasSuffix(f.Name, ".safetensors") {
			files, weights = append(files, f), true
		}
	}
	if !weights {
		return nil, fmt.Errorf("%s holds no safetensors", r.Name)
	}
	return files, nil
}

// Folder returns the cache folder of a repository.
func (c *Client) Folder(repo string) string {
	return filepath.Join(c.Cache, "models--"+strings.ReplaceAll(repo, "/", "--"))
}

// Snapshot returns the folder in which the files of the commit appear under their names.
func (c *Client) Snapshot(r *Repo) string {
	return filepath.Join(c.Folder(r.Name), "snapshots", r.Commit)
}

// refFile returns the file in which Remember notes a revision's commit.
func (c *Client) refFile(ref Ref) string {
	return filepath.Join(c.Folder(ref.Repo), "refs", filepath.FromSlash(ref.Revision))
}

// Remember notes the commit of a revision, as the hub's tools do.
func (c *Client) Remember(ref Ref, r *Repo) error {
	if hexSum.MatchString(ref.Revision) {
		return nil
	}
	file := c.refFile(ref)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(file, []byte(r.Commit), 0o644)
}
