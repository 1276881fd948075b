package documents

import (
	"context"
	"strconv"
	"strings"

	"tandem/internal/lazyregexp"
)

// iniExtensions are those of files of settings. Those that begin with a dot may be the whole name.
var iniExtensions = []string{
	".ini", ".cfg", ".conf", ".properties", ".env", ".editorconfig", ".gitconfig", ".gitmodules", ".npmrc",
	".service", ".timer", ".socket", ".mount", ".desktop",
}

// parseINI reads settings of names with values, in sections or not, as programs of many kinds write them. A file most of whose lines
// are something else is read as code.
func parseINI(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	if !mostlySettings(lines) {
		return codeDocument(ctx, lines)
	}
	r := iniReader{top: &value{kind: object}}
	r.section = r.top
	for _, line := range lines {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		r.line(line)
		if r.count > valueCount {
			return Document{}, errManyValues
		}
	}
	r.end()
	return valueDocument(ctx, r.top)
}

// Lines of settings.
var (
	iniSetting = lazyregexp.New(`^(?:export\s+)?([^\s=:\[{(<][^=:{}()<>"]{0,100}?"?)\s*(?:=([^=].*)?|:([^:].*)?)$`)
	iniSection = lazyregexp.New(`^\[([^\[\]]{1,200})\]$`)
	iniEscape  = lazyregexp.New(`\\u[0-9a-fA-F]{4}`)
)

// isRemark reports whether a line that is not empty is a comment.
func isRemark(line string) bool { return strings.IndexByte("#;!", line[0]) >= 0 }

// mostlySettings reports whether more lines are settings or begin sections than not. Indented lines that go on with a setting do
// not count.
func mostlySettings(lines []string) bool {
	are, others := 0, 0
	goesOn := false
	for _, line := range lines {
		further := goesOn && indentation(line) > 0
		goesOn = further
		switch line = strings.TrimSpace(line); {
		case line == "" || isRemark(line):
		case iniSection.MatchString(line), iniSetting.MatchString(line) && !strings.HasSuffix(line, "{") && !strings.HasSuffix(line, ";"):
			are++
			goesOn = true
		case !further:
			others++
		}
	}
	return are > others
}

// iniReader makes values of the lines of settings. Comments above a setting become its note.
type iniReader struct {
	top, section *value
	last         *value          // the value that further lines may continue
	indent       int             // of the line where it begins
	text         strings.Builder // of the last value
	goesOn       bool            // the line before ends with a backslash
	said         string          // the comments above
	count        int
}

// line reads a line.
func (r *iniReader) line(line string) {
	trimmed := strings.TrimSpace(line)
	indented := trimmed != "" && indentation(line) > 0
	section, setting := iniSection.FindStringSubmatch(trimmed), iniSetting.FindStringSubmatch(trimmed)
	switch {
	case r.goesOn && (indented || section == nil && setting == nil): // the backslash is not just the end of a path
		r.further(" ", trimmed)
	case trimmed == "":
		if r.count == 0 { // what stands above all settings
			r.top.note, r.said = joinLines(r.top.note, r.said), ""
		}
		r.end()
	case isRemark(trimmed):
		r.said = joinLines(r.said, plainComment(trimmed))
	case section != nil:
		r.end()
		r.section = &value{kind: object}
		r.add(r.top, nameOf(strings.ReplaceAll(section[1], `"`, "")), r.section)
	case setting != nil:
		r.begin(setting[1], strings.TrimSpace(setting[2]+setting[3]))
		r.indent = indentation(line)
	case r.last != nil && indentation(line) > r.indent:
		r.further("\n", trimmed)
	default: // a name alone
		r.begin("", trimmed)
		r.indent = indentation(line)
	}
}

// begin begins a value.
func (r *iniReader) begin(name, text string) {
	r.end()
	r.last = &value{}
	r.add(r.section, nameOf(name), r.last)
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && strings.IndexByte(text[1:], text[0]) == n-2 {
		text = text[1 : n-1]
	}
	r.further("", text)
}

// further adds a line to the last value.
func (r *iniReader) further(joint, text string) {
	text, r.goesOn = strings.CutSuffix(text, `\`)
	text = iniEscape.ReplaceAllStringFunc(text, func(escape string) string {
		code, _ := strconv.ParseInt(escape[2:], 16, 32)
		return string(rune(code))
	})
	r.text.WriteString(joint + strings.TrimSpace(text))
}

// end ends the last value.
func (r *iniReader) end() {
	if r.last != nil {
		r.last.text = r.text.String()
		r.text.Reset()
	}
	r.last, r.goesOn = nil, false
}

// add adds a part to an object.
func (r *iniReader) add(v *value, name string, part *value) {
	r.count++
	part.note, r.said = r.said, ""
	v.names, v.parts = append(v.names, name), append(v.parts, part)
}
