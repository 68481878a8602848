package docker

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/berthdev/berth/impl/compute"
)

// gpuTick is for how long a measurement of all GPUs is good: the pods of a host share it.
const gpuTick = 2 * time.Second

// gpuSample is what the GPUs of the engine's host did at a time, by their number and by their id. It is nil where they are not
// on this machine, or where nothing measures them.
type gpuSample struct {
	at    time.Time
	use   map[string]compute.GPUUse
	under chan struct{} // closed when the one that is made is over; nil: none is
}

// gpuPatience is how long a pod waits for a measurement: without one it is as well as with it.
const gpuPatience = time.Second

// nvidiaSMI asks the vendor's tool about all GPUs.
func nvidiaSMI(ctx context.Context) ([]byte, error) {
	return exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=index,uuid,utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits").Output()
}

// gpuUse reports what the container does with its GPUs; nil if it has none or one of them is not measured.
func (h *Runtime) gpuUse(ctx context.Context, c container.InspectResponse) (all []compute.GPUUse) {
	for _, request := range c.HostConfig.DeviceRequests {
		for _, id := range request.DeviceIDs {
			use, ok := h.measureGPUs(ctx)[id]
			if !ok {
				return nil
			}
			all = append(all, use)
		}
	}
	return all
}

// measureGPUs gives what was measured last, once somebody has. One measurement is made at a time, beside what pods wait for: with a driver that hangs
// the tool may never end.
func (h *Runtime) measureGPUs(ctx context.Context) map[string]compute.GPUUse {
	h.gpuTurn.Lock()
	if h.config.Clock.Now().Sub(h.gpus.at) < gpuTick {
		defer h.gpuTurn.Unlock()
		return h.gpus.use
	}
	if h.gpus.under == nil {
		h.gpus.under = make(chan struct{})
		go h.measure(context.WithoutCancel(ctx), h.gpus.under)
	}
	under := h.gpus.under
	h.gpuTurn.Unlock()

	late, stop := compute.SystemClock{}.After(gpuPatience)
	defer stop()
	select {
	case <-under:
	case <-late:
		return nil
	case <-ctx.Done():
		return nil
	}
	h.gpuTurn.Lock()
	defer h.gpuTurn.Unlock()
	return h.gpus.use
}

// measure makes a measurement.
func (h *Runtime) measure(ctx context.Context, over chan<- struct{}) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	text, err := h.config.MeasureGPUs(ctx)
	h.gpuTurn.Lock()
	defer h.gpuTurn.Unlock()
	h.gpus = gpuSample{at: h.config.Clock.Now()}
	if err == nil {
		h.gpus.use = readGPUs(string(text))
	}
	close(over)
}

// readGPUs reads a line for each GPU: its number, its id, the percentage of the time in which it worked, the memory in use and
// all memory. What the tool does not know of a GPU is no number, and the GPU is left out.
func readGPUs(text string) map[string]compute.GPUUse {
	all := map[string]compute.GPUUse{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ", ")
		if len(fields) != 5 {
			continue
		}
		var numbers [3]float64

		known := true
		for i, field := range fields[2:] {
			n, err := strconv.ParseFloat(field, 64)
			known = known && err == nil
			numbers[i] = n
		}

		if known {
			use := compute.GPUUse{Percent: percent(numbers[0], 100), MemoryPercent: percent(numbers[1], numbers[2])}
			all[fields[0]], all[fields[1]] = use, use
		}
	}

	return all
}
