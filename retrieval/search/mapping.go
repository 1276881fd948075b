package search

import (
	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Fields of a bleve document. Each passage is a document. The first one of a file also carries the file's record, so that
// passages and record change in the same batch.
const (
	fieldTitle  = "title"
	fieldText   = "text"
	fieldName   = "name"   // of the file, not stored
	fieldSource = "source" // stored only
	fieldRecord = "record" // stored only: record as JSON
	fieldHead   = "head"   // "1" on documents with a record
)

func indexMapping() mapping.IndexMapping {
	field := func(analyzer string) *mapping.FieldMapping {
		f := bleve.NewTextFieldMapping()
		f.Analyzer = analyzer
		f.IncludeInAll, f.IncludeTermVectors, f.DocValues = false, false, false
		return f
	}
	analysed, named, stored, exact := field(analyzerName), field(analyzerName), field(""), field(keyword.Name)
	named.Store, stored.Index, exact.Store = false, false, false

	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(fieldTitle, analysed)
	doc.AddFieldMappingsAt(fieldText, analysed)
	doc.AddFieldMappingsAt(fieldName, named)
	doc.AddFieldMappingsAt(fieldSource, stored)
	doc.AddFieldMappingsAt(fieldRecord, stored)
	doc.AddFieldMappingsAt(fieldHead, exact)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.DefaultAnalyzer = analyzerName
	return m
}
