// Package filelock locks files against other processes and against other openings of the file in this one. The
// system drops a lock with the file or the process, however that ends. The locked file must not be removed or
// replaced while anyone may lock it: give the lock a file of its own.
package filelock
