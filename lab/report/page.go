package report

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Page makes one self-contained HTML page of the reports in a folder. It also returns their number.
func Page(dir, software string) ([]byte, int, error) {
	results, err := loadAll(dir)
	if err != nil {
		return nil, 0, err
	}
	var page bytes.Buffer
	if err := reportPage.Execute(&page, struct {
		Machine  string
		Software string
		Date     string
		Texts    []string
		Results  []Report
		Columns  []string
	}{Machine(), software, time.Now().Format("2 January 2006, 15:04 MST"), sameSeedSameText(results), results, columns}); err != nil {
		return nil, 0, fmt.Errorf("report: %w", err)
	}
	return page.Bytes(), len(results), nil
}

// loadAll loads all reports of a folder, in the order of the page.
func loadAll(dir string) ([]Report, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.result.json"))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no results: run an experiment first, for example: lab schedule", dir)
	}
	var results []Report
	for _, f := range files {
		r, err := load(f)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	order := []string{"latency", "ttft", "schedule", "pipeline", "speedup", "traces", "loss", "npu"}
	slices.SortStableFunc(results, func(a, b Report) int {
		return slices.Index(order, baseName(a.Name)) - slices.Index(order, baseName(b.Name))
	})
	return results, nil
}

// sameSeedSameText says whether all cells of the shared coupling with real answers hold the same text. Reports with the same
// seed and questions should agree too. Only the texts tell which these are, so each text is listed with its reports.
func sameSeedSameText(results []Report) (out []string) {
	cells, where := map[string]int{}, map[string][]string{}
	for _, r := range results {
		if base := baseName(r.Name); base == "schedule" {
			continue // has acceptance records, not answers
		}
		texts := 0
		for _, row := range r.Results {
			if !row.shared() {
				continue
			}
			if cells[row.Text]++; !slices.Contains(where[row.Text], r.Name) {
				where[row.Text] = append(where[row.Text], r.Name)
				texts++
			}
		}
		if texts > 1 {
			out = append(out, fmt.Sprintf("%s: %d texts, want one", r.Name, texts))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(cells)) {
		out = append(out, fmt.Sprintf("text %.12s… in all %d cells of the shared coupling in %s", text, cells[text], strings.Join(where[text], ", ")))
	}
	return out
}

// baseName is the name of an experiment without its variant.
func baseName(name string) string {
	name, _, _ = strings.Cut(name, "-")
	return name
}

// Machine describes this computer.
func Machine() string {
	cpu := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(info); m != nil {
			cpu = string(m[1])
		}
	}
	return fmt.Sprintf("%s, %d processors, %s/%s, %s", strings.TrimSpace(cpu), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"svg":    func(b []byte) template.HTML { return template.HTML(b) },
	"fields": func(r Result) []string { return r.fields() },
	"date":   func(t time.Time) string { return t.Format("2 January 2006, 15:04 MST") },
}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tandem: measurements</title>
<style>
:root { color-scheme: light dark; --text: #24292f; --faint: #57606a; --line: #d0d7de; --ground: #fff; --tag: #fff8c5; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9da7b3; --line: #30363d; --ground: #0d1117; --tag: #4d3f00; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground); max-width: 860px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { margin-top: 2.2em; border-top: 1px solid var(--line); padding-top: 1em; }
.faint, dt { color: var(--faint); } dl { display: grid; grid-template-columns: max-content 1fr; gap: .2em 1em; } dd { margin: 0; }
code { font: 13px ui-monospace, monospace; } figure { margin: 1em 0; } svg { width: 100%; height: auto; }
.tag { background: var(--tag); border-radius: 4px; padding: 0 .4em; font-size: .8em; font-weight: normal; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; } th, td { text-align: left; padding: .15em .6em .15em 0; white-space: nowrap; border-bottom: 1px solid var(--line); max-width: 12em; overflow: hidden; text-overflow: ellipsis; }
</style>
</head>
<body>
<h1>Tandem: measurements</h1>
<dl><dt>machine</dt><dd>{{.Machine}}</dd><dt>software</dt><dd>{{.Software}}</dd><dt>page made</dt><dd>{{.Date}}</dd></dl>
{{with .Texts}}<h2>Same seed, same text</h2>
<p>With shared randomness the seed and the documents fix the text, whatever the network, the placement and the delays. The cells that ask the same questions hold:</p>
<ul>{{range .}}<li>{{.}}</li>{{end}}</ul>
{{end}}
{{range .Results}}
<h2>{{.Title}}{{if .Simulated}} <span class="tag">simulated</span>{{end}}</h2>
<p>{{.About}}</p>
<dl><dt>command</dt><dd><code>{{.Command}}</code></dd><dt>taken</dt><dd>{{date .Taken}}</dd></dl>
<ul>{{range .Findings}}<li>{{.}}</li>{{end}}</ul>
{{range .Figures}}<figure>{{svg .SVG}}</figure>
{{end}}
{{range .Tables}}<details><summary>{{.Title}}: {{len .Rows}} rows</summary><div class="scroll"><table><tr>{{range .Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Rows}}<tr>{{range .}}<td title="{{.}}">{{.}}</td>{{end}}</tr>
{{end}}</table></div></details>
{{end}}{{if .Results}}<details><summary>{{len .Results}} results</summary><div class="scroll"><table><tr>{{range $.Columns}}<th>{{.}}</th>{{end}}</tr>
{{range .Results}}<tr>{{range fields .}}<td title="{{.}}">{{.}}</td>{{end}}</tr>
{{end}}</table></div></details>
{{end}}{{end}}
</body>
</html>
`))
