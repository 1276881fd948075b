// Package composition tests docker-compose.yml, the Dockerfile and the other files that it uses. It has no other code.
package composition

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// repository is the folder of the module.
var repository = filepath.Join("..", "..", "..")

// composition has the fields of docker-compose.yml that this project uses. Decoding refuses others.
type composition struct {
	Side     service `yaml:"x-side"`
	Services map[string]service
	Volumes  map[string]struct{}
}

type service struct {
	Image, Build, Hostname, User, Restart string
	Entrypoint, Command                   []string
	Profiles, Tmpfs, Ports                []string
	ReadOnly                              bool     `yaml:"read_only"`
	CapDrop                               []string `yaml:"cap_drop"`
	CapAdd                                []string `yaml:"cap_add"`
	SecurityOpt                           []string `yaml:"security_opt"`
	StdinOpen                             bool     `yaml:"stdin_open"`
	Environment                           map[string]string
	Volumes                               []mount
	DependsOn                             map[string]struct{ Condition string } `yaml:"depends_on"`
	StopGracePeriod                       time.Duration                         `yaml:"stop_grace_period"`
	Healthcheck                           struct {
		Test              []string
		Interval, Timeout time.Duration
		StartPeriod       time.Duration `yaml:"start_period"`
	}
}

// mount is a volume in the short form "NAME:TARGET", or a bind mount in the long form.
type mount struct {
	Type, Source, Target string
	ReadOnly             bool `yaml:"read_only"`
	Bind                 struct {
		CreateHostPath *bool `yaml:"create_host_path"`
	}
}

func (m *mount) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var ok bool
		m.Type = "volume"
		if m.Source, m.Target, ok = strings.Cut(n.Value, ":"); !ok || strings.Contains(m.Target, ":") {
			return fmt.Errorf("line %d: volume %q: want NAME:TARGET", n.Line, n.Value)
		}
		return nil
	}
	type long mount
	return n.Decode((*long)(m))
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+):-([^}]*)\}`)

// compose reads the file and replaces variables by their values in vars or by their defaults.
func compose(t *testing.T, vars map[string]string) composition {
	t.Helper()
	return composeFile(t, "docker-compose.yml", vars)
}

func composeFile(t *testing.T, file string, vars map[string]string) composition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, file))
	if err != nil {
		t.Fatal(err)
	}
	data = variable.ReplaceAllFunc(data, func(b []byte) []byte {
		m := variable.FindSubmatch(b)
		if v, ok := vars[string(m[1])]; ok {
			return []byte(v)
		}
		return m[2]
	})
	if bytes.Contains(data, []byte("${")) {
		t.Fatal("a variable without a default: want ${NAME:-default}")
	}
	var c composition
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return c
}

// The file uses only known fields, and does what its comments say.
func TestComposeFile(t *testing.T) {
	c := compose(t, nil)
	if got := slices.Sorted(maps.Keys(c.Services)); !slices.Equal(got, []string{"cloud", "edge", "invite", "join", "netem"}) {
		t.Errorf("services %q", got)
	}
	for name, s := range c.Services {
		if s.Image == "" || s.Build != "." || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
			t.Errorf("%s: not the common image without rights: %+v", name, s)
		}
		if len(s.Entrypoint) != 1 || !slices.Contains([]string{"/usr/bin/edge", "/usr/bin/cloud"}, s.Entrypoint[0]) || len(s.Command) == 0 {
			t.Errorf("%s runs %q %q", name, s.Entrypoint, s.Command)
		}
		if (s.CapAdd != nil || s.User != "") != (name == "netem") {
			t.Errorf("%s has rights: user %q, %q", name, s.User, s.CapAdd)
		}
		for on, d := range s.DependsOn {
			if _, ok := c.Services[on]; !ok || !slices.Contains([]string{"service_started", "service_completed_successfully"}, d.Condition) {
				t.Errorf("%s depends on %s, condition %q", name, on, d.Condition)
			}
		}
		for _, m := range s.Volumes {
			_, declared := c.Volumes[m.Source]
			switch {
			case !path.IsAbs(m.Target):
				t.Errorf("%s: mount target %q", name, m.Target)
			case m.Type == "volume" && !declared:
				t.Errorf("%s: volume %q is not declared", name, m.Source)
			case m.Type == "bind" && (!m.ReadOnly || !strings.HasPrefix(m.Source, "./")):
				t.Errorf("%s: bind mount %+v: want a folder of the repository, read only", name, m)
			case m.Type != "volume" && m.Type != "bind":
				t.Errorf("%s: mount type %q", name, m.Type)
			}
		}
	}
	if c.Services["netem"].User != "65532:65532" || !slices.Equal(c.Services["netem"].Profiles, []string{"netem"}) {
		t.Errorf("netem: %+v", c.Services["netem"])
	}
}

var (
	runLine = regexp.MustCompile(`(?m)^RUN ((?:.*\\\n)*.*)$`)
	envLine = regexp.MustCompile(`(?m)^ENV ([A-Z0-9_]+)=(\S+)$`)
)

// compose.folders.yml says of each folder of docker-compose.yml that the engine must not create it, and nothing else.
func TestComposeFolders(t *testing.T) {
	c, over := compose(t, nil), composeFile(t, "compose.folders.yml", nil)
	for name, s := range c.Services {
		var want []mount
		for _, m := range s.Volumes {
			if m.Type == "bind" {
				no := false
				m.Bind.CreateHostPath = &no
				want = append(want, m)
			}
		}
		if got := over.Services[name]; !reflect.DeepEqual(got, service{Volumes: want}) {
			t.Errorf("%s: %+v, want the volumes %+v", name, got, want)
		}
	}
}

// example.env names every variable of docker-compose.yml, and no other but Compose's own.
func TestExampleEnv(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(repository, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	env, err := os.ReadFile(filepath.Join(repository, "example.env"))
	if err != nil {
		t.Fatal(err)
	}
	used, named := map[string]bool{}, map[string]bool{}
	for _, m := range variable.FindAllStringSubmatch(string(file), -1) {
		used[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?m)^#?([A-Z_]+)=`).FindAllStringSubmatch(string(env), -1) {
		if !strings.HasPrefix(m[1], "COMPOSE_") {
			named[m[1]] = true
		}
	}
	if !maps.Equal(used, named) {
		t.Errorf("docker-compose.yml uses %q, example.env names %q", slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(named)))
	}
}

// image runs the commands of the Dockerfile. It returns the folder of the result and the environment of the image.
func image(t *testing.T) (root string, env []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no shell for the commands of the Dockerfile")
	}
	data, err := os.ReadFile(filepath.Join(repository, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	build, final, ok := strings.Cut(string(data), "\nFROM scratch\n")
	if !ok || !strings.Contains(final, "\nUSER 65532:65532\n") || !strings.Contains(final, "COPY --from=build --chown=65532:65532 /out/ /\n") {
		t.Fatal("Dockerfile: the image is not from scratch, of /out, without root")
	}
	root = t.TempDir()
	commands := runLine.FindAllStringSubmatch(build, -1)
	if len(commands) != 3 || commands[0][1] != "go mod download" {
		t.Fatalf("Dockerfile: commands %q", commands)
	}
	for _, c := range commands[1:] {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(c[1], "/out/", root+"/"))
		cmd.Dir = repository
		cmd.Env = append(os.Environ(), "TARGETOS=", "TARGETARCH=") // for this machine, as a builder would set them
		for _, e := range envLine.FindAllStringSubmatch(build, -1) {
			cmd.Env = append(cmd.Env, e[1]+"="+e[2])
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c[1], err, out)
		}
	}
	for _, e := range envLine.FindAllStringSubmatch(final, -1) {
		env = append(env, e[1]+"="+e[2])
	}
	return root, env
}

// The build needs no file that .dockerignore excludes, and its programs need no dynamic loader.
func TestImageSources(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(repository, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	ignored := func(file string) (out bool) {
		for rule := range strings.Lines(string(data)) {
			rule = strings.TrimSpace(rule)
			if rule == "" || rule[0] == '#' {
				continue
			}
			pattern, keep := strings.CutPrefix(rule, "!")
			pattern, anywhere := strings.CutPrefix(pattern, "**/")
			parts := strings.Split(file, "/")
			for from := range parts {
				for to := from + 1; to <= len(parts); to++ {
					if ok, err := path.Match(pattern, strings.Join(parts[from:to], "/")); err != nil {
						t.Fatal(err)
					} else if ok {
						out = !keep
					}
				}
				if !anywhere {
					break
				}
			}
		}
		return out
	}
	for file, want := range map[string]bool{".git/HEAD": true, "netem/tc_linux_test.go": true, "models/testdata/eval.jsonl": false, "go.mod": false, "pair/testdata/x": true} {
		if ignored(file) != want {
			t.Fatalf("ignored(%q) is %v: this test does not read .dockerignore as Docker does", file, !want)
		}
	}
	format := `{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .SFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", format, "./cmd/edge", "./cmd/cloud")
	list.Dir = repository
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	base, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for file := range strings.Lines(string(out)) {
		rel, err := filepath.Rel(base, strings.TrimSpace(file))
		if err != nil {
			t.Fatal(err)
		}
		if n++; ignored(filepath.ToSlash(rel)) {
			t.Errorf("the build needs %s, which .dockerignore leaves out", rel)
		}
	}
	if n < 100 {
		t.Errorf("only %d source files", n)
	}
	deps := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/...")
	deps.Dir, deps.Env = repository, list.Env
	if out, err := deps.Output(); err != nil || bytes.Contains(out, []byte("purego")) {
		t.Errorf("the programs link purego, which wants a dynamic loader (%v)", err)
	}
}
