package modelcmd

import (
	"errors"
	"fmt"

	"tandem/cmd/internal/cli"
	"tandem/lora/rewrite"
)

// OpenWriter opens the chosen model with the chosen adapters. Without any, the built-in model takes its own for the task.
func OpenWriter(a *cli.App, f ModelFlags, l LoraFlags, task string) (*rewrite.Writer, error) {
	m, err := f.Open(a)
	if err != nil {
		return nil, err
	}
	if m.Config().Diffusion {
		return nil, errors.Join(fmt.Errorf("%s is a diffusion model: choose a model that writes token by token", m.Config().Name), m.Close())
	}
	path, _ := Find(a, f.Model)
	builtIn := len(l.Lora) == 0 && path == ""
	if builtIn && !isBuiltInAdapter(task) {
		return nil, errors.Join(errors.New("the built-in model cannot do this: choose one that follows instructions with --model, or an adapter with --lora"), m.Close())
	}
	if builtIn {
		l.Lora = []string{task}
	}
	adapter, err := l.MountAdapter(a, m)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return rewrite.NewWriter(m, adapter, builtIn), nil
}
