// Package cli is the command line that the programs edge, cloud and lab share: where they keep files, how they read flags and
// configuration, how they print text and progress, and the commands about pairings and the programs themselves. Package
// indexcmd has what concerns documents, package modelcmd what concerns models.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"tandem/retrieval/documents"
)

// Globals are the flags that every command takes.
type Globals struct {
	HelpAll   helpAll     `help:"Show help with all flags, also those for experiments." env:"-"`
	JSON      bool        `name:"json" help:"Print one JSON object instead of text; an error is {\"error\": \"…\"}."`
	Config    configFlag  `help:"Configuration file: a JSON object of flag names and values. An environment variable TANDEM_<FLAG> overrides it, and a flag overrides both (default: ${config})." placeholder:"FILE" type:"path" program:""`
	LogLevel  string      `help:"Log messages of this level and above to standard error: ${enum}." enum:"debug,info,warn,error" default:"${log_level}" program:""`
	LogFormat string      `help:"Form of the log: ${enum}. With json, each line on standard error is an object, also remarks and the error that ends the program." enum:"text,json" default:"text" program:""`
	Version   versionFlag `help:"Print the version and exit." env:"-" program:""`
}

// App is what every command's Run method receives: the screen, the folders, the logger, and a context that an interrupt
// cancels.
type App struct {
	context.Context
	*Screen
	Program string // "edge", "cloud" or "lab"
	Globals *Globals
	Log     *slog.Logger

	drains     func() // set by Register
	interrupts interrupts
	parser     *kong.Kong
}

// Exit codes.
const (
	exitError       = 1
	exitUsage       = 2
	exitInterrupted = 130
	exitPipe        = 128 + 13 // the code of a process that SIGPIPE ends, also if the signal is ignored
)

// Main parses the command line into grammar (a pointer to a struct for kong), runs the chosen command's Run(*App) and
// returns the exit code. A flag on the command line wins over the environment variable TANDEM_<FLAG>, which wins over the
// configuration file. Flags that are actions, such as --version or --list, have the tag env:"-": they cannot be set in
// the environment or the file.
func Main(program, description string, grammar any, globals *Globals, args []string) int {
	app := &App{Screen: NewScreen(os.Stdout, os.Stderr), Program: program, Globals: globals}
	out := &errWriter{Writer: os.Stdout}
	if !IsTerminal(os.Stdout) { // kong asks a terminal for its width, so it gets the file itself
		app.Out = out
	}
	app.preparePDFs()
	dirs, _ := app.Dirs() // without a home folder some may be known all the same
	config, resolvers, err := defaultConfig(dirs)
	globals.LogFormat = logFormat(args, resolvers)
	errs := app.openLog()
	if err != nil {
		fmt.Fprintf(errs, "%s: %s\n", program, EscapeLines(err.Error()))
		return exitUsage
	}
	app.parser, err = kong.New(grammar, append(append(pathMappers(), valueMappers()...),
		kong.Name(program),
		kong.Description(description),
		kong.Vars{"version": Version(), "config": config, "log_level": defaultLevel(program)},
		kong.DefaultEnvars("TANDEM"),
		kong.Resolvers(resolvers...),
		kong.ConfigureHelp(helpOptions),
		kong.Help(printHelp),
		kong.PostBuild(func(k *kong.Kong) error { k.Model.HelpFlag.Help = "Show this help."; return nil }),
		kong.UsageOnError(),
		kong.Writers(app.Out, os.Stderr),
		kong.Exit(func(code int) { os.Exit(cmp.Or(code, out.exit(errs, program, nil))) }), // after --help and --version
	)...)
	if err != nil {
		fmt.Fprintf(errs, "%s: %s\n", program, EscapeLines(err.Error()))
		return exitUsage
	}
	if program != "lab" { // whose flags are like those of the others, for which the variables are
		for _, remark := range misspelt(app.parser.Model, os.Environ()) {
			fmt.Fprintf(app.Aside, "%s: %s\n", program, remark)
		}
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	chosen, err := app.parser.Parse(args)
	if out.err != nil { // the help was not printed
		return out.exit(errs, program, err)
	}
	if err != nil {
		app.misused(errs, args, err)
		return exitUsage
	}
	return app.run(chosen, out)
}

// run carries out the chosen command and returns the exit code.
func (a *App) run(chosen *kong.Context, out *errWriter) int {
	ctx, stop := a.interrupts.watch(context.Background())
	defer stop()
	a.Context = ctx
	errs := a.openLog()
	err := a.withSource(chosen, needsRoom(chosen.Run(a)))
	a.Clear()
	interrupted := ctx.Err() != nil && errors.Is(err, context.Canceled)
	if interrupted {
		err = errors.New("interrupted")
	}
	if a.Globals.JSON && err != nil {
		a.failure(err)
	}
	if interrupted {
		fmt.Fprintf(errs, "%s: %v\n", a.Program, err)
		return exitInterrupted
	}
	code := out.exit(errs, a.Program, err)
	if usage := (*UsageError)(nil); code == exitError && errors.As(err, &usage) {
		fmt.Fprintf(a.Aside, seeHelp, helpFor(a.Program, chosen))
		return exitUsage
	}
	return code
}

// UsageError is an error of a command that finds a flag or an argument wrong which could be parsed. The program ends as if it
// could not be parsed.
type UsageError struct{ Err error }

// Usage returns err, if not nil, as a UsageError.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// seeHelp names a command that helps after a wrong command line.
const seeHelp = "Run \"%s\" for examples and flags.\n"

// logFormat returns the form of the log that a command line or, if it has none, the environment or a configuration asks for. It
// is known before they are read as a whole, so that what is wrong with them is said in that form, too.
func logFormat(args []string, resolvers []kong.Resolver) (format string) {
	const name = "log-format"
	for _, r := range resolvers {
		if c, is := r.(config); is {
			format, _ = c.values[name].(string)
		}
	}
	format = cmp.Or(os.Getenv(envPrefix+"LOG_FORMAT"), format)
	for i, arg := range args {
		if value, is := strings.CutPrefix(arg, "--"+name+"="); is {
			format = value
		} else if i > 0 && args[i-1] == "--"+name {
			format = arg
		}
	}
	return format
}

// openLog opens the log, and returns where the error goes that ends the program.
func (a *App) openLog() (errs io.Writer) {
	options := &slog.HandlerOptions{Level: level(a.Globals.LogLevel)}
	a.Log, errs = slog.New(slog.NewTextHandler(os.Stderr, options)), os.Stderr
	if a.Globals.LogFormat == "json" {
		a.Log = slog.New(slog.NewJSONHandler(plainJSON{os.Stderr}, options))
		all := slog.New(slog.NewJSONHandler(plainJSON{os.Stderr}, nil)) // what is said without a log has no level
		a.Aside, a.live = records{all, slog.LevelInfo}, false
		errs = records{all, slog.LevelError}
	}
	slog.SetDefault(a.Log)
	return errs
}

// records is a writer that logs each text as one record.
type records struct {
	log   *slog.Logger
	level slog.Level
}

func (r records) Write(b []byte) (int, error) {
	r.log.Log(context.Background(), r.level, strings.TrimSpace(string(b)))
	return len(b), nil
}

// defaultLevel returns the level of messages that a program logs. Its user sits before edge and lab, which say themselves what
// goes wrong with a question; a cloud has nobody else to tell.
func defaultLevel(program string) string {
	if program == "cloud" {
		return "warn"
	}
	return "error"
}

// misused says what is wrong with a command line, and where to read more.
func (a *App) misused(errs io.Writer, args []string, err error) {
	said := helpful(err)
	if slices.Contains(args, "--json") {
		a.failure(errors.New(said))
	}
	fmt.Fprintf(errs, "%s: %s\n", a.Program, EscapeLines(said))
	program := a.parser.Model.Node
	if childNamed(program, "ask") != nil && looksAsked(args) && childNamed(program, args[0]) == nil {
		fmt.Fprintf(a.Aside, "To ask a question: %s ask %q\n", a.Program, strings.Join(args, " "))
	}
	var parsed *kong.Context
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) {
		parsed = parse.Context
	}
	fmt.Fprintf(a.Aside, seeHelp, helpFor(a.Program, parsed))
}

// looksAsked reports whether arguments, if they begin with no command, are a question, in quotes or not.
func looksAsked(args []string) bool {
	flags := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	return !flags && (len(args) == 1 && strings.Contains(args[0], " ") || len(args) > 2)
}

// failure prints an error as JSON, unless an object was printed already: then that says what came about.
func (a *App) failure(err error) {
	if !a.answered {
		a.JSON(map[string]string{"error": err.Error()})
	}
}

// preparePDFs says where the compiled PDF reader is kept.
func (a *App) preparePDFs() {
	folder := ""
	if dirs, err := a.Dirs(); err == nil {
		folder = filepath.Join(dirs.Cache, "pdfium")
	}
	documents.SetPDFium(folder, func() { a.Progress("preparing the PDF reader") })
}

// errWriter is a writer that keeps its first error, so that lost output does not go unnoticed.
type errWriter struct {
	io.Writer
	err error
}

func (w *errWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// exit prints err, the error of a command, and the error of writing, if any. It returns the exit code. A closed pipe is not
// reported: programs such as head stop reading on purpose.
func (w *errWriter) exit(to io.Writer, program string, err error) int {
	switch {
	case errors.Is(w.err, syscall.EPIPE):
		return exitPipe
	case w.err != nil && !errors.Is(err, w.err):
		err = errors.Join(err, fmt.Errorf("cannot print everything: %w", w.err))
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(to, "%s: %s\n", program, EscapeLines(err.Error()))
	return exitError
}

// helpFor returns the help command for the command up to which a command line was parsed, if any.
func helpFor(program string, parsed *kong.Context) string {
	if parsed != nil {
		if words := strings.Fields(parsed.Command()); len(words) > 0 {
			var plain []string
			for _, w := range words {
				if !strings.HasPrefix(w, "<") {
					plain = append(plain, w)
				}
			}
			return program + " " + strings.Join(append(plain, "--help"), " ")
		}
	}
	return program + " --help"
}

// Dirs returns the program's folders, or an error that says how to set them.
func (a *App) Dirs() (Dirs, error) { return findDirs(a.Program) }

func level(name string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelError
	}
	return l
}
