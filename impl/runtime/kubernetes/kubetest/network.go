package kubetest

import (
	"net"
	"net/http"
	"strconv"
)

// The ports of nodes that Services get, as in the real one.
const (
	firstPort = 30_000
	lastPort  = 32_767
)

// Balance has load balancers come up at an address.
func (s *Server) Balance(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lb = address
	for name := range s.stored[services] {
		s.change(services, name, "", s.balance)
	}
}

func (s *Server) balance(o object) {
	if text(o, "spec", "type") == "LoadBalancer" && s.lb != "" {
		put(o, object{"ingress": []any{object{"ip": s.lb}}}, "status", "loadBalancer")
	}
}

// publish gives the ports of a new Service their ports of nodes, and listens on those that are TCP. The caller has the lock.
func (s *Server) publish(o object) *refusal {
	put(o, object{"loadBalancer": object{}}, "status")
	put(o, "10.96.0.7", "spec", "clusterIP")
	s.balance(o)
	selector, _ := at(o, "spec", "selector").(object)
	var ends []func()
	for _, p := range items(o, "spec", "ports") {
		port, end, ok := s.listen(selector, text(p, "protocol"), strconv.FormatInt(number(p, "targetPort"), 10))
		if !ok {
			for _, end := range ends {
				end()
			}
			return refuse(http.StatusInternalServerError, "InternalError", "failed to allocate a nodePort: range is full")
		}
		p["nodePort"] = float64(port)
		ends = append(ends, end)
	}
	s.ports[uidOf(o)] = ends
	return nil
}

// unpublish ends what a Service listens on. The caller has the lock.
func (s *Server) unpublish(o object) {
	for _, end := range s.ports[uidOf(o)] {
		end()
	}
	delete(s.ports, uidOf(o))
}

// listen takes a port of the node, and passes connections on to the Pod that the selector selects.
func (s *Server) listen(selector object, protocol, target string) (port int, end func(), ok bool) {
	s.listens++ // the next port of the same Service begins elsewhere: no two have one number, whatever their protocols
	start := (int(s.version) + s.listens) * 7919
	for i := range lastPort - firstPort + 1 {
		port = firstPort + (start+i)%(lastPort-firstPort+1)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if protocol == "UDP" {
			if conn, err := net.ListenPacket("udp", address); err == nil {
				return port, func() { _ = conn.Close() }, true
			}
			continue
		}

		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}

		s.work.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				if f := s.serverOf(selector, target); f != nil {
					f(conn)
				}
				_ = conn.Close()
			}
		})
		return port, func() { _ = l.Close() }, true
	}
	return 0, nil, false
}

// serverOf gives what answers at a port of the Pod that the selector selects; nil if nothing does.
func (s *Server) serverOf(selector object, port string) func(net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.stored[pods] {
		selected := len(selector) > 0
		for name, value := range selector {
			selected = selected && at(p, "metadata", "labels", name) == value
		}
		if run := s.running[uidOf(p)]; selected && run != nil {
			if f := run.server(port); f != nil {
				return f
			}
		}
	}
	return nil
}
