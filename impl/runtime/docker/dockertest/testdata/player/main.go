// Command player is the one program in the image that the tests run.
package main

import (
	"os"

	"github.com/berthdev/berth/impl/runtime/runtimetest/play"
)

func main() { os.Exit(play.Run(os.Args[1:])) }
