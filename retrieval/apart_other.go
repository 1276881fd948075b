//go:build !unix

package retrieval

func bound(uint64) {}
