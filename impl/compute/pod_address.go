package compute

import (
	"strconv"
	"strings"
)

// HTTPPorts gives the ports that the pod shows over HTTP, in their order.
func (p Pod) HTTPPorts() (all []int) {
	for _, text := range p.Ports {
		number, kind, _ := strings.Cut(text, "/")
		if port, err := strconv.Atoi(number); err == nil && kind == HTTPPort {
			all = append(all, port)
		}
	}
	return all
}

// PodAddress is where HTTP ports of pods are reached, with {podId} and {port} in the place of those.
type PodAddress string

// Of gives where that port of the pod is reached.
func (a PodAddress) Of(id PodID, port int) string {
	return strings.NewReplacer("{podId}", string(id), "{port}", strconv.Itoa(port)).Replace(string(a))
}
