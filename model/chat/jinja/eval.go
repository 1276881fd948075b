package jinja

import (
	"math"
	"strings"
	"unicode/utf8"
)

type expr interface{ eval(m *machine) any }

type (
	constExpr  struct{ value any }
	nameExpr   struct{ name string }
	bodyExpr   struct{} // the text of a filter or set statement
	choiceExpr struct{ cond, then, otherwise expr }
	orExpr     struct{ x, y expr }
	andExpr    struct{ x, y expr }
	notExpr    struct{ x expr }
	signExpr   struct {
		op string
		x  expr
	}
	binaryExpr struct {
		op   string
		x, y expr
	}
	compareExpr struct {
		first expr
		ops   []string
		rest  []expr
	}
	listExpr struct {
		kind  listKinds
		items []expr
	}
	dictExpr struct{ keys, values []expr }
	attrExpr struct {
		x    expr
		name string
	}
	itemExpr  struct{ x, index expr }
	sliceExpr struct {
		x    expr
		part [3]expr // from, to, step; nil where missing
	}
	callExpr struct {
		f    expr
		args argExprs
	}
	filterExpr struct {
		x    expr
		name string
		run  builtin
		args argExprs
	}
	testExpr struct {
		x    expr
		name string
		run  builtin
		args argExprs
	}
	argExprs struct {
		list, more, moreNamed []expr
		names                 []string
		named                 []expr
	}
)

// arguments are those of a call. The subject of a filter, test or method is not among them.
type arguments struct {
	list  []any
	names []string
	named []any
}

// A builtin is a filter, test, method or function. For functions, the subject is nil.
type builtin func(m *machine, subject any, a *arguments) any

// A method is a builtin with its subject.
type method struct {
	subject any
	run     builtin
}

// get returns the argument at a position or with a name.
func (a *arguments) get(i int, name string) (any, bool) {
	if i >= 0 && i < len(a.list) {
		return a.list[i], true
	}
	for k, n := range a.names {
		if n == name {
			return a.named[k], true
		}
	}
	return nil, false
}

func (a *arguments) or(i int, name string, fallback any) any {
	if v, ok := a.get(i, name); ok {
		return v
	}
	return fallback
}

func (m *machine) arguments(x *argExprs) *arguments {
	a := &arguments{}
	if n := len(x.list); n > 0 {
		a.list = make([]any, n)
		for i, e := range x.list {
			a.list[i] = m.eval(e)
		}
	}
	for _, e := range x.more {
		more := m.iterate(m.eval(e))
		m.alloc(32 * len(more))
		a.list = append(a.list, more...)
	}
	for i, e := range x.named {
		a.names, a.named = append(a.names, x.names[i]), append(a.named, m.eval(e))
	}
	for _, e := range x.moreNamed {
		d, ok := m.eval(e).(*Dict)
		if !ok {
			m.fail("** takes a dictionary")
		}
		m.alloc(64 * len(d.keys))
		for i, k := range d.keys {
			a.names, a.named = append(a.names, m.str(k)), append(a.named, d.values[i])
		}
	}
	return a
}

func (e *constExpr) eval(*machine) any  { return e.value }
func (e *nameExpr) eval(m *machine) any { return m.lookup(e.name) }
func (e bodyExpr) eval(m *machine) any  { return m.subject }
func (e *notExpr) eval(m *machine) any  { return !truth(m.eval(e.x)) }

func (e *choiceExpr) eval(m *machine) any {
	switch {
	case truth(m.eval(e.cond)):
		return m.eval(e.then)
	case e.otherwise == nil:
		return &undefined{"the value of if without else"}
	}
	return m.eval(e.otherwise)
}

func (e *orExpr) eval(m *machine) any {
	if x := m.eval(e.x); truth(x) {
		return x
	}
	return m.eval(e.y)
}

func (e *andExpr) eval(m *machine) any {
	if x := m.eval(e.x); !truth(x) {
		return x
	}
	return m.eval(e.y)
}

func (e *signExpr) eval(m *machine) any {
	x := m.eval(e.x)
	if f, ok := x.(float64); ok {
		if e.op == "-" {
			f = -f
		}
		return f
	}
	i, ok := integer(x)
	if !ok {
		m.fail("%s has no sign", typeName(x))
	}
	if e.op == "-" {
		return m.integers("-", 0, i)
	}
	return i
}

func (e *compareExpr) eval(m *machine) any {
	x := m.eval(e.first)
	for i, op := range e.ops {
		y := m.eval(e.rest[i])
		holds := false
		switch op {
		case "==":
			holds = m.equal(x, y)
		case "!=":
			holds = !m.equal(x, y)
		case "in":
			holds = m.contains(y, x)
		case "not in":
			holds = !m.contains(y, x)
		default:
			sign := m.compare(x, y)
			holds = !isNaN(x) && !isNaN(y) && (sign < 0 && op[0] == '<' || sign > 0 && op[0] == '>' || sign == 0 && len(op) == 2)
		}
		if !holds {
			return false
		}
		x = y
	}
	return true
}

func (e *binaryExpr) eval(m *machine) any {
	x, y := m.eval(e.x), m.eval(e.y)
	switch e.op {
	case "~":
		a, b := m.str(x), m.str(y)
		m.alloc(len(a) + len(b) + 16)
		return a + b
	case "+":
		if a, ok := x.(string); ok {
			if b, ok := y.(string); ok {
				m.alloc(len(a) + len(b) + 16)
				return a + b
			}
		}
		if a, ok := x.(*List); ok {
			if b, ok := y.(*List); ok && (a.kind == tupleKind) == (b.kind == tupleKind) {
				m.alloc(16 * (len(a.items) + len(b.items)))
				return m.list(append(append([]any(nil), a.items...), b.items...), a.kind)
			}
		}
	case "*":
		if v, ok := m.repeat(x, y); ok {
			return v
		}
		if v, ok := m.repeat(y, x); ok {
			return v
		}
	case "%":
		if s, ok := x.(string); ok {
			a := []any{y}
			if l, ok := y.(*List); ok && l.kind == tupleKind {
				a = l.items
			}
			return m.format(s, &arguments{list: a})
		}
	}
	return m.arithmetic(e.op, x, y)
}

// repeat multiplies a text or list.
func (m *machine) repeat(x, times any) (any, bool) {
	n, ok := times.(int64)
	if !ok {
		return nil, false
	}
	n = max(n, 0)
	switch s := x.(type) {
	case string:
		m.allocTimes(len(s), n)
		return strings.Repeat(s, int(n)), true
	case *List:
		m.allocTimes(16*len(s.items), n)
		items := make([]any, 0, len(s.items)*int(n))
		for range n {
			m.step()
			items = append(items, s.items...)
		}
		return m.list(items, s.kind), true
	}
	return nil, false
}

func (m *machine) arithmetic(op string, x, y any) any {
	a, ok := integer(x)
	b, ok2 := integer(y)
	if ok && ok2 && op != "/" && !(op == "**" && b < 0) {
		return m.integers(op, a, b)
	}
	f, ok := number(x)
	g, ok2 := number(y)
	if !ok || !ok2 {
		m.fail("%s and %s cannot be combined by %s", typeName(x), typeName(y), op)
	}
	if g == 0 && (op == "/" || op == "//" || op == "%") || f == 0 && op == "**" && g < 0 {
		m.fail("division by zero")
	}
	switch op {
	case "+":
		return f + g
	case "-":
		return f - g
	case "*":
		return f * g
	case "/":
		return f / g
	case "//":
		whole, _ := floorDivide(f, g)
		return whole
	case "%":
		_, rest := floorDivide(f, g)
		return rest
	}
	r := math.Pow(f, g)
	if finite(f) && finite(g) && !finite(r) {
		m.fail("the result of %s is out of range", op)
	}
	return r
}

// isNaN reports whether a value is the number that is in no order with others.
func isNaN(v any) bool {
	f, _ := v.(float64)
	return math.IsNaN(f)
}

func finite(f float64) bool { return f-f == 0 }

// floorDivide is Python's divmod of numbers: the rest has the sign of g.
func floorDivide(f, g float64) (whole, rest float64) {
	rest = math.Mod(f, g)
	whole = math.Round((f - rest) / g)
	if rest != 0 && (rest < 0) != (g < 0) {
		whole, rest = whole-1, rest+g
	}
	return whole, rest
}

// integers computes with integers. Python's have no bounds; these have 64 bits, and results beyond are errors.
func (m *machine) integers(op string, a, b int64) any {
	var r int64
	fits := true
	switch op {
	case "+":
		r = a + b
		fits = (r > a) == (b > 0)
	case "-":
		r = a - b
		fits = (r < a) == (b > 0)
	case "*":
		r, fits = times(a, b)
	case "**":
		r = 1
		for fits && b > 0 {
			if b&1 == 1 {
				r, fits = times(r, a)
			}
			if b >>= 1; b > 0 && fits {
				a, fits = times(a, a)
			}
		}
	default:
		if b == 0 {
			m.fail("division by zero")
		}
		q, rest := a/b, a%b
		if rest != 0 && (rest < 0) != (b < 0) {
			q, rest = q-1, rest+b
		}
		if r = q; op == "%" {
			r = rest
		} else {
			fits = !(a == math.MinInt64 && b == -1)
		}
	}
	if !fits {
		m.fail("the result of %s is out of range", op)
	}
	return r
}

func times(a, b int64) (int64, bool) {
	r := a * b
	return r, a == 0 || r/a == b && !(a == -1 && b == math.MinInt64)
}

func (e *listExpr) eval(m *machine) any {
	items := make([]any, len(e.items))
	for i, x := range e.items {
		items[i] = m.eval(x)
	}
	return m.list(items, e.kind)
}

func (e *dictExpr) eval(m *machine) any {
	d := &Dict{}
	for i, k := range e.keys {
		m.put(d, m.eval(k), m.eval(e.values[i]))
	}
	return d
}

func (m *machine) put(d *Dict, key, value any) {
	m.alloc(96)
	m.weigh(key)
	if !d.set(key, value) {
		m.fail("%s cannot be a key", typeName(key))
	}
}

// find is d.get that counts its work.
func (m *machine) find(d *Dict, key any) (any, bool) {
	m.weigh(key)
	return d.get(key)
}

// weigh counts what it takes to hash a key: a short template can have long texts hashed often.
func (m *machine) weigh(key any) {
	switch k := key.(type) {
	case string:
		m.work(len(k))
	case *List:
		if len(k.items) > maxTupleKey {
			return
		}
		m.alloc(16 * (maxTupleKey + 1))
		for _, item := range k.items {
			if s, ok := item.(string); ok {
				m.work(len(s))
			}
		}
	}
}

func (e *attrExpr) eval(m *machine) any { return m.attribute(m.eval(e.x), e.name) }

// attribute is Jinja's x.name: a method, else an item.
func (m *machine) attribute(x any, name string) any {
	switch v := x.(type) {
	case *undefined:
		m.fail("%s is undefined: it has no %s", v.what, name)
	case *loop:
		return v.attribute(name)
	case *namespace:
		if value, ok := m.find(&v.Dict, name); ok {
			return value
		}
	case *macro:
		if name == "name" {
			return v.name
		}
	}
	if run := methodOf(x, name); run != nil {
		return &method{x, run}
	}
	if d, ok := x.(*Dict); ok {
		if value, ok := m.find(d, name); ok {
			return value
		}
	}
	return &undefined{name}
}

func (e *itemExpr) eval(m *machine) any { return m.item(m.eval(e.x), m.eval(e.index)) }

// item is Jinja's x[key]: an item, else an attribute.
func (m *machine) item(x, key any) any {
	i, isInt := integer(key)
	switch v := x.(type) {
	case *undefined:
		m.fail("%s is undefined: it has no items", v.what)
	case *Dict:
		if value, ok := m.find(v, key); ok {
			return value
		}
	case *List:
		if n := int64(len(v.items)); isInt && i >= -n && i < n {
			return v.items[(i+n)%n]
		}
	case string:
		if isInt {
			return m.character(v, i)
		}
	}
	if name, ok := key.(string); ok {
		if _, dict := x.(*Dict); !dict || methodOf(x, name) != nil {
			return m.attribute(x, name)
		}
	}
	return &undefined{m.brief(key)}
}

// brief returns a value for an error.
func (m *machine) brief(v any) string {
	switch x := v.(type) {
	case string:
		return x[:min(len(x), 40)]
	case nil, bool, int64, float64:
		return scalar(x)
	}
	return typeName(v)
}

func (m *machine) character(s string, i int64) any {
	n := int64(m.length(s))
	if i < -n || i >= n {
		return &undefined{"the character"}
	}
	for i = (i + n) % n; i > 0; i-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

func (e *sliceExpr) eval(m *machine) any {
	x := m.eval(e.x)
	var part [3]any
	for i, p := range e.part {
		if p != nil {
			part[i] = m.eval(p)
		}
	}
	switch v := x.(type) {
	case string:
		m.work(len(v))
		runes := []rune(nil)
		ascii := utf8.RuneCountInString(v) == len(v)
		n := len(v)
		if !ascii {
			m.alloc(4 * len(v))
			runes = []rune(v)
			n = len(runes)
		}
		from, step, count := m.span(n, part)
		m.alloc(4*count + 16)
		if step == 1 && ascii {
			return v[from : from+count]
		}
		var b strings.Builder
		for i := range count {
			if at := from + i*step; ascii {
				b.WriteByte(v[at])
			} else {
				b.WriteRune(runes[at])
			}
		}
		return b.String()
	case *List:
		from, step, count := m.span(len(v.items), part)
		items := make([]any, count)
		for i := range items {
			items[i] = v.items[from+i*step]
		}
		return m.list(items, v.kind)
	}
	m.fail("%s cannot be sliced", typeName(x))
	return nil
}

// span returns the first index, the step and the number of the items of a slice.
func (m *machine) span(n int, part [3]any) (from, step, count int) {
	step = 1
	bound := func(v any, fallback, low, high int) int {
		if v == nil {
			return fallback
		}
		i, ok := integer(v)
		if !ok {
			m.fail("a slice takes integers, not %s", typeName(v))
		}
		if i < 0 {
			i = max(i, -int64(n)-1) + int64(n)
		}
		return int(min(max(i, int64(low)), int64(high)))
	}
	if part[2] != nil {
		i, ok := integer(part[2])
		if !ok || i == 0 {
			m.fail("the step of a slice must be an integer other than 0")
		}
		step = int(min(max(i, -int64(n)-1), int64(n)+1))
	}
	if step > 0 {
		from = bound(part[0], 0, 0, n)
		if to := bound(part[1], n, 0, n); to > from {
			count = (to - from + step - 1) / step
		}
		return from, step, count
	}
	from = bound(part[0], n-1, -1, n-1)
	if to := bound(part[1], -1, -1, n-1); from > to {
		count = (from - to - step - 1) / -step
	}
	return from, step, count
}

func (e *callExpr) eval(m *machine) any {
	if a, ok := e.f.(*attrExpr); ok { // a method needs no value to stand for it
		x := m.eval(a.x)
		if _, isUndefined := x.(*undefined); !isUndefined {
			if run := methodOf(x, a.name); run != nil {
				return run(m, x, m.arguments(&e.args))
			}
		}
		return m.call(m.attribute(x, a.name), m.arguments(&e.args))
	}
	return m.call(m.eval(e.f), m.arguments(&e.args))
}

func (m *machine) call(f any, a *arguments) any {
	switch f := f.(type) {
	case *method:
		return f.run(m, f.subject, a)
	case *macro:
		return m.callMacro(f, a)
	case *loop:
		return f.again(m, a)
	case Func:
		v, err := f(a.list)
		if err != nil {
			panic(failure{err})
		}
		if s, ok := v.(string); ok {
			m.alloc(len(s))
		}
		return valueOf(v)
	case *undefined:
		m.fail("%s is not callable: it is undefined", f.what)
	}
	m.fail("%s is not callable", typeName(f))
	return nil
}

func (e *filterExpr) eval(m *machine) any {
	x := m.eval(e.x)
	return e.run(m, x, m.arguments(&e.args))
}

func (e *testExpr) eval(m *machine) any {
	x := m.eval(e.x)
	return e.run(m, x, m.arguments(&e.args))
}
