package extract

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// tableCell returns the cell of the passage's table in the row and the column that a question names. The reader takes a
// row for a sentence and is seldom sure of a cell by itself. The range is empty if the cell is.
func (p passage) tableCell(q query) (from, to int, ok bool) {
	if len(p.rows) == 0 || q.form != formValue {
		return 0, 0, false
	}
	wanted := words.Content(q.text)
	column, asked, forRow := p.columnAsked(q, wanted)
	if column < 0 {
		return 0, 0, false
	}
	rest := p.rowWords(wanted, asked)
	row, missing := p.rowWith(rest, p.originColumn(q.text))
	if row < 0 || missing > 0 && p.asksAboutOther(q.text) || otherDates(q.text, p.cell(row, 0)) {
		return 0, 0, false
	}
	if forRow && len(q.called) > 0 {
		if column = p.whoColumn(row, q.called); column < 0 {
			return 0, 0, false
		}
	}
	label := words.Content(p.cell(row, 0))
	if missing > 1 || missing == 1 && (column == 0 || len(label) == 0 || !words.HasAll(wanted, label)) {
		return 0, 0, false
	}
	if len(asked) == 0 && q.time && (saysDo.MatchString(q.text) || !onlyDate.MatchString(p.cell(row, column))) && p.timeElsewhere(row, column, rest) {
		return 0, 0, false
	}
	at, text := p.rows[row].cells[column], p.cell(row, column)
	if !q.mayBeCell(text, p.rows[0].names[column], forRow) {
		return 0, 0, false
	}
	said := words.Content(text)
	if len(said) == 0 { // the table leaves it open
		return at.from, at.from, missing == 0
	}
	return at.from, at.to, words.Shared(said, rest) == 0
}

// otherDates reports whether a question names dates and a row's name is another one: the 13 in "13:55" is no 13 June.
func otherDates(question, name string) bool {
	asked, here := datesIn(question), datesIn(name)
	return len(asked) > 0 && len(here) > 0 && words.Shared(asked, here) == 0
}

// columnAsked returns the column that a question asks for and the words by which it does. Where it asks for none but for
// the thing that has a row, that is the first column, and forRow is true. The column is -1 if it asks for neither.
func (p passage) columnAsked(q query, wanted []string) (column int, asked []string, forRow bool) {
	names := p.rows[0].names
	column, asked = columnOf(names, q.text, inOtherForms(wanted, q))
	if q.time && column > 0 && len(asked) > 0 && words.Shared(asked, wanted) == 0 && !p.hasTimes(column) {
		column, asked = columnOf(names, q.text, wanted) // the column "Paid" says how much
	}
	if other := columnOfKind(names, q.text); column > 0 && other > 0 && asksPriceOf.MatchString(q.text) && !aPrice.MatchString(p.cell(0, column)) && aPrice.MatchString(p.cell(0, other)) {
		column = other // "how much does the train cost?" of a column of trains
	}
	if column < 0 && asksWhich.MatchString(q.text) { // "which has a red lid?": the row's name
		return 0, words.Content(names[0]), true
	}
	return column, asked, false
}

// mayBeCell reports whether the text of a cell may answer: no number says who or where something is, no date how many,
// and only a column that says so what was before.
func (q query) mayBeCell(text, column string, forRow bool) bool {
	switch {
	case (asksPerson.MatchString(q.text) || q.place && !ofPlaces.MatchString(column)) && text != "" && !strings.ContainsFunc(text, unicode.IsLetter):
		return false
	case (forRow || asksHowMany.MatchString(q.text)) && wantsNoDate(q.text) && onlyDate.MatchString(text):
		return false
	}
	return !q.old || saysFormer.MatchString(column)
}

// ofPlaces matches the name of a column of places, which may have numbers: "Room".
var ofPlaces = lazyregexp.New(`(?i)\b(?:rooms?|gates?|platforms?|bays?|shel(?:f|ves)|desks?|lockers?|flats?|floors?|box|boxes|pages?|slots?|zones?|pitch|court|lanes?|stalls?|stands?|berths?|tables?|seats?|tracks?|piers?|aisles?|decks?|cabins?|studios?|halls?|blocks?|houses?|plots?|beds?|wards?|stations?|stops?|rows?|levels?|storeys?|units?|suites?|buildings?|drawers?|racks?|bins?|hooks?|` +
	`addresses|address|gleis|raum|zimmer|where|place|location)\b`)

// asksHowMany matches a question for a number: "how many boats".
var asksHowMany = lazyregexp.New(`(?i)\bhow many\b`)

// saysFormer matches the name of a column of what was so before: "Old price".
var saysFormer = lazyregexp.New(`(?i)\b(?:old|previous|former|before|was|until|last|original(?:ly)?|from|earlier|prior|previously|formerly|ex|past|initial(?:ly)?|replaced|sold|maiden|predecessor|to (?:19|20)\d\d)\b`)

// timeElsewhere reports whether another cell of a row has a time of day beside some words of the question: "arrives
// 9:20".
func (p passage) timeElsewhere(row, column int, rest []string) bool {
	for i, c := range p.rows[row].cells {
		text := p.slice(c)
		if i > 0 && i != column && aClock.MatchString(text) && words.Shared(rest, words.Content(text)) > 0 {
			return true
		}
	}
	return false
}

// saysDo matches a question with a verb of its own, "when does it arrive?".
var saysDo = lazyregexp.New(`(?i)\b(?:do|does|did)\b`)

// inOtherForms returns words of a question about how much or when, with the forms of them that name columns: "arrival"
// for "arrive".
func inOtherForms(asked []string, q query) []string {
	all := slices.Clip(asked)
	if asksNoForm.MatchString(q.text) {
		return all
	}
	for _, w := range asked {
		if q.time != ofAmounts[w] {
			all = append(all, otherForms[w]...)
		}
	}
	return all
}

// hasTimes reports whether a column has dates or times of day.
func (p passage) hasTimes(column int) bool {
	for i := range p.rows {
		if text := p.cell(i, column); dateOrTime.MatchString(text) {
			return true
		}
	}
	return false
}

// asksNoForm matches a question for somebody, something or some place: "who", "from where".
var asksNoForm = lazyregexp.New(`(?i)` + questionStart + `(?:(?:from|to) )?(?:who|whom|whose|where|which)\b`)

// ofAmounts has the verbs whose other forms name columns of amounts: "weigh" and "Weight".
var ofAmounts = words.Set("buy sell weigh weighs")

// otherForms has verbs of questions with other forms and words that name columns: "arrive" and "Arrival".
var otherForms = map[string][]string{
	"pay": {"paid"}, "buy": {"bought"}, "sell": {"sold"}, "send": {"sent"}, "leave": {"left", "departs", "departure"},
	"leaves": {"departs", "departure"}, "go": {"departs", "departure"}, "arrive": {"arrival"}, "arrives": {"arrival"}, "land": {"arrives", "arrival"},
	"depart": {"departure"}, "begin": {"start", "began"}, "start": {"begins", "beginning"}, "finish": {"end", "ends"}, "deliver": {"delivery"},
	"delivered": {"delivery"}, "expire": {"expiry"}, "expires": {"expiry"}, "born": {"birth", "birthday", "birthdate"}, "weigh": {"weight"}, "weighs": {"weight"},
}

// rowWords returns the words of a question that say which row is meant: those that neither ask for the column nor stand
// in the title, and no column's name, as in "by the garage Holm".
func (p passage) rowWords(wanted, asked []string) []string {
	named := excluding(words.Without(wanted, asked), asksOnly)
	rest := words.Without(named, words.Content(p.title()))
	if len(rest) == 0 { // the title names the row: "Runbook: web01"
		rest = named
	}
	for _, n := range p.rows[0].names {
		if one := words.Content(n); len(one) == 1 && len(rest) > 1 {
			rest = words.Without(rest, one)
		}
	}
	return rest
}

// rowWith returns the row with the most of the wanted words, and how many of them it lacks. Of two such rows it is the
// one whose name has some of them. It is -1 if there is no such row or a second one, or if the passage has two tables.
// The words of the column without do not count.
func (p passage) rowWith(wanted []string, without int) (row, missing int) {
	best, most, shared, tie := -1, 0, 0, false
	named := -1
	if without != 0 {
		named = p.rowNamed(wanted)
	}
	for i, r := range p.rows {
		if !slices.Equal(r.names, p.rows[0].names) {
			return -1, 0
		}
		if named >= 0 && i != named {
			continue
		}
		said := r.words
		if without >= 0 {
			said = words.Content(p.text[r.cells[0].from:r.cells[without].from] + p.text[r.cells[without].to:r.cells[len(r.cells)-1].to])
		}
		has := words.Shared(wanted, said)
		n := 2 * has
		if without != 0 && words.Shared(wanted, words.Content(p.cell(i, 0))) > 0 {
			n++
		}
		if n > most {
			best, most, shared, tie = i, n, has, false
		} else if n == most {
			tie = true
		}
	}
	if tie {
		return -1, 0
	}
	return best, len(wanted) - shared
}

// originColumn returns the column of the places where journeys begin, if another has those where they end and the question
// is not about leaving: who asks for the hotel in Lund means the journey to Lund. It is -1 if there is no such column.
func (p passage) originColumn(question string) int {
	named := func(names map[string]bool) int {
		return slices.IndexFunc(p.rows[0].names, func(n string) bool { return names[strings.ToLower(n)] })
	}
	from, to := named(fromWords), named(toWords)
	if to < 0 || leaving.MatchString(question) {
		return -1
	}
	return from
}

var (
	// fromWords name the column of the places where journeys begin, in four languages.
	fromWords = words.Set("from origin departure von abfahrt de départ salida")
	// toWords name the column of the places where they end.
	toWords = words.Set("to destination arrival nach ankunft à arrivée destino llegada")
	// leaving matches a question about the beginning of a journey: "from Lund", "when does it leave".
	leaving = lazyregexp.New(`(?i)\b(?:from|leav\pL*|left|depart\pL*|start\pL*|off)\b`)
)

// rowNamed returns the only row whose name is words of a question, just as they are spelt; -1 if there is none.
func (p passage) rowNamed(wanted []string) int {
	at := -1
	for i := range p.rows {
		label := words.Content(p.cell(i, 0))
		if len(label) == 0 || slices.ContainsFunc(label, func(w string) bool { return !slices.Contains(wanted, w) }) {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// asksAboutOther reports whether a question names last what it is about ("… of the limiter", "… in fstab"), and the passage
// does not speak of that.
func (p passage) asksAboutOther(question string) bool {
	m := endsWith.FindStringSubmatch(question)
	if m == nil {
		return false
	}
	other := words.Content(m[1])
	return len(other) > 0 && words.Shared(other, slices.Concat(p.names, words.Content(p.text))) == 0
}

// endsWith matches what a question is about, at its end: "What is the cost of the limiter?", "What is set in fstab?".
var endsWith = lazyregexp.New(`(?i)^.* (?:of|in|for|by|with) ((?:the |a |an |my |our )?[\pL\pN._ -]+?)\W*$`)

// asksWhich matches a question for one of the things that have a row: "which has a red lid?".
var asksWhich = lazyregexp.New(`(?i)^\W*(?:and )?(?:which|who|whose)\b`)

// asksPriceOf matches a question for what something costs that names only what: "how much is the train".
var asksPriceOf = lazyregexp.New(`(?i)^\W*(?:and )?(?:how much (?:is|are|does|do|did|will)\b|what (?:does|do|did|will)\b.*\bcosts?\b)`)

// sumOnReceipt returns the sum at the end of a row whose columns have no names, as on a receipt, if a question asks what
// the thing in just that row costs.
func (p passage) sumOnReceipt(q query) (from, to int, ok bool) {
	if q.form != formValue || !asksSum.MatchString(q.text) {
		return 0, 0, false
	}
	wanted := words.Without(words.Content(q.text), words.Content(p.title()))
	wanted = slices.DeleteFunc(wanted, func(w string) bool { return asksOnly[w] || summed[w] })
	if len(wanted) == 0 {
		return 0, 0, false
	}
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		if !words.HasAll(words.Content(line), wanted) {
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

// asksSum matches a question about what something costs: "how much was the tap?".
var asksSum = lazyregexp.New(`(?i)\bcosts?\b|\bpric(?:e|ed)\b|\bhow much\b|\bpa(?:y|id)\b`)

// aSum matches a sum of money: "EUR 12.50", "12,-".
var aSum = lazyregexp.New(`(?i)^(?:` + money + `)? ?\d[\d.,]*[.,](?:\d\d|[-–—])(?: ?(?:` + money + `))?$`)

// summed has the words of a question about a cost that do not say what cost it: "bill".
var summed = words.Set("altogether total sum all overall invoice bill receipt charged charge did was were")
