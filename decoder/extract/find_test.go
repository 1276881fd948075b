package extract

// queryOf returns an English question as it is read if no word of it is misspelt.
func queryOf(question string) query {
	return query{text: question, wants: wantsOf(question)}
}
