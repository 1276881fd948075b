package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"
)

// Whatever a configuration file holds, it is refused by an error or gives its flags values that kong takes.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{`{"seed": 3}`, `{"seed": "x", "cors": ["a,b", 1]}`, `{"seed": 1e999}`, `null`, `{"cors": {"a": [null]}} {}`, "\xff{"} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "config.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := loadConfig(path)
		if err != nil {
			return
		}
		var flags struct {
			Seed uint64   `env:"TANDEM_FUZZ_SEED"`
			CORS []string `name:"cors" env:"TANDEM_FUZZ_CORS"`
			Show bool     `env:"TANDEM_FUZZ_SHOW"`
		}
		parser, err := kong.New(&flags, kong.Resolvers(c), kong.Exit(func(int) { t.Error("it ends the program") }))
		if err != nil {
			return
		}
		parser.Parse(nil) // an error, but no panic
	})
}
