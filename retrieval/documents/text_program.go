package documents

import (
	"strconv"
	"strings"

	"tandem/internal/lazyregexp"
)

// This file finds what programs wrote into plain text, and whose lines say something only as they stand.

var (
	treeBranch = lazyregexp.New("^[ |]*(?:[+|`]|\\\\)--+ ?[^-+|=: ]") // of a line whose frames are in ASCII, see unframed
	treeTrunk  = lazyregexp.New(`^ *\|[ |]*(?: {3}[^|]+)?$`)
	listedFile = lazyregexp.New(`^[-dlbcps](?:[r-][w-][-xsStT]){3}[.+@]? +\d`)
	codeNumber = lazyregexp.New(`^ *(\d{1,5})(?:[:|]? |[:|]?\t|[:|]?$)(.*)$`)
	codeSigns  = lazyregexp.New(`[{}\\]|;$|[\pL\pN_]\(|^(?://|#)|[!<>=:+-]=|[=-]>|</?\pL[^@>]*>|^[\pL_][\pL\pN_.]* ?= ?(?:[^\d\s]|[\d.]+$)`)
)

// programLines returns the number of lines, from line i on, that draw a tree of files, list files as ls does, or are code with the
// numbers of its lines.
func programLines(lines []string, i int) int {
	if n := treeLines(lines[i:]); n > 0 {
		return n
	}
	n := 0
	for i+n < len(lines) && listedFile.MatchString(lines[i+n]) {
		n++
	}
	if n > 0 {
		return n
	}
	return numberedCode(lines, i)
}

// treeLines returns the number of lines at the start that draw a tree. It has two branches or more.
func treeLines(lines []string) (n int) {
	branches := 0
	for _, line := range lines {
		line = unframed(line)
		switch {
		case branches == 0 && !strings.Contains(line, "--"): // as in most lines
			line = ""
		case treeBranch.MatchString(line):
			branches++
		case branches == 0 || !treeTrunk.MatchString(line):
			line = ""
		}
		if line == "" {
			break
		}
		n++
	}
	if branches < 2 {
		return 0
	}
	return n
}

// numberedCode returns the number of lines of code, from line i on, each of which has a number one above that of the line before:
// at least three, half of them with signs that prose and the rows of tables do not have.
func numberedCode(lines []string, i int) int {
	number, _, ok := cutNumber(lines[i])
	if !ok {
		return 0
	}
	if i > 0 {
		if before, _, numbered := cutNumber(lines[i-1]); numbered && before+1 == number { // it has been looked at
			return 0
		}
	}
	n, filled, like := 0, 0, 0
	for ; i+n < len(lines); n++ {
		at, text, ok := cutNumber(lines[i+n])
		if !ok || at != number+n {
			break
		}
		if text = strings.TrimSpace(text); text != "" {
			filled++
			if codeSigns.MatchString(text) && !hasColumns(text) && !strings.Contains(text, " | ") {
				like++
			}
		}
	}
	if n < 3 || 2*like < filled || like == 0 {
		return 0
	}
	return n
}

// cutNumber returns the number that a line begins with, and what follows it.
func cutNumber(line string) (number int, text string, ok bool) {
	m := codeNumber.FindStringSubmatch(line)
	if m == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(m[1])
	return number, m[2], err == nil
}
