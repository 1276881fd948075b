package jinja

import (
	"errors"
	"fmt"
	"strings"
)

type stmt interface{ exec(m *machine) flow }

// flow says how a statement ended.
type flow uint8

const (
	flowNext flow = iota
	flowBreak
	flowContinue
)

type (
	textStmt   string
	blockStmt  []stmt
	flowStmt   flow
	outputStmt struct {
		x    expr
		line int
	}
	lineStmt struct {
		stmt
		line int
	}
	branch struct {
		cond expr
		body []stmt
	}
	ifStmt struct {
		branches  []branch
		otherwise []stmt
	}
	target struct {
		names []string
		many  bool // unpack a tuple
	}
	forStmt struct {
		target          target
		list, cond      expr
		recursive       bool
		body, otherwise []stmt
	}
	setStmt struct {
		target  target
		attr    string // of a namespace, or empty
		value   expr   // nil for a body
		filters expr   // of the body, may be nil
		body    blockStmt
	}
	doStmt    struct{ x expr }
	macroStmt struct{ m *macro }
	callStmt  struct {
		call   *callExpr
		caller *macro
	}
	filterStmt struct {
		body blockStmt
		x    expr
	}
	withStmt struct {
		names  []string
		values []expr
		body   blockStmt
	}
	parameter struct {
		name  string
		value expr // nil if it has none
	}
)

// A macro is a function that a template defines.
type macro struct {
	name   string
	params []parameter
	body   blockStmt
	scope  *scope // where it was defined
	caller *macro // for macros called by call
}

// A scope holds variables.
type scope struct {
	vars  map[string]any
	outer *scope
}

// Limits bound one rendering.
type Limits struct {
	Steps  int // of evaluation; handling 64 bytes is one
	Bytes  int // of memory for all values together, even those that are no longer in use
	Output int // bytes of the result
}

// maxDepth bounds expressions in expressions and macros in macros.
const maxDepth = 1000

// ErrLimit reports that a template does too much.
var ErrLimit = errors.New("the template exceeds its bounds of steps, nesting, memory or output")

// A machine renders a template once.
type machine struct {
	left    Limits
	depth   int
	scope   *scope
	out     *strings.Builder
	subject any // see bodyExpr
	line    int
}

// failure is what fail panics with.
type failure struct{ error }

func (m *machine) fail(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

func (m *machine) step() {
	if m.left.Steps--; m.left.Steps < 0 {
		panic(failure{ErrLimit})
	}
}

// work counts bytes that are read.
func (m *machine) work(n int) {
	if m.left.Steps -= n / 64; m.left.Steps < 0 {
		panic(failure{ErrLimit})
	}
}

// alloc counts memory before it is allocated.
func (m *machine) alloc(n int) {
	m.work(n)
	if m.left.Bytes -= n; n < 0 || m.left.Bytes < 0 {
		panic(failure{ErrLimit})
	}
}

// allocTimes is alloc of size·n bytes.
func (m *machine) allocTimes(size int, n int64) {
	if n > 0 && int64(size) > int64(m.left.Bytes)/n {
		panic(failure{ErrLimit})
	}
	m.alloc(size*int(max(n, 0)) + 16)
}

// enter counts a step and a level of nesting; the function that it returns leaves the level.
func (m *machine) enter() func() {
	m.descend()
	return m.ascend
}

func (m *machine) descend() {
	m.step()
	if m.depth++; m.depth > maxDepth {
		panic(failure{ErrLimit})
	}
}

func (m *machine) ascend() { m.depth-- }

func (m *machine) eval(e expr) any {
	m.descend()
	v := e.eval(m)
	m.depth--
	return v
}

func (m *machine) lookup(name string) any {
	for s := m.scope; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	if f, ok := functions[name]; ok {
		return &method{nil, f}
	}
	return &undefined{name}
}

func (m *machine) set(name string, v any) {
	m.alloc(64)
	if m.scope.vars == nil {
		m.scope.vars = map[string]any{}
	}
	m.scope.vars[name] = v
}

// assign sets the target's names.
func (m *machine) assign(t *target, v any) {
	if !t.many {
		m.set(t.names[0], v)
		return
	}
	items := m.iterate(v)
	if len(items) != len(t.names) {
		m.fail("%d values cannot be assigned to %d names", len(items), len(t.names))
	}
	for i, name := range t.names {
		m.set(name, items[i])
	}
}

// write prints a text.
func (m *machine) write(s string) {
	m.alloc(2 * len(s)) // the builder's memory doubles as it grows
	if m.left.Output -= len(s); m.left.Output < 0 {
		panic(failure{ErrLimit})
	}
	m.out.WriteString(s)
}

// capture returns what f prints, in a new scope.
func (m *machine) capture(f func()) string {
	out, within, output := m.out, m.scope, m.left.Output
	m.out, m.scope = &strings.Builder{}, &scope{outer: within}
	f()
	s := m.out.String()
	m.out, m.scope, m.left.Output = out, within, output
	return s
}

func (m *machine) run(list []stmt) flow {
	for _, s := range list {
		m.step()
		if f := s.exec(m); f != flowNext {
			return f
		}
	}
	return flowNext
}

func (s textStmt) exec(m *machine) flow {
	m.write(string(s))
	return flowNext
}

func (s flowStmt) exec(*machine) flow    { return flow(s) }
func (s blockStmt) exec(m *machine) flow { return m.run(s) }

func (s *lineStmt) exec(m *machine) flow {
	m.line = s.line
	m.descend()
	f := s.stmt.exec(m)
	m.depth--
	return f
}

func (s *outputStmt) exec(m *machine) flow {
	m.line = s.line
	m.write(m.str(m.eval(s.x)))
	return flowNext
}

func (s *doStmt) exec(m *machine) flow {
	m.eval(s.x)
	return flowNext
}

func (s *ifStmt) exec(m *machine) flow {
	for i := range s.branches {
		if truth(m.eval(s.branches[i].cond)) {
			return m.run(s.branches[i].body)
		}
	}
	return m.run(s.otherwise)
}

func (s *setStmt) exec(m *machine) flow {
	var v any
	if s.value != nil {
		v = m.eval(s.value)
	} else {
		v = m.capture(func() { m.run(s.body) })
		if s.filters != nil {
			v = m.filtered(s.filters, v)
		}
	}
	if s.attr == "" {
		m.assign(&s.target, v)
		return flowNext
	}
	ns, ok := m.lookup(s.target.names[0]).(*namespace)
	if !ok {
		m.fail("%s is no namespace: only their attributes can be set", s.target.names[0])
	}
	m.put(&ns.Dict, s.attr, v)
	return flowNext
}

// filtered applies a filter to the text of a body.
func (m *machine) filtered(x expr, body any) any {
	outer := m.subject
	m.subject = body
	v := m.eval(x)
	m.subject = outer
	return v
}

func (s *filterStmt) exec(m *machine) flow {
	m.write(m.str(m.filtered(s.x, m.capture(func() { m.run(s.body) }))))
	return flowNext
}

func (s *withStmt) exec(m *machine) flow {
	within := m.scope
	values := make([]any, len(s.values))
	for i, x := range s.values {
		values[i] = m.eval(x)
	}
	m.scope = &scope{outer: within}
	for i, name := range s.names {
		m.set(name, values[i])
	}
	f := m.run(s.body)
	m.scope = within
	return f
}

func (s *macroStmt) exec(m *machine) flow {
	defined := *s.m
	defined.scope = m.scope
	m.alloc(128)
	m.set(defined.name, &defined)
	return flowNext
}

func (s *callStmt) exec(m *machine) flow {
	f, ok := m.eval(s.call.f).(*macro)
	if !ok {
		m.fail("call takes a call of a macro")
	}
	caller := *s.caller
	caller.scope = m.scope
	called := *f
	called.caller = &caller
	m.alloc(256)
	m.write(m.str(m.callMacro(&called, m.arguments(&s.call.args))))
	return flowNext
}

// callMacro returns what a macro prints.
func (m *machine) callMacro(f *macro, a *arguments) any {
	defer m.enter()()
	if len(a.list) > len(f.params) {
		m.fail("macro %s takes %d arguments, not %d", f.name, len(f.params), len(a.list))
	}
	within, line := m.scope, m.line
	m.scope = &scope{outer: f.scope}
	text := m.capture(func() {
		if f.caller != nil {
			m.set("caller", f.caller)
		}
		for i, p := range f.params {
			v, ok := a.get(i, p.name)
			if !ok && p.value != nil {
				v, ok = m.eval(p.value), true
			}
			if !ok {
				v = &undefined{p.name}
			}
			m.set(p.name, v)
		}
		m.run(f.body)
	})
	m.scope, m.line = within, line
	return text
}

// A loop is the variable loop of a for statement.
type loop struct {
	s        *forStmt
	items    []any
	i, depth int
	scope    *scope // around the loop
	last     any    // argument of changed
	asked    bool
}

func (s *forStmt) exec(m *machine) flow {
	m.loop(s, m.eval(s.list), 1)
	return flowNext
}

func (m *machine) loop(s *forStmt, over any, depth int) {
	within := m.scope
	items := m.iterate(over)
	if s.cond != nil {
		var some []any
		for _, item := range items {
			m.scope = &scope{outer: within}
			m.assign(&s.target, item)
			if truth(m.eval(s.cond)) {
				m.alloc(32)
				some = append(some, item)
			}
		}
		items = some
	}
	l := &loop{s: s, items: items, depth: depth, scope: within}
	for l.i = range items {
		m.alloc(64)
		m.scope = &scope{outer: within}
		m.set("loop", l)
		m.assign(&s.target, items[l.i])
		if m.run(s.body) == flowBreak {
			break
		}
	}
	m.scope = within
	if len(items) == 0 {
		m.run(s.otherwise)
	}
}

// again calls a recursive loop for other items.
func (l *loop) again(m *machine, a *arguments) any {
	defer m.enter()()
	if !l.s.recursive || len(a.list) != 1 {
		m.fail("loop can be called in recursive loops, with one argument")
	}
	within := m.scope
	m.scope = l.scope
	text := m.capture(func() { m.loop(l.s, a.list[0], l.depth+1) })
	m.scope = within
	return text
}

func (l *loop) attribute(name string) any {
	n := len(l.items)
	switch name {
	case "index":
		return int64(l.i + 1)
	case "index0":
		return int64(l.i)
	case "revindex":
		return int64(n - l.i)
	case "revindex0":
		return int64(n - l.i - 1)
	case "first":
		return l.i == 0
	case "last":
		return l.i == n-1
	case "length":
		return int64(n)
	case "depth":
		return int64(l.depth)
	case "depth0":
		return int64(l.depth - 1)
	case "previtem":
		if l.i > 0 {
			return l.items[l.i-1]
		}
	case "nextitem":
		if l.i < n-1 {
			return l.items[l.i+1]
		}
	case "cycle":
		return &method{l, func(m *machine, _ any, a *arguments) any {
			if len(a.list) == 0 {
				m.fail("cycle takes arguments")
			}
			return a.list[l.i%len(a.list)]
		}}
	case "changed":
		return &method{l, func(m *machine, _ any, a *arguments) any {
			now := m.list(a.list, tupleKind)
			changed := !l.asked || !m.equal(l.last, now)
			l.last, l.asked = now, true
			return changed
		}}
	}
	return &undefined{"loop." + name}
}
