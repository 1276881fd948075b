package quote

import (
	"strings"

	"tandem/api"
)

// columnsOfText is how wide the lines are for programs that do not say.
const columnsOfText = 80

// Nearest returns what comes close to a part that nobody knows, as the items of a list, for programs that show only text. Markdown
// shows them as a list, too.
func Nearest(p api.Part) (lines []string) {
	say, near := Of(p, columnsOfText, func(s string) string { return s })
	for _, line := range append(say, near...) {
		item := strings.TrimLeft(line, " ")
		if strings.HasPrefix(line, "    ") { // the text around the sentence
			item = "  " + item
		} else {
			item = "- " + item
		}
		lines = append(lines, item)
	}
	return lines
}
