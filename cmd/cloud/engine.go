package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"tandem/api"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/model"
	"tandem/model/remote"
)

// engineFlags let a server that others run compute the model.
type engineFlags struct {
	Engine        string `help:"Let a server compute the model: llama-server://HOST:PORT or vllm://HOST:PORT, or llama-servers:// and vllms:// for TLS. --model names the GGUF file that the server runs; only its vocabulary is read." placeholder:"ADDRESS"`
	EngineKeyFile string `help:"File with the key for --engine. The variable ENGINE_API_KEY may hold it instead." type:"existingfile" placeholder:"FILE"`
}

// open opens the model: that of the flags, or the vocabulary of one that a server computes. engine is nil for a model that is
// computed here.
func (c *serveCmd) open(a *cli.App) (m *model.Model, engine *remote.Server, done func() error, err error) {
	if c.Engine == "" {
		c.Verify = true
		if m, err = c.Open(a); err != nil {
			return nil, nil, nil, err
		}
		return m, nil, m.Close, nil
	}
	path, err := modelcmd.Find(a, c.Model)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case path == "":
		return nil, nil, nil, errors.New("--engine: give the GGUF file that the server runs with --model, for its vocabulary")
	case len(c.Lora) > 0 || c.Compute != "native" || c.Bucket != "":
		return nil, nil, nil, errors.New("--engine: the server computes the model, so --lora, --device and --kv-bucket do not apply here")
	}
	key, err := c.key()
	if err != nil {
		return nil, nil, nil, err
	}
	if engine, err = remote.Open(a, c.Engine, path, remote.Options{Key: key, Log: a.Log}); err != nil {
		return nil, nil, nil, fmt.Errorf("--engine: %w", err)
	}
	a.Remark("%s computes the model and returns the likeliest %d tokens of each row", engine, engine.Top())
	if host, ok := strings.CutPrefix(engine.Base(), "http://"); ok && !api.OnLoopback(strings.Split(host, "/")[0]) {
		a.Remark("passages, questions and the key cross the network to %s unencrypted: use TLS, or a network of your own", host)
	}
	return engine.Model(), engine, engine.Close, nil
}

// key returns the key for the server, empty for none.
func (f engineFlags) key() (string, error) {
	if f.EngineKeyFile == "" {
		return os.Getenv("ENGINE_API_KEY"), nil
	}
	b, err := os.ReadFile(f.EngineKeyFile)
	key := strings.TrimSpace(string(b))
	if err == nil && (key == "" || strings.ContainsAny(key, "\r\n")) {
		err = errors.New("want one line, the key")
	}
	if err != nil {
		return "", fmt.Errorf("--engine-key-file %s: %w", f.EngineKeyFile, err)
	}
	return key, nil
}
