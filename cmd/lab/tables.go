package main

import (
	"fmt"
	"strings"

	"tandem/cmd/internal/cli"
)

// tables prints text with tables in Markdown, line by line. With --json it prints the tables alone, as one object at
// the end: a list of rows under each table's name, each cell under its column's.
type tables struct {
	app     *cli.App
	columns []string // of the table that was begun last
	name    string
	all     map[string][]map[string]string
}

func newTables(a *cli.App) *tables { return &tables{app: a, all: map[string][]map[string]string{}} }

// text prints what stands between tables.
func (t *tables) text(s string) {
	if !t.app.Globals.JSON {
		t.app.Clear()
		fmt.Fprint(t.app.Out, s)
	}
}

// begin begins a table.
func (t *tables) begin(name string, columns ...string) {
	t.name, t.columns = name, columns
	t.all[name] = []map[string]string{}
	t.text("| " + strings.Join(columns, " | ") + " |\n" + strings.Repeat("|---", len(columns)) + "|\n")
}

// row adds a row, with a cell for each column.
func (t *tables) row(cells ...string) {
	row := map[string]string{}
	for i, c := range t.columns {
		row[c] = strings.Trim(cells[i], "`")
	}
	t.all[t.name] = append(t.all[t.name], row)
	t.text("| " + strings.Join(cells, " | ") + " |\n")
}

// engines says what the levels of speed ran on.
func (t *tables) engines() {
	t.text(fmt.Sprintf("\nThe speeds are of %s, and of %s.\n", speedLevels[0].used, speedLevels[1].used))
	t.all["levels"] = []map[string]string{{"used": speedLevels[0].used}, {"used": speedLevels[1].used}}
}

// end comes after the last table.
func (t *tables) end() error {
	t.app.Clear()
	if t.app.Globals.JSON {
		return t.app.JSON(t.all)
	}
	return nil
}
