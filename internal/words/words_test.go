package words

import (
	"slices"
	"testing"
)

func TestContent(t *testing.T) {
	got := Content("When does Jürgen's 2nd museum open, and WHO has the key?")
	if want := []string{"jürgen", "2nd", "museum", "open", "key"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = Content("is max_upload_size or departureTimeOfDay on GitHub, eBay, macOS, an iPhone2Go or fooURL")
	if want := []string{"max", "upload", "size", "departure", "time", "day", "github", "ebay", "macos", "iphone2go", "foourl"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Content("What is it?"); len(got) != 0 {
		t.Errorf("got %q of function words alone", got)
	}
}

// Words count as equal with another ending of up to three letters, unless they are short.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"open", "opens", true}, {"opening", "open", true}, {"open", "open", true},
		{"open", "openness", false}, {"no", "not", false}, {"car", "cars", true}, {"mac", "macos", true}, {"fri", "friday", true}, {"dad", "daddy", true}, {"500", "500mg", true}, {"bus", "bushes", false}, {"mill", "milk", false},
		{"mot", "motors", false}, {"web", "web02", false}, {"120", "1200", false}, {"1990", "1990s", true},
	} {
		a, b := []string{c.a}, []string{"key", c.b}
		if got := Shared(a, b) == 1; got != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
		if left := Without(a, b); (len(left) == 0) != c.same {
			t.Errorf("%s without %s: %q", c.a, c.b, left)
		}
	}
}

// A word is the same with and without a hyphen, which divides it into two words.
func TestHyphen(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		left, together bool // whether a is left without b, and not in b together
	}{
		{"wifi name", "Wi-Fi name", false, true}, {"Wi-Fi name", "wifi name", false, true}, {"emails", "e-mail", false, true},
		{"wifi", "fi wi", true, false}, {"wi", "wifi", true, false}, {"car pets", "carton", true, false},
	} {
		a, b := Content(c.a), Content(c.b)
		if left := Without(a, b); (len(left) > 0) != c.left || HasAll(b, a) != c.together || Shared(a, b) != len(a)-len(left) {
			t.Errorf("%q in %q: left %q, has all %v, shared %d", c.a, c.b, left, HasAll(b, a), Shared(a, b))
		}
	}
}

func TestAbbreviated(t *testing.T) {
	for text, want := range map[string]bool{"ask Dr": true, "J": true, "by J": true, "(ca": true, "the ferry": false, "vitamin c": false, "": false, "prof ": false} {
		if got := Abbreviated(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestComposed(t *testing.T) {
	for text, want := range map[string]string{
		"Etoile\u0301 u\u0308ber": "Etoil\u00e9 \u00fcber", "\u1112\u1161\u11ab": "\ud55c",
		"\ufa19 \u212b \u0374": "\ufa19 \u212b \u0374", "plain": "plain", "a\xff\u0301": "a\xff\u0301", "": "",
	} {
		if got := Composed(text); got != want {
			t.Errorf("%+q: got %+q, want %+q", text, got, want)
		}
	}
}

func TestWithoutPossessive(t *testing.T) {
	for word, want := range map[string]string{"Anna's": "Anna", "Anna’s": "Anna", "Agnes": "Agnes", "Annas'": "Annas'", "": ""} {
		if got := WithoutPossessive(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
