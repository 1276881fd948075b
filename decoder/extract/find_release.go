package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/passages"
)

// release is what a passage of a changelog says of one release.
type release struct {
	version textRange // in the heading
	date    textRange // behind it; empty if it has none
	from    int       // of the lines below
	to      int
}

var (
	// version matches a version: "2.1", "v2.1.0-rc1".
	version = lazyregexp.New(`(?i)\bv?\d+(?:\.\d+){1,3}(?:[-.]?(?:alpha|beta|rc|dev|pre|post|a|b)[-.]?\d*)?`)
	// aDate matches what looks like a version: "12.05.2026".
	aDate = lazyregexp.New(`^\d{1,2}\.\d{1,2}\.(?:19|20)\d\d`)
	// beforeVersion matches what stands before the version in a release's heading: "Release ", "[".
	beforeVersion = lazyregexp.New(`^(?:[\pL'’.+-]+ ){0,4}[\[(]?$`)
	// behindVersion matches what stands after it: "] - 2026-03-01", " (1 March 2026)".
	behindVersion = lazyregexp.New(`(?i)^\]?:?(?:|[ ,:–—-]*\(.*\)|[ ,:–—(-]+(?:\pL+,? )?(\d.*|\pL+\.? (?:\d{1,2},? )?\d{4})|[ –—-]+unreleased)$`)
	// beginsVersion matches a line that begins with a version, "v2.1.0": windows of a text leave out the empty line
	// above some of them.
	beginsVersion = lazyregexp.New(`(?i)^\[?(?:version |release )?v?\d+\.\d`)
	// partOfText matches a number that is none of a release: "Section 2.1".
	partOfText = lazyregexp.New(`(?i)^(?:section|chapter|part|step|figure|table|clause|article|appendix|question|page)\b`)
	// saysYear matches a text with a year: "1 March 2026", "1.3.26".
	saysYear = lazyregexp.New(`(?:19|20)\d\d|\b\d{1,2}[./-]\d{1,2}[./-]\d\d\b|\b\d\d[./-]\d{1,2}[./-]\d{1,2}\b`)
	// releaseDate matches a date after a version: "1 March 2026", "2026-03-01".
	releaseDate = lazyregexp.New(`(?:\p{Lu}\pL{2,8}\.? )?\d[\pL\d ,./-]*\d`)

	// asksRelease matches a question for a release: "which version added it?".
	asksRelease = lazyregexp.New(`(?i)\b(?:which|what)(?: \S+){0,3}? (?:versions?|releases?)\b`)
	// asksReleased matches a question for the date of a release: "when did 2.1 come out?".
	asksReleased = lazyregexp.New(`(?i)\b(?:releas|publish|appear)\w*\b|\b(?:come|came) out\b`)
	// asksAllChanges matches a question for all that is new in a release: "what's new in 2.1?".
	asksAllChanges = lazyregexp.New(`(?i)^\W*what(?:['’]s| is| has| was)? (?:new|changed)\b`)
	// planned matches what a release says of a later one: "will be removed".
	planned = lazyregexp.New(`(?i)\bwill be\b`)

	// ofProduct matches the name of a program before its version or before the word for it: "parcelq 2.1", "which
	// parcelq version".
	ofProduct = lazyregexp.New(`(?i)\b(?:which|what) (\S+) (?:versions?|releases?)\b|([\pL][^\s?!.]*) v?\d+\.\d`)
)

// changeWords has groups of words that changelogs use for the same; of each the beginning.
var changeWords = [][]string{
	{"add", "introduc", "new", "bring", "brought", "includ", "gain", "came", "come"},
	{"drop", "remov", "delet", "end", "lost", "lose", "stop"},
	{"fix", "repair", "correct", "resolv", "solv"},
	{"chang", "switch", "mov", "replac", "migrat", "renam", "becom", "became", "bump", "updat", "upgrad", "rais"},
	{"deprecat"},
}

// longestChange is how many bytes answer what changed; of a longer line its first sentence does.
const longestChange = 300

// releaseWords say that a question is about a release, as "changelog" does, and not what about it.
var releaseWords = words.Set("version versions release releases released changelog first since")

// releases returns the releases that a passage tells of, by the last heading of its title and by those in the text.
func (p passage) releases() (out []release) {
	titles := p.title()
	for at := 0; at < len(titles); {
		part, rest, _ := strings.Cut(titles[at:], ": ")
		if r, ok := p.releaseHeading(p.start+at, p.start+at+len(strings.TrimSpace(part))); ok {
			r.from = p.body
			out = []release{r}
		}
		at = len(titles) - len(rest)
	}
	for begin, end := range p.lines() {
		if apart := begin == p.body || strings.HasSuffix(p.text[:begin], "\n\n"); apart || beginsVersion.MatchString(p.text[begin:end]) || p.heading(begin, end) {
			if r, ok := p.releaseHeading(begin, end); ok {
				r.from = min(end+1, len(p.text))
				out = append(out, r)
			}
		}
	}
	for i := range out {
		out[i].to = len(p.text)
		if i+1 < len(out) {
			out[i].to = p.lineStart(out[i+1].version.from)
		}
	}
	return out
}

// releaseHeading reads a heading as that of a release.
func (p passage) releaseHeading(from, to int) (r release, ok bool) {
	line := p.text[from:to]
	at := version.FindStringIndex(line)
	if at == nil || aDate.MatchString(line[at[0]:]) || !beforeVersion.MatchString(line[:at[0]]) || partOfText.MatchString(line) {
		return r, false
	}
	behind := behindVersion.FindStringSubmatch(line[at[1]:])
	if behind == nil || behind[1] != "" && !saysYear.MatchString(behind[1]) { // "6.5.25 descaled 184" is a day of a log
		return r, false
	}
	r.version = textRange{from + at[0], from + at[1]}
	if d := releaseDate.FindStringIndex(line[at[1]:]); d != nil {
		r.date = textRange{from + at[1] + d[0], from + at[1] + d[1]}
	}
	return r, true
}

// fromChangelog returns what a changelog answers: the release in which something changed, what changed in a release, or
// its date. The ranges after the first say so.
func (p passage) fromChangelog(q query) finding {
	if q.form != formValue && q.form != formList {
		return finding{}
	}
	return finding{ranges: p.releasesThatTell(q.text)}
}

// releasesThatTell is fromChangelog for a question for a value or a list.
func (p passage) releasesThatTell(question string) (at []textRange) {
	all := p.releases()
	for _, r := range all {
		if namesVersion(question, p.slice(r.version)) {
			return p.changes(question, r)
		}
	}
	verbs, things := p.verbsAndThings(question)
	byTime := asksTime.MatchString(question)
	if !byTime && !asksRelease.MatchString(question) || len(things) == 0 || len(verbs) == 0 || p.namesOwn(question) {
		return nil
	}
	of := p.versionOf(question)
	for _, r := range all {
		for _, line := range p.linesThatTell(r, verbs, things) {
			if words.Shared(of, words.Content(p.slice(line))) > 0 { // "Python version" and "Require Python 3.9"
				return nil
			}
			said := r.version
			if byTime {
				said = r.date
			}
			if said.from == said.to || len(at) > 0 && at[0] != said || planned.MatchString(p.slice(line)) {
				return nil
			}
			at = append(at, said, line)
		}
	}
	return at[:min(2, len(at))]
}

// changes returns what a question about a release that it names asks for.
func (p passage) changes(question string, r release) []textRange {
	if asksTime.MatchString(question) && asksReleased.MatchString(question) {
		if r.date.from < r.date.to {
			return []textRange{r.date}
		}
		return nil
	}
	verbs, things := p.verbsAndThings(question)
	things = slices.DeleteFunc(things, func(t string) bool { return namesVersion(p.slice(r.version), t) })
	if len(verbs)+len(things) == 0 {
		return nil
	}
	lines := p.linesThatTell(r, verbs, things)
	if general := len(things) == 0 && asksAllChanges.MatchString(question); len(lines) == 0 && (general || len(things) > 1) {
		lines = p.linesThatTell(r, nil, things)
	}
	if len(lines) == 0 || len(lines) > 1 && len(things) > 0 || lines[len(lines)-1].to-lines[0].from > longestChange {
		return nil
	}
	return []textRange{{lines[0].from, lines[len(lines)-1].to}}
}

// ofOtherRelease reports whether a sentence is about another release than the one that the question names, and the
// passage is about that one, too.
func (w wants) ofOtherRelease(c candidate) bool {
	if !version.MatchString(w.question) {
		return false
	}
	own, other := false, false
	for _, r := range c.releases() {
		named := namesVersion(w.question, c.slice(r.version))
		own, other = own || named, other || !named && r.version.from <= c.begin && c.begin < r.to
	}
	return own && other
}

// namesOwn reports whether a question names a version of what the document is about.
func (p passage) namesOwn(question string) bool {
	return slices.ContainsFunc(ofProduct.FindAllStringSubmatch(question, -1), func(m []string) bool {
		return m[2] != "" && words.Shared(words.Content(m[2]), p.names) > 0
	})
}

// versionOf returns the words for the product whose version a question asks for, if that is not what the document is
// about.
func (p passage) versionOf(question string) []string {
	for _, m := range ofProduct.FindAllStringSubmatch(question, -1) {
		if m[1] != "" {
			return p.withoutNames(words.Content(m[1]))
		}
	}
	return nil
}

// verbsAndThings divides the words of a question about a changelog into those for changes, "added", and those for what
// changed.
func (p passage) verbsAndThings(question string) (verbs, things []string) {
	rest := p.withoutNames(words.Content(version.ReplaceAllString(question, " ")))
	for _, m := range ofProduct.FindAllStringSubmatch(question, -1) {
		if changeGroup(strings.ToLower(m[2])) < 0 {
			rest = words.Without(rest, words.Content(m[1]+" "+m[2]))
		}
	}
	for _, w := range rest {
		switch {
		case releaseWords[w] || asksOnly[w]:
		case changeGroup(w) >= 0:
			verbs = append(verbs, w)
		default:
			things = append(things, w)
		}
	}
	for _, v := range version.FindAllString(question, -1) {
		things = append(things, strings.ToLower(v))
	}
	return verbs, things
}

// changeGroup returns the group of words for changes that has a word; -1 if none has.
func changeGroup(word string) int {
	return slices.IndexFunc(changeWords, func(g []string) bool {
		return slices.ContainsFunc(g, func(s string) bool { return strings.HasPrefix(word, s) && len(word) <= len(s)+4 })
	})
}

// linesThatTell returns the lines of a release that have all things and, perhaps in the heading above, all verbs or others of
// their group.
func (p passage) linesThatTell(r release, verbs, things []string) (lines []textRange) {
	for begin := r.from; begin < r.to; begin = p.lineEnd(begin) + 1 {
		end := p.lineEnd(begin)
		line := p.text[begin:end]
		if line == "" || p.heading(begin, end) || strings.Contains(line, passages.CellMark) {
			continue
		}
		has := words.Content(line)
		if slices.ContainsFunc(things, func(t string) bool { return !tells(line, has, t) }) {
			continue
		}
		said := words.Content(line + " " + p.headingAbove(begin))
		if len(has) > 0 && strings.HasPrefix(has[0], "support") { // "Support Android"
			said = append(said, "add")
		}
		if slices.ContainsFunc(verbs, func(v string) bool {
			return !slices.ContainsFunc(said, func(w string) bool { return changeGroup(w) == changeGroup(v) })
		}) {
			continue
		}
		begin += len(lineMark.FindString(line))
		if end-begin > longestChange {
			begin, end = p.sentence(begin, begin+1)
		}
		lines = append(lines, textRange{begin, end})
	}
	return lines
}

// tells reports whether a line has a word of the question, or the version that it is.
func tells(line string, words []string, thing string) bool {
	if strings.Contains(thing, ".") {
		return namesVersion(line, thing)
	}
	return len(unmentioned([]string{thing}, words)) == 0
}

// namesVersion reports whether a text names just this version: not 1.4.1 for 1.4, nor for 1.4.1-rc1.
func namesVersion(text, name string) bool {
	same := func(s string) bool {
		return strings.EqualFold(strings.TrimPrefix(strings.ToLower(s), "v"), strings.TrimPrefix(strings.ToLower(name), "v"))
	}
	return slices.ContainsFunc(version.FindAllString(text, -1), same)
}
