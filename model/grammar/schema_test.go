package grammar

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem"
	"tandem/model/vocabulary"
)

func mustSchema(t testing.TB, schema string) *Grammar {
	t.Helper()
	g, err := FromSchema([]byte(schema))
	if err != nil {
		t.Fatalf("%s\n%v", schema, err)
	}
	return g
}

func TestSchema(t *testing.T) {
	for _, c := range []struct {
		schema         string
		derived, other []string
	}{
		{`true`, []string{`1`, `[]`, `{"a": [null, -1.5e3]}`}, []string{``, `01`, `"a`, `[1,]`}},
		{`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}`,
			[]string{`{"a":1}`, `{"a": -20, "b": "x\n"}`, "{\n  \"a\": 1,\n  \"b\": \"\"\n}"}, []string{`{}`, `{"b": "x"}`, `{"b": "x", "a": 1}`, `{"a": 1.5}`, `{"a": 1, "c": 2}`, `{"a": 1,}`}},
		{`{"properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": {"type": "null"}}`,
			[]string{`{}`, `{"b": 1}`, `{"a": 1, "c": 2}`, `{"c": 1, "d": null}`, `{"x": null}`}, []string{`{"x": 1}`, `{, "b": 1}`, `{"b": 1 "c": 2}`}},
		{`{"type": "object", "additionalProperties": false}`, []string{`{}`, `{ }`}, []string{`{"a": 1}`}},
		{`{"type": "array", "items": {"enum": ["a", 1, null, {"b": [2]}]}, "minItems": 1, "maxItems": 3}`,
			[]string{`["a"]`, `[1, null, {"b": [2]}]`}, []string{`[]`, `["a", "a", "a", "a"]`, `["b"]`}},
		{`{"prefixItems": [{"type": "number"}, {"type": "boolean"}]}`, []string{`[1, true]`}, []string{`[1]`, `[1, true, 2]`}},
		{`{"prefixItems": [{"type": "number"}], "items": {"type": "null"}, "maxItems": 2}`, []string{`[1]`, `[1, null]`}, []string{`[null]`, `[1, null, null]`}},
		{`{"type": ["string", "null"], "minLength": 2, "maxLength": 3}`, []string{`"ab"`, `"a\"é"`, `null`}, []string{`"a"`, `"abcd"`}},
		{`{"type": "string", "pattern": "^[A-Z]{2}-\\d+(é|\"x)?$"}`, []string{`"AB-1"`, `"AB-12é"`, `"AB-1\"x"`}, []string{`"AB-"`, `"xAB-1"`, `"AB-1"x`}},
		{`{"pattern": "^(?:a.{0,2}){2}$"}`, []string{`"aa"`, `"axxaé\""`, `"a  a"`}, []string{`"a"`, `"a\na"`, `"axxxa"`}},
		{`{"pattern": "b{2}"}`, []string{`"bb"`, `"a\nbbb\u00e9"`}, []string{`"b"`, `"bab"`}},
		{`{"pattern": "^b+"}`, []string{`"b"`, `"bb c"`}, []string{`""`, `"ab"`}},
		{`{"pattern": "b$"}`, []string{`"b"`, `"a\\b"`}, []string{`"ba"`}},
		{`{"pattern": "^[A-Z]{3}$", "minLength": 3, "maxLength": 3}`, []string{`"ABC"`}, []string{`"AB"`}},
		{`{"pattern": "^[a-z\"]+$", "minLength": 2, "maxLength": 3}`, []string{`"ab"`, `"a\"b"`}, []string{`"a"`, `"abcd"`, `"1a"`}},
		{`{"pattern": "^[^\\s]*$", "minLength": 1}`, []string{`"a"`, `"abcd"`}, []string{`""`, `" "`}},
		{`{"maxLength": 65535}`, []string{`"a"`}, nil},
		{`{"format": "date", "minLength": 1}`, []string{`"2026-11-30"`}, []string{`""`}},
		{`{"format": "date"}`, []string{`"2026-11-30"`}, []string{`"2026-13-30"`, `"30.11."`}},
		{`{"type": "string", "format": "date-time"}`, []string{`"2026-11-30T19:07:00Z"`, `"2026-11-30T19:07:00.25+01:00"`}, []string{`"2026-11-30"`}},
		{`{"type": "string", "format": "email"}`, []string{`"anything"`}, nil}, // not understood, and only a description by the standard
		{`{"type": "integer", "minimum": -3, "exclusiveMaximum": 12}`, []string{`-3`, `-1`, `0`, `9`, `10`, `11`}, []string{`-4`, `12`, `-0`, `01`, `100`}},
		{`{"type": "integer", "minimum": 95}`, []string{`95`, `99`, `100`, `1234567`}, []string{`94`, `9`, `-95`}},
		{`{"type": "integer", "minimum": -9007199254740991, "maximum": 18446744073709551615}`, []string{`-9007199254740991`, `0`, `9999999999999999`}, []string{`-9007199254740992`}},
		{`{"type": "integer", "minimum": 1.5, "exclusiveMaximum": 1e1}`, []string{`2`, `9`}, []string{`1`, `10`}},
		{`{"type": "number", "minimum": 0, "maximum": 1}`, []string{`0`, `1`, `0.25`, `1.0`, `0.0`}, []string{`1.01`, `-0.5`, `-0`, `0.`, `01`, `2`, `1e-3`}},
		{`{"type": "number", "exclusiveMinimum": 0, "maximum": 1e300}`, []string{`0.01`, `7`, `9999999999999999.5`}, []string{`0`, `0.0`, `-1`}},
		{`{"type": "number", "maximum": 1e-999999999}`, []string{`0`, `-0.5`, `-12`}, []string{`0.1`}},
		{`{"anyOf": [{"type": "integer"}, {"const": "none"}]}`, []string{`5`, `"none"`}, []string{`"five"`}},
		{`{"enum": [` + strings.Repeat(`"ab", `, 9) + manyWords() + `, "", "a", "abc"]}`, []string{`""`, `"a"`, `"ab"`, `"abc"`, `"word 9999"`}, []string{`"abcd"`, `"w`, `"word 10000"`}},
		{`{"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"b": {"type": "integer"}}}], "$defs": {"a": {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]}}}`,
			[]string{`{"a": true}`, `{"a": true, "b": 1}`}, []string{`{"b": 1}`}},
		{`{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["kids"]}}}`,
			[]string{`{"kids": []}`, `{"kids": [{"kids": []}, {"kids": []}]}`}, []string{`{}`, `{"kids": [1]}`}},
		{`{"$ref": "#/$defs/a%20b/anyOf/1", "$defs": {"a b": {"anyOf": [true, {"type": "integer"}]}}}`, []string{`1`}, []string{`"a"`}},
		{`{"const": "a", "enum": ["a"], "type": "string"}`, []string{`"a"`}, []string{`a`}},
		{`{"type": ["integer", "null"], "enum": [1, 1.5, "a", 2.0, null]}`, []string{`1`, `2.0`, `null`}, []string{`1.5`, `"a"`}},
		{`{"type": "string", "nullable": true, "minLength": 1}`, []string{`null`, `"a"`}, []string{`""`}},
		{`{"oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}], "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/cat"}},
			"$defs": {"cat": {"properties": {"kind": {"const": "cat", "type": "string"}}, "required": ["kind"]}, "dog": {"properties": {"kind": {"enum": ["dog"]}}, "required": ["kind"]}}}`,
			[]string{`{"kind": "cat"}`, `{"kind": "dog"}`}, []string{`{"kind": "cow"}`}},
		{`{"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}`, []string{`["a", 1]`}, []string{`["a"]`, `["a", 1, 1]`}},
		{`{"items": [{"type": "string"}], "additionalItems": {"type": "null"}}`, []string{`["a"]`, `["a", null, null]`}, []string{`[]`, `["a", 1]`}},
		{`{"items": false}`, []string{`[]`}, []string{`[1]`}},
		{`{"propertyNames": {"type": "string"}, "additionalProperties": {"type": "integer"}}`, []string{`{}`, `{"a": 1}`}, []string{`{"a": null}`}},
		{`{"propertyNames": {"enum": ["a", "b", 1]}, "required": ["a"], "additionalProperties": {"type": "integer"}}`, []string{`{"a": 1, "b": 2}`}, []string{`{"b": 1}`, `{"a": 1, "c": 1}`, `{"a": 1, 1: 2}`}},
		{`{"properties": {"ab": {"type": "null"}, "é\"": {"type": "null"}, "": {"type": "null"}}, "additionalProperties": {"type": "integer"}}`,
			[]string{`{"a": 1, "abc": 2}`, `{"ab": null, "é": 3, "éa": 4}`, `{"é\"": null, "": null}`}, []string{`{"ab": 1}`, `{"": 1}`, `{"ab": null, "ab": 1}`, `{"a\u0062": 1}`, `{"é\"": 1}`}},
		{`{"properties": {"a": {"type": "null"}}, "required": ["b"]}`, []string{`{"a": null, "b": [1]}`, `{"b": 2}`}, []string{`{"a": null}`}},
		{`{"title": "T", "description": "d", "type": "boolean", "x-vendor": 1, "uniqueItems": false}`, []string{`true`}, []string{`1`}},
	} {
		g := mustSchema(t, c.schema)
		for _, text := range c.derived {
			if !derives(g, text) {
				t.Errorf("%s\ndoes not derive %s", c.schema, text)
			}
		}
		for _, text := range c.other {
			if derives(g, text) {
				t.Errorf("%s\nderives %s", c.schema, text)
			}
		}
	}
}

// manyWords returns the list of 10,000 strings.
func manyWords() string {
	var all []string
	for i := range 10_000 {
		all = append(all, fmt.Sprintf(`"word %d"`, i))
	}
	return strings.Join(all, ", ")
}

func TestSchemaErrors(t *testing.T) {
	for schema, want := range map[string]string{
		`{`:                "it is no JSON: it ends too early",
		`{} {}`:            "something follows its end",
		`1`:                "want an object, true or false",
		`false`:            "no value fits false",
		`{"type": "text"}`: "there is no type text",
		`{"type": []}`:     "type: want a type",
		`{"not": {}}`:      "not is not supported: leave it out",
		`{"properties": {"a": {"multipleOf": 3}}}`:                  "/properties/a: multipleOf is not supported: leave it out",
		`{"required": ["a"], "additionalProperties": false}`:        `required: properties lacks "a"`,
		`{"required": [1]}`:                                         `required: want names`,
		`{"type": "object", "type": "array"}`:                       `an object has the name "type" twice`,
		`{"prefixItems": [true], "minItems": 2}`:                    "minItems is more than there may be",
		`{"type": "string", "enum": [1]}`:                           "/enum: want values, which fit the schema",
		`{"propertyNames": {"pattern": "^a"}, "properties": {}}`:    "propertyNames beside properties is not supported: leave it out",
		`{"propertyNames": {"$ref": "#"}}`:                          "/propertyNames: type beside $ref is not supported: put it into a schema of its own",
		`{"type": "number", "minimum": 1e400}`:                      "minimum: want a number from -1e308 to 1e308",
		`{"type": "number", "exclusiveMinimum": true}`:              "exclusiveMinimum: want a number from -1e308 to 1e308",
		`{"type": "integer", "minimum": 3, "maximum": 2}`:           "no number of at most 16 digits is within its limits",
		`{"type": "integer", "exclusiveMinimum": 9999999999999999}`: "no number of at most 16 digits is within its limits",
		`{"exclusiveMinimum": 2, "exclusiveMaximum": 2}`:            "no number of at most 16 digits is within its limits",
		`{"minItems": 3, "maxItems": 2}`:                            "minItems is more than maxItems",
		`{"minItems": -1}`:                                          "minItems: want a number from 0 to 65536",
		`{"pattern": "^a$|^b$"}`:                                    "pattern \"^a$|^b$\": ^ and $ are supported at its ends only",
		`{"pattern": "^a\\b$"}`:                                     `pattern "^a\\b$": \b is not supported`,
		`{"pattern": "^(a$"}`:                                       "pattern \"^(a$\": error parsing regexp: missing closing ): `^(a$`",
		`{"$ref": "http://example.org"}`:                            `/$ref: "http://example.org": only places within the schema are supported, such as #/$defs/name`,
		`{"$ref": "#/$defs/a"}`:                                     `/$ref: "#/$defs/a": there is no "$defs"`,
		`{"$ref": "#"}`:                                             "the rule $ref # begins with itself: let it begin with something else, or use * or +",
		`{"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"]}}}`: "no text fits the rule $ref #/$defs/a, which always needs itself again",
		`{"anyOf": [{}], "properties": {}}`:                               "properties beside anyOf is not supported: put it into a schema of its own",
		`{"enum": []}`:                                                    "/enum: want values, which fit the schema",
		`{"allOf": [{"type": "string"}, {"minLength": 1}]}`:               "/allOf: type of one of several schemas is not supported: they may have properties and required",
		strings.Repeat(`{"items":`, 200) + `1` + strings.Repeat(`}`, 200): "it is nested more than 128 deep",
	} {
		if _, err := FromSchema([]byte(schema)); err == nil || err.Error() != "JSON schema: "+want {
			t.Errorf("%.60s: %v, want %s", schema, err, want)
		}
	}
}

// Every number is derived by the limits that it is within, and by no others.
func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		low, top := r.IntN(3000)-1000, 0
		top = low + r.IntN(1500)
		g := mustSchema(t, fmt.Sprintf(`{"type": "integer", "minimum": %d, "maximum": %d}`, low, top))
		for n := low - 20; n <= top+20; n++ {
			if got := derives(g, fmt.Sprint(n)); got != (low <= n && n <= top) {
				t.Fatalf("%d is within %d and %d: %v", n, low, top, got)
			}
		}
	}
}

// Every decimal is derived by the limits that it is within, and by no others.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	number := func() (string, float64) {
		n := r.IntN(4000) - 2000
		text := strconv.FormatFloat(float64(n)/[]float64{1, 10, 100}[r.IntN(3)], 'f', -1, 64)
		value, _ := strconv.ParseFloat(text, 64)
		return text, value
	}
	for range 300 {
		least, low := number()
		most, top := number()
		if low >= top {
			continue
		}
		inner := r.IntN(2) == 0
		schema := fmt.Sprintf(`{"minimum": %s, "maximum": %s}`, least, most)
		if inner {
			schema = fmt.Sprintf(`{"exclusiveMinimum": %s, "exclusiveMaximum": %s}`, least, most)
		}
		g := mustSchema(t, schema)
		for range 300 {
			text, n := number()
			want := low <= n && n <= top
			if inner {
				want = low < n && n < top
			}
			if got := derives(g, text); got != want {
				t.Fatalf("%s: %s: %v", schema, text, got)
			}
		}
	}
}

// randomSchema returns a schema.
func randomSchema(r *rand.Rand, depth int) map[string]any {
	kinds := []string{"integer", "boolean", "null", "string", "enum", "number"}
	if depth > 0 {
		kinds = append(kinds, "object", "array", "anyOf", "object", "array")
	}
	switch kind := kinds[r.IntN(len(kinds))]; kind {
	case "enum":
		return map[string]any{"enum": []any{"x", 1, []any{true}, map[string]any{"k": "é<"}}[:1+r.IntN(4)]}
	case "anyOf":
		return map[string]any{"anyOf": []any{randomSchema(r, depth-1), randomSchema(r, depth-1)}}
	case "array":
		low := r.IntN(2)
		return map[string]any{"type": kind, "items": randomSchema(r, depth-1), "minItems": low, "maxItems": low + r.IntN(3)}
	case "object":
		properties, required := map[string]any{}, []any{}
		for _, name := range []string{"a", "b\"", "c"}[:r.IntN(4)] {
			if properties[name] = randomSchema(r, depth-1); r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
		out := map[string]any{"type": kind, "properties": properties, "required": required, "additionalProperties": false}
		if r.IntN(3) == 0 {
			out["additionalProperties"] = randomSchema(r, depth-1)
		}
		return out
	case "integer":
		low := r.IntN(40) - 20
		return map[string]any{"type": kind, "minimum": low, "maximum": low + r.IntN(30)}
	case "string":
		if r.IntN(2) == 0 {
			return map[string]any{"type": kind, "pattern": `^[ab]+("|\\)?$`}
		}
		low := r.IntN(2)
		return map[string]any{"type": kind, "minLength": low, "maxLength": low + r.IntN(3)}
	default:
		return map[string]any{"type": kind}
	}
}

// fits is a plain reference: it reports whether a value fits a schema of randomSchema.
func fits(schema map[string]any, v any) bool {
	if list, ok := schema["enum"].([]any); ok {
		text, _ := json.Marshal(v)
		return slices.ContainsFunc(list, func(e any) bool { want, _ := json.Marshal(e); return string(text) == string(want) })
	}
	if list, ok := schema["anyOf"].([]any); ok {
		return slices.ContainsFunc(list, func(s any) bool { return fits(s.(map[string]any), v) })
	}
	switch schema["type"] {
	case "null":
		return v == nil
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "number":
		_, ok := v.(float64)
		return ok
	case "integer":
		n, ok := v.(float64)
		return ok && n == float64(int(n)) && int(n) >= schema["minimum"].(int) && int(n) <= schema["maximum"].(int)
	case "string":
		text, ok := v.(string)
		if pattern, is := schema["pattern"].(string); is {
			return ok && regexp.MustCompile(pattern).MatchString(text)
		}
		n := len([]rune(text))
		return ok && n >= schema["minLength"].(int) && n <= schema["maxLength"].(int)
	case "array":
		list, ok := v.([]any)
		return ok && len(list) >= schema["minItems"].(int) && len(list) <= schema["maxItems"].(int) &&
			!slices.ContainsFunc(list, func(item any) bool { return !fits(schema["items"].(map[string]any), item) })
	}
	o, ok := v.(map[string]any)
	for _, name := range schema["required"].([]any) {
		_, has := o[name.(string)]
		ok = ok && has
	}
	for name, value := range o {
		s, known := schema["properties"].(map[string]any)[name].(map[string]any)
		if !known {
			s, known = schema["additionalProperties"].(map[string]any)
		}
		ok = ok && known && fits(s, value)
	}
	return ok
}

// What is written by a random schema fits it.
func TestWritesFit(t *testing.T) {
	pieces := []string{"", "{", "}", "[", "]", "\"", ":", ",", " ", "\n", "\\", "a", "b", "c", "x", "k", "n", "u", "l", "t", "r", "e", "f", "s", "é", "<", "true", "1", "2", "9", "0", "-", ".", "5", "3", "4", "6", "7", "8", "E", "\", \"", "\":", "{}"}
	v := vocabulary.New(pieces, 0)
	r := rand.New(rand.NewPCG(7, 8))
	ended := 0
	for range 500 {
		schema := randomSchema(r, 3)
		text, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		wrote, is := write(t, mustSchema(t, string(text)), v, pieces, r, 150)
		if !is {
			continue
		}
		ended++
		var value any
		if err := json.Unmarshal([]byte(wrote), &value); err != nil {
			t.Fatalf("%s\n%q: %v", text, wrote, err)
		}
		if !fits(schema, value) {
			t.Fatalf("%s\n%s does not fit", text, wrote)
		}
	}
	if ended < 200 {
		t.Errorf("only %d texts ended", ended)
	}
}

func FuzzFromSchema(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]}`, `{"$ref":"#/$defs/a","$defs":{"a":{"items":{"$ref":"#/$defs/a"}}}}`, `{"pattern":"^(a|b)*$"}`, `{"enum":[1,"a",null]}`, `{"allOf":[{"properties":{"a":true}}]}`} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, schema []byte, seed uint64) {
		g, err := FromSchema(schema)
		if err != nil {
			return
		}
		writesJSON(t, g, seed)
	})
}

// writesJSON writes random bytes by a grammar of JSON texts and checks that the text, if it ended, is JSON.
func writesJSON(t *testing.T, g *Grammar, seed uint64) {
	m, r := NewMatcher(g, bytesOnly), rand.New(rand.NewPCG(seed, 0))
	at := m.Start()
	var text []byte
	for range 100 {
		mask, err := m.Allowed(at)
		if err != nil { // too much work
			return
		}
		if mask.Has(0) {
			if !json.Valid(text) {
				t.Fatalf("%q is not JSON", text)
			}
		}
		all := slices.Collect(mask.All())
		token := all[r.IntN(len(all))]
		if token == 0 {
			return
		}
		text = append(text, byte(token-1))
		at = m.Next(at, []byte(text[len(text)-1:]))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"root ::= \"a\" | b*\nb ::= [^a-z\\n]{2,3} (\"c\" | .)?", "root::=\"\\x41\"#c", "root ::= root", "root ::= ("} {
		f.Add(s, []byte("ab"))
	}
	f.Fuzz(func(t *testing.T, text string, input []byte) {
		g, err := Parse(text)
		if err != nil {
			return
		}
		m := NewMatcher(g, bytesOnly)
		at := m.Start()
		for _, b := range input {
			mask, err := m.Allowed(at)
			if err != nil {
				return
			}
			if at = m.Next(at, []byte([]byte{b})); at.Lost() == mask.Has(tandem.Token(b)+1) {
				t.Fatalf("%q: Next and Allowed differ about %q", text, b)
			}
			if at.Lost() {
				return
			}
		}
	})
}
