package extract

import (
	"math"
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/model/span"
)

// finding is what a finder has found in a passage.
type finding struct {
	ranges     []textRange // the first range answers, and the others say so; nil if nothing was found
	leavesOpen bool        // the passage names what is asked for without a value: an option without a default, an empty cell
	inLine     bool        // the answer is in the line of the first range, and the reader knows better where if it points there
}

type (
	finder      func(p passage, q query) finding
	rangeFinder func(p passage, q query) (from, to int, ok bool) // finds one range at most
)

// finders look up what a question names, such as an option, a cell or a code. Each is named for what it finds. That is
// surer than what the reader points at. The first finder with a result answers, so their order decides where a passage
// has several such things.
var finders = []finder{
	// "Which version dropped IPv4?": "2.1" above "Drop IPv4", and that line
	passage.fromChangelog,
	// "How do I start the server?": the code below "To start the server:"
	found(passage.codeBlock),
	// "What does --all do?": "prints hidden files" in "--all: prints hidden files"
	found(passage.whatItDoes),
	// "What is the default of --depth?": "5" in "--depth N: levels to print (default 5)"
	foundOrOpen(passage.defaultValue),
	// "What are the ingredients?": the list below "Ingredients:"
	found(passage.listBelowHeading),
	// "What does E11 mean?": "the filter is full" in "E11: the filter is full"
	found(passage.meaningOfCode),
	// "Which boats have two berths?": the names in the rows that say so
	found(passage.allCells),
	// "How much is the ferry on Sunday?": the cell in the row of Sunday and the column of prices
	foundOrOpen(passage.tableCell),
	// "When was Ada Lovelace born?": "1815" in "Ada Lovelace (1815–1852)"
	found(passage.birthOrDeath),
	// "Who signed the letter?": the name below "Kind regards,"
	found(passage.signature),
	// "Which is cheaper, the ferry or the bus?": the one with the smaller price
	found(passage.oneOfTwo),
	// "What did the tap cost?": the sum at the end of its row on a receipt
	found(passage.sumOnReceipt),
	// "What is the audio group?": what "audio: " is followed by
	found(passage.definition),
	// "How big is the tank?": "4.5 l" in "Tank: 4.5 l"
	inLine(passage.valueBehindLabel),
}

// find returns the result of the first finder that has one.
func (p passage) find(q query) finding {
	open := false
	for _, f := range finders {
		found := f(p, q)
		if len(found.ranges) > 0 {
			return found
		}
		open = open || found.leavesOpen
	}
	return finding{leavesOpen: open}
}

// found makes a finder that takes an empty range for nothing.
func found(find rangeFinder) finder {
	return func(p passage, q query) finding {
		out := foundOrOpen(find)(p, q)
		out.leavesOpen = false
		return out
	}
}

// foundOrOpen makes a finder that takes an empty range for what the passage leaves open.
func foundOrOpen(find rangeFinder) finder {
	return func(p passage, q query) finding {
		from, to, ok := find(p, q)
		if ok && from < to {
			return finding{ranges: []textRange{{from, to}}}
		}
		return finding{leavesOpen: ok}
	}
}

// inLine makes a finder of the rest of a line.
func inLine(find rangeFinder) finder {
	return func(p passage, q query) finding {
		out := found(find)(p, q)
		out.inLine = true
		return out
	}
}

// spansFor returns the spans that answer: what stands below the question if the passage asks it itself, else what the
// finders find, else the reader's spans, whose P(no answer) is none. It notes in e which of these it took.
func (p passage) spansFor(q query, none float64, e *Evidence, spans []span.Span) []span.Span {
	if from, to, asks := p.ownQuestion(q.text); asks && from == to {
		return p.spansElsewhere(from, none, e, spans)
	} else if asks {
		return []span.Span{{Begin: from, End: to, P: 1 - none}}
	}
	if strings.Contains(strings.TrimRight(q.text, "? "), "?") { // a follow-up with the question before it
		return spans
	}
	f := p.find(q)
	if f.leavesOpen {
		e.None = max(none, leftOpen)
	}
	if len(f.ranges) == 0 {
		return spans
	}
	e.None = min(none, sureNone)
	if f.inLine && p.inLineOf(spans, f.ranges[0].from) {
		e.Line = true
		return spans
	}
	e.Named = true
	var out []span.Span
	for n, r := range f.ranges {
		out = append(out, span.Span{Begin: r.from, End: r.to, P: (1 - e.None) * math.Pow(evident, float64(n))})
	}
	return out
}

// spansElsewhere returns the spans that may answer a question that the passage asks at an offset and leaves open. Where a
// mail quotes it, those are what its sender says, if anything: who asked says no more than that.
func (p passage) spansElsewhere(at int, none float64, e *Evidence, spans []span.Span) []span.Span {
	var own []span.Span
	if p.isQuoted(at) {
		own = slices.DeleteFunc(slices.Clone(spans), func(s span.Span) bool { return p.isQuoted(s.Begin) })
	}
	rest := 1.0
	for _, s := range own {
		rest -= s.P
	}
	if e.None = max(none, min(rest, leftOpen)); len(own) > 0 {
		return own
	}
	return spans
}

// inLineOf reports whether the reader points into the line around an offset: its likeliest span is there, and no less likely
// than all outside of it.
func (p passage) inLineOf(spans []span.Span, at int) bool {
	begin, end := p.lineStart(at), p.lineEnd(at)
	within := func(s span.Span) bool { return s.Begin < end && s.End > begin }
	outside := 0.0
	for _, s := range spans {
		if !within(s) {
			outside += s.P
		}
	}
	return len(spans) > 0 && within(spans[0]) && spans[0].P >= outside
}

// Of a passage in which the question names where to look: P(no answer), the least log-odds that what stands there is
// right, and how likely what says so is the answer, relative to that.
const (
	sureNone  = 0.005
	evident   = 0.3
	namedOdds = 1.5
)

// leftOpen is the least P(no answer) of a passage that asks the question itself and has nothing below it, or names what
// is asked for without a value.
const leftOpen = 0.99

// ownQuestion returns the text below a question in the passage that is the one that was asked, in the same words except
// those of the title. The range is empty if the passage leaves the question open. asks is false if the passage does not
// ask it.
func (p passage) ownQuestion(question string) (from, to int, asks bool) {
	wanted := words.Content(question)
	titled := words.Content(p.title())
	if last := p.title(); strings.HasSuffix(strings.TrimSpace(last), "?") { // the heading asks
		about := words.Content(last[strings.LastIndex(last, ": ")+1:])
		if len(about) >= fewestAsked && words.HasAll(wanted, about) && words.HasAll(titled, wanted) {
			from, to = p.lineOrSentence(p.body)
			return from, to, true
		}
	}
	for _, end := range p.ends {
		begin := p.sentenceStart(end - 1)
		if begin < p.body {
			continue
		}
		var about []string
		switch asked, rest := p.askedInSpeech(begin, end); {
		case p.isQuestion(begin):
			about = words.Content(lastSaid(p.text[begin+len(speaker.FindString(p.text[begin:end])) : end]))
		case asked < rest && rest < end && !answersSelf(p.text[rest:end]) && p.speechBelow(begin): // who asks goes on, and another answers
			about = words.Content(p.text[asked:rest])
		default:
			continue
		}
		owner := words.Content(speaker.FindString(p.text[p.lineStart(begin):])) // "who has my towel?" is about the speaker's
		if len(about) < fewestAsked || !words.HasAll(wanted, about) || !words.HasAll(slices.Concat(about, titled, owner), wanted) {
			continue
		}
		from, to = p.answerBelow(begin)
		return from, to, true
	}
	return 0, 0, false
}

// answersSelf reports whether what somebody says after a question may answer it: "at 9", "I do".
func answersSelf(said string) bool {
	return hasDigit(said) || saysOfSelf.MatchString(said) && !iDeny.MatchString(said)
}

// speechBelow reports whether the line below an offset is what somebody says.
func (p passage) speechBelow(at int) bool {
	next := p.lineEnd(at)
	return next < len(p.text) && p.isSpeech(next+1)
}

// lastSaid returns what stands after the last mark within a text: in chats sentences begin with lower case.
func lastSaid(text string) string {
	inner := strings.TrimRight(text, ".!? \n")
	return text[strings.LastIndexAny(inner, ".!?")+1:]
}

// fewestAsked is the number of words that a question in a passage needs to be the one that was asked.
const fewestAsked = 2
