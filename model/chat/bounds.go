package chat

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"github.com/nikolalohinski/gonja/v2/builtins"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// This file keeps a template from crashing the process by exhausting the stack or the memory, which recover cannot
// prevent. Templates that are nested too deeply for the engine's recursion are refused when they are compiled. At run
// time, a value's size is checked before any operation that could copy it, and operations that can make a value much
// larger (repetition, padding, replacement) are checked before they run. All values of a rendering together may take
// maxWork.

const (
	maxNesting = 200            // of brackets, statements and expressions
	maxWork    = 16 * maxPrompt // bytes of all values that a rendering computes
	opCost     = 64             // bytes counted for any value, and for each element of a list
)

var errNesting = fmt.Errorf("it is nested more than %d deep", maxNesting)

// runAway stops the rendering. It panics, because the filter default would replace an error value.
func runAway() { panic(errRunaway) }

// bound stops the rendering if a value is too large to be copied.
func bound(values ...*exec.Value) {
	for _, v := range values {
		if size(reflect.ValueOf(v), 0) > maxValue {
			runAway()
		}
	}
}

// size estimates the bytes of a value written out. Parts that it refers to twice count twice, and a value that
// contains itself is too large.
func size(v reflect.Value, level int) (n int) {
	if level > maxDepth {
		return maxValue + 1
	}
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Interface:
		return size(v.Elem(), level)
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		switch x := v.Interface().(type) {
		case *exec.Value:
			return size(x.Val, level)
		case *exec.Dict:
			for _, p := range x.Pairs {
				if n += 16 + size(reflect.ValueOf(p.Key), level+1) + size(reflect.ValueOf(p.Value), level+1); n > maxValue {
					break
				}
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := 0; i < v.Len() && n <= maxValue; i++ {
			n += 16 + size(v.Index(i), level+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next() && n <= maxValue; {
			n += 16 + size(it.Key(), level+1) + size(it.Value(), level+1)
		}
	}
	return n
}

// charge adds to the work done.
func (s *render) charge(n int) {
	if s.work += opCost + n; s.work > maxWork {
		runAway()
	}
}

// chargeValue bounds a value and counts the work of making it. The elements of a list were counted before.
func (s *render) chargeValue(v *exec.Value) {
	bound(v)
	switch {
	case v.IsString():
		s.charge(len(v.String()))
	case v.IsList():
		s.charge(opCost * v.Len())
	default:
		s.charge(0)
	}
}

// checkNesting refuses brackets nested too deeply for the recursive parser.
func checkNesting(source string, cfg *config.Config) error {
	depth := 0
	for s := tokens.LexAll(source, cfg); s.Current() != nil && !s.EOF(); s.Next() {
		switch s.Current().Type {
		case tokens.LeftParenthesis, tokens.LeftBracket, tokens.LeftBrace:
			depth++
		case tokens.RightParenthesis, tokens.RightBracket, tokens.RightBrace:
			depth--
		}
		if depth > maxNesting {
			return errNesting
		}
	}
	return nil
}

// The filters that guard puts around expressions. Templates cannot write their names.
const (
	boundFilter  = "\x00bound"
	indexFilter  = "\x00index"
	chargeFilter = "\x00charge"
	timesFilter  = "\x00times"
	lastFilter   = "\x00last"
)

var guardFilters = map[string]exec.FilterFunction{
	boundFilter: func(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
		bound(in)
		return in
	},
	// An indexed value is written out only in the error for a value without an index.
	indexFilter: func(_ *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
		if !in.IsList() {
			bound(in)
		}
		return in
	},
	chargeFilter: func(e *exec.Evaluator, in *exec.Value, _ *exec.VarArgs) *exec.Value {
		stateOf(e.Environment).chargeValue(in)
		return in
	},
	// A product, as the engine computes it.
	timesFilter: func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
		right := params.First()
		switch {
		case in.IsError():
			return in
		case in.IsFloat() || right.IsFloat():
			return exec.AsValue(in.Float() * right.Float())
		case in.IsString():
			product(len(in.String()), right.Integer())
			return exec.AsValue(strings.Repeat(in.String(), right.Integer()))
		}
		return exec.AsValue(in.Integer() * right.Integer())
	},
	lastFilter: func(_ *exec.Evaluator, _ *exec.Value, params *exec.VarArgs) *exec.Value { return params.First() },
}

// product stops the rendering if the product of two sizes is too large. Negative sizes count as 0.
func product(a, b int) {
	if b > 0 && a > maxValue/b {
		runAway()
	}
}

// filtered returns an expression with filters of guardFilters.
func filtered(x nodes.Expression, names ...string) *nodes.FilteredExpression {
	f := &nodes.FilteredExpression{Expression: x}
	for _, name := range names {
		f.Filters = append(f.Filters, &nodes.FilterCall{Name: name})
	}
	return f
}

// bounded returns an expression whose value is bounded before use. Literals need no check.
func bounded(x nodes.Node) nodes.Expression {
	switch x.(type) {
	case nil, *nodes.String, *nodes.Integer, *nodes.Float, *nodes.Bool, *nodes.None:
		return x
	}
	return filtered(x, boundFilter)
}

// boundAll replaces expressions by bounded ones.
func boundAll(list []nodes.Expression, named map[string]nodes.Expression) {
	for i := range list {
		list[i] = bounded(list[i])
	}
	for k := range named {
		named[k] = bounded(named[k])
	}
}

// A guard walks a compiled template once and inserts the guarding filters where values are made or written out. It
// uses reflection, because the engine keeps some expressions in unexported fields.
//
// The engine's errors repeat the source of all enclosing expressions, level by level. The guard bounds their length
// too.
type guard struct {
	seen           map[any]bool
	source, levels int // bytes and levels of the current expression
}

// walk guards everything reachable from v, and v itself if it is an interface.
func (g *guard) walk(v reflect.Value, level int) error {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if err := g.walk(v.Elem(), level); err != nil {
			return err
		}
		if node, ok := v.Interface().(nodes.Node); ok && v.CanSet() {
			v.Set(reflect.ValueOf(charged(node)))
		}
	case reflect.Pointer:
		return g.walkPointer(v, level)
	case reflect.Struct:
		for i := range v.NumField() {
			if err := g.walk(exported(v.Field(i)), level); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := g.walk(v.Index(i), level); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(k))
			if err := g.walk(e, level); err != nil {
				return err
			}
			v.SetMapIndex(k, e)
		}
	}
	return nil
}

func (g *guard) walkPointer(v reflect.Value, level int) error {
	if v.IsNil() {
		return nil
	}
	switch x := v.Interface().(type) {
	case *tokens.Token:
		g.source += len(x.Val)
		return nil
	case *nodes.Output, *nodes.Wrapper, *nodes.ControlStructureBlock:
		outer := *g
		defer func() { g.source, g.levels = outer.source, outer.levels }()
		g.source, g.levels, level = 0, 0, 0
	}
	if g.seen[v.Interface()] {
		return nil
	}
	g.seen[v.Interface()] = true
	g.source, g.levels = g.source+opCost, max(g.levels, level)
	if level > maxNesting || g.source*g.levels > 4*maxValue {
		return errNesting
	}
	err := g.walk(v.Elem(), level+1)
	if node, ok := v.Interface().(nodes.Node); ok && err == nil {
		boundParts(node)
	}
	return err
}

// exported makes an unexported field accessible.
func exported(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}

// charged returns the replacement for a node that makes a value or prints. It returns other nodes unchanged.
func charged(node nodes.Node) nodes.Node {
	switch n := node.(type) {
	case *nodes.Data:
		return &nodes.ControlStructureBlock{Location: n.Data, Name: "text", ControlStructure: &text{n}}
	case *nodes.List, *nodes.Tuple, *nodes.Dict, *nodes.GetSlice:
		return filtered(n, chargeFilter)
	case *nodes.Call:
		// A method called on a variable may change the variable, so the engine must see it.
		if name, ok := n.Parent.(*nodes.Name); ok {
			f := filtered(name, boundFilter, lastFilter, chargeFilter)
			f.Filters[1].Args = []nodes.Expression{n}
			return f
		}
		return filtered(n, chargeFilter)
	case *nodes.BinaryExpression:
		switch n.Operator.Token.Type {
		case tokens.Multiply:
			f := filtered(n.Left, timesFilter, chargeFilter)
			f.Filters[0].Args = []nodes.Expression{n.Right}
			return f
		case tokens.Addition, tokens.Tilde:
			return filtered(n, chargeFilter)
		}
	}
	return node
}

// boundParts bounds the parts of a node that the engine writes out, in results or in errors.
func boundParts(node nodes.Node) {
	switch n := node.(type) {
	case *nodes.Output:
		n.Expression = filtered(n.Expression, chargeFilter)
		if n.Alternative != nil {
			n.Alternative = filtered(n.Alternative, chargeFilter)
		}
	case *nodes.BinaryExpression:
		if t := n.Operator.Token.Type; t != tokens.And && t != tokens.Or {
			n.Left, n.Right = bounded(n.Left), bounded(n.Right)
		}
	case *nodes.TestExpression:
		n.Expression = bounded(n.Expression)
		boundAll(n.Test.Args, n.Test.Kwargs)
	case *nodes.Call:
		if _, variable := n.Parent.(*nodes.Name); !variable {
			n.Parent = bounded(n.Parent)
		}
		boundAll(n.Args, n.Kwargs)
	case *nodes.GetItem:
		n.Node = filtered(n.Node, indexFilter)
	case *nodes.GetAttribute:
		if n.Attribute == "" {
			n.Node = filtered(n.Node, indexFilter)
		}
	case *nodes.GetSlice:
		n.Node, n.Start, n.End, n.Step = bounded(n.Node), bounded(n.Start), bounded(n.End), bounded(n.Step)
	}
}

// text is literal text of a template. Inside macros it takes memory, too.
type text struct{ data *nodes.Data }

func (t *text) Position() *tokens.Token { return t.data.Data }
func (t *text) String() string          { return "text" }
func (t *text) Execute(r *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	stateOf(r.Environment).charge(len(t.data.Data.Val))
	_, err := r.Visit(t.data)
	return err
}

// arguments are the arguments of a filter or method.
type arguments struct{ *exec.VarArgs }

// get returns the argument with the given name or position.
func (a arguments) get(i int, name string) *exec.Value {
	if v, ok := a.KwArgs[name]; ok {
		return v
	}
	if i < len(a.Args) {
		return a.Args[i]
	}
	return exec.AsValue(nil)
}

// all returns all arguments.
func (a arguments) all() []*exec.Value {
	return slices.AppendSeq(slices.Clone(a.Args), maps.Values(a.KwArgs))
}

// growth holds checks for filters and methods whose result can be much larger than their input. A check stops the
// rendering if the result would be too large.
var growth = map[string]func(in *exec.Value, a arguments){
	"center": padding, "ljust": padding, "rjust": padding, "zfill": padding,
	"format": formatted, "format_map": formatted,
	"split": splitting, "rsplit": splitting,
	"splitlines": func(in *exec.Value, _ arguments) { product(opCost, count(in, "\n")) },
	"batch":      func(_ *exec.Value, a arguments) { product(opCost, a.get(0, "linecount").Integer()) },
	"slice":      func(_ *exec.Value, a arguments) { product(opCost, a.get(0, "slices").Integer()) },
	"expandtabs": func(in *exec.Value, a arguments) { product(count(in, "\t"), a.get(1, "tabsize").Integer()) },
	"indent": func(in *exec.Value, a arguments) {
		width := a.get(0, "width")
		if width.IsString() {
			product(count(in, "\n")+1, len(width.String()))
		} else {
			product(count(in, "\n")+1, width.Integer())
		}
	},
	// The filter applies to the list, the method to the separator.
	"join": func(in *exec.Value, a arguments) {
		list, by := in, a.get(0, "d")
		if in.IsString() {
			list, by = a.get(0, "iterable"), in
		}
		product(list.Len(), len(by.String()))
	},
	"replace": func(in *exec.Value, a arguments) {
		product(count(in, a.get(0, "old").String()), len(a.get(1, "new").String()))
	},
	"urlize": func(in *exec.Value, a arguments) {
		product(count(in, " ")+1, opCost+len(a.get(2, "target").String())+len(a.get(3, "rel").String()))
	},
}

func count(in *exec.Value, part string) int { return strings.Count(in.String(), part) }

func padding(_ *exec.Value, a arguments) {
	const longest = 4 // bytes of a character
	product(longest, a.get(0, "width").Integer())
}

func splitting(in *exec.Value, a arguments) {
	product(opCost, count(in, a.get(0, "sep").String()))
}

var (
	longNumber  = regexp.MustCompile(`[0-9]{4}`)
	nestedField = regexp.MustCompile(`\{[^{}]*:[^{}]*\{`)
)

// formatted checks format, the filter (%s) and the method ({}). Widths of four digits and widths that are arguments
// are refused.
func formatted(in *exec.Value, a arguments) {
	const verbose = 8 // Go's %#v, for one
	format, field := in.String(), 2*1000
	nested := strings.Contains(format, "*") || nestedField.MatchString(format)
	refused := longNumber.MatchString(format)
	look := func(text string) { refused = refused || nested && strings.ContainsAny(text, "0123456789") }
	look(format)
	for _, v := range a.all() {
		look(v.String())
		field += verbose * size(reflect.ValueOf(v), 0)
	}
	if refused {
		runAway()
	}
	product(strings.Count(format, "%")+strings.Count(format, "{"), field)
}

// listFilters treat a text as the list of its characters, which takes many times its memory.
var listFilters = map[string]bool{
	"batch": true, "dictsort": true, "groupby": true, "join": true, "list": true, "map": true, "max": true, "min": true,
	"reject": true, "rejectattr": true, "reverse": true, "select": true, "selectattr": true, "slice": true, "sort": true,
	"sum": true, "unique": true, "xmlattr": true,
}

// boundArguments checks a call of a filter or method before it runs.
func boundArguments(name string, in *exec.Value, params *exec.VarArgs) {
	bound(in)
	bound(arguments{params}.all()...)
	if grow := growth[name]; grow != nil {
		grow(in, arguments{params})
	}
}

// boundedFilter returns a filter that checks its arguments first. Its result counts as work, because map applies it
// to each element of a list.
func boundedFilter(name string, f exec.FilterFunction) exec.FilterFunction {
	return func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
		boundArguments(name, in, params)
		if listFilters[name] && in.IsString() && in.Len() > maxRange {
			runAway()
		}
		out := f(e, in, params)
		stateOf(e.Environment).chargeValue(out)
		return out
	}
}

// filters are Jinja's, with tojson as chat templates expect it. It omits striptags and wordwrap, which take quadratic
// time and which chat templates do not use.
var filters = func() *exec.FilterSet {
	set := exec.NewFilterSet(map[string]exec.FilterFunction{})
	for _, name := range strings.Fields(`abs attr batch capitalize center default d dictsort e escape filesizeformat
		first float forceescape format groupby indent int join items last length count list lower map max min pprint
		random rejectattr reject replace reverse round safe selectattr select slice sort string sum title tojson trim
		truncate unique upper urlencode urlize wordcount xmlattr`) {
		f, _ := builtins.Filters.Get(name)
		switch name {
		case "tojson":
			f = toJSON
		case "int":
			f = smallInt(f)
		}
		set.Register(name, boundedFilter(name, f))
	}
	for name, f := range guardFilters {
		set.Register(name, f)
	}
	return set
}()

// smallInt is the filter int without big numbers, whose methods could take any amount of memory.
func smallInt(f exec.FilterFunction) exec.FilterFunction {
	return func(e *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
		out := f(e, in, params)
		if _, ok := out.Interface().(*big.Int); ok {
			return exec.AsValue(errors.New("int: the number is too large"))
		}
		return out
	}
}

// methods are Python's. Those of texts check their arguments first. A list is copied before it grows, because others
// may share its memory.
var methods = func() exec.Methods {
	all, texts := builtins.Methods, map[string]exec.Method[string]{}
	for _, name := range strings.Fields(`capitalize capwords casefold center count encode endswith expandtabs find
		format format_map isalnum isalpha isascii isdecimal isdigit islower isnumeric isprintable isspace istitle
		isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rjust rpartition rsplit
		rstrip split splitlines startswith strip swapcase title upper zfill`) {
		f, ok := pythonMethods[name]
		if !ok {
			f, _ = builtins.Methods.Str.Get(name)
		}
		texts[name] = func(self string, v *exec.Value, params *exec.VarArgs) (any, error) {
			boundArguments(name, v, params)
			return f(self, v, params)
		}
	}
	lists := map[string]exec.Method[[]any]{}
	for _, name := range []string{"append", "reverse", "copy"} {
		f, _ := builtins.Methods.List.Get(name)
		lists[name] = func(self []any, v *exec.Value, params *exec.VarArgs) (any, error) {
			if v.Len() >= maxRange {
				runAway()
			}
			if v.Val.Kind() == reflect.Slice {
				v.Val = v.Val.Slice3(0, v.Len(), v.Len())
			}
			out, err := f(self, v, params)
			bound(v)
			return out, err
		}
	}
	all.Str, all.List = exec.NewMethodSet(texts), exec.NewMethodSet(lists)
	return all
}()
