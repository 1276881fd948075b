package modelcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/lora"
	"tandem/model"
	"tandem/model/span"
	"tandem/models"
	"tandem/specdec"
)

// LoraFlags choose adapters of the model.
type LoraFlags struct {
	Lora []string `name:"lora" help:"Adapt the model with an adapter that models adapt list shows, or with the path of a GGUF file or PEFT folder (./FOLDER); =SCALE scales it. May be repeated: adapters add up." sep:"none" placeholder:"NAME[=SCALE]"`
}

// MountAdapter mounts the sum of the chosen adapters on a model. It returns nil for none.
func (f LoraFlags) MountAdapter(a *cli.App, m *model.Model) (*model.Adapter, error) {
	var sum []lora.Scaled
	for _, text := range f.Lora {
		name, scale, err := splitScale(text)
		if err != nil {
			return nil, err
		}
		one, err := openAdapter(a, name)
		if err != nil {
			return nil, fmt.Errorf("--lora %s: %w", text, err)
		}
		if one.Forecast != nil {
			return nil, fmt.Errorf("--lora %s: it forecasts the next tokens and does not change the text: use it with --forecast", text)
		}
		sum = append(sum, lora.Scaled{Adapter: one, Scale: scale})
	}
	list, err := lora.Mount(m, model.Inputs, sum)
	if err != nil {
		return nil, fmt.Errorf("--lora: %w", err)
	}
	return list[0], nil
}

// ForecastFlags choose forecast embeddings.
type ForecastFlags struct {
	Forecast string `help:"Also draft with forecast embeddings, which train.forecast makes for a model: a name or path as with --lora." placeholder:"NAME"`
}

// Embeddings returns the embeddings [m × Dim] and the adapter of their rows; nil if none are chosen.
func (f ForecastFlags) Embeddings(a *cli.App, m *model.Model) ([][]float32, *model.Adapter, error) {
	if f.Forecast == "" {
		return nil, nil, nil
	}
	one, err := openAdapter(a, f.Forecast)
	if err == nil && one.Forecast == nil {
		err = errors.New("it contains no forecast embeddings: use it with --lora")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--forecast %s: %w", f.Forecast, err)
	}
	list, err := lora.Mount(m, model.Inputs, []lora.Scaled{{Adapter: one, Scale: 1}})
	if err != nil {
		return nil, nil, fmt.Errorf("--forecast %s: %w", f.Forecast, err)
	}
	return one.Forecast, list[0], nil
}

// DraftFlags choose what guesses the next tokens.
type DraftFlags struct {
	Draft string `help:"What guesses the next tokens, so that one pass decodes several; the text is the same. auto (the drafters that cost nothing before the answer), off, all (also calibration on the prompts), or some of pld, sam, ngrams, recycle, calibration, reuse, history (answers given before) and forecast, separated by commas: auto,history. Measured costs of passes limit the guesses." default:"auto" placeholder:"DRAFTERS"`
	ForecastFlags
}

// Drafters returns the drafters. Naming embeddings adds forecasts.
func (f DraftFlags) Drafters() (specdec.Set, error) {
	text := f.Draft
	if f.Forecast != "" {
		text += ",forecast"
	}
	s, err := specdec.ParseSet(text)
	switch {
	case err != nil && f.Forecast != "":
		return s, fmt.Errorf("--draft with --forecast: %w", err)
	case err != nil:
		return s, fmt.Errorf("--draft: %w", err)
	}
	return s, nil
}

// DraftersFor is Drafters for what answers: a model that decodes, or reader if it is not nil.
func (f DraftFlags) DraftersFor(reader *span.Reader) (specdec.Set, error) {
	s, err := f.Drafters()
	if err == nil && reader != nil && s.Has(specdec.WithHistory|specdec.WithForecast) {
		err = errors.New("--draft: history and forecast need a model that decodes, and the built-in reader points at words: add --reader decoder, or leave them out")
	}
	return s, err
}

// Resources opens what the drafters need of a model: forecast embeddings, those of the built-in model unless others are named.
func (f DraftFlags) Resources(a *cli.App, m *model.Model) (r specdec.Resources, err error) {
	s, err := f.Drafters()
	if err != nil || !s.Has(specdec.WithForecast) {
		return r, err
	}
	if f.Forecast != "" {
		r.Embeddings, r.Adapter, err = f.Embeddings(a, m)
	} else if r.Embeddings, r.Adapter, err = (ForecastFlags{builtInForecast}).Embeddings(a, m); err != nil {
		err = fmt.Errorf("--draft forecast: %w; name embeddings of this model with --forecast", err)
	}
	return r, err
}

// builtInForecast is the name of the built-in model's forecast embeddings.
const builtInForecast = "forecast"

// splitScale parses NAME[=SCALE].
func splitScale(text string) (name string, scale float64, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return text, 1, nil
	}
	if scale, err = strconv.ParseFloat(text[at+1:], 64); err != nil || !(math.Abs(scale) <= 1000) {
		return "", 0, fmt.Errorf("--lora %s: %q is not a scale from −1000 to 1000", text, text[at+1:])
	}
	return text[:at], scale, nil
}

// adaptersDir returns the folder whose adapters can be named without a path. All programs share it.
func adaptersDir(a *cli.App) (string, error) {
	dirs, err := a.Dirs()
	return filepath.Join(filepath.Dir(dirs.Data), "adapters"), err
}

// openAdapter reads an adapter, given its name or its path.
func openAdapter(a *cli.App, name string) (*lora.Adapter, error) {
	if b, ok := models.Adapter(name); ok {
		return lora.ReadGGUF(name, b)
	}
	path, err := findAdapter(a, name)
	if err != nil {
		return nil, err
	}
	if err := intact(a, path, math.MaxInt64); err != nil {
		return nil, err
	}
	one, err := lora.Open(path)
	if err != nil {
		return nil, err
	}
	one.Name = strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".gguf")
	return one, nil
}

// findAdapter returns the path of an adapter that is not built in. A word without a separator or the ending .gguf is a name, so
// that no file in the current folder can take the place of an adapter.
func findAdapter(a *cli.App, name string) (string, error) {
	_, err := os.Stat(name)
	bare := filepath.Base(name) == name && name != "." && name != ".."
	if err == nil && (!bare || strings.HasSuffix(name, ".gguf")) {
		return name, nil
	}
	if dir, err := adaptersDir(a); err == nil && bare {
		path := filepath.Join(dir, strings.TrimSuffix(name, ".gguf")+".gguf")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	switch {
	case err == nil:
		return "", fmt.Errorf("no adapter %q is added or built in; for the file or folder here, write .%c%s", name, filepath.Separator, name)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return "", fmt.Errorf("no adapter %q: it is neither a path, nor added, nor built in; see: %s models adapt list", name, a.Program)
}
