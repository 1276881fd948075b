package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
	"tandem/retrieval/passages"
)

var (
	asksSum = regexp.MustCompile(`(?i)\bcosts?\b|\bpric(?:e|ed)\b|\bhow much\b|\bpa(?:y|id)\b`)
	aSum    = regexp.MustCompile(`(?i)^(?:` + money + `)? ?\d[\d.,]*[.,](?:\d\d|[-–—])(?: ?(?:` + money + `))?$`)
	summed  = set("altogether total sum all overall invoice bill receipt charged charge did was were")
)

// receipt returns the sum at the end of a row whose columns have no names, as on a receipt, if a question asks what the thing in just that row costs.
func (p passage) receipt(question string) (from, to int, ok bool) {
	if formOf(question) != value || !asksSum.MatchString(question) {
		return 0, 0, false
	}
	wanted := decoder.WithoutWords(decoder.ContentWords(question), decoder.ContentWords(p.text[p.start:p.body]))
	wanted = slices.DeleteFunc(wanted, func(w string) bool { return asksOnly[w] || summed[w] })
	if len(wanted) == 0 {
		return 0, 0, false
	}
	for begin := p.body; begin < len(p.text); begin = p.lineEnd(begin) + 1 {
		line := p.text[begin:p.lineEnd(begin)]
		if decoder.SharedWords(wanted, decoder.ContentWords(line)) < len(wanted) {
			continue
		}
		cells := passages.Cells(line)
		last := cells[len(cells)-1]
		if ok || len(cells) < 2 || !strings.Contains(line, passages.CellMark) || !aSum.MatchString(line[last[0]:last[1]]) || passages.Columns(p.text[p.body:], begin-p.body) != nil {
			return 0, 0, false
		}
		from, to, ok = begin+last[0], begin+last[1], true
	}
	return from, to, ok
}
