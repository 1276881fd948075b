package main

import "testing"

func TestGreets(t *testing.T) {
	for text, want := range map[string]bool{
		"Hello!":                          true,
		"thanks a lot":                    false,
		"Thank you very much.":            true,
		"What can you do?":                true,
		"?":                               true,
		"help":                            true,
		"What is the help desk's number?": false,
		"wifi":                            false,
		"你好":                              false,
	} {
		if got := greets(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
