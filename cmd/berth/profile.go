//go:build profile

package main

import (
	"net/http"
	_ "net/http/pprof" // what a build with this tag is for
	"os"
	"runtime"
)

func init() {
	if at := os.Getenv("BERTH_PPROF"); at != "" {
		runtime.SetMutexProfileFraction(5)
		runtime.SetBlockProfileRate(10_000)
		go func() { _ = http.ListenAndServe(at, nil) }()
	}
}
