package sim

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// The first simulated address that ports are published on, which is set aside for documentation (RFC 5737), and the first of its ports.
// That of a port for HTTP is one within the provider's network (RFC 6598): the hosted service has a proxy before those.
const (
	firstPort = 40_000
	lastPort  = 65_535
)

var (
	publicIP  = netip.MustParseAddr("192.0.2.1")
	proxiedIP = netip.MustParseAddr("100.65.0.1")
)

// numbers are handed out to the ports of runs, so that no two that are up share an address and a port. The zero value has handed
// out none.
type numbers struct {
	next int
	free []int // that were given back
}

// take gives n numbers that nobody has.
func (s *numbers) take(n int) (all []int) {
	for range n {
		if last := len(s.free) - 1; last >= 0 {
			all, s.free = append(all, s.free[last]), s.free[:last]
			continue
		}
		all = append(all, s.next)
		s.next++
	}
	return all
}

// give gives numbers back, so that the next that are taken are these, in their order.
func (s *numbers) give(all []int) {
	for i := len(all) - 1; i >= 0; i-- {
		s.free = append(s.free, all[i])
	}
}

// published gives what the ports are published on by their numbers.
func published(ports []string, numbers []int) (all []compute.PublishedPort) {
	const each = lastPort - firstPort + 1 // of an address
	for i, p := range ports {
		number, kind, _ := strings.Cut(p, "/")
		private, _ := strconv.Atoi(number)
		ip := publicIP
		if kind == "http" {
			ip = proxiedIP
		}
		for range numbers[i] / each {
			ip = ip.Next()
		}
		all = append(all, compute.PublishedPort{Private: private, Public: firstPort + numbers[i]%each, Type: kind, IP: ip.String()})
	}

	return all
}
