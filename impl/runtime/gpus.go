package runtime

import (
	"regexp"
	"strings"
	"sync"
)

// The commands that tell which GPUs a machine has, for ParseGPUs.
var (
	GPUListCommand    = []string{"nvidia-smi", "--query-gpu=uuid,name", "--format=csv,noheader"}
	GPUSummaryCommand = []string{"nvidia-smi"}
)

// GPU is one GPU of a machine: its id and its product, as the vendor's tools give them.
type GPU struct{ ID, Product string }

var cudaInSummary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`CUDA Version: ([0-9]+\.[0-9]+)`) })

// ParseGPUs reads what GPUListCommand and GPUSummaryCommand wrote: a line for each GPU, and the latest version of CUDA that the driver
// runs; empty if it does not say.
func ParseGPUs(list, summary string) (gpus []GPU, cuda string) {
	for line := range strings.Lines(list) {
		if id, product, ok := strings.Cut(strings.TrimSpace(line), ", "); ok {
			gpus = append(gpus, GPU{ID: id, Product: product})
		}
	}
	if match := cudaInSummary().FindStringSubmatch(summary); match != nil {
		cuda = match[1]
	}
	return gpus, cuda
}
