package search

import (
	"io/fs"
	"testing"

	"tandem/retrieval/search/searchtest"
)

func TestContract(t *testing.T) {
	searchtest.Run(t, func(t *testing.T, files fs.FS) searchtest.Engine { return memoryOf(t, files) })
}
