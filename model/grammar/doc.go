// Package grammar limits a text to what a grammar derives: a grammar in the form that llama.cpp calls GBNF (Parse), what fits a
// JSON schema (FromSchema), or what a regular expression matches (FromPattern). Of tells them apart. A Matcher says which tokens may come next.
//
// # Grammars
//
// A grammar has rules, of which the text is what root derives:
//
//	root  ::= "yes" | "no" | count
//	count ::= [1-9] [0-9]{0,2} # at most 999
//
// A rule is a sequence of items, or several divided by "|". An item is a literal in double quotes, a class of characters
// in brackets, "." for any character, the name of a rule, or a group in parentheses. It may be followed by "*", "+", "?",
// "{n}", "{n,}" or "{n,m}". Literals and classes know the escapes \n, \r, \t, \\, \", \[, \], \xHH, \uHHHH and \UHHHHHHHH. A rule
// ends with its line, except within parentheses and after "::=" and "|". "#" begins a comment.
//
// # How it works
//
// Characters become sequences of bytes, so that a token may begin and end within one. A rule becomes a program of an automaton
// that may call other rules; so a text has been read up to a set of stacks of places in rules. Each set that comes up is kept,
// with where each byte leads from it and which tokens may follow. Within the strings of a JSON text, most tokens lead
// back to the same set, so that few steps have to walk through the vocabulary.
//
// The package knows no model and draws no token: model/sample does.
package grammar
