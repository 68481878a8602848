package kubernetes

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// mostPorts is how many ports an allocation can have: the node ports of a cluster are few, 2768 unless its operator says otherwise.
const mostPorts = 64

// servicePorts gives the ports of a Service: one for each that is asked for, of which some may be asked for as http and as tcp.
func servicePorts(asked []string) (all []servicePort, err error) {
	if len(asked) > mostPorts {
		return nil, fmt.Errorf("kubernetes: an allocation may have %d ports, and not %d", mostPorts, len(asked))
	}
	seen := map[string]bool{}
	for _, text := range asked {
		port, protocol, err := private(text)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("p%d-%s", port, strings.ToLower(protocol))
		if !seen[name] {
			seen[name] = true
			all = append(all, servicePort{Name: name, Protocol: protocol, Port: port, TargetPort: port})
		}
	}
	return all, nil
}

// private reads port/protocol, where http is TCP.
func private(text string) (port int, protocol string, err error) {
	number, kind, _ := strings.Cut(text, "/")
	port, err = strconv.Atoi(number)
	switch {
	case err != nil || port < 1 || port > 65535:
		return 0, "", fmt.Errorf("port %q: it must be a number from 1 to 65535 and http, tcp or udp", text)
	case kind == "http" || kind == "tcp":
		return port, "TCP", nil
	case kind == "udp":
		return port, "UDP", nil
	}
	return 0, "", fmt.Errorf("port %q: it must be a number from 1 to 65535 and http, tcp or udp", text)
}

// published gives where the ports of a Pod are reached, in the order in which they were asked for. berth in the cluster goes to the Pod
// itself: there, the outer address of a node may lead nowhere, and a load balancer takes minutes. The caller has the lock.
func (h *Runtime) published(p *pod) []compute.PublishedPort {
	asked := p.Metadata.Annotations[annotationPorts]
	if asked == "" {
		return nil
	}
	s := h.offers[p.Metadata.Labels[labelAllocation]]
	all := h.reached(strings.Split(asked, ","), s, h.addressOf(p))
	for i := range all {
		if all[i].IP == "" { // its node has not said where it is
			all[i].Public = 0
		}
		if h.inside && p.Status.PodIP != "" {
			all[i].Inner = net.JoinHostPort(p.Status.PodIP, strconv.Itoa(all[i].Private))
		}
	}
	return all
}

// reached gives where ports are reached that the Service publishes: at the address of the node, or at that of a load balancer. A port that
// is not published yet is 0.
func (h *Runtime) reached(asked []string, s *service, address string) (all []compute.PublishedPort) {
	for _, text := range asked {
		port, protocol, err := private(text)
		if err != nil {
			continue
		}
		_, kind, _ := strings.Cut(text, "/")
		one := compute.PublishedPort{Private: port, Type: kind}
		if s != nil {
			one.Public, one.IP = s.at(port, protocol, address)
		}
		all = append(all, one)
	}
	return all
}

// at gives where a port is reached.
func (s *service) at(port int, protocol, address string) (public int, ip string) {
	if s.Spec.Type == string(LoadBalancer) {
		if all := s.Status.LoadBalancer.Ingress; len(all) > 0 {
			return port, cmp.Or(all[0].IP, all[0].Hostname)
		}
		return 0, ""
	}
	for _, p := range s.Spec.Ports {
		if p.Port == port && p.Protocol == protocol {
			return p.NodePort, address
		}
	}
	return 0, ""
}

// addressOf gives the address of a Pod's node: the outer one if there is one. The caller has the lock.
func (h *Runtime) addressOf(p *pod) string {
	if n := h.known[p.Spec.NodeName]; n != nil {
		if address := cmp.Or(n.address("ExternalIP"), n.address("InternalIP")); address != "" {
			return address
		}
	}
	return p.Status.HostIP
}

func (n *node) address(kind string) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind && a.Address != "" {
			return a.Address
		}
	}
	return ""
}

// hostIsPublic reports whether ports are reached at the address of the node that a container may know: its inner one.
func (h *Runtime) hostIsPublic() bool {
	if h.config.Service != NodePort {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.known {
		if n.address("ExternalIP") != "" {
			return false
		}
	}
	return true
}
