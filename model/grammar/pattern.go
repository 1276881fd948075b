package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// FromPattern returns the grammar of the texts that a regular expression matches from their beginning to their end.
func FromPattern(text string) (*Grammar, error) {
	p, err := readPattern(text)
	if err == nil {
		var body expression
		if body, err = p.expression(p.inner); err == nil {
			var g *Grammar
			if g, err = newGrammar([]expression{body}, []string{"root"}); err == nil {
				return g, nil
			}
		}
	}
	return nil, fmt.Errorf("pattern: %w", err)
}

// A pattern is a regular expression.
type pattern struct {
	inner        *syntax.Regexp
	begins, ends bool // inner stands at the beginning of the text, and at its end
	inString     bool // it is for what stands inside a JSON string
}

func readPattern(text string) (p pattern, err error) {
	if len(text) > MaxText {
		return p, fmt.Errorf("it has %d bytes, of at most %d", len(text), MaxText)
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, err
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	if len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		parts, p.begins = parts[1:], true
	}
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		parts, p.ends = parts[:n-1], true
	}
	p.inner = &syntax.Regexp{Op: syntax.OpConcat, Sub: parts}
	return p, nil
}

// stringLike returns the expression of the inside of a JSON string in which a pattern is found and which has least to most
// characters, -1 for no limit.
func (s *schemas) stringLike(text string, least, most int) (expression, error) {
	p, err := readPattern(text)
	if err != nil {
		return nil, err
	}
	p.inString = true
	if err := p.limit(least, most); err != nil {
		return nil, err
	}
	body, err := p.expression(p.inner)
	if err != nil {
		return nil, err
	}
	out := sequence{body}
	anything := repeated{s.rule("char"), 0, -1}
	if !p.begins {
		out = slices.Insert(out, 0, expression(anything))
	}
	if !p.ends {
		out = append(out, anything)
	}
	return out, nil
}

// limit limits how many characters a pattern matches, -1 for no limit. That is an error unless the pattern keeps to it anyway or
// is one character that is repeated.
func (p *pattern) limit(least, most int) error {
	shortest, longest := lengths(p.inner)
	whole := p.begins && p.ends
	if least <= shortest && (most < 0 || whole && longest >= 0 && longest <= most) {
		return nil
	}
	if whole && len(p.inner.Sub) == 1 && len(p.inner.Sub[0].Sub) == 1 {
		re := p.inner.Sub[0]
		low, top := times(re)
		one, another := lengths(re.Sub[0])
		low = max(low, least)
		if top < 0 || most >= 0 && most < top {
			top = most
		}
		if one == 1 && another == 1 && (top < 0 || low <= top) {
			p.inner = &syntax.Regexp{Op: syntax.OpRepeat, Sub: re.Sub, Min: low, Max: top}
			return nil
		}
	}
	return errors.New("a minLength or maxLength that it does not keep to is not supported: put the length into the pattern")
}

// times returns how often a regular expression repeats the one in it, -1 for no limit.
func times(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpStar:
		return 0, -1
	case syntax.OpPlus:
		return 1, -1
	case syntax.OpQuest:
		return 0, 1
	case syntax.OpRepeat:
		return re.Min, re.Max
	}
	return 1, 1
}

// lengths returns how many characters a regular expression matches, -1 for no limit.
func lengths(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpAlternate:
		least, most = lengths(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			l, m := lengths(sub)
			if least = min(least, l); m < 0 || most >= 0 && m > most {
				most = m
			}
		}
		return least, most
	}
	for _, sub := range re.Sub {
		l, m := lengths(sub)
		if least += l; m < 0 || most < 0 {
			most = -1
		} else {
			most += m
		}
	}
	low, top := times(re)
	if least *= low; most != 0 && (top < 0 || most < 0) {
		return least, -1
	}
	return least, most * top
}

// expression returns what a regular expression matches, as the pattern's texts have it.
func (p pattern) expression(re *syntax.Regexp) (expression, error) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return sequence{}, nil
	case syntax.OpLiteral:
		return p.literal(re)
	case syntax.OpCharClass:
		return p.class(re.Rune)
	case syntax.OpAnyChar:
		return p.class([]rune{0, utf8.MaxRune})
	case syntax.OpAnyCharNotNL:
		return p.class([]rune{0, '\n' - 1, '\n' + 1, utf8.MaxRune})
	case syntax.OpBeginText, syntax.OpEndText:
		return nil, errors.New("^ and $ are supported at its ends only")
	case syntax.OpCapture, syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat, syntax.OpConcat, syntax.OpAlternate:
	default:
		return nil, fmt.Errorf("%s is not supported", re)
	}
	parts := make([]expression, len(re.Sub))
	for i, sub := range re.Sub {
		var err error
		if parts[i], err = p.expression(sub); err != nil {
			return nil, err
		}
	}
	switch re.Op {
	case syntax.OpAlternate:
		return choice(parts), nil
	case syntax.OpConcat, syntax.OpCapture:
		return sequence(parts), nil
	}
	least, most := times(re)
	return repeated{parts[0], least, most}, nil
}

// literal returns the expression of characters.
func (p pattern) literal(re *syntax.Regexp) (expression, error) {
	if re.Flags&syntax.FoldCase != 0 {
		return nil, errors.New("(?i) is not supported")
	}
	if !p.inString {
		return literal(string(re.Rune)), nil
	}
	var b strings.Builder
	for _, r := range re.Rune {
		b.WriteString(inString(r))
	}
	return literal(b.String()), nil
}

// inString returns a character as it stands in a JSON string.
func inString(r rune) string {
	text := string(constant(string(r)))
	return text[1 : len(text)-1]
}

// plainInString are the characters that stand for themselves in a JSON string.
var plainInString = class{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7F, 0x7F}}.not()

// class returns the expression of the characters of ranges, low and top in turns.
func (p pattern) class(ranges []rune) (expression, error) {
	var c class
	for i := 0; i < len(ranges); i += 2 {
		c = append(c, runeRange{ranges[i], ranges[i+1]})
	}
	c = c.tidy()
	plain := c
	var out choice
	if p.inString {
		plain = c.without(plainInString.not())
		for _, r := range []rune{'"', '\\', '\n', '\t', '\r'} {
			if len(class{{r, r}}.without(c)) == 0 {
				out = append(out, literal(inString(r)))
			}
		}
	}
	if len(plain) > 0 {
		out = append(out, plain)
	}
	if len(out) == 0 {
		return nil, errors.New("no character of a class can stand in the text")
	}
	return out, nil
}
