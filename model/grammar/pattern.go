package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern returns the expression of a string's inside that a regular expression matches. It must be anchored at both ends: else
// a model could write anything around it.
func (s *schemas) pattern(text string) (expression, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	re = re.Simplify()
	if re.Op != syntax.OpConcat || len(re.Sub) < 2 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[len(re.Sub)-1].Op != syntax.OpEndText {
		return nil, errors.New("want ^ at its beginning and $ at its end")
	}
	re.Sub = re.Sub[1 : len(re.Sub)-1]
	return expressionOf(re)
}

// expressionOf returns what a regular expression matches, as it is written within a JSON string.
func expressionOf(re *syntax.Regexp) (expression, error) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return sequence{}, nil
	case syntax.OpLiteral:
		var b strings.Builder
		if re.Flags&syntax.FoldCase != 0 {
			return nil, errors.New("(?i) is not supported")
		}
		for _, r := range re.Rune {
			b.WriteString(inString(r))
		}
		return literal(b.String()), nil
	case syntax.OpCharClass:
		return classInString(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return classInString([]rune{0, utf8.MaxRune})
	case syntax.OpCapture:
		return expressionOf(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpConcat, syntax.OpAlternate:
	default:
		return nil, fmt.Errorf("%s is not supported", re)
	}
	parts := make([]expression, len(re.Sub))
	for i, sub := range re.Sub {
		var err error
		if parts[i], err = expressionOf(sub); err != nil {
			return nil, err
		}
	}
	switch re.Op {
	case syntax.OpStar:
		return repeated{parts[0], 0, -1}, nil
	case syntax.OpPlus:
		return repeated{parts[0], 1, -1}, nil
	case syntax.OpQuest:
		return repeated{parts[0], 0, 1}, nil
	case syntax.OpConcat:
		return sequence(parts), nil
	}
	return choice(parts), nil
}

// inString returns a character as it stands in a JSON string.
func inString(r rune) string {
	text := string(constant(string(r)))
	return text[1 : len(text)-1]
}

// plainInString are the characters that stand for themselves in a JSON string.
var plainInString = class{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}, {0x7F, 0x7F}}.not()

// classInString returns the characters of ranges, low and top in turns, as they stand in a JSON string.
func classInString(ranges []rune) (expression, error) {
	var c class
	for i := 0; i < len(ranges); i += 2 {
		c = append(c, runeRange{ranges[i], ranges[i+1]})
	}
	c = c.tidy()
	var out choice
	if plain := c.without(plainInString.not()); len(plain) > 0 {
		out = append(out, plain)
	}
	for _, r := range []rune{'"', '\\', '\n', '\t', '\r'} {
		if len(class{{r, r}}.without(c)) == 0 {
			out = append(out, literal(inString(r)))
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no character of a class can stand in a JSON text")
	}
	return out, nil
}
