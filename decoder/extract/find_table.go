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
	for _, t := range p.tables() {
		a, b, found := t.cellOf(q)
		if found && ok {
			return 0, 0, false
		}
		if found {
			from, to, ok = a, b, true
		}
	}
	return from, to, ok
}

// cellOf returns that cell where the passage has one table.
func (p passage) cellOf(q query) (from, to int, ok bool) {
	if len(p.rows) == 0 || q.form != formValue {
		return 0, 0, false
	}
	wanted := words.Content(q.text)
	column, asked, forRow := p.columnAsked(q, wanted)
	if column < 0 || forRow && asksRest.MatchString(q.text) {
		return 0, 0, false
	}
	rest := p.rowWords(wanted, asked)
	if forRow || words.Shared(thingAsked(q.text), words.Content(p.rows[0].names[column])) > 0 {
		rest = excluding(rest, ofHaving)
	}
	if ofWages.MatchString(p.rows[0].names[column]) && len(asked) > 0 {
		rest = excluding(rest, byTheHour)
	}
	row, missing := p.rowWith(q, rest, p.originColumn(q.text))
	if row < 0 || missing > 0 && p.asksAboutOther(q.text) || otherDates(q.text, p.cell(row, 0)) || p.goesBack(q.wants, row) {
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
	if len(said) == 0 && (asksHowMany.MatchString(q.text) || !strings.ContainsFunc(text, unicode.IsLetter)) { // the table leaves it open; "no" may answer
		return at.from, at.from, missing == 0
	}
	return at.from, at.to, words.Shared(said, rest) == 0 || forRow && words.HasAll(p.wordsBeside(row, column), rest)
}

var (
	// ofWages matches the name of a column of what an hour of work costs, which need not say so.
	ofWages = lazyregexp.New(`(?i)^\W*(?:gross |net )?wages?\W*$`)
	// byTheHour are the words by which a question says so: "hourly wage", "wage per hour".
	byTheHour = words.Set("hourly hour per")
)

// withCell replaces the whole row that a passage answers a question for yes or no with by the row's name and the cell of the
// column that the question names: "dish: Pea soup; celery: yes".
func (p passage) withCell(q query, texts []answerText) []answerText {
	if q.form != formSentence || len(texts) == 0 || len(p.rows) == 0 {
		return texts
	}
	end := texts[0].at + len(texts[0].quote.Text)
	at := p.rowAt(texts[0].at, end)
	if at < 0 || p.rowAt(p.rows[at].cells[0].from+1, end) >= 0 { // none, or several
		return texts
	}
	r, wanted := p.rows[at], words.Content(q.text)
	column, asked := columnOf(r.names, q.text, wanted)
	name := words.Content(p.cell(at, 0))
	if column < 1 || len(asked) == 0 || len(name) == 0 || !words.HasAll(slices.Concat(name, asked, p.names, asksOfRows), wanted) || words.Shared(name, wanted) == 0 {
		return texts
	}
	cell := r.cells[column]
	if cell.from == cell.to || cell.to > end { // a sentence may end within a row
		return texts
	}
	texts[0].text = p.cell(at, 0) + "; " + r.names[column] + ": " + p.slice(cell)
	if r.names[0] != "" {
		texts[0].text = r.names[0] + ": " + texts[0].text
	}
	texts[0].quote.From, texts[0].quote.To, texts[0].quote.Column = cell.from-texts[0].at, cell.to-texts[0].at, r.names[column]
	return texts
}

// asksOfRows are words with which a question for yes or no asks for a cell and that are in no table: "does it contain celery".
var asksOfRows = strings.Fields("any contain contains have has there inside include includes got come comes")

// otherDates reports whether a question names dates and a row's name is another one: the 13 in "13:55" is no 13 June.
func otherDates(question, name string) bool {
	asked, here := datesIn(question), datesIn(name)
	return len(asked) > 0 && len(here) > 0 && words.Shared(asked, here) == 0
}

// columnAsked returns the column that a question asks for and the words by which it does. Where it asks for none but for
// the thing that has a row, that is the first column, and forRow is true. The column is -1 if it asks for neither.
func (p passage) columnAsked(q query, wanted []string) (column int, asked []string, forRow bool) {
	names := p.rows[0].names
	if q.price || q.money {
		names = p.namesOf(p.hasPrices) // "how much is the train?" asks for no name of a train
	}
	column, asked = columnOf(names, q.text, inOtherForms(wanted, q))
	if q.time && column < 0 { // "when does the train arrive?" of the columns "Train" and "Arrives"
		names = p.namesOf(p.hasTimes)
		column, asked = columnOf(names, q.text, inOtherForms(wanted, q))
	}
	if q.time && column > 0 && len(asked) > 0 && words.Shared(asked, wanted) == 0 && !p.hasTimes(column) {
		column, asked = columnOf(names, q.text, wanted) // the column "Paid" says how much
	}
	thing := thingAsked(q.text)
	own := p.columnNamedBy(thing)
	switch {
	case column < 0 && own >= 0: // "which train arrives at 9:40?" of the columns "Train" and "Arrives"
		return own, slices.Concat(words.Content(p.rows[0].names[own]), p.naming(thing, own)), own == 0
	case column < 0 && asksWhich.MatchString(q.text): // "which has a red lid?": the row's name
		return 0, words.Content(names[0]), true
	case column > 0 && !q.time && !q.money && words.Shared(thing, words.Content(names[column])) == 0 && p.isThingOfRows(thing) && !p.namesRow(wanted):
		return 0, slices.Concat(asked, words.Content(names[0]), p.naming(thing, 0)), true // "which boat does Ada own?" of the column "Owner"
	}
	return column, slices.Concat(asked, verbsFor(asked, wanted)), false
}

// thingAsked returns the first words of what a question asks for by name: "red", "boats" of "which red boats".
func thingAsked(question string) []string {
	if m := asksThing.FindStringSubmatch(question); m != nil {
		return words.Content(m[1])
	}
	return nil
}

// naming returns the words of the thing that a question asks for by which a column or the document is called: of "red boats"
// only the second says what the rows are about.
func (p passage) naming(thing []string, column int) []string {
	called := slices.Concat(words.Content(p.rows[0].names[column]), p.names)
	return slices.DeleteFunc(slices.Clone(thing), func(w string) bool { return !words.Has(called, w) })
}

// isThingOfRows reports whether each row of the passage's table is about one of the things: the first column or the
// document is called so.
func (p passage) isThingOfRows(thing []string) bool {
	return words.Shared(thing, slices.Concat(words.Content(p.rows[0].names[0]), p.names)) > 0
}

// isOtherRow reports whether a row is about another thing than a question names: the journey back, "web-2" for "web-3",
// or "year 5" for "year 3".
func (p passage) isOtherRow(w wants, row int) bool {
	r := p.rows[row]
	line := p.text[r.cells[0].from:r.cells[len(r.cells)-1].to]
	return w.otherWay(line) || w.otherIdentifier("", line) || w.otherNumber("", line)
}

// goesBack reports whether a row has the places of a question's journey in the columns for the way back.
func (p passage) goesBack(w wants, row int) bool {
	from, to := journeyColumns(p.rows[row].names)
	if from < 0 || to < 0 {
		return false
	}
	has := func(place string, column int) bool {
		return place != "" && strings.Contains(p.cell(row, column), place)
	}
	return has(w.to, from) && !has(w.to, to) || has(w.from, to) && !has(w.from, from)
}

// mayBeCell reports whether the text of a cell may answer: no number says who or where something is, no identifier who, no
// date how many, nothing without an amount what something costs, and only a column that says so what was before.
func (q query) mayBeCell(text, column string, forRow bool) bool {
	switch {
	case (asksPerson.MatchString(q.text) || q.place && !ofPlaces.MatchString(column)) && text != "" && !strings.ContainsFunc(text, unicode.IsLetter):
		return false
	case q.namesNobody(text, column) || q.place && onlyMonth.MatchString(text):
		return false
	case q.price && text != "" && !aPrice.MatchString(text) && words.Shared(words.Content(column), ofPrices) == 0:
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

// namesOf returns the names of the columns other than the first that may have what a question asks for; those of the
// others are empty.
func (p passage) namesOf(fits func(column int) bool) []string {
	names := slices.Clone(p.rows[0].names)
	for i := 1; i < len(names); i++ {
		if !fits(i) {
			names[i] = ""
		}
	}
	return names
}

// verbsFor returns the words of a question whose other forms name a column: "leave" for "Departure".
func verbsFor(named, wanted []string) (out []string) {
	for _, w := range wanted {
		if words.Shared(otherForms[w], named) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// namesRow reports whether a question has all words of a row's name.
func (p passage) namesRow(wanted []string) bool {
	for i := range p.rows {
		if label := words.Content(p.cell(i, 0)); len(label) > 0 && words.HasAll(wanted, label) {
			return true
		}
	}
	return false
}

// hasTimes reports whether a column has dates or times of day.
func (p passage) hasTimes(column int) bool { return p.anyCell(column, dateOrTime) }

// hasPrices reports whether a column has, by its name or its cells, what something costs.
func (p passage) hasPrices(column int) bool {
	return words.Shared(words.Content(p.rows[0].names[column]), ofPrices) > 0 || p.anyCell(column, aPrice)
}

// anyCell reports whether a cell of a column matches a pattern.
func (p passage) anyCell(column int, pattern *lazyregexp.Regexp) bool {
	for i, r := range p.rows {
		if column < len(r.cells) && pattern.MatchString(p.cell(i, column)) {
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
// one whose name has some of them. It is -1 if there is no such row or a second one. Rows about another thing than the
// question names do not count, nor do the words of the column without.
func (p passage) rowWith(q query, wanted []string, without int) (row, missing int) {
	best, most, shared, tie := -1, 0, 0, false
	named := -1
	if without != 0 {
		named = p.rowNamed(wanted)
	}
	for i, r := range p.rows {
		if named >= 0 && i != named || p.isOtherRow(q.wants, i) {
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
	from, to := journeyColumns(p.rows[0].names)
	if to < 0 || leaving.MatchString(question) {
		return -1
	}
	return from
}

// journeyColumns returns the first columns of the places where journeys begin and where they end; -1 for one that is not there.
func journeyColumns(columns []string) (from, to int) {
	called := func(names map[string]bool) int {
		return slices.IndexFunc(columns, func(n string) bool { return names[strings.ToLower(n)] })
	}
	return called(fromWords), called(toWords)
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

var (
	// asksThing matches what a question asks for by name, with a word or two: "which red boats".
	asksThing = lazyregexp.New(`(?i)` + questionStart + `(?:(?:in|at|on|to|from|with|by|for) )?(?:which|what) (\pL+(?: \pL+)?)`)
	// asksRest matches a question for all but some rows, or for those with more or less than it names.
	asksRest = lazyregexp.New(`(?i)\b(?:not|no|never|without|except|excluding|other than|neither|nor|more|less|fewer|over|under|above|below|at least|at most|between|than)\b|n['’]t\b`)
	// ofHaving are verbs that only say that a row has something.
	ofHaving = words.Set("run runs running use uses using own owns owned belong belongs having carry carries contain contains include includes offer offers hold holds provide provides stand stands lie lies work works go goes sail sails fly flies")
)

// sumOnReceipt returns the sum at the end of a row whose columns have no names, as on a receipt, if a question asks what
// the thing in just that row costs.
func (p passage) sumOnReceipt(q query) (from, to int, ok bool) {
	if q.form != formValue || !asksSum.MatchString(q.text) {
		return 0, 0, false
	}
	wanted := words.Without(words.Content(q.text), words.Content(p.title()))
	wanted = excluding(excluding(wanted, asksOnly), summed)
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
