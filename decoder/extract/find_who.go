package extract

import (
	"slices"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// calledIn returns the words of the name of whom a question asks who that is: "Ada Lund" of "who is Ada Lund?".
func calledIn(question string) []string {
	if m := asksWhoIs.FindStringSubmatch(question); m != nil {
		return words.Content(m[1])
	}
	return nil
}

// columnOfName returns the column of a row whose cell has all words of a name; -1 if there is none.
func (p passage) columnOfName(row int, name []string) int {
	return slices.IndexFunc(p.rows[row].cells, func(c textRange) bool { return words.HasAll(words.Content(p.slice(c)), name) })
}

// whoColumn returns the column of a row that says who somebody is, by a role, or who has that role; -1 if none does.
func (p passage) whoColumn(row int, name []string) int {
	names := p.rows[row].names
	at, role := p.columnOfName(row, name), slices.IndexFunc(names, ofRoles.MatchString)
	switch {
	case at < 0 || at == role || role == 0: // "who is treasurer?", or "Treasurer" before the name
		return 0
	case p.isOfPerson(row, at):
		return role
	}
	return -1
}

// isOfPerson reports whether a row is about the one whose name it has in a column, and not about something that is theirs.
func (p passage) isOfPerson(row, at int) bool {
	return at == 0 || ofPeople.MatchString(p.rows[row].names[at])
}

// isOfTheirThing reports whether a candidate stands in a row about something that belongs to the one of whom the question
// asks who that is: the server of its owner.
func (w wants) isOfTheirThing(c candidate) bool {
	if len(w.called) == 0 {
		return false
	}
	row := c.rowAt(c.begin, c.end)
	if row < 0 {
		return false
	}
	at := c.columnOfName(row, w.called)
	return at >= 0 && !c.isOfPerson(row, at) && c.whoColumn(row, w.called) < 0
}

// namesNobody reports whether a question asks who and the text of a cell is an identifier or a date, "K-32", in a column of
// neither people nor groups.
func (w wants) namesNobody(text, column string) bool {
	return w.person && text != "" && (onlyIdentifiers.MatchString(text) || onlyDate.MatchString(text) || onlyMonth.MatchString(text)) &&
		!ofPeople.MatchString(column) && !ofGroups.MatchString(column)
}

var (
	// onlyIdentifiers matches a text of words with figures: "K-32", "A1 B2".
	onlyIdentifiers = lazyregexp.New(`^\W*(?:[^\s\d]*\d\S*(?:\s+|$))+$`)
	// ofGroups matches the name of a column of groups and of what people are called by, which may have figures: "Team".
	ofGroups = lazyregexp.New(`(?i)\b(?:teams?|groups?|class(?:es)?|forms?|crews?|squads?|units?|clubs?|compan(?:y|ies)|firms?|users?|accounts?|logins?|owners?|hosts?|callsigns?|nicknames?|customers?|clients?|suppliers?|rooms?|flats?|houses?)\b`)
	// asksWhoIs matches a question for who somebody is: "who is Ada Lund?".
	asksWhoIs = lazyregexp.New(questionStart + `(?i:who(?:['’]s| is| was)) ((?:(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.? )?\p{Lu}[\pL'’-]+(?: (?:(?:de|del|della|di|da|du|des|la|le|von|van|der|den) )*\p{Lu}[\pL'’.-]*)*)\W*$`)
	// ofRoles matches the name of a column of what people are or do: "Role".
	ofRoles = lazyregexp.New(`(?i)\b(?:roles?|positions?|posts?|jobs?|job title|functions?|dut(?:y|ies)|tasks?|relations?|relationship|occupations?|profession|responsib\pL+|rank|rolle|funktion|amt|aufgaben?|beruf|fonction|rôle|cargo|puesto)\b`)
	// ofPeople matches the name of a column of those whom the rows are about: "Name".
	ofPeople = lazyregexp.New(`(?i)\b(?:names?|persons?|people|who|members?|guests?|players?|employees?|staff|colleagues?|patients?|children|child|students?|pupils?|volunteers?|nom|nombre)\b`)
)
