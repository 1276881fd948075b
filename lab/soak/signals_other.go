//go:build !unix

package soak

import "os"

// Processes cannot be stopped here.
func stop(*os.Process) {}

func goOn(*os.Process) {}
