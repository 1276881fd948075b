package extract

// apart returns a pattern that matches any of some alternatives where no letter or digit stands before or behind it. The \b of package
// regexp would do if it knew more letters than those of English. A match has the characters around, too.
func apart(alternatives string) string {
	return `(?:^|[^\pL\pN])(?:` + alternatives + `)(?:[^\pL\pN]|$)`
}
