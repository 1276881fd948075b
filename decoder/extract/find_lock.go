package extract

import (
	"slices"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// codeThatOpens returns the code in a note that only names what the code opens, if a question asks for it: "shed
// padlock 7731".
func (p passage) codeThatOpens(q query) (from, to int, ok bool) {
	if !q.passcode {
		return 0, 0, false
	}
	wanted := excluding(q.words, namesCode)
	title := words.Content(p.title())
	if headsAmounts.MatchString(p.title()) {
		return 0, 0, false
	}
	for begin := p.body; begin < len(p.text); {
		end := len(p.text)
		next := end
		if cut := apartFrom.FindStringIndex(p.text[begin:]); cut != nil {
			end, next = begin+cut[0], begin+cut[1]
		}
		piece := p.text[begin:end]
		if fewDigits.MatchString(piece) || headsAmounts.MatchString(piece) && !hasDigit(piece) {
			return 0, 0, false // numbers are amounts here
		}
		if m := endsInCode.FindStringSubmatchIndex(piece); m != nil && !ofOtherNumber.MatchString(piece) {
			name := words.Content(piece[m[2]:m[3]])
			if slices.ContainsFunc(name, func(w string) bool { return locked[w] }) && !aYear.MatchString(piece[m[4]:m[5]]) &&
				words.HasAll(wanted, name) && words.HasAll(title, words.Without(wanted, name)) {
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

// namesCode has the words for a code.
var namesCode = words.Set("code pin combination number")

// endsInCode matches a note that ends with a code of digits: "shed padlock 7731".
var endsInCode = lazyregexp.New(`^(.*\pL)[ :=]+(\d{3,8})\W*$`)

// fewDigits matches a note that ends with a number that is too short for a code: "lamp 80".
var fewDigits = lazyregexp.New(`^[^\d\n]*\pL[ :=]+\d{1,2}\W*$`)

// headsAmounts matches what stands above a list of amounts: "Budget".
var headsAmounts = lazyregexp.New(`(?i)\b(?:shopping|budget|costs?|prices?|expenses?|spending|invoice|quote|estimate|stock|inventory|quantities)\b`)

// ofOtherNumber matches a note whose number is no code: "locker no. 7731".
var ofOtherNumber = lazyregexp.New(`(?i)\b(?:no|nr|number|tel|phone|mobile|reading|model|serial|room|year|since|from|until)\b`)

// locked has what a code opens, such as a safe.
var locked = words.Set("lock padlock door gate box safe alarm locker keypad entrance garage barrier cabinet cupboard lockbox keybox bike bicycle suitcase shed")

// apartFrom matches what stands between two notes: "; ".
var apartFrom = lazyregexp.New(`[;|,\n]|\. `)
