package terms

// stem strips the endings of a lower-case English word by Porter's algorithm (M. F. Porter, "An algorithm for suffix
// stripping", 1980). It works in place and returns a prefix of b, possibly changed. It returns words that hold anything
// but ASCII letters unchanged.
func stem(b []byte) []byte {
	if len(b) <= 2 {
		return b
	}
	for _, c := range b {
		if c < 'a' || c > 'z' {
			return b
		}
	}
	b = step1a(b)
	b = step1b(b)
	if hasSuffix(b, "y") && hasVowel(b[:len(b)-1]) {
		b[len(b)-1] = 'i'
	}
	b = replaceSuffix(b, step2, 1)
	b = replaceSuffix(b, step3, 1)
	b = step4(b)
	return step5(b)
}

func isConsonant(b []byte, i int) bool {
	switch b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isConsonant(b, i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences of b: Porter's m.
func measure(b []byte) (m int) {
	vowel := false
	for i := range b {
		if isConsonant(b, i) {
			if vowel {
				m++
			}
			vowel = false
		} else {
			vowel = true
		}
	}
	return m
}

func hasVowel(b []byte) bool {
	for i := range b {
		if !isConsonant(b, i) {
			return true
		}
	}
	return false
}

func hasSuffix(b []byte, s string) bool {
	return len(b) >= len(s) && string(b[len(b)-len(s):]) == s
}

func doubled(b []byte) bool {
	n := len(b)
	return n >= 2 && b[n-1] == b[n-2] && isConsonant(b, n-1)
}

// short reports whether b ends in consonant, vowel, consonant, and the last is not w, x or y: Porter's *o.
func short(b []byte) bool {
	n := len(b)
	if n < 3 || !isConsonant(b, n-3) || isConsonant(b, n-2) || !isConsonant(b, n-1) {
		return false
	}
	return b[n-1] != 'w' && b[n-1] != 'x' && b[n-1] != 'y'
}

func step1a(b []byte) []byte {
	switch {
	case hasSuffix(b, "sses"), hasSuffix(b, "ies"):
		return b[:len(b)-2]
	case hasSuffix(b, "s") && !hasSuffix(b, "ss"):
		return b[:len(b)-1]
	}
	return b
}

func step1b(b []byte) []byte {
	if hasSuffix(b, "eed") {
		if measure(b[:len(b)-3]) > 0 {
			return b[:len(b)-1]
		}
		return b
	}
	var stem []byte
	switch {
	case hasSuffix(b, "ed"):
		stem = b[:len(b)-2]
	case hasSuffix(b, "ing"):
		stem = b[:len(b)-3]
	}
	if !hasVowel(stem) {
		return b
	}
	switch {
	case hasSuffix(stem, "at"), hasSuffix(stem, "bl"), hasSuffix(stem, "iz"), measure(stem) == 1 && short(stem):
		return append(stem, 'e') // an ending was cut off, so there is room
	case doubled(stem) && !hasSuffix(stem, "l") && !hasSuffix(stem, "s") && !hasSuffix(stem, "z"):
		return stem[:len(stem)-1]
	}
	return stem
}

type rule struct{ from, to string }

var step2 = []rule{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"},
	{"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"},
	{"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
	{"iviti", "ive"}, {"biliti", "ble"},
}

var step3 = []rule{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

// replaceSuffix applies the first rule whose suffix b has, if the measure of the rest is at least m.
func replaceSuffix(b []byte, rules []rule, m int) []byte {
	for _, r := range rules {
		if hasSuffix(b, r.from) {
			if stem := b[:len(b)-len(r.from)]; measure(stem) >= m {
				return append(stem, r.to...) // never longer than before
			}
			return b
		}
	}
	return b
}

var step4Suffixes = []string{
	"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
	"iti", "ous", "ive", "ize",
}

func step4(b []byte) []byte {
	for _, s := range step4Suffixes {
		if !hasSuffix(b, s) {
			continue
		}
		stem := b[:len(b)-len(s)]
		if measure(stem) > 1 && (s != "ion" || hasSuffix(stem, "s") || hasSuffix(stem, "t")) {
			return stem
		}
		return b
	}
	return b
}

func step5(b []byte) []byte {
	if hasSuffix(b, "e") {
		stem := b[:len(b)-1]
		if m := measure(stem); m > 1 || m == 1 && !short(stem) {
			b = stem
		}
	}
	if hasSuffix(b, "ll") && measure(b) > 1 {
		b = b[:len(b)-1]
	}
	return b
}
