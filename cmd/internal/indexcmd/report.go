package indexcmd

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/retrieval/search"
)

// reportJSON is the output of index add and index remove with --json.
type reportJSON struct {
	Added     int        `json:"added"`
	Updated   int        `json:"updated"`
	Removed   int        `json:"removed"`
	Unchanged int        `json:"unchanged"`
	Passages  int        `json:"passages"`
	Skipped   []skipJSON `json:"skipped"`
	Deleted   int        `json:"deleted,omitempty"` // uploaded files

	NotIndexed []string `json:"not_indexed,omitempty"` // what was to be removed
}

type skipJSON struct {
	Path   string      `json:"path"`
	Kind   search.Kind `json:"kind"`
	Reason string      `json:"reason"`
}

// sumOf adds up the reports on one index, in the order in which they were made.
func sumOf(reports ...search.Report) reportJSON {
	sum := reportJSON{Skipped: []skipJSON{}}
	for _, r := range reports {
		sum.Added, sum.Updated, sum.Removed = sum.Added+r.Added, sum.Updated+r.Updated, sum.Removed+r.Removed
		sum.Unchanged, sum.Passages = sum.Unchanged+r.Unchanged, r.Passages
		for _, s := range r.Skipped {
			sum.Skipped = append(sum.Skipped, skipJSON(s))
		}
	}
	return sum
}

// print prints how the index changed. With every, it lists all that was skipped.
func (r reportJSON) print(a *cli.App, every bool) error {
	a.Clear()
	if a.Globals.JSON {
		return a.JSON(r)
	}
	for _, line := range skippedLines(r.Skipped, every) {
		fmt.Fprintln(a.Out, line)
	}
	if !every && len(r.Skipped) > fewSkipped {
		fmt.Fprintln(a.Out, "(--skipped lists every file)")
	}
	fmt.Fprintf(a.Out, "%d added, %d updated, %d removed, %d unchanged, %d skipped; %s in the index\n",
		r.Added, r.Updated, r.Removed, r.Unchanged, len(r.Skipped), cli.Count(r.Passages, "passage"))
	return nil
}

// fewSkipped is how many skipped files are listed one by one, of all and of a kind that may surprise.
const fewSkipped = 5

// skippedLines lists skipped files or, if they are many, sums them up by kind.
func skippedLines(list []skipJSON, every bool) (lines []string) {
	if every || len(list) <= fewSkipped {
		for _, s := range list {
			lines = append(lines, fmt.Sprintf("skipped %s: %s", cli.Escape(s.Path), cli.Escape(s.Reason)))
		}
		return lines
	}
	kinds := map[search.Kind][]skipJSON{}
	for _, s := range list {
		kinds[s.Kind] = append(kinds[s.Kind], s)
	}
	for _, k := range slices.SortedFunc(maps.Keys(kinds), func(x, y search.Kind) int {
		return cmp.Or(cmp.Compare(len(kinds[y]), len(kinds[x])), cmp.Compare(x, y))
	}) {
		of := kinds[k]
		line := fmt.Sprintf("skipped %d: %s", len(of), kindText(k, of))
		if k == search.Unsupported {
			line += " " + extensions(of)
		}
		lines = append(lines, line)
		switch k {
		case search.TooLarge, search.Unreadable, search.Unusable:
			for _, s := range of[:min(len(of), fewSkipped)] {
				lines = append(lines, fmt.Sprintf("  %s: %s", cli.Escape(s.Path), cli.Escape(s.Reason)))
			}
			if n := len(of) - fewSkipped; n > 0 {
				lines = append(lines, fmt.Sprintf("  and %d more", n))
			}
		}
	}
	return lines
}

// kindText names a kind of skipped files, of special ones why they were skipped.
func kindText(k search.Kind, of []skipJSON) string {
	if k != search.Special {
		return string(k)
	}
	var reasons []string
	for _, s := range of {
		if !slices.Contains(reasons, s.Reason) {
			reasons = append(reasons, s.Reason)
		}
	}
	slices.Sort(reasons)
	return strings.Join(reasons, "; ")
}

// extensions counts files by their extensions, the most frequent first.
func extensions(list []skipJSON) string {
	count := map[string]int{}
	for _, s := range list {
		count[cmp.Or(strings.ToLower(filepath.Ext(s.Path)), "no extension")]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(x, y string) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), cmp.Compare(x, y))
	})
	const some = 6
	var out []string
	for _, name := range names[:min(len(names), some)] {
		out = append(out, fmt.Sprintf("%s %d", cli.Escape(name), count[name]))
	}
	if len(names) > some {
		out = append(out, fmt.Sprintf("%d other types", len(names)-some))
	}
	return "(" + strings.Join(out, ", ") + ")"
}
