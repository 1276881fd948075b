package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a grammar (see the package's documentation). The error names the line.
func Parse(text string) (*Grammar, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("grammar: it has %d bytes, of at most %d", len(text), MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("grammar: it is not UTF-8")
	}
	p := newParser(text)
	if err := p.grammar(); err != nil {
		return nil, fmt.Errorf("grammar: %w", err)
	}
	g, err := newGrammar(p.bodies, p.names)
	if err != nil {
		return nil, fmt.Errorf("grammar: %w", err)
	}
	return g, nil
}

// parser reads a grammar from its beginning to its end.
type parser struct {
	text   string
	at     int
	nested int // parentheses around at
	rules  map[string]int32
	names  []string
	bodies []expression // of each rule, nil if not yet read
	places []int        // offsets at which each rule was first named
}

func newParser(text string) *parser {
	return &parser{text: text, rules: map[string]int32{"root": 0}, names: []string{"root"}, bodies: []expression{nil}, places: []int{0}}
}

// errorf returns an error about the line at which the parser is.
func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", p.line(p.at), fmt.Sprintf(format, args...))
}

func (p *parser) line(at int) int { return 1 + strings.Count(p.text[:at], "\n") }

// grammar reads all rules.
func (p *parser) grammar() error {
	for p.space(true); p.at < len(p.text); p.space(true) {
		if err := p.rule(); err != nil {
			return err
		}
	}
	for i, body := range p.bodies {
		switch {
		case body == nil && i == 0:
			return errors.New(`it has no rule root: begin with root ::= …`)
		case body == nil:
			return fmt.Errorf("line %d: there is no rule %s", p.line(p.places[i]), p.names[i])
		}
	}
	return nil
}

// rule reads a rule: name ::= choice.
func (p *parser) rule() error {
	name := p.name()
	if name == "" {
		return p.errorf("want the name of a rule, but got %s", p.here())
	}
	p.space(false)
	if !p.take("::=") {
		return p.errorf("want ::= after %s, but got %s", name, p.here())
	}
	id := p.ruleNamed(name)
	if p.bodies[id] != nil {
		return p.errorf("there are two rules %s", name)
	}
	body, err := p.choice()
	if err != nil {
		return err
	}
	p.bodies[id] = body
	if p.space(false); p.at < len(p.text) && p.text[p.at] != '\n' {
		return p.errorf("the rule %s cannot go on with %s", name, p.here())
	}
	return nil
}

// choice reads sequences divided by "|".
func (p *parser) choice() (expression, error) {
	var out choice
	for {
		p.space(true)
		s, err := p.sequence()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		if !p.onNextLine("|") {
			break
		}
	}
	if len(out) == 1 {
		return out[0], nil
	}
	return out, nil
}

// onNextLine takes a mark, which may stand on a later line.
func (p *parser) onNextLine(mark string) bool {
	before := p.at
	if p.space(true); p.take(mark) {
		return true
	}
	p.at = before
	return false
}

// sequence reads items up to the end of a choice.
func (p *parser) sequence() (expression, error) {
	out := sequence{}
	for {
		item, err := p.item()
		if item == nil && err == nil && len(out) == 1 {
			return out[0], nil
		}
		if err != nil || item == nil {
			return out, err
		}
		for {
			p.space(p.nested > 0)
			again, is, err := p.repeat(item)
			if err != nil {
				return nil, err
			}
			if !is {
				break
			}
			item = again
		}
		out = append(out, item)
	}
}

// begins reports whether a rule begins here.
func (p *parser) begins() bool {
	before := p.at
	defer func() { p.at = before }()
	if p.name() == "" {
		return false
	}
	p.space(false)
	return p.take("::=")
}

// item reads an item, or nothing if there is none.
func (p *parser) item() (expression, error) {
	switch {
	case p.at == len(p.text):
		return nil, nil
	case p.begins(): // the next rule, after an empty sequence
		return nil, nil
	case p.take(`"`):
		return p.literal()
	case p.take("["):
		return p.class()
	case p.take("."):
		return anyChar, nil
	case p.take("("):
		return p.group()
	}
	if name := p.name(); name != "" {
		return ruleCall(p.ruleNamed(name)), nil
	}
	return nil, nil
}

func (p *parser) group() (expression, error) {
	if p.nested++; p.nested > maxNested {
		return nil, p.errorf("more than %d parentheses are open", maxNested)
	}
	inner, err := p.choice()
	if err != nil {
		return nil, err
	}
	p.space(true)
	if !p.take(")") {
		return nil, p.errorf("want ) but got %s", p.here())
	}
	p.nested--
	return inner, nil
}

// literal reads the rest of a literal.
func (p *parser) literal() (expression, error) {
	var out strings.Builder
	for !p.take(`"`) {
		r, err := p.char(`a literal needs a " at its end`)
		if err != nil {
			return nil, err
		}
		out.WriteRune(r)
	}
	return literal(out.String()), nil
}

// class reads the rest of a class.
func (p *parser) class() (expression, error) {
	const unclosed = "a class needs a ] at its end"
	var out class
	other := p.take("^")
	for !p.take("]") {
		low, err := p.char(unclosed)
		if err != nil {
			return nil, err
		}
		top := low
		if strings.HasPrefix(p.text[p.at:], "-") && !strings.HasPrefix(p.text[p.at:], "-]") {
			p.at++
			if top, err = p.char(unclosed); err != nil {
				return nil, err
			}
		}
		if top < low {
			return nil, p.errorf("the range %q to %q goes backwards", low, top)
		}
		out = append(out, runeRange{low, top})
	}
	if out = out.tidy(); other {
		out = out.not()
	}
	if len(out) == 0 {
		return nil, p.errorf("a class needs a character")
	}
	return out, nil
}

// escapes are the characters that a letter after a backslash stands for.
var escapes = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '"': '"', '[': '[', ']': ']', '-': '-', '^': '^', '/': '/'}

// quoter escapes what cannot stand in a literal.
var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

// Quote returns the literal of a text.
func Quote(text string) string { return `"` + quoter.Replace(text) + `"` }

// hexDigits says how many digits follow a letter.
var hexDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// char reads a character of a literal or class, with its escapes.
func (p *parser) char(unclosed string) (rune, error) {
	if p.at == len(p.text) || p.text[p.at] == '\n' {
		return 0, p.errorf("%s", unclosed)
	}
	if !p.take(`\`) {
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
		return r, nil
	}
	if p.at == len(p.text) {
		return 0, p.errorf("%s", unclosed)
	}
	c := p.text[p.at]
	if r, ok := escapes[c]; ok {
		p.at++
		return r, nil
	}
	n, ok := hexDigits[c]
	if !ok || p.at+1+n > len(p.text) {
		return 0, p.errorf(`\%c is no escape`, c)
	}
	digits := p.text[p.at+1 : p.at+1+n]
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || v > unicode.MaxRune || v >= surrogateLow && v <= surrogateTop {
		return 0, p.errorf(`\%c%s is no character`, c, digits)
	}
	p.at += 1 + n
	return rune(v), nil
}

// repeat reads a mark of repetition after an item, if there is one.
func (p *parser) repeat(item expression) (expression, bool, error) {
	switch {
	case p.take("*"):
		return repeated{item, 0, -1}, true, nil
	case p.take("+"):
		return repeated{item, 1, -1}, true, nil
	case p.take("?"):
		return repeated{item, 0, 1}, true, nil
	case !p.take("{"):
		return nil, false, nil
	}
	least, given := p.number()
	if !given {
		return nil, false, p.errorf("want a number after { but got %s", p.here())
	}
	most := least
	if p.take(",") {
		if most, given = p.number(); !given {
			most = -1
		}
	}
	switch {
	case !p.take("}"):
		return nil, false, p.errorf("want } but got %s", p.here())
	case most >= 0 && most < least:
		return nil, false, p.errorf("{%d,%d} goes backwards", least, most)
	case max(least, most) > maxRepeat:
		return nil, false, p.errorf("more than %d repetitions: for no limit, leave the second number out", maxRepeat)
	}
	return repeated{item, least, most}, true, nil
}

// number reads a number and the blanks around it, and reports whether there was one. A larger one than any that is allowed is cut.
func (p *parser) number() (n int, given bool) {
	p.space(false)
	for ; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9'; p.at++ {
		n, given = min(n*10+int(p.text[p.at]-'0'), maxRepeat+1), true
	}
	p.space(false)
	return n, given
}

// ruleNamed returns the number of a rule, a new one for a new name.
func (p *parser) ruleNamed(name string) int32 {
	id, ok := p.rules[name]
	if !ok {
		id = int32(len(p.names))
		p.rules[name], p.names, p.bodies, p.places = id, append(p.names, name), append(p.bodies, nil), append(p.places, p.at)
	}
	return id
}

// name reads the name of a rule, or nothing.
func (p *parser) name() string {
	rest := p.text[p.at:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
	if end < 0 {
		end = len(rest)
	}
	p.at += end
	return rest[:end]
}

// space skips blanks and comments, also over lines if these may end.
func (p *parser) space(lines bool) {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '#':
			if end := strings.IndexByte(p.text[p.at:], '\n'); end >= 0 {
				p.at += end
			} else {
				p.at = len(p.text)
			}
		case c == ' ', c == '\t', c == '\r', lines && c == '\n':
			p.at++
		default:
			return
		}
	}
}

// take skips a mark, if it is here.
func (p *parser) take(mark string) bool {
	ok := strings.HasPrefix(p.text[p.at:], mark)
	if ok {
		p.at += len(mark)
	}
	return ok
}

// here returns what an error says of where the parser is.
func (p *parser) here() string {
	const most = 20 // characters
	rest := []rune(p.text[p.at:min(len(p.text), p.at+most*utf8.UTFMax)])
	end := slices.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return "the end of the line"
	}
	return strconv.Quote(string(rest[:min(end, most)]))
}
