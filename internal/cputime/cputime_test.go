package cputime

import (
	"testing"
	"testing/synctest"
	"time"
)

// A process that computes reaches its limit. One that waits does not.
func TestLimit(t *testing.T) {
	begun, known := Spent()
	busy, stop := WithLimit(t.Context(), 50*time.Millisecond)
	defer stop()
	for busy.Err() == nil {
	}
	if now, _ := Spent(); now-begun < 50*time.Millisecond {
		t.Errorf("the limit was reached after %v", now-begun)
	}
	if !known {
		t.Skip("this system does not tell a process's time")
	}
	synctest.Test(t, func(t *testing.T) {
		idle, stop := WithLimit(t.Context(), 30*time.Second)
		defer stop()
		time.Sleep(time.Minute)
		if idle.Err() != nil {
			t.Error("the limit was reached without work")
		}
	})
}
