"""Recipe of the built-in reader: generator, tokenizer, model, training, evaluation, export."""
