package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"tandem/cmd/internal/clitest"
)

// serveAs runs a command line from the examples on a free port over a folder with one document, checks it with each of the
// probes, and ends it as a supervisor does.
func serveAs(t *testing.T, command []string, folder string, probes ...[]string) {
	t.Helper()
	h := clitest.NewHome(t)
	clitest.Write(t, filepath.Join(h.Dir, "documents"), "boat.md", "The berth of the Marigold is C17.\n")
	var args []string
	for _, a := range command[1:] {
		if a == folder {
			a = filepath.Join(h.Dir, "documents")
		}
		args = append(args, a)
	}
	cmd := h.Command(t.Context(), append(args, "--json", "--listen", "127.0.0.1:0")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Listening string
		Documents int
	}
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&said); err != nil {
		t.Fatalf("%q: %v, %s", command, errors.Join(err, cmd.Wait()), &stderr)
	}
	if said.Documents != 1 {
		t.Errorf("%q serves %d documents, want 1", command, said.Documents)
	}
	for _, p := range probes {
		if _, stderr, err := h.Run(append(p[1:], "--listen", said.Listening)...); err != nil {
			t.Errorf("%q: %v, %s", p, err, stderr)
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%q: %v, %s", command, err, &stderr)
	}
}

func example(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The command and the probes of the manifest work, its volumes are there, and a pod has the time to end its answers.
func TestKubernetesManifest(t *testing.T) {
	type probe struct{ Exec struct{ Command []string } }
	type object struct {
		Kind string
		Spec struct {
			Ports    []struct{ TargetPort, Protocol string }
			Template struct {
				Spec struct {
					Grace      time.Duration `json:"terminationGracePeriodSeconds"`
					Volumes    []struct{ Name string }
					Containers []struct {
						Command                                     []string
						Ports                                       []struct{ Name, Protocol string }
						StartupProbe, ReadinessProbe, LivenessProbe probe
						VolumeMounts                                []struct{ Name, MountPath string }
					}
				}
			}
		}
	}
	objects := map[string]object{}
	for d := yaml.NewDecoder(bytes.NewReader(example(t, "kubernetes.yaml"))); ; {
		var fields map[string]any
		if err := d.Decode(&fields); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(fields) // encoding/json matches names in any case
		var o object
		if err == nil {
			err = json.Unmarshal(text, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
		objects[o.Kind] = o
	}
	pod := objects["Deployment"].Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := pod.Containers[0]
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s: no volume %q", m.MountPath, m.Name)
		}
	}
	if s := objects["Service"].Spec.Ports; len(s) != 1 || s[0].TargetPort != c.Ports[0].Name || s[0].Protocol != "UDP" || c.Ports[0].Protocol != "UDP" {
		t.Errorf("the service leads to %+v, the container has %+v", s, c.Ports)
	}
	enough(t, "the manifest", pod.Grace*time.Second)
	serveAs(t, c.Command, "/documents", c.StartupProbe.Exec.Command, c.ReadinessProbe.Exec.Command, c.LivenessProbe.Exec.Command)
}

// The command of the unit works, and systemd gives it the time to end its answers.
func TestSystemdUnit(t *testing.T) {
	settings := map[string]string{}
	for line := range strings.Lines(string(example(t, "tandem-cloud.service"))) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			settings[name] = value
		}
	}
	stop, err := time.ParseDuration(settings["TimeoutStopSec"] + "s")
	if err != nil {
		t.Fatal(err)
	}
	enough(t, "the unit", stop)
	serveAs(t, strings.Fields(settings["ExecStart"]), "/srv/handbook")
}

// enough checks the time between SIGTERM and SIGKILL.
func enough(t *testing.T, where string, has time.Duration) {
	t.Helper()
	field, _ := reflect.TypeFor[serveCmd]().FieldByName("Drain")
	drain, err := time.ParseDuration(field.Tag.Get("default"))
	if err != nil || has <= drain {
		t.Errorf("%s gives %v to stop, answers take up to %v, %v", where, has, drain, err)
	}
}
