package documents

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
)

// This file takes out of Markdown what programs that make web sites read in it: Hugo's shortcodes "{{< name >}}", Liquid's tags
// "{% name %}", and attributes "{: .name }".

// The most lines that are searched for the end of a tag, and for that of code between two tags.
const (
	maxTagLines    = 32
	maxTaggedLines = 512
)

var (
	rawTag     = lazyregexp.New(`\{%-?\s*(?:end)?raw\s*-?%\}`)
	tagMark    = lazyregexp.New("``?" + `|\{\{[<%]|[>%]\}\}|\{%-?\s*(?:end)?raw\s*-?%\}|\{%|%\}`)
	beginsTag  = lazyregexp.New(`\{(?:\{[<%]|%)`)
	endsTag    = lazyregexp.New(`[>%]\}\}|%\}`)
	codeTag    = lazyregexp.New(`^\s*\{(?:\{[<%]|%-?)\s*([\w-]*(?:code|highlight)[\w-]*)(?:\s.*)?[>%]\}`)
	closedTag  = lazyregexp.New(`/[>%]\}\}\s*$`)
	shownTag   = lazyregexp.New(`\s(?:text|title|label|caption)="([^"]*)"`)
	sinceTag   = lazyregexp.New(`^\{\{[<%]\s*([a-z]+(?:-[a-z]+)*) "?v?(\d+(?:\.\d+)+)"?\s*/?[>%]\}\}$`)
	attributes = lazyregexp.New(`^\s*\{:[^{}]*\}\s*$`)
)

// withoutTags removes the tags from lines, and keeps those in code and what they show. Code between two tags becomes code.
func withoutTags(lines []string) []string {
	fence, raw := "", false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		mark := rawTag.FindString(line)
		switch fence = fenceAfter(fence, line); {
		case mark != "" && mark == strings.TrimSpace(line):
			lines[i], raw = "", !strings.Contains(mark, "endraw")
		case raw || fence != "":
			lines[i] = rawTag.ReplaceAllString(line, "")
		case attributes.MatchString(line):
			lines[i] = ""
		case strings.Contains(line, "{"):
			if n := taggedCode(lines[i:]); n > 0 {
				lines[i], lines[i+n] = "```", "```"
				i += n
				continue
			}
			joinTag(lines[i:])
			lines[i] = cutTags(lines[i])
		}
	}
	return lines
}

// cutTags returns a line without the tags in it, but with what they show.
func cutTags(line string) string {
	marks := tagMark.FindAllStringIndex(line, -1)
	ends, endedBy, last := make([]string, len(marks)), make([]string, len(marks)), map[string]int{}
	for i, m := range marks {
		ends[i], endedBy[i] = roleOf(line[m[0]:m[1]])
		last[ends[i]] = i
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(marks); i++ {
		begin, isRaw := marks[i], rawTag.MatchString(line[marks[i][0]:marks[i][1]])
		if by := endedBy[i]; by != "" && last[by] > i {
			for i++; ends[i] != by; i++ {
			}
		} else if !isRaw {
			continue
		}
		b.WriteString(line[from:begin[0]] + shownOf(line[begin[0]:marks[i][1]]))
		from = marks[i][1]
	}
	return b.String() + line[from:]
}

// roleOf returns what a match of tagMark ends, and what ends that which it begins; "" for nothing.
func roleOf(mark string) (ends, endedBy string) {
	switch {
	case mark[0] == '`':
		return mark, mark
	case strings.HasPrefix(mark, "{{"):
		return "", "}}"
	case strings.HasSuffix(mark, "}}"):
		return "}}", ""
	case strings.Contains(mark, "endraw"):
		return "endraw", ""
	case strings.Contains(mark, "raw"):
		return "", "endraw"
	case mark == "{%":
		return "", "%}"
	}
	return mark, ""
}

// shownOf returns what is shown of code or of a tag.
func shownOf(tag string) string {
	switch since, shown := sinceTag.FindStringSubmatch(tag), shownTag.FindStringSubmatch(tag); {
	case tag[0] == '`', rawTag.MatchString(tag):
		return rawTag.ReplaceAllString(tag, "")
	case strings.Contains(tag, "/*"): // a tag that is itself shown
		return strings.NewReplacer("/*", "", "*/", "").Replace(tag)
	case since != nil:
		return "(" + strings.ReplaceAll(since[1], "-", " ") + " " + since[2] + ")"
	case shown != nil:
		return shown[1]
	}
	return ""
}

// taggedCode returns the number of lines from the tag in the first one, which code follows, to the tag that ends it; 0 if there is no
// such code.
func taggedCode(lines []string) int {
	name := codeBegun(lines[0])
	if name == "" {
		return 0
	}
	ends := []string{"{{</" + name + ">}}", "{{%/" + name + "%}}", "{%end" + name + "%}", "{%-end" + name + "-%}", "{%-end" + name + "%}"}
	for n := 1; n < min(len(lines), maxTaggedLines); n++ {
		switch line := strings.ReplaceAll(strings.TrimSpace(lines[n]), " ", ""); {
		case slices.Contains(ends, line):
			return n
		case codeFence(line) != "", strings.HasPrefix(line, "{") && codeBegun(lines[n]) != "":
			return 0
		}
	}
	return 0
}

// codeBegun returns the name of the tag in a line that code may follow; "" if there is none.
func codeBegun(line string) string {
	m := codeTag.FindStringSubmatch(line)
	if m == nil || closedTag.MatchString(line) || strings.HasPrefix(m[1], "end") {
		return ""
	}
	return m[1]
}

// joinTag joins the lines of a tag that begins with the first one.
func joinTag(lines []string) {
	if at := beginsTag.FindStringIndex(lines[0]); at == nil || strings.TrimSpace(lines[0][:at[0]]) != "" || endsTag.MatchString(lines[0]) {
		return
	}
	for n := 1; n < min(len(lines), maxTagLines); n++ {
		end := endsTag.FindStringIndex(lines[n])
		if other := beginsTag.FindStringIndex(lines[n]); other != nil && (end == nil || other[0] < end[0]) {
			return
		}
		if end != nil {
			lines[0] = strings.Join(lines[:n+1], " ")
			clear(lines[1 : n+1])
			return
		}
	}
}

// Notes to the reader, and tabs, as programs write them that make web sites: with their text indented below ("!!! note"), or between
// lines of colons or slashes (":::tip").
var (
	noteAbove  = lazyregexp.New(`^\s*(?:!!!|\?\?\?\+?) ?(\pL[\pL\d-]*)[\pL\d -]*(?: "(.*)")?\s*$`)
	tabAbove   = lazyregexp.New(`^\s*={3}[!+]? ?"(.+)"\s*$`)
	noteAround = lazyregexp.New(`^\s*(?::{3,} ?\{?(\pL[\pL\d-]*)\}?(?:\[(.*)\]|\s+(\S.*))?|/{3,} ?(\pL[\pL\d-]*)(?: \| *(\S.*))?)\s*$`)
	noteEnd    = lazyregexp.New(`^\s*(?::{3,}|/{3,})\s*$|^\s*::: [\w.]+\.\w+\s*$`) // or a place for the text of a program's part
)

// withNotes writes notes as quotations with their kind, "> [!note] Title", and takes out what marks their ends.
func withNotes(lines []string) []string {
	fence := ""
	for i, line := range lines {
		if fence = fenceAfter(fence, line); fence != "" {
			continue
		}
		if m := noteAbove.FindStringSubmatch(line); m != nil && isIndentedTo(lines[i+1:], inset(line)+codeIndent) {
			outdent(lines[i+1:], inset(line)+codeIndent)
			beginNote(lines[i:], m[1], m[2])
		} else if m := tabAbove.FindStringSubmatch(line); m != nil {
			outdent(lines[i+1:], inset(line)+codeIndent)
			lines[i] = "> " + m[1] + ":" // no heading: what follows the last tab is not below it
		} else if m := noteAround.FindStringSubmatch(line); m != nil {
			kind, title := strings.ToLower(m[1]+m[4]), m[2]+m[3]+m[5]
			if slices.Contains(rstNotes, kind) || kind == "info" {
				beginNote(lines[i:], kind, title)
			} else {
				lines[i] = title
			}
		} else if noteEnd.MatchString(line) {
			lines[i] = ""
		}
	}
	return lines
}

// isIndentedTo reports whether the first line that is not blank is indented at least to a column.
func isIndentedTo(lines []string, column int) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return inset(line) >= column
		}
	}
	return false
}

// outdent moves the lines that are indented up to a column, and those between them, to the left.
func outdent(lines []string, column int) {
	for i, line := range lines {
		at, n := 0, 0
		for ; n < column && at < len(line) && (line[at] == ' ' || line[at] == '\t'); at++ {
			if line[at] == '\t' {
				n += codeIndent - n%codeIndent
			} else {
				n++
			}
		}
		if n < column && at < len(line) {
			return
		}
		lines[i] = line[at:]
	}
}

// beginNote writes the first line of a note, which its text follows.
func beginNote(lines []string, kind, title string) {
	lines[0] = strings.TrimSpace("> [!" + kind + "] " + title)
	n := 1
	for n < len(lines) && strings.TrimSpace(lines[n]) == "" {
		n++
	}
	if n == len(lines) {
		return
	}
	first := strings.TrimSpace(lines[n])
	if codeFence(first) != "" || strings.ContainsAny(first[:1], "|:/!?=#") { // what begins here is no paragraph
		return
	}
	lines[n] = "> " + first
	lines[0], lines[n-1] = "", lines[0]
}
