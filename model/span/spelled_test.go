package span

import (
	"testing"

	"tandem/npu/native"
)

// A misspelt word is read as the passages or the language spell it. Words that either has, names with another letter,
// numbers and words that might be several others stay.
func TestSpelled(t *testing.T) {
	r, err := New(shipped(t), native.New(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	var ps []*Passage
	for _, s := range []string{
		"The library in Stockholm closes at 15:00. Ask Nora's cousin Marina Żuraw, or Zeynep in Kassel-Wehlheiden.",
		"Guests use the wifi. The password is kommt-rein. The lantern shop sells latterns. Telephone: 0561 555 2209. Guests pay the deposit.",
	} {
		p := r.Passage(s)
		ps = append(ps, p)
	}
	for question, want := range map[string]string{
		"When does the library close?":       "",
		"wen does the libary close":          "wen does the library close",
		"Libary in Stokholm":                 "Library in Stockholm",
		"adress of noras cusin":              "address of noras cousin", // nobody writes "address": the language does
		"the pasword for gest":               "the password for guest",  // the passages have "guests"
		"telefone nummber?":                  "telephone number?",       // two slips; the language
		"Where does Zeynap live?":            "",                        // another letter, another name
		"Where does Marika live?":            "",
		"what sells the lattern shop":        "", // in a passage without -s
		"what is lantrn":                     "what is lantern",
		"who is the hed of it":               "", // too short
		"what is in room x12b and kx77":      "", // no words
		"mutch ado":                          "much ado",
		"wo bekomme ich einen schluesselbrt": "", // another language
		"deposti, passwrd: lbrary?":          "deposit, password: library?",
		"":                                   "",
		"Anna wohnt bei Wehlhieden, Żruaw":   "Anna wohnt bei Wehlheiden, Żruaw", // swapped; Żuraw is too short for a name
	} {
		if want == "" {
			want = question
		}
		got, n := r.Spelled(English, question, ps)
		if got != want || n > 0 != (want != question) {
			t.Errorf("%q is read %q with %d words changed, want %q", question, got, n, want)
		}
		if again, n := r.Spelled(English, got, ps); again != got || n > 0 {
			t.Errorf("%q is read %q when it is read again", got, again)
		}
	}
	if got, n := r.Spelled(English, "the libary, adress", nil); got != "the library, address" || n != 2 {
		t.Errorf("without passages: %q, %d", got, n)
	}
}
