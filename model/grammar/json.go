package grammar

import (
	"errors"
	"strings"
	"sync"
)

// Of reads the form of a text: a JSON schema if it begins with "{", a regular expression if it stands between slashes, else a
// grammar. The schema {} is for any JSON object.
func Of(form string) (*Grammar, error) {
	switch trimmed := strings.TrimSpace(form); {
	case trimmed == "{}":
		return JSONObject(), nil
	case strings.HasPrefix(trimmed, "{"):
		return FromSchema([]byte(trimmed))
	case strings.HasPrefix(trimmed, "/"):
		inner, closed := strings.CutSuffix(trimmed[1:], "/")
		if !closed {
			return nil, errors.New("pattern: want / at its end")
		}
		return FromPattern(inner)
	}
	return Parse(form)
}

// JSONObject returns the grammar of JSON objects, with little white space between their parts. Numbers have at most 16 digits before
// and after the point.
func JSONObject() *Grammar { return anyObject() }

var anyObject = sync.OnceValue(func() *Grammar {
	g, err := Parse("root ::= object\n" + jsonRules)
	if err != nil {
		panic(err) // it is a constant
	}
	return g
})

// jsonRules are what JSON texts consist of. White space is bounded, since models would go on with it for ever.
const jsonRules = `
value   ::= object | array | string | number | "true" | "false" | "null"
object  ::= "{" space (member ("," space member)*)? "}"
member  ::= string ":" space value space
array   ::= "[" space (value space ("," space value space)*)? "]"
string  ::= "\"" char* "\""
char    ::= [^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
number  ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
space   ::= (" " | "\n" [ \t]{0,20})?
`
