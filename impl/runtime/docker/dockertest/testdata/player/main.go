// Command player is the one program in the image that the tests run.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/impl/runtime/runtimetest/play"
)

// tool is the name under which the program plays the tool of a vendor of GPUs.
const tool = "nvidia-smi"

func main() {
	if filepath.Base(os.Args[0]) == tool {
		os.Exit(writeGPUs(os.Args[1:]))
	}
	os.Exit(play.Run(os.Args[1:]))
}

// writeGPUs lists two GPUs if it is asked for a list, and else gives a summary.
func writeGPUs(args []string) int {
	if len(args) > 0 {
		fmt.Print("GPU-1, NVIDIA L4\nGPU-2, NVIDIA L4\n")
		return 0
	}
	fmt.Println("| NVIDIA-SMI 570.86  Driver Version: 570.86  CUDA Version: 12.8 |")
	return 0
}
