package control

import (
	"slices"
	"strconv"
)

// devices reports which of a host's GPUs pods and workers have, by their number on the host.
type devices []bool

func (d *devices) set(numbers []int, busy bool) {
	for _, n := range numbers {
		for len(*d) <= n {
			*d = append(*d, false)
		}
		(*d)[n] = busy
	}
}

// pick gives the first n that nobody has, of so many there are, or fewer if there are not so many.
func (d devices) pick(n, of int64) (numbers []int) {
	for i := 0; int64(i) < of && int64(len(numbers)) < n; i++ {
		if i >= len(d) || !d[i] {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// device names a GPU of the host, as the vendor's tools do: by its id, or its number if the operator gave no ids.
func (h *host) device(number int) string {
	if number < len(h.GPUDevices) {
		return h.GPUDevices[number]
	}
	return strconv.Itoa(number)
}

// numbers gives the numbers of devices. What the host does not have any more is left out. Numbers are of before the operator gave ids.
func (h *host) numbers(names []string) (all []int) {
	for _, name := range names {
		n := slices.Index(h.GPUDevices, name)
		if n < 0 {
			number, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			n = number
		}

		if n >= 0 && int64(n) < h.GPUCount {
			all = append(all, n)
		}
	}

	return all
}

// deviceNames names the devices of the choice.
func (c *choice) deviceNames() (names []string) {
	for _, n := range c.devices {
		names = append(names, c.host.device(n))
	}
	return names
}
