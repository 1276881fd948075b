package quote

import (
	"regexp"
	"strings"

	"tandem/api"
)

// shortSentence is the most words of a sentence that may not say what it is about.
const shortSentence = 10

// above returns what stands before a passage's likeliest sentence and says what that is about, if the sentence is short: the label
// of its line, such as "Lena: … ", and the heading above it. Either may be empty.
func above(c api.Citation) (label, heading string) {
	if len(strings.Fields(c.Text[c.From:c.To])) > shortSentence {
		return "", ""
	}
	before := c.Text[:c.From]
	if at := strings.LastIndex(before, "\n\n"); at >= 0 { // passages have an empty line above headings alone
		if line, _, ends := strings.Cut(before[at+2:], "\n"); ends {
			heading = OneLine(strings.TrimSpace(line))
		}
	}
	if m := lineLabel.FindStringSubmatch(before[strings.LastIndexByte(before, '\n')+1:]); m != nil {
		label = OneLine(m[1]) + ": … "
	}
	return label, heading
}

// lineLabel matches a line that says first what it is about, or who speaks: "- Lena: penicillin allergy. ".
var lineLabel = regexp.MustCompile(`^[ \t]*(?:[-*+•] +)?(?:\[[^\]\n]{1,30}\] ?)?(\pL[^.:;!?|\n]{0,40}):[ \t]+\S`)

// below returns a citation whose place names a heading, too, unless it does.
func below(c api.Citation, heading string) api.Citation {
	if heading != "" && c.Title != "" && !strings.Contains(c.Title, heading) {
		c.Title += ": " + heading
	}
	return c
}
