package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/nikolalohinski/gonja/v2/builtins"
	controlstructures "github.com/nikolalohinski/gonja/v2/builtins/control_structures"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/parser"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// This file configures the Jinja engine for chat templates. A template comes from an untrusted source: it cannot
// reach files or other templates, and its loops, recursion, values and output are bounded. See bounds.go for the
// bounds that keep the engine itself from crashing.

// Bounds of one rendering.
const (
	maxIterations = 1 << 17 // over all loops
	maxDepth      = 64      // of macros calling macros
	maxValue      = maxPrompt
	maxRange      = 1 << 14 // elements of one range()
)

// A jinja is a template compiled by gonja.
type jinja struct{ template *exec.Template }

// A render is the state of one rendering. The context holds it under a name that templates cannot write.
type render struct {
	iterations, depth int
	work              int    // see maxWork
	raised            string // the argument of raise_exception
	out               bytes.Buffer
}

const renderName = "\x00render"

var errRunaway = errors.New("the template exceeds its bounds of loops, nesting, memory or output")

// compile compiles a template.
func compile(source string) (p *jinja, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be parsed: %v", r)
		}
	}()
	cfg := config.New()
	cfg.TrimBlocks, cfg.LeftStripBlocks = true, true // as transformers renders chat templates
	env := &exec.Environment{
		Context: exec.NewContext(map[string]any{}).Update(builtins.GlobalVariables).Update(globals),
		Filters: filters, Tests: builtins.Tests, ControlStructures: structures(), Methods: methods,
	}
	if err := checkNesting(source, cfg); err != nil {
		return nil, fmt.Errorf("it cannot be parsed: %w", err)
	}
	t, err := exec.NewTemplate(source[:min(len(source), 20)], cfg, sourceLoader(source), env)
	if err != nil {
		_, cause, found := strings.Cut(err.Error(), "failed to parse template '"+source+"': ")
		if !found {
			cause = err.Error()
		}
		return nil, fmt.Errorf("it cannot be parsed: %s", lastWords(cause))
	}
	g := &guard{seen: map[any]bool{}}
	if err := g.walk(reflect.ValueOf(t.Root()), 0); err != nil {
		return nil, fmt.Errorf("it cannot be parsed: %w", err)
	}
	return &jinja{t}, nil
}

func (p *jinja) run(vars map[string]any, now func() time.Time) (out string, err error) {
	state := &render{}
	defer func() {
		if r := recover(); r == errRunaway {
			err = fmt.Errorf("chat template: %w", errRunaway)
		} else if r != nil {
			err = fmt.Errorf("chat template: %s", lastWords(fmt.Sprint(r)))
		}
	}()
	vars[renderName] = state
	vars["raise_exception"] = func(va *exec.VarArgs) (*exec.Value, error) {
		state.raised = va.First().String()
		return nil, errors.New(state.raised)
	}
	vars["strftime_now"] = func(va *exec.VarArgs) string { return strftime(now(), va.First().String()) }
	err = p.template.Execute(state, exec.NewContext(vars))
	switch {
	case state.raised != "":
		return "", &TemplateError{state.raised}
	case errors.Is(err, errRunaway) || err != nil && strings.Contains(err.Error(), errRunaway.Error()):
		return "", fmt.Errorf("chat template: %w", errRunaway)
	case err != nil:
		return "", fmt.Errorf("chat template: %s", lastWords(err.Error()))
	}
	return state.out.String(), nil
}

// Write appends to the output. It fails beyond maxPrompt.
func (s *render) Write(b []byte) (int, error) {
	if s.out.Len()+len(b) > maxPrompt {
		return 0, errRunaway
	}
	return s.out.Write(b)
}

// guardWords matches what the filters of bounds.go add to an error.
var guardWords = regexp.MustCompile(`(?s)unable to evaluate filter &\{\S+ \x00\w+ .*?map\[\]\}: |invalid call to filter '\x00\w+': `)

// lastWords returns the end of an error of the engine, which states the cause. The rest repeats the program at every
// level.
func lastWords(s string) string {
	const limit = 300
	s = strings.ToValidUTF8(guardWords.ReplaceAllString(s[max(0, len(s)-16*limit):], ""), "?")
	if len(s) > limit {
		s = "…" + strings.ToValidUTF8(s[len(s)-limit:], "")
	}
	return s
}

// A sourceLoader loads one template and no files.
type sourceLoader string

func (l sourceLoader) Read(string) (io.Reader, error)         { return strings.NewReader(string(l)), nil }
func (l sourceLoader) Resolve(path string) (string, error)    { return path, nil }
func (l sourceLoader) Inherit(string) (loaders.Loader, error) { return l, nil }

// structures returns the statements that templates may use: Jinja's without those for files, translation and
// inheritance, and the generation block with which some templates mark answers.
func structures() *exec.ControlStructureSet {
	set, level := map[string]parser.ControlStructureParser{}, 0
	add := func(name string, parse parser.ControlStructureParser, guard func(first string, cs nodes.ControlStructure) (guardFunc, error)) {
		set[name] = func(p, args *parser.Parser) (nodes.ControlStructure, error) {
			defer func() { level-- }()
			if level++; level > maxNesting {
				return nil, errNesting
			}
			first := ""
			if name := args.Current(tokens.Name); name != nil {
				first = name.Val
			}
			cs, err := parse(p, args)
			if err != nil || guard == nil {
				return cs, err
			}
			run, err := guard(first, cs)
			return &guarded{cs, run}, err
		}
	}
	add("generation", parseGeneration, nil)
	for name, guard := range map[string]func(string, nodes.ControlStructure) (guardFunc, error){
		"if": nil, "with": nil, "filter": nil, "do": nil, "break": nil, "continue": nil,
		"for": guardFor, "macro": guardMacro, "set": guardSet, "raw": guardRaw, "call": guardCall,
	} {
		parse, _ := builtins.ControlStructures.Get(name)
		add(name, parse, guard)
	}
	return exec.NewControlStructureSet(set)
}

// A guardFunc runs a statement or refuses it.
type guardFunc func(r *exec.Renderer, run func() error) error

// A guarded statement runs under a guard.
type guarded struct {
	nodes.ControlStructure
	guard guardFunc
}

func (g *guarded) Execute(r *exec.Renderer, tag *nodes.ControlStructureBlock) error {
	return g.guard(r, func() error { return g.ControlStructure.(exec.ControlStructure).Execute(r, tag) })
}

func stateOf(e *exec.Environment) *render {
	v, _ := e.Context.Get(renderName)
	return v.(*render)
}

// guardFor counts the iterations of a loop before it runs.
func guardFor(_ string, cs nodes.ControlStructure) (guardFunc, error) {
	loop := cs.(*controlstructures.ForControlStructure)
	if loop.Recursive {
		return nil, errors.New("recursive loops are not supported")
	}
	return func(r *exec.Renderer, run func() error) error {
		state := stateOf(r.Environment)
		if state.iterations += 1 + r.Eval(loop.ObjectEvaluator).Len(); state.iterations > maxIterations {
			return errRunaway
		}
		return run()
	}, nil
}

// guardMacro bounds the depth of calls.
func guardMacro(name string, _ nodes.ControlStructure) (guardFunc, error) {
	return func(r *exec.Renderer, run func() error) error {
		if err := run(); err != nil {
			return err
		}
		v, _ := r.Environment.Context.Get(name)
		macro, ok := v.(exec.Macro)
		if !ok {
			return fmt.Errorf("macro %s is not callable", name)
		}
		state := stateOf(r.Environment)
		r.Environment.Context.Set(name, exec.Macro(func(params *exec.VarArgs) *exec.Value {
			state.depth++
			defer func() { state.depth-- }()
			state.iterations++
			if state.depth > maxDepth || state.iterations > maxIterations {
				runAway()
			}
			return macro(params)
		}))
		return nil
	}, nil
}

// guardSet bounds the value of a variable, so that doubling it a few times does not fill the memory. Only
// what namespace made can be changed, as in Jinja, and messages.
func guardSet(_ string, cs nodes.ControlStructure) (guardFunc, error) {
	target := exported(reflect.ValueOf(cs).Elem().FieldByName("target")).Interface()
	return func(r *exec.Renderer, run func() error) error {
		var changed *exec.Value
		switch n := target.(type) {
		case *nodes.GetAttribute:
			changed = r.Eval(n.Node)
		case *nodes.GetItem:
			changed = r.Eval(n.Node)
		}
		if changed != nil && changed.Val.Kind() != reflect.Map {
			return errors.New("set: only variables and namespaces can be changed")
		}
		if err := run(); err != nil {
			return err
		}
		if n, ok := target.(*nodes.Name); ok {
			v, _ := r.Environment.Context.Get(n.Name.Val)
			changed = exec.ToValue(v)
		}
		bound(changed)
		return nil
	}, nil
}

// guardRaw counts literal text.
func guardRaw(_ string, cs nodes.ControlStructure) (guardFunc, error) {
	return func(r *exec.Renderer, run func() error) error {
		stateOf(r.Environment).charge(len(cs.Position().Val))
		return run()
	}, nil
}

// guardCall allows calls of macros, but not of methods, whose objects are not bounded.
func guardCall(_ string, cs nodes.ControlStructure) (guardFunc, error) {
	if cs.(*controlstructures.CallControlStructure).Call.Parent != nil {
		return nil, errors.New("call takes a macro")
	}
	return func(_ *exec.Renderer, run func() error) error { return run() }, nil
}

// A generation block marks an answer in a training text. It has no effect on prompts.
type generation struct {
	location *tokens.Token
	body     *nodes.Wrapper
}

func (g *generation) Position() *tokens.Token { return g.location }
func (g *generation) String() string          { return "generation" }
func (g *generation) Execute(r *exec.Renderer, _ *nodes.ControlStructureBlock) error {
	return r.ExecuteWrapper(g.body)
}

func parseGeneration(p, _ *parser.Parser) (nodes.ControlStructure, error) {
	at := p.Current()
	body, _, err := p.WrapUntil("endgeneration")
	return &generation{at, body}, err
}

// globals are the functions of all templates.
var globals = func() *exec.Context {
	c := exec.NewContext(map[string]any{"range": boundedRange})
	for _, name := range []string{"dict", "namespace", "cycler", "joiner"} {
		f, _ := builtins.GlobalFunctions.Get(name)
		c.Set(name, f)
	}
	return c
}()

func boundedRange(va *exec.VarArgs) ([]int, error) {
	n := make([]int, 0, 3)
	for _, a := range va.Args {
		if !a.IsInteger() {
			return nil, errors.New("range takes integers")
		}
		n = append(n, a.Integer())
	}
	start, step := 0, 1
	switch len(n) {
	case 3:
		step = n[2]
		fallthrough
	case 2:
		start, n[0] = n[0], n[1]
	case 0:
		return nil, errors.New("range takes one to three integers")
	}
	if step == 0 {
		return nil, errors.New("the step of range is 0")
	}
	var list []int
	for i := start; step > 0 && i < n[0] || step < 0 && i > n[0]; i += step {
		if list = append(list, i); len(list) > maxRange {
			return nil, errRunaway
		}
	}
	return list, nil
}

// toJSON formats JSON as Python's json.dumps(ensure_ascii=False): with a space after commas and colons, and without
// escapes for HTML. The keys of a dictionary that the template wrote keep their order.
func toJSON(_ *exec.Evaluator, in *exec.Value, params *exec.VarArgs) *exec.Value {
	if in.IsError() {
		return in
	}
	indent := 0
	if v, ok := params.KwArgs["indent"]; ok && v.IsInteger() {
		indent = min(max(v.Integer(), 0), 16)
	}
	var b strings.Builder
	if err := writeJSON(&b, in.Interface(), indent, 0); err != nil {
		return exec.AsValue(err)
	}
	return exec.AsSafeValue(b.String())
}

func writeJSON(b *strings.Builder, v any, indent, level int) error {
	if level > maxDepth || b.Len() > maxValue {
		return errRunaway
	}
	type entry struct {
		key   string
		value any
	}
	var entries []entry
	brackets := "{}"
	switch x := v.(type) {
	case *exec.Value:
		return writeJSON(b, x.Interface(), indent, level)
	case *exec.Dict:
		for _, p := range x.Pairs {
			entries = append(entries, entry{p.Key.String(), p.Value})
		}
	case map[string]any:
		for k, e := range x {
			entries = append(entries, entry{k, e})
		}
		sort.Slice(entries, func(i, j int) bool { return entries[i].key < entries[j].key })
	case []any:
		brackets = "[]"
		for _, e := range x {
			entries = append(entries, entry{"", e})
		}
	case exec.ValuesList:
		brackets = "[]"
		for _, e := range x {
			entries = append(entries, entry{"", e})
		}
	default:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("tojson: %w", err)
		}
		b.Write(bytes.TrimRight(buf.Bytes(), "\n"))
		return nil
	}
	line := func(level int) {
		if indent > 0 && len(entries) > 0 {
			b.WriteString("\n" + strings.Repeat(" ", indent*level))
		}
	}
	b.WriteByte(brackets[0])
	for i, e := range entries {
		if i > 0 && indent > 0 {
			b.WriteString(",")
		} else if i > 0 {
			b.WriteString(", ")
		}
		line(level + 1)
		if brackets == "{}" {
			if err := writeJSON(b, e.key, 0, level+1); err != nil {
				return err
			}
			b.WriteString(": ")
		}
		if err := writeJSON(b, e.value, indent, level+1); err != nil {
			return err
		}
	}
	line(level)
	b.WriteByte(brackets[1])
	return nil
}

// strftime formats a time by those conversions of C that templates use.
func strftime(t time.Time, format string) string {
	layouts := map[byte]string{'d': "02", 'e': "_2", 'm': "01", 'b': "Jan", 'B': "January", 'Y': "2006", 'y': "06",
		'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'a': "Mon", 'A': "Monday", 'j': "002",
		'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006"}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if layout, ok := layouts[format[i]]; ok {
			b.WriteString(t.Format(layout))
		} else if format[i] == '%' {
			b.WriteByte('%')
		} else {
			b.WriteString(format[i-1 : i+1])
		}
	}
	return b.String()
}
