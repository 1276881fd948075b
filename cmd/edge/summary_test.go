package main

import "testing"

// The words above texts that come close do not say whether these support an answer: nobody has checked that.
func TestHeading(t *testing.T) {
	for _, c := range []struct {
		part partJSON
		want string
	}{
		{partJSON{Text: "At nine."}, "also close:"},
		{partJSON{Text: "I don't know.", Unknown: true}, "nearest:"},
	} {
		if got := nearHeading(c.part); got != c.want {
			t.Errorf("%q: %s", c.part.Text, got)
		}
	}
}
