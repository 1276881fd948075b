package main

import (
	"fmt"
	"strings"
	"unicode"

	"tandem/cmd/internal/cli"
)

// whatToAsk is the reply to a greeting.
const whatToAsk = `Ask about your documents, as in: When does the harbour museum open?`

// welcome replies to a greeting.
func welcome(a *cli.App) error {
	if a.Globals.JSON {
		return a.JSON(askJSON{Answer: whatToAsk, Tokens: []tokenJSON{}, Parts: []partJSON{}})
	}
	_, err := fmt.Fprintln(a.Out, whatToAsk)
	return err
}

// greets reports whether a text only greets, thanks or tries out the program, so that no document can answer it.
func greets(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	for _, w := range words {
		if !greetings[w] {
			return false
		}
	}
	return true
}

var greetings = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`hello hi hey hallo good morning afternoon evening night bye goodbye thanks thank you thx so
		much very many please ok okay yes no test testing help start stop exit quit how are u nice great cool well done
		what can do there`) {
		words[w] = true
	}
	return words
}()
