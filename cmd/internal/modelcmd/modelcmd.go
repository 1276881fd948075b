// Package modelcmd has the commands that manage models and adapters (edge models, cloud models), and the flags by which every
// other command chooses a model, an adapter or a drafter. It finds models by name, checks their files and opens them on the
// device that computes them.
package modelcmd

// Cmd lists, describes, fetches, converts and removes models.
type Cmd struct {
	List     listCmd     `cmd:"" default:"1" aliases:"ls" help:"List the built-in models and the GGUF files in the models folder."`
	Show     showCmd     `cmd:"" help:"Describe a model: shape, tensor types, vocabulary, template."`
	Pull     pullCmd     `cmd:"" help:"Fetch a model from the Hugging Face hub: resumable, verified."`
	Check    checkCmd    `cmd:"" help:"Compare the files of models and adapters with their checksums."`
	Rm       rmCmd       `cmd:"" aliases:"remove,delete" help:"Remove models from the models folder."`
	Quantize quantizeCmd `cmd:"" help:"Store a model's weights in fewer bits."`
	Convert  convertCmd  `cmd:"" help:"Make a GGUF file from safetensors and tokenizer.json."`
	Adapt    adaptCmd    `cmd:"" help:"Add, list, describe and remove adapters (LoRA) of models."`
}

func (*Cmd) Help() string {
	return `Examples:
  ${program} models pull qwen2.5:0.5b
  ${program} models list
  ${program} models rm qwen2.5:0.5b`
}

// Shortcuts are short names of the most used commands of Cmd.
type Shortcuts struct {
	List listCmd `cmd:"" group:"Shortcuts for models:" help:"Short for \"models list\"."`
	Show showCmd `cmd:"" group:"Shortcuts for models:" help:"Short for \"models show\"."`
	Pull pullCmd `cmd:"" group:"Shortcuts for models:" help:"Short for \"models pull\"."`
	Rm   rmCmd   `cmd:"" group:"Shortcuts for models:" help:"Short for \"models rm\"."`
}
