"""Recipe of the built-in decoder: generator, tokenizer, model, training, evaluation, export."""
