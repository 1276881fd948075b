package office

// What the tests need to make files at the bounds.
const (
	ArchiveEntries = archiveEntries
	EntryLimit     = entryLimit
	XMLDepth       = xmlDepth
	MaxPlaces      = maxPlaces
	MaxStyles      = maxStyles
	SheetCells     = sheetCells
	XMLAttributes  = xmlAttributes
)

var (
	Compound = compound
	UTF16Of  = utf16Of
)
