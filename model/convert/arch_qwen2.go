package convert

func init() {
	families["qwen2"] = &family{
		arch:    "qwen2",
		pattern: qwenStages,
		config:  readLlama,
		meta:    llamaMeta,
		tensors: func(p *plan) { p.llama(false) },
	}
}
