package documents

import (
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
)

// This file reads the comments of data, which become notes of values.

// outOfUse matches a comment that is a setting, which someone took out of use: it says nothing of the one near it.
var outOfUse = lazyregexp.New(`^(?:- )?["']?[a-z][\w.-]*["']?:(?: |$)|^["']?[A-Za-z][\w.-]*["']? ?=|^- |^[{}\[\]]`)

// plainComment returns the words of comments, without settings that are out of use.
func plainComment(comment string) string {
	var said []string
	for line := range strings.SplitSeq(comment, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#;!"))
		if strings.ContainsFunc(line, unicode.IsLetter) && !outOfUse.MatchString(line) {
			said = append(said, strings.Trim(line, "#=-*~ \t"))
		}
	}
	return english.Collapse(strings.Join(said, " "))
}

// maxNote is the number of bytes of comments after which no others are joined to them.
const maxNote = 4 << 10

// joinNotes joins what two comments say of a value.
func joinNotes(a, b string) string {
	if len(a) > maxNote {
		return a
	}
	if a != "" && b != "" {
		return strings.TrimSuffix(a, ".") + "; " + b
	}
	return a + b
}

// joinLines joins the lines of a comment.
func joinLines(a, b string) string {
	if len(a) > maxNote {
		return a
	}
	return strings.TrimSpace(a + " " + b)
}
