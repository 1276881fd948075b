package documents

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// labelled returns a line in which dots lead from a name to its value, "Fee ........ 12 euros", as other lines with a label are
// written: "Fee: 12 euros". ok is false for other lines, and for a form that leaves room to write.
func labelled(line string) (text string, ok bool) {
	from := strings.Index(line, leader)
	if from < 1 || strings.Contains(line, "\n") {
		return "", false
	}
	value := strings.TrimLeft(line[from:], ".")
	dots := len(line) - from - len(value)
	apart := strings.HasSuffix(line[:from], " ") && strings.HasPrefix(value, " ")
	label, value := strings.TrimSpace(line[:from]), strings.TrimSpace(value)
	if label == "" || value == "" || strings.Contains(value, leader) || strings.Contains(label, ": ") || len(strings.Fields(label)) > longestLabel {
		return "", false
	}
	figure, _ := utf8.DecodeRuneInString(value)
	last, _ := utf8.DecodeLastRuneInString(label)
	if !apart && dots < 2*len(leader) && !unicode.IsNumber(figure) && !unicode.Is(unicode.Sc, figure) || strings.ContainsRune(":!?;", last) {
		return "", false
	}
	return label + ": " + value, true
}

// leader is the fewest dots that lead from a name to its value. People write three when they fall silent.
const leader = "...."

// longestLabel is the length of the longest label before dots, in words.
const longestLabel = 10
