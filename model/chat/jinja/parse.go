package jinja

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of a template's source.
const (
	maxNesting = 200     // of brackets and statements
	maxNodes   = 1 << 16 // expressions and statements
)

// A parser reads a template by recursive descent. It stops at the first error, by a panic that Parse recovers.
type parser struct {
	src       string
	pos       int
	tok       token
	close     string // the end of the current tag
	open      int    // brackets that are open in the current tag
	lineStart bool   // the last tag's trimmed end was the end of its line

	level, nodes, loops int
	lines, counted      int // ends of lines in src[:counted]
}

// A syntaxError is what parser.fail panics with.
type syntaxError struct{ error }

func (p *parser) fail(format string, args ...any) {
	line := 1 + strings.Count(p.src[:min(p.pos, len(p.src))], "\n")
	panic(syntaxError{fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))})
}

// enter counts a node and a level of nesting; the function that it returns leaves the level.
func (p *parser) enter() func() {
	if p.level++; p.level > maxNesting {
		p.fail("it is nested more than %d deep", maxNesting)
	}
	p.count()
	return func() { p.level-- }
}

func (p *parser) count() {
	if p.nodes++; p.nodes > maxNodes {
		p.fail("it has more than %d expressions and statements", maxNodes)
	}
}

func (p *parser) skip(text string) bool {
	if p.tok.is(text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.skip(text) {
		p.fail("unexpected %s in place of %q", p.tok.describe(), text)
	}
}

func (p *parser) name() string {
	if p.tok.kind != tokName {
		p.fail("unexpected %s in place of a name", p.tok.describe())
	}
	s := p.tok.text
	p.next()
	return s
}

// body reads text and tags up to a statement that is one of ends, whose name it returns; its tag is open then.
func (p *parser) body(ends ...string) (list []stmt, end string) {
	defer p.enter()()
	for {
		text, opening := p.plain()
		if text != "" {
			p.count()
			list = append(list, textStmt(text))
		}
		switch opening {
		case "":
			if len(ends) > 0 {
				p.fail("%s is missing", ends[len(ends)-1])
			}
			return list, ""
		case "{{":
			p.close, p.open = "}}", 0
			p.next()
			line := p.line()
			x := p.tuple(p.expression)
			p.end()
			list = append(list, &outputStmt{x, line})
		default:
			p.close, p.open = "%}", 0
			p.next()
			if p.tok.kind == tokName && slices.Contains(ends, p.tok.text) {
				return list, p.name()
			}
			list = append(list, p.statement())
		}
	}
}

// line returns the line of the current token. Each is counted once, as the parser advances.
func (p *parser) line() int {
	p.lines += strings.Count(p.src[p.counted:p.tok.at], "\n")
	p.counted = p.tok.at
	return 1 + p.lines
}

func (p *parser) statement() stmt {
	p.count()
	line := p.line()
	name := p.name()
	parse, ok := statements[name]
	if !ok {
		p.fail("statement %q is not supported in chat templates", name)
	}
	return &lineStmt{parse(p), line}
}

var statements map[string]func(p *parser) stmt

func init() {
	statements = map[string]func(p *parser) stmt{
		"if": (*parser).ifStmt, "for": (*parser).forStmt, "set": (*parser).setStmt, "macro": (*parser).macroStmt,
		"call": (*parser).callStmt, "filter": (*parser).filterStmt, "with": (*parser).withStmt, "raw": (*parser).rawStmt,
		"generation": func(p *parser) stmt { // marks an answer in a training text; without effect on prompts
			p.end()
			return p.rest("endgeneration")
		},
		"do": func(p *parser) stmt {
			x := p.tuple(p.expression)
			p.end()
			return &doStmt{x}
		},
		"break":    func(p *parser) stmt { return p.leave(flowBreak) },
		"continue": func(p *parser) stmt { return p.leave(flowContinue) },
	}
}

// rest reads the body of a statement and its end.
func (p *parser) rest(end string) blockStmt {
	body, _ := p.body(end)
	p.end()
	return body
}

func (p *parser) leave(f flow) stmt {
	if p.loops == 0 {
		p.fail("break and continue belong in a loop")
	}
	p.end()
	return flowStmt(f)
}

func (p *parser) ifStmt() stmt {
	s := &ifStmt{}
	for end := "elif"; ; {
		if end == "elif" {
			cond := p.tuple(p.expression)
			p.end()
			var body []stmt
			body, end = p.body("elif", "else", "endif")
			s.branches = append(s.branches, branch{cond, body})
			continue
		}
		p.end()
		if end == "endif" {
			return s
		}
		s.otherwise, end = p.body("endif")
	}
}

func (p *parser) forStmt() stmt {
	s := &forStmt{target: p.target()}
	p.expect("in")
	s.list = p.tuple(p.or)
	if p.skip("if") {
		s.cond = p.expression()
	}
	s.recursive = p.skip("recursive")
	p.end()
	p.loops++
	body, end := p.body("else", "endfor")
	p.loops--
	s.body = body
	p.end()
	if end == "else" {
		s.otherwise = p.rest("endfor")
	}
	return s
}

// target reads the names that a loop or set assigns to.
func (p *parser) target() target {
	var t target
	bracket := p.skip("(")
	for {
		t.names = append(t.names, p.name())
		if !p.skip(",") {
			break
		}
		t.many = true
		if p.tok.kind != tokName {
			break
		}
	}
	if bracket {
		p.expect(")")
	}
	return t
}

func (p *parser) setStmt() stmt {
	s := &setStmt{target: p.target()}
	if !s.target.many && p.skip(".") {
		s.attr = p.name()
	}
	if p.skip("=") {
		s.value = p.tuple(p.expression)
		p.end()
		return s
	}
	s.filters = p.filters(nil)
	p.end()
	s.body = p.rest("endset")
	return s
}

// parameters reads the parameters of a macro or caller.
func (p *parser) parameters(m *macro) {
	p.expect("(")
	for !p.skip(")") {
		name := p.name()
		var value expr
		if p.skip("=") {
			value = p.expression()
		}
		m.params = append(m.params, parameter{name, value})
		if !p.tok.is(")") {
			p.expect(",")
		}
	}
}

func (p *parser) macroStmt() stmt {
	m := &macro{name: p.name()}
	p.parameters(m)
	p.end()
	loops := p.loops
	p.loops = 0
	m.body = p.rest("endmacro")
	p.loops = loops
	return &macroStmt{m}
}

func (p *parser) callStmt() stmt {
	m := &macro{name: "caller"}
	if p.tok.is("(") {
		p.parameters(m)
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		p.fail("call takes a call of a macro")
	}
	p.end()
	loops := p.loops
	p.loops = 0
	m.body = p.rest("endcall")
	p.loops = loops
	return &callStmt{call, m}
}

func (p *parser) filterStmt() stmt {
	x := p.filter(bodyExpr{})
	x = p.filters(x)
	p.end()
	return &filterStmt{p.rest("endfilter"), x}
}

func (p *parser) withStmt() stmt {
	s := &withStmt{}
	for p.tok.kind != tokEnd {
		if len(s.names) > 0 {
			p.expect(",")
		}
		s.names = append(s.names, p.name())
		p.expect("=")
		s.values = append(s.values, p.expression())
	}
	p.end()
	s.body = p.rest("endwith")
	return s
}

// rawStmt reads text that is no template.
func (p *parser) rawStmt() stmt {
	if p.tok.kind != tokEnd {
		p.fail("unexpected %s", p.tok.describe())
	}
	sign := p.src[p.pos]
	p.pos += endLength(p.src[p.pos:], p.close)
	if sign == '-' {
		p.after(sign, false)
	}
	for from := p.pos; ; {
		i := strings.Index(p.src[from:], "{%")
		if i < 0 {
			p.fail("endraw is missing")
		}
		text := p.src[p.pos : from+i]
		tag := p.src[from+i+2:]
		word := strings.TrimLeft(strings.TrimLeft(tag, "-+"), " \t\n")
		if !strings.HasPrefix(word, "endraw") {
			from += i + 2
			continue
		}
		switch tag[0] {
		case '-':
			text = strings.TrimRight(text, " \t\n")
		case '+':
		default:
			text = p.trimLine(text)
		}
		p.pos = len(p.src) - len(word) + len("endraw")
		p.next()
		p.end()
		return textStmt(text)
	}
}

// tuple reads an item, or several with commas between them as a tuple. The list of a loop has no conditional expressions, since
// "if" begins its condition.
func (p *parser) tuple(item func() expr) expr {
	x := item()
	if !p.tok.is(",") {
		return x
	}
	list := &listExpr{kind: tupleKind, items: []expr{x}}
	for p.skip(",") && p.tok.kind != tokEnd && !p.tok.is(")") && !p.tok.is("if") && !p.tok.is("recursive") {
		list.items = append(list.items, item())
	}
	return list
}

// expression reads an expression with its condition: a if b else c.
func (p *parser) expression() expr {
	defer p.enter()()
	x := p.or()
	for p.skip("if") {
		c := &choiceExpr{cond: p.or(), then: x}
		if p.skip("else") {
			c.otherwise = p.expression()
		}
		x = c
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.skip("or") {
		p.count()
		x = &orExpr{x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.skip("and") {
		p.count()
		x = &andExpr{x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if p.tok.is("not") {
		defer p.enter()()
		p.next()
		return &notExpr{p.not()}
	}
	return p.comparison()
}

// comparison reads comparisons, which may form a chain: a < b < c.
func (p *parser) comparison() expr {
	x := p.sum()
	var c *compareExpr
	for {
		op := ""
		switch {
		case p.tok.kind == tokSymbol && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, p.tok.text), p.tok.is("in"):
			op = p.tok.text
			p.next()
		case p.tok.is("not"):
			saved := *p
			if p.next(); !p.skip("in") {
				*p = saved
				break
			}
			op = "not in"
		}
		if op == "" {
			break
		}
		p.count()
		if c == nil {
			c = &compareExpr{first: x}
			x = c
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, p.sum())
	}
	return x
}

// binary reads operators of one rank, from left to right.
func (p *parser) binary(operand func() expr, ops ...string) expr {
	x := operand()
	for p.tok.kind == tokSymbol && slices.Contains(ops, p.tok.text) {
		p.count()
		op := p.tok.text
		p.next()
		x = &binaryExpr{op, x, operand()}
	}
	return x
}

func (p *parser) sum() expr     { return p.binary(p.concat, "+", "-") }
func (p *parser) concat() expr  { return p.binary(p.product, "~") }
func (p *parser) product() expr { return p.binary(p.power, "*", "/", "//", "%") }
func (p *parser) power() expr {
	return p.binary(func() expr { return p.unary(true) }, "**")
}

func (p *parser) unary(filters bool) expr {
	var x expr
	if op := p.tok.text; p.tok.kind == tokSymbol && (op == "-" || op == "+") {
		defer p.enter()()
		p.next()
		x = &signExpr{op, p.unary(false)}
	} else {
		x = p.postfix(p.primary())
	}
	if filters {
		x = p.filters(x)
	}
	return x
}

func (p *parser) primary() expr {
	p.count()
	t := p.tok
	switch {
	case t.kind == tokName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constExpr{true}
		case "false", "False":
			return &constExpr{false}
		case "none", "None":
			return &constExpr{nil}
		}
		return &nameExpr{t.text}
	case t.kind == tokValue:
		return p.literal()
	case t.is("("):
		p.next()
		if p.skip(")") {
			return &listExpr{kind: tupleKind}
		}
		x := p.tuple(p.expression)
		p.expect(")")
		return x
	case t.is("["):
		p.next()
		list := &listExpr{kind: listKind}
		for !p.skip("]") {
			list.items = append(list.items, p.expression())
			if !p.tok.is("]") {
				p.expect(",")
			}
		}
		return list
	case t.is("{"):
		return p.dict()
	}
	p.fail("unexpected %s", t.describe())
	return nil
}

// literal reads a number, or a text with those that follow it.
func (p *parser) literal() expr {
	value := p.tok.value
	p.next()
	text, isText := value.(string)
	for isText && p.tok.kind == tokValue {
		more, ok := p.tok.value.(string)
		if !ok {
			break
		}
		text += more
		p.next()
	}
	if isText {
		return &constExpr{text}
	}
	return &constExpr{value}
}

func (p *parser) dict() expr {
	p.next()
	d := &dictExpr{}
	for !p.skip("}") {
		d.keys = append(d.keys, p.expression())
		p.expect(":")
		d.values = append(d.values, p.expression())
		if !p.tok.is("}") {
			p.expect(",")
		}
	}
	return d
}

// postfix reads attributes, indices and calls.
func (p *parser) postfix(x expr) expr {
	for p.tok.kind == tokSymbol {
		switch p.tok.text {
		case ".":
			p.next()
			if i, ok := p.tok.value.(int64); ok && p.tok.kind == tokValue {
				p.next()
				x = &itemExpr{x, &constExpr{i}}
			} else {
				x = &attrExpr{x, p.name()}
			}
		case "[":
			p.next()
			x = p.index(x)
		case "(":
			x = &callExpr{x, p.arguments()}
		default:
			return x
		}
		p.count()
	}
	return x
}

// index reads an index or a slice.
func (p *parser) index(x expr) expr {
	var part [3]expr
	n, slice := 0, false
	for !p.tok.is("]") {
		if p.skip(":") {
			slice = true
			if n++; n > 2 {
				p.fail("a slice has at most three parts")
			}
			continue
		}
		if part[n] != nil {
			p.fail("unexpected %s", p.tok.describe())
		}
		part[n] = p.tuple(p.expression)
	}
	p.next()
	if slice {
		return &sliceExpr{x, part}
	}
	if part[0] == nil {
		p.fail("an index is missing")
	}
	return &itemExpr{x, part[0]}
}

func (p *parser) arguments() (a argExprs) {
	p.expect("(")
	for !p.skip(")") {
		switch {
		case p.skip("**"):
			a.moreNamed = append(a.moreNamed, p.expression())
		case p.skip("*"):
			a.more = append(a.more, p.expression())
		default:
			saved := *p
			if p.tok.kind == tokName {
				name := p.name()
				if p.skip("=") {
					a.names, a.named = append(a.names, name), append(a.named, p.expression())
					break
				}
				*p = saved
			}
			if len(a.names) > 0 {
				p.fail("an argument without a name follows one with a name")
			}
			a.list = append(a.list, p.expression())
		}
		if !p.tok.is(")") {
			p.expect(",")
		}
	}
	return a
}

// filters reads filters, tests and calls behind an expression. With nil, the filters apply to a statement's body.
func (p *parser) filters(x expr) expr {
	for {
		switch {
		case p.tok.is("|"):
			p.next()
			if x == nil {
				x = bodyExpr{}
			}
			x = p.filter(x)
		case p.tok.is("is") && x != nil:
			p.next()
			x = p.test(x)
		case p.tok.is("(") && x != nil:
			x = &callExpr{x, p.arguments()}
		default:
			return x
		}
		p.count()
	}
}

func (p *parser) filter(x expr) expr {
	f := &filterExpr{x: x, name: p.name()}
	var ok bool
	if f.run, ok = filters[f.name]; !ok { // as in Python, an error only where it is applied
		f.run = func(m *machine, _ any, _ *arguments) any {
			m.fail("filter %q is unknown", f.name)
			return nil
		}
	}
	if p.tok.is("(") {
		f.args = p.arguments()
	}
	return f
}

func (p *parser) test(x expr) expr {
	negated := p.skip("not")
	t := &testExpr{x: x, name: p.name()}
	var ok bool
	if t.run, ok = tests[t.name]; !ok {
		p.fail("test %q is unknown", t.name)
	}
	switch {
	case p.tok.is("("):
		t.args = p.arguments()
	case p.tok.is("else"), p.tok.is("or"), p.tok.is("and"), p.tok.is("if"), p.tok.is("in"), p.tok.is("not"), p.tok.is("is"), p.tok.is("recursive"):
	case p.tok.kind == tokName, p.tok.kind == tokValue, p.tok.is("["), p.tok.is("{"):
		t.args.list = []expr{p.postfix(p.primary())}
	}
	if negated {
		return &notExpr{t}
	}
	return t
}
