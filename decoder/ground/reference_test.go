package ground

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What follows says plainly, with regular expressions and lists of all words and spans, what the package works out with tries
// and places.

const (
	wordChar = `[\p{L}\p{M}\p{N}\p{Sc}\p{So}%‰°+#\x{ad}\x{200c}\x{200d}]`
	joint    = `['’._/&@\x{2010}\x{2011}-]`
	point    = `[,:\x{a0}\x{2007}\x{2009}\x{202f}]`
	ofAmount = `[\p{Sc}%‰°]`
)

// inWords matches what is left and right of an offset at which a word goes on.
var inWords = sides(
	wordChar, wordChar,
	wordChar, joint+wordChar,
	wordChar+joint, wordChar,
	`\p{N}`, point+`\p{N}`,
	`\p{N}`+point, `\p{N}`,
	wordChar, `://`+wordChar,
	wordChar+`:`, `//`+wordChar,
	wordChar+`:/`, `/`+wordChar,
	wordChar+`://`, wordChar,
	`(?:^|[^\p{L}\p{M}\p{N}\p{Sc}\p{So}%‰°+#])[-−.]`, `\p{N}`,
)

// inAmounts does so where an amount goes on.
var inAmounts = sides(
	`\p{N}[\s\x{a0}\x{2009}\x{202f}\x{3000}]*`, `[\s\x{a0}\x{2009}\x{202f}\x{3000}]*`+ofAmount,
	ofAmount+`[\s\x{a0}\x{2009}\x{202f}\x{3000}]*`, `[\s\x{a0}\x{2009}\x{202f}\x{3000}]*\p{N}`,
)

func sides(pairs ...string) (out [][2]*regexp.Regexp) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, [2]*regexp.Regexp{regexp.MustCompile(`(?:` + pairs[i] + `)$`), regexp.MustCompile(`^(?:` + pairs[i+1] + `)`)})
	}
	return out
}

// joinedAt reports whether text must not be cut at an offset.
func joinedAt(text string, at int, of ...[][2]*regexp.Regexp) bool {
	if at < len(text) && !utf8.RuneStart(text[at]) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(of...), func(s [2]*regexp.Regexp) bool {
		return s[0].MatchString(text[:at]) && s[1].MatchString(text[at:])
	})
}

var (
	blank     = regexp.MustCompile(`[\s\x{a0}\x{2009}\x{202f}\x{3000}]+`)
	possessed = regexp.MustCompile(wordChar + `$`)
)

// spansOf returns all spans of a passage.
func spansOf(text string) (out []string) {
	text = strings.TrimSpace(text)
	inner := regexp.MustCompile(`(\p{N})([\x{a0}\x{2009}\x{202f}])(\p{N})`)
	kept := inner.ReplaceAllString(inner.ReplaceAllString(text, "$1\x00$2\x00$3"), "$1\x00$2\x00$3")
	parts := strings.Split(kept, "\x00")
	for i := range parts {
		if i%2 == 0 {
			parts[i] = blank.ReplaceAllString(parts[i], " ")
		}
	}
	for _, v := range []string{text, regexp.MustCompile(`[ \t\n\v\f\r]+`).ReplaceAllString(text, " "), strings.Join(parts, "")} {
		out = append(out, spansIn(v)...)
	}
	return out
}

func spansIn(text string) (out []string) {
	var starts, ends []int
	for at := 0; at <= len(text); at++ {
		joined := joinedAt(text, at, inWords, inAmounts)
		afterSpace, beforeSpace := blank.FindString(text[at:]), false
		if loc := blank.FindAllStringIndex(text[:at], -1); len(loc) > 0 && loc[len(loc)-1][1] == at {
			beforeSpace = true
		}
		if at < len(text) && !joined && !strings.HasPrefix(text[at:], afterSpace+"\x00") && (afterSpace == "" || !strings.HasPrefix(text[at:], afterSpace)) {
			starts = append(starts, at)
		}
		if at > 0 && !beforeSpace && (!joined || possessiveAt(text, at)) {
			ends = append(ends, at)
		}
	}
	for _, from := range starts {
		for _, to := range ends {
			if from < to {
				out = append(out, text[from:to])
			}
		}
	}
	return out
}

// possessiveAt reports whether "'s" stands at an offset, at the end of a word.
func possessiveAt(text string, at int) bool {
	for _, s := range possessives {
		if strings.HasPrefix(text[at:], s) && possessed.MatchString(text[:at]) && !joinedAt(text, at+len(s), inWords, inAmounts) {
			return true
		}
	}
	return false
}

// A reference decides by trying everything.
type reference struct{ words, spans []string }

// begins reports whether a text begins like this.
func (r reference) begins(text string) bool { return r.after(text, true, true, map[[3]any]bool{}) }

// after reports whether rest can stand between or after units.
func (r reference) after(rest string, open, apart bool, seen map[[3]any]bool) bool {
	if rest == "" {
		return true
	}
	key := [3]any{len(rest), open, apart}
	if seen[key] {
		return false // it was tried and failed, or is being tried
	}
	seen[key] = true
	if strings.ContainsAny(rest[:1], blanks) && r.after(rest[1:], true, apart, seen) {
		return true
	}
	for _, m := range closing {
		if r.unit(rest, m, func(rest string) bool { return r.after(rest, false, true, seen) }) {
			return true
		}
	}
	if !open {
		return false
	}
	for _, m := range opening {
		if r.unit(rest, m, func(rest string) bool { return r.after(rest, true, true, seen) }) {
			return true
		}
	}
	for _, w := range r.words {
		if r.owned(rest, w, true, seen) {
			return true
		}
	}
	return apart && slices.ContainsFunc(r.spans, func(s string) bool { return r.owned(rest, s, false, seen) })
}

// unit reports whether rest is the beginning of a unit, or the unit and something that then accepts.
func (r reference) unit(rest, unit string, then func(rest string) bool) bool {
	return strings.HasPrefix(unit, rest) || strings.HasPrefix(rest, unit) && then(rest[len(unit):])
}

// owned does so for units that may have an "'s".
func (r reference) owned(rest, unit string, apart bool, seen map[[3]any]bool) bool {
	return r.unit(rest, unit, func(rest string) bool {
		return r.after(rest, false, apart, seen) || slices.ContainsFunc(possessives, func(s string) bool {
			return r.unit(rest, s, func(rest string) bool { return r.after(rest, false, true, seen) })
		})
	})
}
