package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// subjectClause is what a sentence says of one of several subjects in turn: "Ann joined in 2019, Bob in 2021".
type subjectClause struct {
	from, behind, to int  // offsets in the sentence of the subject, of what stands after it, and of the next subject
	asked            bool // the question names it
}

// inItsClause replaces a value in the clause of another subject than the question's by the value in the question's
// subject's own clause, or by the sentence if it is not clear which that is.
func (p passage) inItsClause(w wants, t answerText) answerText {
	said := t.quote.Text
	if t.quote.From == t.quote.To || strings.Contains(said, "\n") || strings.Contains(said, passages.CellMark) {
		return t
	}
	own, other := w.twoClauses(said, t.quote)
	if own == nil || !areParallel(said, *own, *other, t.quote) {
		return t
	}
	at, ok := ownValue(w, said, *own, *other, t.quote)
	if !ok {
		t.text = p.saySentences(t.at, t.at+len(said))
		return t
	}
	t.quote.From, t.quote.To = at.from, at.to
	t.text = said[at.from:at.to]
	return t
}

// twoClauses returns the clause of the one subject that the question names, and another's that holds the value. They are
// nil if there are no such two.
func (w wants) twoClauses(said string, value decoder.Quote) (own, other *subjectClause) {
	all := w.subjectClauses(said)
	asked := 0
	for i, s := range all {
		if s.asked {
			own, asked = &all[i], asked+1
		} else if s.from <= value.From && s.behind < value.To && value.To <= s.to {
			other = &all[i]
		}
	}
	if asked != 1 || other == nil || standsFor.MatchString(said[other.behind:other.to]) || hasAnyWord(said[other.from:other.to], namesIn(w.question)) {
		return nil, nil // the other clause may tell of the one who is asked about, too
	}
	return own, other
}

// subjectClauses returns what a sentence says of each name, or of each numbered thing of the question's kind, that begins one
// of its clauses.
func (w wants) subjectClauses(said string) (all []subjectClause) {
	begins := []int{0}
	for _, m := range nextClause.FindAllStringIndex(said, -1) {
		begins = append(begins, m[1])
	}
	names := namesIn(w.question)
	for _, b := range begins {
		m := clauseSubject.FindStringSubmatchIndex(said[b:])
		if m == nil {
			continue
		}
		s := subjectClause{from: b, behind: b + m[1]}
		if m[2] >= 0 {
			subject := strings.Fields(strings.ToLower(said[b+m[2] : b+m[3]]))
			if len(words.Content(subject[0])) == 0 || len(subject) == 1 && noName.MatchString(subject[0]) {
				continue
			}
			s.asked = slices.ContainsFunc(subject, func(word string) bool { return slices.Contains(names, word) })
		} else {
			thing := strings.TrimSuffix(strings.ToLower(said[b+m[4]:b+m[5]]), "s")
			numbers, same := w.numbered[thing]
			if !same {
				continue
			}
			s.asked = slices.Contains(numbers, strings.ToLower(said[b+m[6]:b+m[7]]))
		}
		if n := len(all); n > 0 {
			all[n-1].to = b
		}
		s.to = len(said)
		all = append(all, s)
	}
	return all
}

// areParallel reports whether two clauses say the same kind of thing of their subjects. "Ann and Bob joined in 2019"
// does not: nothing follows Ann.
func areParallel(said string, own, other subjectClause, value decoder.Quote) bool {
	rest := said[own.behind:own.to]
	if len(words.Content(rest)) == 0 && !hasDigit(rest) {
		return false
	}
	if other.from < own.from || len(valuesLike(said[value.From:value.To], rest)) > 0 {
		return true
	}
	return saysIs.MatchString(rest) && len(words.Content(said[other.behind:max(other.behind, value.From)])) > 0
}

// ownValue returns the one value in the subject's own clause that is of the same kind as another value. If that clause
// has a verb, it must be the question's.
func ownValue(w wants, said string, own, other subjectClause, value decoder.Quote) (at textRange, ok bool) {
	found := valuesLike(said[value.From:value.To], said[own.behind:own.to])
	if len(found) != 1 {
		return at, false
	}
	at = textRange{own.behind + found[0][0], own.behind + found[0][1]}
	if len(words.Content(said[own.behind:at.from])) == 0 {
		return at, true
	}
	lost := words.Without(w.words, words.Content(said[own.from:own.to]))
	return at, words.Shared(lost, words.Content(said[other.from:other.to])) == 0
}

// valuesLike returns where a text has values of a value's kind: money, times, dates, numbers with the same word after them,
// or names.
func valuesLike(value, text string) [][]int {
	for _, kind := range slices.Concat(valueKinds, []*lazyregexp.Regexp{aDayOfYear, ofYear}) {
		if kind.MatchString(value) {
			return kind.FindAllStringIndex(text, -1)
		}
	}
	if m := numberAndUnit.FindStringSubmatch(value); m != nil {
		return regexp.MustCompile(`\b\d(?:[\d.,]*\d)?`+regexp.QuoteMeta(m[1])).FindAllStringIndex(text, -1)
	}
	if aName.FindString(value) == value {
		return aName.FindAllStringIndex(text, -1)
	}
	return nil
}

var (
	// nextClause matches what stands between two clauses: ", and ".
	nextClause = lazyregexp.New(`(?:, |; | )(?:and|but|while|whereas|und|et|y) |, |; `)
	// clauseSubject matches the subject with which a clause begins: "For Ann ", "year 3: ".
	clauseSubject = lazyregexp.New(`^(?:(?:[Ff]or|[Oo]f|[Ww]ith|[Tt]he) )?(?:(\p{Lu}[\pL-]+(?: \p{Lu}[\pL-]+)*)|(\pL{3,}) (\d{1,4}\pL?))(?:['’]s)?(?: |: )`)
	// standsFor matches what may stand for the subject of an earlier clause: "it", "their".
	standsFor = lazyregexp.New(`(?i)` + apart(`he|him|his|she|her|hers|it|its|they|them|their|both|each|all|er|sie|ihr\pL*|sein\pL*|il|elle|ils|elles|who|which|that`))
	// saysIs matches a verb that says no more than that something is so: "has".
	saysIs = lazyregexp.New(`(?i)\b(?:is|are|was|were|has|have|had|ist|sind|hat|est|a|es)\b`)
	// numberAndUnit matches a number with the word after it: "3 nights".
	numberAndUnit = lazyregexp.New(`^\d[\d.,]*((?: ?[^\d\s]+)?)$`)
)
