package modelcmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/clitest"
	"tandem/internal/tinymodel"
	"tandem/model/gguf"
	"tandem/model/hub"
	"tandem/npu"
)

// serveRepo serves files as a repository of the hub, under any name.
func serveRepo(t *testing.T, files map[string][]byte) {
	t.Helper()
	sha := strings.Repeat("c", 40)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/revision/main") {
			var list []map[string]any
			for name, b := range files {
				list = append(list, map[string]any{"rfilename": name, "lfs": map[string]any{"sha256": fmt.Sprintf("%x", sha256.Sum256(b)), "size": len(b)}})
			}
			json.NewEncoder(w).Encode(map[string]any{"sha": sha, "siblings": list})
			return
		}
		_, name, _ := strings.Cut(r.URL.Path, "/resolve/"+sha+"/")
		w.Write(files[name])
	}))
	t.Cleanup(s.Close)
	t.Setenv("HF_ENDPOINT", s.URL)
}

func TestPullMakesAModelUsableByName(t *testing.T) {
	a, out, aside := clitest.App(t)
	whole := tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0})
	meta, tensors := tinymodel.Parts(tinymodel.Spec{})
	files := map[string][]byte{"m-q8_0.gguf": whole, "config.json": []byte("{}"), "odd-q4_0.gguf": whole[:len(whole)-5]}
	half := len(tensors) / 2
	for i, part := range [][]npu.Tensor{tensors[:half], tensors[half:]} {
		head := []gguf.KV{{Key: "split.no", Value: uint16(i)}, {Key: "split.count", Value: uint16(2)}}
		if i == 0 {
			head = append(head, meta...)
		}
		var b bytes.Buffer
		if err := gguf.Write(&b, head, part); err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("m-f32-0000%d-of-00002.gguf", i+1)] = b.Bytes()
	}
	serveRepo(t, files)

	for _, c := range []struct{ what, name, call string }{
		{"hf:o/m:q8_0", "", "m-q8_0"},
		{"hf:o/m:f32", "", "m-f32"},
		{"hf:o/m:f32", "mine", "mine"},
	} {
		out.Reset()
		if err := (&pullCmd{Model: c.what, Name: c.name}).Run(a); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "--model "+c.call+"\n") || aside.Len() > 0 {
			t.Errorf("%s: %s%s", c.what, out, aside)
		}
		m, err := ModelFlags{Model: c.call, Threads: 1}.Open(a)
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
	out.Reset()
	if err := (&listCmd{}).Run(a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m-q8_0 ", "m-f32 ", "mine "} {
		if strings.Count(out.String(), "\n"+want) != 1 {
			t.Errorf("the list does not name %q once:\n%s", want, out)
		}
	}

	// A file that is not a model is refused before the download, or else reported.
	dir, _ := modelsDir(a)
	err := (&pullCmd{Model: "hf:o/m:q4_0"}).Run(a)
	if _, there := os.Stat(filepath.Join(dir, "odd-q4_0.gguf")); err == nil || !strings.Contains(err.Error(), "was not downloaded") || there == nil {
		t.Errorf("error %v", err)
	}
	if err := (&pullCmd{Model: "hf:o/m:q4_0", Anyway: true}).Run(a); err != nil || !strings.Contains(aside.String(), "cannot run it") {
		t.Errorf("%v, %s", err, aside)
	}
	// A name outside the folder, and one that another file has.
	if err := (&pullCmd{Model: "hf:o/m:q8_0", Name: "../x"}).Run(a); err == nil {
		t.Error("a name with folders was taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "taken.gguf"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&pullCmd{Model: "hf:o/m:q8_0", Name: "taken"}).Run(a); err == nil || !strings.Contains(err.Error(), "is another file") {
		t.Errorf("error %v", err)
	}

	out.Reset()
	a.Globals.JSON = true
	if err := (&pullCmd{Model: "hf:o/m:config.json"}).Run(a); err != nil {
		t.Fatal(err)
	}
	var result struct {
		Repository string
		Files      []string
	}
	if err := json.Unmarshal(out.Bytes(), &result); err != nil || result.Repository != "o/m" || len(result.Files) != 1 {
		t.Errorf("%s (%v)", out, err)
	}
}

// A name stays with its model if another repository has a file of the same name.
func TestPullKeepsNames(t *testing.T) {
	a, _, _ := clitest.App(t)
	first, second := tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0}), tinymodel.GGUF(tinymodel.Spec{Type: npu.F16})
	holds := func(name string, want []byte) {
		t.Helper()
		path, err := Find(a, name)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s is another model (%v)", name, err)
		}
	}
	serveRepo(t, map[string][]byte{"ggml-model.gguf": first})
	if err := (&pullCmd{Model: "hf:o/first"}).Run(a); err != nil {
		t.Fatal(err)
	}
	serveRepo(t, map[string][]byte{"ggml-model.gguf": second})
	for _, name := range []string{"", "ggml-model"} {
		if err := (&pullCmd{Model: "hf:o/second", Name: name}).Run(a); err == nil || !strings.Contains(err.Error(), "another name for this model with --name") {
			t.Errorf("error %v", err)
		}
	}
	holds("ggml-model", first)
	home, _ := os.UserHomeDir()
	if blobs, _ := filepath.Glob(filepath.Join(home, ".cache", "huggingface", "hub", "models--o--second", "blobs", "*")); len(blobs) > 0 {
		t.Error("it was downloaded first")
	}
	if err := (&pullCmd{Model: "hf:o/second", Name: "other"}).Run(a); err != nil {
		t.Fatal(err)
	}
	holds("ggml-model", first)
	holds("other", second)
	// A new file of the same repository takes the name over.
	if err := (&pullCmd{Model: "hf:o/first"}).Run(a); err != nil {
		t.Fatal(err)
	}
	holds("ggml-model", second)
}

// With HF_HUB_OFFLINE a pull uses the files of earlier ones, and says how to get others.
func TestPullOffline(t *testing.T) {
	a, out, _ := clitest.App(t)
	serveRepo(t, map[string][]byte{"m-q8_0.gguf": tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0}), "m-f16.gguf": []byte("never asked for")})
	if err := (&pullCmd{Model: "hf:o/m:q8_0"}).Run(a); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HF_HUB_OFFLINE", "1")
	t.Setenv("HF_ENDPOINT", "http://127.0.0.1:1")
	if err := (&pullCmd{Model: "hf:o/m:q8_0", Name: "again"}).Run(a); err != nil || !strings.Contains(out.String(), "--model again\n") {
		t.Errorf("%v: %s", err, out)
	}
	for _, c := range []string{"hf:o/m:f16", "hf:o/other"} {
		if err := (&pullCmd{Model: c}).Run(a); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE is set") {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// Without a network a pull fails at once, with one line.
func TestPullWithoutNetwork(t *testing.T) {
	a, out, aside := clitest.App(t)
	t.Setenv("HF_ENDPOINT", "http://127.0.0.1:1") // nobody listens
	err := (&pullCmd{Model: "hf:o/m:q8_0"}).Run(a)
	if err == nil || strings.Count(err.Error(), "127.0.0.1:1") > 2 || !strings.Contains(err.Error(), "online?") || strings.Contains(err.Error(), "attempts") {
		t.Errorf("error %v", err)
	}
	if out.String() != "" || aside.String() != "" {
		t.Errorf("printed %q, %q", out, aside)
	}
}

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		p     hub.Progress
		spent time.Duration
		want  string
	}{
		{hub.Progress{Done: 25e6, Total: 100e6}, 500 * time.Millisecond, "m.gguf [======                  ] 25.0 MB of 100.0 MB"},
		{hub.Progress{Done: 25e6, Total: 100e6}, 5 * time.Second, "m.gguf [======                  ] 25.0 MB of 100.0 MB, 5.0 MB/s, 15s left"},
		{hub.Progress{Done: 75e6, Total: 100e6, Resumed: 50e6}, 5 * time.Second, "m.gguf [==================      ] 75.0 MB of 100.0 MB, 5.0 MB/s, 5s left"},
		{hub.Progress{Done: 50e6, Total: 100e6, Resumed: 50e6}, 5 * time.Second, "m.gguf [============            ] 50.0 MB of 100.0 MB"},
		{hub.Progress{Done: 100e6, Total: 100e6, Resumed: 50e6}, 5 * time.Second, "m.gguf [========================] 100.0 MB of 100.0 MB, 10.0 MB/s, 0s left"},
		{hub.Progress{}, 5 * time.Second, "m.gguf [========================] 0 B of 0 B"},
	} {
		c.p.File = "a/m.gguf"
		if got := progressLine(c.p, c.spent); got != c.want {
			t.Errorf("%+v after %v:\n%s, not\n%s", c.p, c.spent, got, c.want)
		}
	}
}

func TestRmFreesWhatWasPulled(t *testing.T) {
	a, out, _ := clitest.App(t)
	data := tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0})
	serveRepo(t, map[string][]byte{"m-q8_0.gguf": data})
	rm := func(keep bool, names ...string) error { return (&rmCmd{Names: names, Keep: keep}).Run(a) }
	for _, name := range []string{"", "other"} {
		if err := (&pullCmd{Model: "hf:o/m", Name: name}).Run(a); err != nil {
			t.Fatal(err)
		}
	}
	home, _ := os.UserHomeDir()
	cached := func() int {
		n := 0
		filepath.WalkDir(filepath.Join(home, ".cache", "huggingface"), func(_ string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && e.Name() != "main" {
				n++
			}
			return nil
		})
		return n
	}
	if err := rm(false, "m-q8_0"); err != nil || cached() != 1 || !strings.Contains(out.String(), "m-q8_0: removed, 0 B freed") {
		t.Errorf("another name stands for it: %v, %d files in the cache, %s", err, cached(), out)
	}
	if err := rm(true, "other"); err != nil || cached() != 1 {
		t.Errorf("--keep: %v, %d files in the cache", err, cached())
	}
	if err := (&pullCmd{Model: "hf:o/m"}).Run(a); err != nil {
		t.Fatal(err)
	}
	if err := rm(false, "m-q8_0"); err != nil || cached() != 0 || !strings.Contains(out.String(), cli.Bytes(int64(len(data)))+" freed") {
		t.Errorf("%v, %d files in the cache, %s", err, cached(), out)
	}
	dir, _ := modelsDir(a)
	for i := range 2 { // the user's own: a file, and a dangling link
		path := filepath.Join(dir, "own.gguf")
		err := os.WriteFile(path, data, 0o644)
		if i == 1 {
			os.Remove(path)
			err = os.Symlink("nowhere", path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := rm(false, "own"); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	for _, name := range []string{BuiltInDecoder, "m-q8_0", "../x", "/etc/passwd"} {
		if err := rm(false, name); err == nil {
			t.Errorf("%s was removed", name)
		}
	}
}

// A model that was pulled is found by what was pulled, as long as it is there.
func TestPulledModelIsFoundByReference(t *testing.T) {
	a, out, _ := clitest.App(t)
	want := tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0})
	serveRepo(t, map[string][]byte{"m-q8_0.gguf": want, "m-q4_k_m.gguf": tinymodel.GGUF(tinymodel.Spec{Type: npu.F16})})
	if _, err := Find(a, "qwen2.5:0.5b"); err == nil || !strings.Contains(err.Error(), "edge models pull qwen2.5:0.5b") {
		t.Errorf("before it is downloaded: error %v", err)
	}
	if err := (&pullCmd{Model: "qwen2.5:0.5b-q8_0"}).Run(a); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HF_ENDPOINT", "http://127.0.0.1:1") // nobody is asked
	for _, name := range []string{"qwen2.5:0.5b-q8_0", "qwen2.5:0.5b", "qwen2.5", "hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF:q8_0", "hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF"} {
		path, err := Find(a, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s is %s, another model (%v)", name, path, err)
		}
	}
	// It can be removed so, too, also if its file has another name here.
	rm := &rmCmd{Names: []string{"qwen2.5:0.5b-q8_0"}}
	if err := rm.Run(a); err != nil || !strings.Contains(out.String(), "qwen2.5:0.5b-q8_0: removed") || strings.Contains(out.String(), " 0 B freed") {
		t.Errorf("%v: %s", err, out)
	}
	if err := rm.Run(a); err == nil || !strings.Contains(err.Error(), "not downloaded") {
		t.Errorf("removed twice: error %v", err)
	}
	for name, want := range map[string]string{"qwen2.5:0.5b-q4_0": "models pull", "hf:o/other": "not downloaded", "nonesuch": "models list", "a/b.gguf": "no model file"} {
		if _, err := Find(a, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}

// The models folder is itself a link: a model's relative link is followed from the real folder.
func TestPullThroughLinkedFolders(t *testing.T) {
	a, _, _ := clitest.App(t)
	serveRepo(t, map[string][]byte{"m-q8_0.gguf": tinymodel.GGUF(tinymodel.Spec{Type: npu.Q8_0})})
	home, _ := os.UserHomeDir()
	deep := filepath.Join(t.TempDir(), "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(deep, filepath.Join(home, ".local")); err != nil {
		t.Skip(err)
	}
	if err := (&pullCmd{Model: "hf:o/m"}).Run(a); err != nil {
		t.Fatal(err)
	}
	path, err := Find(a, "m-q8_0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// A name whose file is gone is said to be that, where models are listed and where it is used. Removing several models goes on behind
// a name that is wrong.
func TestModelsWithoutFiles(t *testing.T) {
	a, out, _ := clitest.App(t)
	dir, _ := modelsDir(a)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.gguf", "b.gguf"} {
		if err := os.WriteFile(filepath.Join(dir, name), tinymodel.GGUF(tinymodel.Spec{}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "lost.gguf")); err != nil {
		t.Skip(err)
	}
	const gone = "lost.gguf leads to nowhere, which is gone"
	for _, name := range []string{"lost", "lost.gguf", "lost:latest"} {
		if _, err := Find(a, name); err == nil || !strings.Contains(err.Error(), gone) || !strings.Contains(err.Error(), "edge models rm lost") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if rows := modelsIn(dir); len(rows) != 3 || rows[2].Error != gone {
		t.Errorf("listed as %+v", rows)
	}
	if path, err := Find(a, "a:latest"); err != nil || filepath.Base(path) != "a.gguf" {
		t.Errorf("a:latest is %s (%v)", path, err)
	}
	file := filepath.Join(dir, "a.gguf")
	if err := (&pullCmd{Model: file}).Run(a); err == nil || !strings.Contains(err.Error(), "--model "+file) {
		t.Errorf("a file is pulled: error %v", err)
	}
	out.Reset()
	a.Globals.JSON = true
	err := (&rmCmd{Names: []string{"x", "a", "y", "b:latest", "lost"}}).Run(a)
	var said struct{ Removed []removed }
	if e := json.Unmarshal(out.Bytes(), &said); e != nil || len(said.Removed) != 3 || said.Removed[0].Name != "a" {
		t.Errorf("%v: what was removed is not said: %s", e, out)
	}
	out.Reset()
	if err := (&rmCmd{Names: []string{"x"}}).Run(a); err == nil || out.Len() > 0 {
		t.Errorf("nothing was removed: %v, %s", err, out)
	}
	if left := modelsIn(dir); len(left) > 0 || err == nil || !strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), `"y"`) {
		t.Errorf("%v, left %+v\n%s", err, left, out)
	}
}
