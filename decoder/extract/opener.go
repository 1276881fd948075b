package extract

import (
	"regexp"
	"slices"

	"tandem/decoder"
)

var (
	namesCode = set("code pin combination number")
	// endsInCode matches what ends in a code of digits, ofOtherNumber what says that its number is none.
	endsInCode    = regexp.MustCompile(`^(.*\pL)[ :=]+(\d{3,8})\W*$`)
	ofOtherNumber = regexp.MustCompile(`(?i)\b(?:no|nr|number|tel|phone|mobile|reading|model|serial|room|year|since|from|until)\b`)
	aYear         = regexp.MustCompile(`^(?:19|20)\d\d$`)
	// locked has what a code opens.
	locked    = set("lock padlock door gate box safe alarm locker keypad entrance garage barrier cabinet cupboard lockbox keybox bike bicycle suitcase shed")
	apartFrom = regexp.MustCompile(`[;|,\n]|\. `)
)

// opener returns the code that stands behind the name of what it opens and nothing else, if a question asks for it: "shed padlock 7731".
func (p passage) opener(w wants) (from, to int, ok bool) {
	if !w.code {
		return 0, 0, false
	}
	wanted := besides(w.words, namesCode)
	title := decoder.ContentWords(p.text[p.start:p.body])
	for begin := p.body; begin < len(p.text); {
		end := len(p.text)
		next := end
		if cut := apartFrom.FindStringIndex(p.text[begin:]); cut != nil {
			end, next = begin+cut[0], begin+cut[1]
		}
		piece := p.text[begin:end]
		if m := endsInCode.FindStringSubmatchIndex(piece); m != nil && !ofOtherNumber.MatchString(piece) {
			name := decoder.ContentWords(piece[m[2]:m[3]])
			if slices.ContainsFunc(name, func(w string) bool { return locked[w] }) && !aYear.MatchString(piece[m[4]:m[5]]) &&
				len(decoder.WithoutWords(name, wanted)) == 0 && len(decoder.WithoutWords(decoder.WithoutWords(wanted, name), title)) == 0 {
				if ok {
					return 0, 0, false // two of them
				}
				from, to, ok = begin+m[4], begin+m[5], true
			}
		}
		begin = next
	}
	return from, to, ok
}
