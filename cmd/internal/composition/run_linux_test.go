package composition

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const imageUser = 65532

// engine runs services with namespaces, like a container engine: each service has the image as its read-only root, its
// volumes, the image's user, and only the environment of the image and its own. All share one network, in which each
// service has an address.
type engine struct {
	t       *testing.T
	image   string
	env     []string
	volumes string // a folder for each
}

var addresses = map[string]string{"cloud": "127.0.0.2", "netem": "127.0.0.3"}

func newEngine(t *testing.T) *engine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: running the image as a container needs root")
	}
	root, env := image(t)
	runtime.LockOSThread() // never unlocked: the namespaces end with the thread
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
		t.Skipf("SKIPPED: no namespaces to run the image in: %v", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("SKIPPED: no private mounts: %v", err)
	}
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t: t, image: root, env: env, volumes: t.TempDir()}
	// An engine adds mount points and host names.
	hosts := "127.0.0.1 localhost\n"
	for name, address := range addresses {
		hosts += address + " " + name + "\n"
	}
	for _, dir := range []string{"etc", "documents"} {
		e.must(os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	e.must(os.WriteFile(filepath.Join(root, "etc", "hosts"), []byte(hosts), 0o644))
	e.must(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, imageUser, imageUser)
	}))
	return e
}

func (e *engine) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

// command returns the process of a service. Words, if any, replace its command.
func (e *engine) command(s service, words ...string) *exec.Cmd {
	e.t.Helper()
	root := e.t.TempDir()
	e.must(unix.Mount(e.image, root, "", unix.MS_BIND, ""))
	e.must(unix.Mount("", root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	e.t.Cleanup(func() { unix.Unmount(root, unix.MNT_DETACH) })
	e.must(unix.Mount("tmpfs", filepath.Join(root, "tmp"), "tmpfs", 0, "mode=1777"))
	for _, m := range s.Volumes {
		source := filepath.Join(repository, m.Source)
		if m.Type == "volume" {
			source = filepath.Join(e.volumes, m.Source)
			if err := os.Mkdir(source, 0o755); err == nil { // a new volume belongs to the owner of the folder
				info, err := os.Stat(filepath.Join(e.image, m.Target))
				e.must(err)
				owner := info.Sys().(*syscall.Stat_t)
				e.must(os.Chown(source, int(owner.Uid), int(owner.Gid)))
			}
		}
		target := filepath.Join(root, m.Target)
		e.must(unix.Mount(source, target, "", unix.MS_BIND, ""))
		if m.ReadOnly {
			e.must(unix.Mount("", target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}
	}
	if words == nil {
		words = s.Command
	}
	cmd := exec.CommandContext(e.t.Context(), s.Entrypoint[0], append(slices.Clone(s.Entrypoint[1:]), words...)...)
	cmd.Dir = "/data"
	cmd.Env = append(slices.Clone(e.env), "HOSTNAME="+s.Hostname)
	for name, value := range s.Environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	user := uint32(imageUser)
	if strings.HasPrefix(s.User, "0") {
		user = 0
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// run runs a service, which must succeed, and returns its output.
func (e *engine) run(name string, s service, words ...string) (stdout, stderr string) {
	e.t.Helper()
	cmd := e.command(s, words...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		e.t.Fatalf("%s: %v\n%s%s", name, err, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// start runs a service until the test ends or the returned function is called.
func (e *engine) start(s service, words ...string) (stop func() string) {
	e.t.Helper()
	cmd := e.command(s, words...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	e.must(cmd.Start())
	stopped := false
	stop = func() string {
		if !stopped {
			stopped = true
			cmd.Process.Signal(syscall.SIGTERM)
			cmd.Wait()
		}
		return out.String()
	}
	e.t.Cleanup(func() { stop() })
	return stop
}

// The services of docker-compose.yml pair by themselves and answer, with exactly the arguments and the environment of that
// file, in the image of the Dockerfile.
func TestComposeRuns(t *testing.T) {
	e, c := newEngine(t), compose(t, nil)
	for _, name := range []string{"edge", "cloud"} {
		f, err := elf.Open(filepath.Join(e.image, "usr", "bin", name))
		e.must(err)
		libraries, err := f.ImportedLibraries()
		if err != nil || len(libraries) > 0 || slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
			t.Errorf("%s is not static: %q, %v", name, libraries, err)
		}
		f.Close()
	}
	for name, s := range c.Services { // the program ignores a variable that is not a flag's
		help, _ := e.run(name+" --help-all", service{Entrypoint: s.Entrypoint}, s.Command[0], "--help-all")
		for variable := range s.Environment {
			flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "TANDEM_"), "_", "-"))
			if !regexp.MustCompile(`(?m)^ +--` + flag + `\b`).MatchString(help) {
				t.Errorf("%s: %s is not a flag of %q", name, variable, s.Command[0])
			}
		}
	}

	e.run("invite", c.Services["invite"])
	stop := e.start(c.Services["cloud"])
	if out, _ := e.run("join", c.Services["join"]); !strings.Contains(out, "Paired with") {
		t.Errorf("join: %s", out)
	}
	if _, said := e.run("join again", c.Services["join"]); !strings.Contains(said, "already") {
		t.Errorf("join, the second time: %s", said)
	}
	answer, said := e.run("edge", c.Services["edge"])
	if !fromBoth(answer) || strings.Contains(said, "alone") {
		t.Errorf("edge: %s%s", answer, said)
	}
	if log := stop(); !strings.Contains(log, "device connected") || !strings.Contains(log, "Serving") {
		t.Errorf("cloud: %s", log)
	}

	// Over netem. Containers have networks of their own; here all share one, so each server needs its own address.
	const delay = 40 * time.Millisecond
	c = compose(t, map[string]string{"NETEM_DELAY": delay.String(), "NETEM_TC": "lo", "VIA": "netem"})
	cloud, netem := c.Services["cloud"], c.Services["netem"]
	cloud.Environment["TANDEM_LISTEN"] = addresses["cloud"] + ":4433"
	at := slices.Index(netem.Command, "0.0.0.0:4433")
	if at < 0 {
		t.Fatalf("netem: %q", netem.Command)
	}
	netem.Command[at] = addresses["netem"] + ":4433"
	netem.User = "0:0"
	e.start(cloud)
	stop = e.start(netem)
	var seen struct {
		Answer    string
		LocalOnly bool `json:"local_only"`
		Stats     struct {
			RTT float64 `json:"rtt_ms"`
		}
	}
	for range 20 { // the relay may not listen yet
		out, said := e.run("edge via netem", c.Services["edge"], append([]string{"ask", "--json", "--wait", "60s"}, c.Services["edge"].Command[1:]...)...)
		e.must(unmarshal(out, &seen))
		if !seen.LocalOnly {
			break
		}
		t.Logf("alone: %s", said)
	}
	if !fromBoth(seen.Answer) || seen.LocalOnly {
		t.Errorf("via netem: %+v", seen)
	}
	if ms := 2 * float64(delay.Milliseconds()); seen.Stats.RTT < ms {
		t.Errorf("RTT %v ms over a path of %v ms", seen.Stats.RTT, ms)
	}
	if log := stop(); !strings.Contains(log, "packets in") || !strings.Contains(log, "sch_netem") && !strings.Contains(log, "lo: packets leave") {
		t.Errorf("netem: %s", log)
	}
}

// fromBoth reports whether an answer has what the device's sample documents say, and what the cloud's do.
func fromBoth(answer string) bool {
	return strings.Contains(answer, "tumbral-5827") && strings.Contains(answer, "9:30")
}

func unmarshal(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("%w in %q", err, text)
	}
	return nil
}
