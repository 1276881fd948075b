package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSchemaDepth is how deep a schema may be nested.
const maxSchemaDepth = 128

// FromSchema returns the grammar of JSON texts that fit a JSON schema. Members of an object come in the order of the schema, and
// others than the schema names only if additionalProperties allows them.
//
// Understood are type, nullable, enum, const, anyOf, oneOf, allOf (of objects), $ref within the schema; properties, required,
// additionalProperties and propertyNames; items, prefixItems, minItems and maxItems; minLength, maxLength, pattern and the
// formats date, time, date-time and uuid; minimum, maximum, exclusiveMinimum and exclusiveMaximum. Another demand is an error,
// and what only describes is passed over.
func FromSchema(schema []byte) (*Grammar, error) {
	if len(schema) > MaxText {
		return nil, fmt.Errorf("JSON schema: it has %d bytes, of at most %d", len(schema), MaxText)
	}
	top, err := readValue(schema)
	if err != nil {
		return nil, fmt.Errorf("JSON schema: %w", err)
	}
	p := newParser("root ::= value\n" + jsonRules)
	if err := p.grammar(); err != nil {
		return nil, err
	}
	s := &schemas{parser: p, top: top, known: map[string]int32{}}
	body, err := s.value(top, "")
	if err == nil {
		p.bodies[0] = body
		var g *Grammar
		if g, err = newGrammar(p.bodies, p.names); err == nil {
			return g, nil
		}
	}
	return nil, fmt.Errorf("JSON schema: %w", err)
}

// schemas turns schemas into expressions.
type schemas struct {
	*parser
	top   any
	known map[string]int32 // rules by the $ref that they are for
	depth int
}

// object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value any
}

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// without returns an object without a member.
func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

// readValue reads a JSON text: object, []any, string, json.Number, bool or nil.
func readValue(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := readNext(d, 0)
	if err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("something follows its end")
	}
	return v, nil
}

func readNext(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, noJSON(err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxSchemaDepth)
	}
	members, items, known := object{}, []any{}, map[string]bool{}
	for d.More() {
		var name string
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return nil, noJSON(err)
			}
			if name = token.(string); known[name] {
				return nil, fmt.Errorf("an object has the name %q twice", name)
			}
			known[name] = true
		}
		v, err := readNext(d, depth+1)
		if err != nil {
			return nil, err
		}
		if open == '{' {
			members = append(members, member{name, v})
		} else {
			items = append(items, v)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, noJSON(err)
	}
	if open == '{' {
		return members, nil
	}
	return items, nil
}

func noJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is no JSON: it ends too early")
	}
	return fmt.Errorf("it is no JSON: %w", err)
}

// rule returns a call of a rule of jsonRules.
func (s *schemas) rule(name string) expression { return ruleCall(s.ruleNamed(name)) }

// add adds a rule and returns a call of it, so that what stands in several places is compiled once.
func (s *schemas) add(name string, body expression) expression {
	id := s.ruleNamed(fmt.Sprintf("%s %d", name, len(s.names)))
	s.bodies[id] = body
	return ruleCall(id)
}

// demands are the keywords that limit a value. Those that are not understood are refused, since a text would not keep to them.
var demands = map[string]bool{
	"type": true, "enum": true, "const": true, "anyOf": true, "oneOf": true, "allOf": true, "$ref": true, "properties": true, "required": true,
	"additionalProperties": true, "propertyNames": true, "items": true, "prefixItems": true, "minItems": true, "maxItems": true, "minLength": true, "maxLength": true,
	"pattern": true, "format": true, "minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true,
	"not": false, "if": false, "then": false, "else": false, "uniqueItems": false, "multipleOf": false, "contains": false, "minContains": false,
	"maxContains": false, "patternProperties": false, "minProperties": false, "maxProperties": false,
	"dependentRequired": false, "dependentSchemas": false, "unevaluatedItems": false, "unevaluatedProperties": false, "$dynamicRef": false,
	"dependencies": false,
}

// value returns the expression of a schema. at is its place, for errors, as a JSON pointer.
func (s *schemas) value(schema any, at string) (expression, error) {
	if s.depth++; s.depth > maxSchemaDepth {
		return nil, errorAt(at, "it is nested more than %d deep", maxSchemaDepth)
	}
	defer func() { s.depth-- }()
	o, ok := schema.(object)
	switch {
	case schema == true:
		return s.rule("value"), nil
	case schema == false:
		return nil, errorAt(at, "no value fits false")
	case !ok:
		return nil, errorAt(at, "want an object, true or false")
	}
	for _, m := range o {
		if understood, demand := demands[m.name]; demand && !understood && m.value != false {
			return nil, errorAt(at, "%s is not supported: leave it out", m.name)
		}
	}
	if o.get("nullable") == true { // OpenAPI 3.0's
		e, err := s.value(o.without("nullable"), at)
		return choice{e, literal("null")}, err
	}
	for _, m := range o {
		if !alone[m.name] {
			continue
		}
		if err := isAlone(o, m.name, at); err != nil {
			return nil, err
		}
		switch at += "/" + m.name; m.name {
		case "$ref":
			return s.ref(m.value, at)
		case "const", "enum":
			return listed(o, at)
		case "allOf":
			return s.allOf(o, m.value, at)
		}
		return s.anyOf(m.value, at)
	}
	return s.typed(o, at)
}

// alone are the keywords with which no other demand is understood, but for those of isAlone.
var alone = map[string]bool{"$ref": true, "const": true, "enum": true, "anyOf": true, "oneOf": true, "allOf": true}

// isAlone returns an error if a schema has a demand that is not understood together with the keyword name.
func isAlone(o object, name, at string) error {
	for _, m := range o {
		both := (name == "const" || name == "enum") && slices.Contains([]string{"type", "const", "enum"}, m.name)
		if demands[m.name] && m.name != name && !both && name != "allOf" {
			return errorAt(at, "%s beside %s is not supported: put it into a schema of its own", m.name, name)
		}
	}
	return nil
}

func errorAt(at, format string, args ...any) error {
	if at == "" {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// ref returns a call of the rule of the schema that a $ref names.
func (s *schemas) ref(value any, at string) (expression, error) {
	ref, ok := value.(string)
	if !ok {
		return nil, errorAt(at, "want a text")
	}
	if id, ok := s.known[ref]; ok {
		return ruleCall(id), nil
	}
	target, err := s.resolve(ref, at)
	if err != nil {
		return nil, err
	}
	id := s.ruleNamed("$ref " + ref)
	s.known[ref] = id
	body, err := s.value(target, strings.TrimPrefix(ref, "#"))
	s.bodies[id] = body
	return ruleCall(id), err
}

// resolve returns what a $ref names.
func (s *schemas) resolve(ref, at string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, errorAt(at, "%q: only places within the schema are supported, such as #/$defs/name", ref)
	}
	target := s.top
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch t := target.(type) {
		case []any:
			target = nil
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(t) {
				target = t[i]
			}
		default:
			target = asObject(t).get(name)
		}
		if target == nil {
			return nil, errorAt(at, "%q: there is no %q", ref, name)
		}
	}
	return target, nil
}

// listed returns the expression of the values of enum and const that have the type.
func listed(o object, at string) (expression, error) {
	var lists [][]any
	for _, m := range o {
		switch list, is := m.value.([]any); {
		case m.name == "const":
			lists = append(lists, []any{m.value})
		case m.name == "enum" && is:
			lists = append(lists, list)
		case m.name == "enum":
			return nil, errorAt(at, "want a list of values")
		}
	}
	types := typesOf(o)
	var out choice
	for _, v := range lists[0] {
		fits := types == nil || slices.ContainsFunc(types, func(t any) bool { return hasType(v, t) })
		for _, list := range lists[1:] {
			fits = fits && slices.ContainsFunc(list, func(w any) bool { return constant(v) == constant(w) })
		}
		if fits {
			out = append(out, constant(v))
		}
	}
	if len(out) == 0 {
		return nil, errorAt(at, "want values, which fit the schema")
	}
	return out, nil
}

// hasType reports whether a value has a type.
func hasType(v, t any) bool {
	switch v := v.(type) {
	case object:
		return t == "object"
	case []any:
		return t == "array"
	case string:
		return t == "string"
	case bool:
		return t == "boolean"
	case json.Number:
		r, ok := rational(v)
		return t == "number" || t == "integer" && ok && r.IsInt()
	}
	return t == "null"
}

// constant returns the text of a value.
func constant(v any) literal { return literal(appendValue(nil, v)) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendValue(append(appendValue(b, m.name), ": "...), m.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, numbers, booleans and null always have a text
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

func (s *schemas) anyOf(value any, at string) (expression, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, errorAt(at, "want a list of schemas")
	}
	var out choice
	for i, v := range list {
		e, err := s.value(v, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// allOf returns the expression of what fits a schema with allOf: one other schema, or objects whose members are put together.
func (s *schemas) allOf(o object, value any, at string) (expression, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, errorAt(at, "want a list of schemas")
	}
	if len(list) == 1 && !slices.ContainsFunc(o, func(m member) bool { return demands[m.name] && m.name != "allOf" }) {
		return s.value(list[0], at+"/0")
	}
	own := o.without("allOf")
	merged := object{{"type", "object"}}
	var properties object
	var required []any
	for i, v := range append([]any{own}, list...) {
		if ref, is := asObject(v).get("$ref").(string); is {
			var err error
			if v, err = s.resolve(ref, at); err != nil {
				return nil, err
			}
		}
		for _, m := range asObject(v) {
			switch more, _ := m.value.(object); {
			case m.name == "properties":
				properties = append(properties, more...)
			case m.name == "required":
				names, _ := m.value.([]any)
				required = append(required, names...)
			case m.name == "additionalProperties" && i == 0:
				merged = append(merged, m)
			case demands[m.name] && !(m.name == "type" && m.value == "object"):
				return nil, errorAt(at, "%s of one of several schemas is not supported: they may have properties and required", m.name)
			}
		}
	}
	for i, p := range properties {
		if slices.ContainsFunc(properties[:i], func(m member) bool { return m.name == p.name }) {
			return nil, errorAt(at, "several schemas have the property %q", p.name)
		}
	}
	return s.typed(append(merged, member{"properties", properties}, member{"required", required}), at)
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// typed returns the expression of a schema by its type, or types.
func (s *schemas) typed(o object, at string) (expression, error) {
	types := typesOf(o)
	if types == nil {
		if types = implied(o); types == nil {
			return s.rule("value"), nil
		}
	}
	var out choice
	for _, t := range types {
		var e expression
		var err error
		switch t {
		case "object":
			e, err = s.object(o, at)
		case "array":
			e, err = s.array(o, at)
		case "string":
			e, err = s.string(o, at)
		case "integer":
			e, err = s.number(o, "integer", big.NewInt(1), naturalsWithin, at)
		case "number":
			e, err = s.number(o, "number", powerOfTen(maxDigits), decimalsWithin, at)
		case "boolean":
			e = choice{literal("true"), literal("false")}
		case "null":
			e = literal("null")
		default:
			err = errorAt(at, "there is no type %v", t)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, errorAt(at, "type: want a type")
	}
	return out, nil
}

// typesOf returns the types that a schema names, nil if it names none.
func typesOf(o object) []any {
	t := o.get("type")
	if list, is := t.([]any); is || t == nil {
		return list
	}
	return []any{t}
}

// implied returns the type of a schema that names none, by its other keywords, or nothing.
func implied(o object) []any {
	for _, m := range o {
		switch m.name {
		case "properties", "required", "additionalProperties", "propertyNames":
			return []any{"object"}
		case "items", "prefixItems", "minItems", "maxItems":
			return []any{"array"}
		case "minLength", "maxLength", "pattern", "format":
			return []any{"string"}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
			return []any{"number"}
		}
	}
	return nil
}

// object returns the expression of objects.
func (s *schemas) object(o object, at string) (expression, error) {
	properties, required, err := propertiesOf(o, at)
	if err != nil {
		return nil, err
	}
	others, err := s.others(o, properties, at)
	if err != nil {
		return nil, err
	}
	members := make([]expression, len(properties))
	for i, p := range properties {
		value, err := s.value(p.value, at+"/properties/"+p.name)
		if err != nil {
			return nil, err
		}
		members[i] = s.add("member", s.pair(constant(p.name), value))
	}
	comma := sequence{literal(","), s.rule("space")}
	// What may come behind the first members: if none of them is there yet, and if one is.
	first, later := expression(sequence{}), expression(sequence{})
	if others != nil {
		later = s.add("members", repeated{sequence{comma, others}, 0, -1})
		first = choice{sequence{}, sequence{others, later}}
	}
	for i, m := range slices.Backward(members) {
		withFirst, withLater := expression(sequence{m, later}), expression(sequence{comma, m, later})
		if !required[properties[i].name] {
			withFirst, withLater = choice{withFirst, first}, choice{withLater, later}
		}
		first, later = s.add("members", withFirst), s.add("members", withLater)
	}
	return sequence{literal("{"), s.rule("space"), first, literal("}")}, nil
}

// propertiesOf returns the properties of objects, also those that are only required, and which are required.
func propertiesOf(o object, at string) (properties object, required map[string]bool, err error) {
	properties, _ = o.get("properties").(object)
	properties = slices.Clip(properties)
	known := map[string]bool{}
	for _, p := range properties {
		known[p.name] = true
	}
	required = map[string]bool{}
	for _, v := range asList(o.get("required")) {
		name, is := v.(string)
		schema := o.get("additionalProperties")
		switch {
		case !is:
			return nil, nil, errorAt(at, "required: want names")
		case !known[name] && schema == false:
			return nil, nil, errorAt(at, "required: properties lacks %q", name)
		case !known[name] && schema == nil:
			schema = true
		}
		if !known[name] {
			properties, known[name] = append(properties, member{name, schema}), true
		}
		required[name] = true
	}
	return properties, required, nil
}

// others returns the expression of a member of objects that is none of their properties, or nil if there may be none.
func (s *schemas) others(o, properties object, at string) (expression, error) {
	additional := o.get("additionalProperties")
	if additional == nil && len(properties) == 0 {
		additional = true
	}
	if additional == nil || additional == false {
		return nil, nil
	}
	value, err := s.value(additional, at+"/additionalProperties")
	if err != nil {
		return nil, err
	}
	name := s.rule("string")
	switch limits, is := o.get("propertyNames").(object); {
	case is && asObject(o.get("properties")) != nil:
		return nil, errorAt(at, "propertyNames beside properties is not supported: leave it out")
	case is:
		if name, err = s.value(append(object{{"type", "string"}}, limits.without("type")...), at+"/propertyNames"); err != nil {
			return nil, err
		}
	case len(properties) > 0:
		var known []string
		for _, p := range properties {
			known = append(known, p.name)
		}
		slices.Sort(known)
		name = sequence{literal(`"`), s.otherThan(known, s.add("rest", repeated{plainInString, 0, -1})), literal(`"`)}
	}
	return s.add("member", s.pair(name, value)), nil
}

// otherThan returns the expression of the texts of plain characters that are not in a sorted list. rest is for any of them.
func (s *schemas) otherThan(list []string, rest expression) expression {
	out, free := choice{}, plainInString
	if len(list) == 0 || list[0] != "" {
		out = append(out, sequence{})
	} else {
		list = list[1:]
	}
	for len(list) > 0 {
		r, size := utf8.DecodeRuneInString(list[0])
		var below []string
		for len(list) > 0 && strings.HasPrefix(list[0], string(r)) {
			below, list = append(below, list[0][size:]), list[1:]
		}
		if one := (class{{r, r}}); len(one.without(plainInString)) == 0 {
			out = append(out, sequence{literal(r), s.otherThan(below, rest)})
			free = free.without(one)
		}
	}
	return append(out, sequence{free, rest})
}

// pair returns the expression of a member of an object.
func (s *schemas) pair(name, value expression) expression {
	return sequence{name, literal(":"), s.rule("space"), value, s.rule("space")}
}

// array returns the expression of lists.
func (s *schemas) array(o object, at string) (expression, error) {
	least, most, err := limits(o, "minItems", "maxItems", at)
	if err != nil {
		return nil, err
	}
	item := s.rule("value")
	items, list := o.get("items"), asList(o.get("prefixItems"))
	if first := asList(items); first != nil { // as before the draft 2020-12
		items, list = o.get("additionalItems"), first
	}
	if items != nil && items != false {
		if item, err = s.value(items, at+"/items"); err != nil {
			return nil, err
		}
	}
	item = s.add("item", sequence{item, s.rule("space")})
	if closed := items == false || items == nil && len(list) > 0; closed && (most < 0 || most > len(list)) {
		most = len(list)
	}
	if most >= 0 && least > most {
		return nil, errorAt(at, "minItems is more than there may be")
	}
	comma := sequence{literal(","), s.rule("space")}
	var begin sequence
	for i, p := range list {
		e, err := s.value(p, fmt.Sprintf("%s/prefixItems/%d", at, i))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			begin = append(begin, comma)
		}
		begin = append(begin, e, s.rule("space"))
	}
	var body expression
	switch left := most - len(list); {
	case most == 0:
		body = sequence{}
	case len(list) > 0 && most >= 0 && left < 0:
		return nil, errorAt(at, "maxItems is less than prefixItems has")
	case len(list) > 0:
		body = sequence{begin, repeated{sequence{comma, item}, max(0, least-len(list)), max(left, -1)}}
	default:
		body = sequence{item, repeated{sequence{comma, item}, max(0, least-1), max(most-1, -1)}}
		if least == 0 {
			body = choice{body, sequence{}}
		}
	}
	return sequence{literal("["), s.rule("space"), body, literal("]")}, nil
}

// formats are the strings of the formats that are understood, in their quotes.
var formats = map[string]string{
	"date":      `[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])`,
	"time":      timeOfDay,
	"date-time": `[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T` + timeOfDay,
	"uuid":      `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
}

const timeOfDay = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`

// string returns the expression of strings.
func (s *schemas) string(o object, at string) (expression, error) {
	least, most, err := limits(o, "minLength", "maxLength", at)
	if err != nil {
		return nil, err
	}
	pattern, ok := o.get("pattern").(string)
	format, _ := o.get("format").(string)
	if f, known := formats[format]; known && !ok {
		pattern, ok = "^("+f+")$", true
	}
	if ok {
		e, err := s.stringLike(pattern, least, most)
		if err != nil {
			return nil, errorAt(at, "pattern %q: %v", pattern, err)
		}
		return sequence{literal(`"`), e, literal(`"`)}, nil
	}
	if least == 0 && most < 0 {
		return s.rule("string"), nil
	}
	return sequence{literal(`"`), repeated{s.rule("char"), least, most}, literal(`"`)}, nil
}

// limits returns the least and the most of something, 0 and -1 for no limit.
func limits(o object, least, most, at string) (low, top int, err error) {
	out := [2]int{0, -1}
	for i, name := range []string{least, most} {
		v := o.get(name)
		if v == nil {
			continue
		}
		n, ok := v.(json.Number)
		number, ok2 := new(big.Int).SetString(n.String(), 10)
		if !ok || !ok2 || number.Sign() < 0 || number.Cmp(big.NewInt(maxRepeat)) > 0 {
			return 0, 0, errorAt(at, "%s: want a number from 0 to %d", name, maxRepeat)
		}
		out[i] = int(number.Int64())
	}
	if out[1] >= 0 && out[0] > out[1] {
		return 0, 0, errorAt(at, "%s is more than %s", least, most)
	}
	return out[0], out[1], nil
}

// number returns the expression of numbers that are multiples of 1/scale, by the rule that they have without limits.
func (s *schemas) number(o object, rule string, scale *big.Int, within func(low, top *big.Int) expression, at string) (expression, error) {
	low, top, err := bounds(o, scale, at)
	if err != nil {
		return nil, err
	}
	if low == nil && top == nil {
		return s.rule(rule), nil
	}
	most := new(big.Int).Mul(powerOfTen(maxDigits), scale)
	most.Sub(most, big.NewInt(1))
	if least := new(big.Int).Neg(most); low == nil || low.Cmp(least) < 0 {
		low = least
	}
	if top == nil || top.Cmp(most) > 0 {
		top = most
	}
	if low.Cmp(top) > 0 {
		return nil, errorAt(at, "no number of at most %d digits is within its limits", maxDigits)
	}
	return signed(low, top, within), nil
}
