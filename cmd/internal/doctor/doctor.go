// Package doctor has the checks of this machine, the model, the index and the cache that both programs run (edge doctor,
// cloud doctor).
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/indexcmd"
	"tandem/cmd/internal/modelcmd"
	"tandem/model"
	"tandem/model/hub"
	"tandem/npu/ggml"
	"tandem/npu/native"
	"tandem/retrieval/search"
)

// Flags are the flags that doctor has on both sides.
type Flags struct {
	modelcmd.ModelFlags `group:"Model:"`
	cli.CacheFlags      `group:"Model:"`
}

// A Check is one result of doctor.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, note, broken
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do about it
	Data   any    `json:"data,omitempty"` // details, for --json
}

// The states of a Check. A note is something to know; only broken makes doctor fail.
const (
	OK     = "ok"
	Noted  = "note"
	Broken = "broken"
)

// Failed is a check that failed with err.
func Failed(name string, err error) Check {
	return Check{Name: name, State: Broken, Detail: err.Error()}
}

// Run runs the checks that both sides share, then more, and prints the results.
func Run(a *cli.App, f Flags, more ...func() []Check) error {
	checks := []Check{checkMachine(), checkDevices(a), checkFolders(a)}
	if f.Model == "" {
		checks = append(checks, checkReader(f.ModelFlags))
	}
	checks = append(checks, checkModel(a, f.ModelFlags)...)
	checks = append(checks, checkIndex(a), checkCache(a, f.CacheFlags))
	for _, extra := range more {
		checks = append(checks, extra()...)
	}
	var broken []string
	for _, c := range checks {
		if c.State == Broken {
			broken = append(broken, c.Name)
		}
	}
	if a.Globals.JSON {
		if err := a.JSON(map[string]any{"version": cli.Version(), "checks": checks, "broken": len(broken)}); err != nil {
			return err
		}
	} else {
		for _, c := range checks {
			fmt.Fprintf(a.Out, "%-7s %-10s %s\n", c.State, c.Name, cli.Escape(c.Detail))
			if c.Hint != "" {
				fmt.Fprintf(a.Out, "%-18s → %s\n", "", cli.Escape(c.Hint))
			}
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("%d of %d checks failed: %s", len(broken), len(checks), strings.Join(broken, ", "))
	}
	return nil
}

func checkMachine() Check {
	return Check{Name: "machine", State: OK, Detail: fmt.Sprintf("%s %s/%s, %d cores, %s",
		cli.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
}

// checkDevices lists what --device takes on this machine, and where ggml was looked for.
func checkDevices(a *cli.App) Check {
	report, err := ggml.Probe()
	always := native.New(0)
	defer always.Close()
	c := Check{Name: "devices", State: OK, Detail: always.Name(), Data: report}
	for _, d := range report.Devices {
		c.Detail += fmt.Sprintf("; ggml:%s (%s, %s", d.Name, d.Kind, d.Description)
		if d.Total > 0 {
			c.Detail += fmt.Sprintf(", %s free of %s", cli.Bytes(int64(d.Free)), cli.Bytes(int64(d.Total)))
		}
		c.Detail += ")"
		if d.GPU() {
			a.Progress("checking what ggml:%s computes", d.Name)
			checked, hint := checkGPU(d.Name)
			c.Detail += checked
			if hint != "" {
				c.State, c.Hint = Noted, strings.TrimPrefix(c.Hint+"; "+hint, "; ")
			}
		}
	}
	a.Clear()
	if err != nil {
		c.Detail += "; no others: " + err.Error()
		if len(report.Tried) > 0 {
			c.Hint = "looked in " + elided(report.Tried, 4)
		}
		if os.Getenv(ggml.PathVariable) != "" { // the user expects them
			c.State, c.Hint = Noted, strings.Trim(c.Hint+"; correct "+ggml.PathVariable+" or unset it", "; ")
		}
		return c
	}
	c.Detail += fmt.Sprintf("; ggml %s in %s", report.Version, report.Folder)
	if len(report.Idle) > 0 {
		c.State, c.Hint = Noted, strings.TrimPrefix(c.Hint+"; "+strings.Join(report.Idle, "; "), "; ")
	}
	return c
}

// checkGPU says how far the device's results are from native's, and what to do if that is too far or unknown.
func checkGPU(name string) (text, hint string) {
	off, lacks, err := ggml.Check(name)
	switch {
	case errors.Is(err, ggml.ErrWrong):
		return ", computes wrong", err.Error()
	case err != nil:
		return ", could not be checked", err.Error()
	}
	text = fmt.Sprintf(", its results within %.2g %% of native's", 100*off)
	for _, t := range lacks {
		text += fmt.Sprintf(", not with %v", t)
	}
	return text, ""
}

// elided lists at most the first most entries.
func elided(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more (--json lists them)", strings.Join(list[:most], ", "), len(list)-most)
}

func checkFolders(a *cli.App) Check {
	c := Check{Name: "folders", State: OK}
	dirs, err := a.Dirs()
	if err != nil {
		return Check{Name: "folders", State: Noted, Detail: err.Error(), Hint: "questions are answered, but nothing is saved"}
	}
	for _, dir := range []string{dirs.Config, dirs.Data, dirs.Cache, dirs.State} {
		if err := writable(dir); err != nil {
			hint := "make it writable, or set the XDG variables to other folders"
			if errors.Is(err, syscall.ENOSPC) {
				hint = "its disk is full: make room, or set the XDG variables to folders on another disk"
			}
			return Check{Name: "folders", State: Broken, Detail: err.Error(), Hint: hint}
		}
	}
	c.Detail = fmt.Sprintf("configuration %s, documents %s, cache %s", dirs.Config, dirs.Data, dirs.Cache)
	return c
}

// writable tries to write into dir, or into its nearest parent that exists.
func writable(dir string) error {
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	f, err := os.CreateTemp(dir, ".tandem-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 1<<16)) // an empty file fits on a full disk
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// checkReader opens what answers without --model.
func checkReader(f modelcmd.ModelFlags) Check {
	if _, err := (modelcmd.ReaderFlags{}).OpenSpan(f); err != nil {
		return Failed("reader", err)
	}
	return Check{Name: "reader", State: OK, Detail: modelcmd.SpanReader + ", built in, answers questions with words of the documents; with --model, that model answers instead"}
}

// purpose says what the built-in model is for, since the reader answers.
func purpose(a *cli.App) string {
	if a.Program == "edge" {
		return "built in, writes the text of edge run, reply and rewrite, and of answers with --reader decoder"
	}
	return "built in, writes answers with --reader decoder"
}

// checkModel opens the model and decodes a few tokens.
func checkModel(a *cli.App, f modelcmd.ModelFlags) []Check {
	start := time.Now()
	f.Verify = true
	m, err := f.Open(a)
	if err != nil {
		return []Check{{Name: "model", State: Broken, Detail: err.Error(), Hint: "see models list, or leave out --model for the built-in one"}}
	}
	defer m.Close()
	cfg := m.Config()
	name := cfg.Name
	if f.Model == "" || f.Model == modelcmd.BuiltInDecoder {
		name = modelcmd.BuiltInDecoder + ", " + purpose(a)
	}
	checks := []Check{checkFile(a, f), {Name: "model", State: OK, Detail: fmt.Sprintf("%s: %s, %d layers, %d tokens of context, on %s, opened in %v",
		name, cfg.Arch, cfg.Layers, cfg.Context, m.Device(), time.Since(start).Round(time.Millisecond))}}
	rate, err := decodeRate(a, m)
	if err != nil {
		return append(checks, Failed("decoding", err))
	}
	c := Check{Name: "decoding", State: OK, Detail: fmt.Sprintf("%.0f tokens/s, one row", rate)}
	if rate < 3 {
		c.State, c.Hint = Noted, "slow: take a smaller model or a smaller quantisation (Q4_0)"
	}
	return append(checks, c)
}

// checkFile says what the file of a model that was opened was compared with.
func checkFile(a *cli.App, f modelcmd.ModelFlags) Check {
	c := Check{Name: "checksum", State: OK, Detail: "none is needed: the models are built in"}
	path, err := modelcmd.Find(a, f.Model)
	if err != nil || path == "" {
		return c
	}
	list := modelcmd.Files(path)
	for _, part := range list {
		if !hub.HasSum(part) {
			return Check{Name: "checksum", State: Noted, Detail: "none is recorded for " + part + ", so damage to it would not be noticed",
				Hint: a.Program + " models check --trust " + f.Model}
		}
	}
	c.Detail = fmt.Sprintf("the model's %d files match their checksums", len(list))
	return c
}

// decodeRate returns the tokens per second of one sequence, measured for half a second or 32 tokens.
func decodeRate(ctx context.Context, m *model.Model) (float64, error) {
	seq := m.NewSeq()
	tokens := []tandem.Token{0}
	start, n := time.Now(), 0
	for ; n < 32 && time.Since(start) < 500*time.Millisecond; n++ {
		if _, err := m.Forward(ctx, []model.Input{{Seq: seq, Tokens: tokens}}); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(start).Seconds(), nil
}

func checkIndex(a *cli.App) Check {
	x, err := indexcmd.Open(a, indexcmd.PassageFlags{})
	switch {
	case err != nil:
		return brokenIndex(a, err)
	case x == nil:
		return Check{Name: "index", State: Noted, Detail: "nothing has been indexed yet: questions are answered from the sample documents", Hint: a.Program + " index add FOLDER"}
	}
	defer x.Close()
	list, err := x.List()
	if err != nil {
		return brokenIndex(a, err)
	}
	if len(list) == 0 {
		return Check{Name: "index", State: Noted, Detail: "it is empty: everything was removed from it", Hint: a.Program + " index add FOLDER"}
	}
	passages := 0
	for _, s := range list {
		passages += s.Passages
	}
	return Check{Name: "index", State: OK, Detail: fmt.Sprintf("%s, %s, scorer %s", cli.Count(len(list), "file"), cli.Count(passages, "passage"), search.Lexical().Name())}
}

// brokenIndex says what to do about an index that cannot be read.
func brokenIndex(a *cli.App, err error) Check {
	c := Check{Name: "index", State: Broken, Detail: err.Error(), Hint: a.Program + " index rebuild"}
	if errors.Is(err, fs.ErrPermission) {
		c.Hint = "let this user read and write the files of the index"
	}
	if _, err := a.Dirs(); err != nil {
		c.Hint = "" // the error says it
	}
	return c
}

func checkCache(a *cli.App, f cli.CacheFlags) Check {
	store := f.OpenKV(a, nil)
	if store == nil {
		return Check{Name: "cache", State: Noted, Detail: "none: passages are computed again for each question", Hint: "set --cache-mb and a writable cache folder"}
	}
	defer store.Close()
	return Check{Name: "cache", State: OK, Detail: fmt.Sprintf("up to %d MB of computed passages", f.CacheMB)}
}
