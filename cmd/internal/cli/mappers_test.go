package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// What a flag or an argument cannot take is named, with what it wants and an example, in words that people use.
func TestWrongValues(t *testing.T) {
	var grammar struct {
		Count    int           `short:"n"`
		Seed     uint64        `name:"seed"`
		Share    float64       `name:"share"`
		Optional *int          `name:"optional"`
		Wait     time.Duration `name:"wait"`
		Quiet    bool          `name:"quiet" negatable:""`
		Name     string        `name:"name"`
		Where    string        `name:"where" enum:"here,there" default:"here"`
		Sizes    []int         `name:"sizes"`
		Times    int           `arg:"" optional:""`
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--count", "abc"}, `--count: want a whole number, such as 8, but got "abc"`},
		{[]string{"-n", "1.5"}, `--count: want a whole number, such as 8, but got "1.5"`},
		{[]string{"--count", "99999999999999999999"}, `--count: want a whole number, such as 8, but "99999999999999999999" is too long`},
		{[]string{"--seed", "99999999999999999999"}, `--seed: want a whole number, 0 or more, such as 8, but "99999999999999999999" is too long`},
		{[]string{"--count", "-x"}, `--count: want a whole number, such as 8, but got "-x"`},
		{[]string{"--seed", "-1"}, `--seed: want a whole number, 0 or more, such as 8, but got "-1"`},
		{[]string{"--count"}, `--count: want a whole number, such as 8, but got nothing`},
		{[]string{"--seed=-1"}, `--seed: want a whole number, 0 or more, such as 8, but got "-1"`},
		{[]string{"--share", "x\x1b[2J"}, `--share: want a number, such as 0.5, but got "x\x1b[2J"`},
		{[]string{"--optional", "x"}, `--optional: want a whole number, such as 8, but got "x"`},
		{[]string{"--wait", "3"}, `--wait: want a time with its unit, such as 2s or 300ms, but got "3"`},
		{[]string{"--quiet=maybe"}, `--quiet: want true or false, such as true, but got "maybe"`},
		{[]string{"--name"}, `--name: want a value, but got nothing`},
		{[]string{"--where"}, `--where: want one of here, there, but got nothing`},
		{[]string{"--where", "hre"}, `--where must be one of "here","there" but got "hre"`},
		{[]string{"--sizes", "1,b"}, `--sizes: want a whole number, such as 8, but got "b"`},
		{[]string{"many"}, `[<times>]: want a whole number, such as 8, but got "many"`},
		{[]string{"--cuont", "3"}, `unknown flag --cuont, did you mean "--count"?`},
		{[]string{"--count", "3", "--quiet", "--wait", "3s", "--share", "0.5", "--seed", "7", "--no-quiet", "--sizes", "1,2", "4"}, ""},
	} {
		var out bytes.Buffer
		parser, err := kong.New(&grammar, append(valueMappers(), kong.Writers(&out, &out), kong.Name("tandem"))...)
		if err != nil {
			t.Fatal(err)
		}
		switch _, err = parser.Parse(c.args); {
		case err == nil && c.want != "", err != nil && err.Error() != c.want:
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
	if grammar.Count != 3 || grammar.Quiet || grammar.Wait != 3*time.Second || grammar.Share != 0.5 || len(grammar.Sizes) != 2 || grammar.Times != 4 {
		t.Errorf("%+v", grammar)
	}
}

// A negative number is taken behind its flag, so that the command can say which numbers it wants.
func TestNegativeNumbers(t *testing.T) {
	var grammar struct {
		Count    int     `short:"n"`
		Share    float64 `name:"share"`
		Optional *int    `name:"optional"`
		Last     bool    `short:"1"`
	}
	parser, err := kong.New(&grammar, append(valueMappers(), kong.Name("tandem"))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = parser.Parse([]string{"-n", "-1", "--share", "-.5", "--optional", "-2"}); err != nil || grammar.Count != -1 || grammar.Share != -0.5 || *grammar.Optional != -2 || grammar.Last {
		t.Errorf("%v, %+v", err, grammar)
	}
	for _, args := range [][]string{{"-n", "--share", "1"}, {"-n", "-n"}, {"--share", "-Inf"}} {
		if _, err := parser.Parse(args); err == nil {
			t.Errorf("%q is taken: %+v", args, grammar)
		}
	}
}
