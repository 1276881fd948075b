package office

import (
	"regexp"
	"strconv"
	"strings"

	"tandem/retrieval/internal/english"
)

// listLevel says how items of one level of a list are numbered.
type listLevel struct {
	format string // "bullet", "decimal", "lowerLetter", …
	text   string // as "%1.%2": the numbers of the levels up to this one
	first  int
}

// lists are the definitions of a file's numbered and bulleted lists, and how far they have counted.
type lists struct {
	unhandled
	levels map[string]map[string]*listLevel // by abstract list and level
	of     map[string]string                // the abstract list of a list
	counts map[string]*[maxLevels]int       // by abstract list

	abstract, list string // being read
	level          *listLevel
}

const maxLevels = 9

func newLists() *lists {
	return &lists{levels: map[string]map[string]*listLevel{}, of: map[string]string{}, counts: map[string]*[maxLevels]int{}}
}

func (l *lists) start(name string, attrs attributes) {
	value := attrs.get("val")
	switch name {
	case "abstractNum":
		l.abstract = attrs.get("abstractNumId")
		l.levels[l.abstract] = map[string]*listLevel{}
	case "lvl":
		if l.abstract != "" {
			l.level = &listLevel{first: 1}
			l.levels[l.abstract][attrs.get("ilvl")] = l.level
		}
	case "num":
		l.list = attrs.get("numId")
	case "abstractNumId":
		l.of[l.list] = value
	}
	if l.level == nil {
		return
	}
	switch name {
	case "numFmt":
		l.level.format = value
	case "lvlText":
		l.level.text = english.FirstBytes(value, 2*maxMark)
	case "start":
		if n, err := strconv.Atoi(value); err == nil {
			l.level.first = n
		}
	}
}

func (l *lists) end(name string) {
	switch name {
	case "abstractNum":
		l.abstract = ""
	case "lvl":
		l.level = nil
	}
}

// unknownList is the list of items that only their style says to be some.
const unknownList = "?"

// next counts an item and returns what stands before it, with a space: its number or a dash. In a file that defines no lists,
// all items have dashes.
func (l *lists) next(list, level string) string {
	if list == unknownList || len(l.of) == 0 && list != "" && list != "0" {
		return "- "
	}
	abstract, ok := l.of[list]
	at, err := strconv.Atoi(level)
	if !ok || list == "0" || err != nil || at < 0 || at >= maxLevels {
		return ""
	}
	this := l.levels[abstract][level]
	if this == nil || this.format == "none" {
		return ""
	}
	if this.format == "bullet" {
		return "- "
	}
	counts := l.counts[abstract]
	restart := func(from int) {
		for i := from; i < maxLevels; i++ {
			counts[i] = 0
			if of := l.levels[abstract][strconv.Itoa(i)]; of != nil {
				counts[i] = of.first - 1
			}
		}
	}
	if counts == nil {
		counts = &[maxLevels]int{}
		l.counts[abstract] = counts
		restart(0)
	}
	counts[at]++
	restart(at + 1) // the levels below
	mark := levelNumber.ReplaceAllStringFunc(this.text, func(s string) string {
		i := int(s[1] - '1')
		format := "decimal"
		if of := l.levels[abstract][strconv.Itoa(i)]; of != nil {
			format = of.format
		}
		return numeral(max(counts[i], min(1, at-i)), format)
	})
	return strings.TrimSpace(english.FirstBytes(mark, maxMark)) + " "
}

var levelNumber = regexp.MustCompile("%[1-9]")

// numeral writes a number in a format of a list.
func numeral(n int, format string) string {
	switch format {
	case "lowerLetter", "a":
		return strings.ToLower(letters(n))
	case "upperLetter", "A":
		return letters(n)
	case "lowerRoman", "i":
		return strings.ToLower(roman(n))
	case "upperRoman", "I":
		return roman(n)
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
	}
	return strconv.Itoa(n)
}

// letters writes 1 as A, 26 as Z and 27 as AA.
func letters(n int) string {
	if n < 1 || n > 26*26 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for _, r := range []struct {
		n int
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for n >= r.n {
			b.WriteString(r.s)
			n -= r.n
		}
	}
	return b.String()
}
