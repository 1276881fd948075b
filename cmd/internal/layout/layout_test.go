// Package layout holds tests of which package may import which, and of the links between the pages.
package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module, and root its folder.
const (
	module = "tandem"
	root   = "../../.."
)

// rules say which packages of this module a package may import. A pattern is a package, or a package with all below it
// (npu/...); of several that match a package the longest counts. Imports run down the list: programs, experiments, the
// live node, what the node is made of, models, devices.
var rules = []struct{ packages, imports string }{
	// Programs.
	{"cmd/edge", "tandem api/... cmd/internal/cli cmd/internal/indexcmd cmd/internal/modelcmd cmd/internal/doctor cmd/internal/prompt cmd/internal/quote cmd/internal/server lora/rewrite lora/streams node node/batch decoder/... retrieval/... transport model/... npu/... specdec dllm pair profiler netem examples internal/atomicfile internal/filelock internal/meter internal/refusal"},
	{"cmd/cloud", "tandem api/... cmd/internal/cli cmd/internal/indexcmd cmd/internal/modelcmd cmd/internal/doctor cmd/internal/server node node/batch decoder retrieval/... transport model/... specdec pair examples"},
	{"cmd/lab", "tandem cmd/internal/cli cmd/internal/indexcmd cmd/internal/modelcmd lab/... node lora/rewrite decoder/... retrieval/... transport model/... npu/... specdec dllm pair aggregator scheduler examples models internal/..."},
	{"cmd/internal/prompt", "cmd/internal/cli"},
	{"cmd/internal/quote", "api cmd/internal/cli decoder internal/sentences"},
	{"cmd/internal/server", "tandem api cmd/internal/cli cmd/internal/modelcmd cmd/internal/quote pair node node/batch decoder/kvstore model/... models retrieval/search"},
	{"cmd/internal/doctor", "tandem cmd/internal/cli cmd/internal/indexcmd cmd/internal/modelcmd retrieval/search model/... npu/..."},
	{"cmd/internal/indexcmd", "cmd/internal/cli retrieval/passages retrieval/search/..."},
	{"cmd/internal/modelcmd", "cmd/internal/cli decoder/kvstore node retrieval/... lora lora/rewrite model/... npu/... specdec models"},
	{"cmd/internal/cli", "cmd/internal/licenses tandem node decoder/kvstore retrieval/documents transport model model/span profiler internal/atomicfile internal/filelock internal/spelling"},
	{"cmd/internal/clitest", "cmd/internal/cli internal/lazyregexp internal/tinymodel"},
	{"cmd/internal/licenses", ""},
	{"cmd/internal/licenses/gather", "cmd/internal/licenses"},

	// What clients speak to.
	{"api/page", ""},       // not even the API: the page speaks to it over HTTP
	{"api/clients/go", ""}, // a separate module
	{"api", "tandem node specdec aggregator pair decoder decoder/extract model model/chat model/grammar model/sample model/tokenizer retrieval/passages internal/refusal internal/sentences internal/sparing internal/spelling"},

	// Experiments. Nothing below imports them.
	{"lab", "tandem lab/chart lab/report lab/sim node node/batch decoder/... retrieval/... transport/... netem pair/... scheduler aggregator specdec model/..."}, // it knows no phone
	{"lab/report", "internal/atomicfile"}, // it knows no experiment
	{"lab/spec", "tandem lab/report lab/chart specdec dllm model/... models examples internal/meter"},
	{"lab/phone", "tandem lab/chart lab/report lab/spec specdec dllm model/... npu/..."}, // it knows no second side
	{"lab/sim", "tandem pair/... aggregator transport/... node/presence node/batch specdec netem"},
	{"lab/quality", "tandem lab/answers node decoder/... retrieval/... aggregator model/... models internal/refusal"},
	{"lab/answers", "tandem node decoder/... retrieval/... aggregator model/... models internal/refusal"},
	{"lab/soak", "netem examples"}, // it knows the programs by what they print
	{"lab/engine", "tandem lora/... model/... npu/... internal/cputime internal/llamacpp"},
	{"lab/...", "tandem"},

	// A live side. It knows no search engine, only what it needs of one.
	{"node", "tandem node/batch node/presence node/replicas decoder/... retrieval/documents retrieval/passages transport pair aggregator scheduler profiler specdec model/... internal/refusal internal/sparing internal/words"},
	{"node/presence", ""},
	{"node/replicas", ""},
	{"node/batch", "model specdec"},

	// The protocol: pure packages, see pure.
	{"pair", "tandem aggregator queue scheduler profiler"},
	{"pair/pairtest", "tandem pair aggregator"},
	{"aggregator", "tandem"},
	{"queue", "tandem"},
	{"scheduler", "tandem"},
	{"profiler", "tandem"},

	// Documents and messages.
	{"retrieval/...", "retrieval/... internal/atomicfile internal/filelock internal/sentences internal/spelling internal/words"},
	{"retrieval/documents", "internal/lazyregexp internal/words retrieval/documents/office retrieval/documents/pdf retrieval/internal/..."}, // parsers know no passages
	{"retrieval/documents/office", "retrieval/internal/..."},                                                                                // it knows no other format
	{"retrieval/documents/office/officetest", ""},
	{"retrieval/documents/pdf", "retrieval/internal/..."},
	{"retrieval/internal/...", "retrieval/internal/... internal/sentences"},
	{"transport", "tandem transport/reliable internal/atomicfile internal/filelock internal/sparing"},
	{"transport/reliable", ""},
	{"netem", ""},

	// A side's distributions.
	{"decoder", "tandem aggregator profiler retrieval/passages decoder/ground decoder/kvstore specdec dllm model/... npu npu/native internal/refusal internal/words"}, // native for exponentials
	{"decoder/extract", "tandem aggregator decoder decoder/ground decoder/question internal/lazyregexp internal/refusal internal/sentences internal/words model/span model/tokenizer retrieval/passages"},
	{"decoder/ground", "tandem model/vocabulary"},
	{"decoder/question", "internal/refusal internal/words model/chat retrieval/passages"},
	{"decoder/kvstore", "internal/filelock"},
	{"specdec", "tandem model/... npu npu/native internal/atomicfile internal/filelock"}, // native to find the largest of a row
	{"lora", "model/... npu npu/quant"},
	{"lora/rewrite", "tandem lora/streams model/... models npu/native internal/sentences"},
	{"lora/streams", "tandem model/..."},
	{"dllm", "tandem model npu"},

	// Models and devices. A model knows no phone and opens no device.
	{"model", "tandem model/... npu npu/quant"},
	{"model/...", "tandem model/... npu npu/quant"},
	{"model/chat/jinja", ""},
	{"model/convert", "model/... npu npu/quant internal/atomicfile"},
	{"model/hub", "model/gguf internal/atomicfile internal/filelock"},
	{"model/span", "tandem model/... npu npu/quant npu/native internal/spelling"}, // a network that is not a graph, on native's kernels
	{"npu", ""},
	{"npu/...", "npu npu/quant"},
	{"npu/native", "npu npu/quant npu/phone/memory"}, // for the lifetimes of values, which share memory
	{"npu/ggml", "npu npu/quant npu/native"},
	{"npu/phone", "tandem model npu/..."},
	{"npu/phone/...", "npu npu/quant npu/reference npu/phone/..."},

	// What everything may stand on.
	{"tandem", ""},
	{"models", ""},
	{"examples", ""},
	{"train/...", "retrieval/..."},
	{"internal/allocated", ""},
	{"internal/atomicfile", ""},
	{"internal/cputime", ""},
	{"internal/filelock", ""},
	{"internal/lazyregexp", ""},
	{"internal/meter", ""},
	{"internal/sentences", "internal/lazyregexp internal/words"},
	{"internal/words", ""},
	{"internal/sparing", ""},
	{"internal/spelling", ""},
	{"internal/refusal", ""},
	{"internal/scripts", ""},
	{"internal/hostile", ""}, // tests alone
	{"internal/llamacpp", ""},
	{"internal/testfile", ""},
	{"internal/tinymodel", "internal/scripts model/gguf npu npu/quant"},
}

// matches reports whether a pattern matches a package.
func matches(pattern, pkg string) bool {
	below, all := strings.CutSuffix(pattern, "/...")
	return pkg == below || all && strings.HasPrefix(pkg, below+"/")
}

// A pkg is the Go files of a folder, without its tests: for all systems and build tags.
type pkg struct {
	name    string            // path below the module; that of the module itself for the root
	imports map[string]string // imported path → a file that imports it
	files   []*ast.File
}

// packages parses all packages of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	byFolder := map[string]*pkg{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || path != root && strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		name := filepath.ToSlash(folder)
		if name == "." {
			name = module
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p := byFolder[name]
		if p == nil {
			p = &pkg{name: name, imports: map[string]string{}}
			byFolder[name] = p
		}
		for _, i := range f.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			p.imports[imported] = d.Name()
		}
		p.files = append(p.files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil || len(byFolder) < 40 {
		t.Fatalf("found %d packages in %s, %v", len(byFolder), root, err)
	}
	var all []pkg
	for _, p := range byFolder {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b pkg) int { return strings.Compare(a.name, b.name) })
	return all
}

// own returns the package of this module that an import path names.
func own(imported string) (name string, ok bool) {
	if imported == module {
		return module, true
	}
	return strings.CutPrefix(imported, module+"/")
}

// Every package has a rule and keeps it, and every rule has a package.
func TestImports(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		pattern, allowed := "", ""
		for _, r := range rules {
			if matches(r.packages, p.name) && len(strings.TrimSuffix(r.packages, "/...")) >= len(strings.TrimSuffix(pattern, "/...")) && pattern != p.name {
				pattern, allowed = r.packages, r.imports
			}
		}
		if pattern == "" {
			t.Errorf("%s has no rule: say in this test what it may import", p.name)
			continue
		}
		used[pattern] = true
		for imported, file := range p.imports {
			name, ok := own(imported)
			if ok && !slices.ContainsFunc(strings.Fields(allowed), func(pattern string) bool { return matches(pattern, name) }) {
				t.Errorf("%s/%s imports %s; the rule for %s allows: %s", p.name, file, name, pattern, allowed)
			}
		}
	}
	for _, r := range rules {
		if !used[r.packages] {
			t.Errorf("the rule for %s is for no package", r.packages)
		}
	}
}

// Experiments stand on the product, never the other way round.
func TestNobodyImportsTheLab(t *testing.T) {
	for _, p := range packages(t) {
		if p.name == "cmd/lab" || matches("lab/...", p.name) {
			continue
		}
		for imported, file := range p.imports {
			name, ok := own(imported)
			if ok && (matches("lab/...", name) || name == "internal/llamacpp" && p.name != "cmd/lab") {
				t.Errorf("%s/%s imports %s", p.name, file, name)
			}
		}
	}
}

// A model is computed on any device: it knows the interface and the number formats.
func TestModelKnowsNoDevice(t *testing.T) {
	for _, p := range packages(t) {
		if p.name != "model" {
			continue
		}
		var of []string
		for imported := range p.imports {
			if name, ok := own(imported); ok && matches("npu/...", name) {
				of = append(of, name)
			}
		}
		if len(of) == 0 || len(of) > 2 {
			t.Errorf("model imports %d packages of npu: %v", len(of), of)
		}
	}
}

// pure are the packages whose results depend on nothing but their arguments.
var pure = []string{"pair", "aggregator", "queue", "scheduler", "profiler"}

// impure are packages that do I/O, start or wait for goroutines, or bring randomness.
var impure = []string{"bufio", "context", "crypto/rand", "io/...", "log/...", "math/rand/...", "net/...", "os/...", "sync/...", "syscall", "testing/...", "unsafe"}

// clock are the functions of package time that read the clock or wait.
var clock = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// The protocol does no I/O, starts no goroutine and reads no clock.
func TestPurePackages(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if !slices.Contains(pure, p.name) {
			continue
		}
		seen++
		for imported, file := range p.imports {
			if slices.ContainsFunc(impure, func(pattern string) bool { return matches(pattern, imported) }) {
				t.Errorf("%s/%s imports %s", p.name, file, imported)
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine", p.name)
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
						t.Errorf("%s uses time.%s", p.name, n.Sel.Name)
					}
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "fmt" && strings.Contains(n.Sel.Name, "rint") && !strings.HasPrefix(n.Sel.Name, "Sprint") {
						t.Errorf("%s uses fmt.%s", p.name, n.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if seen != len(pure) {
		t.Errorf("found %d of %v", seen, pure)
	}
}
