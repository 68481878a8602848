package proxy

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

// label is the first part of the host name of a port of a pod.
var label = regexp.MustCompile(`^([a-z0-9]{14})-([1-9][0-9]{0,4})$`)

// domain is a host name of letters, digits and hyphens.
var domain = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// CheckDomain refuses what pods cannot be below.
func CheckDomain(name string) error {
	if !domain.MatchString(name) || len(name) > 200 {
		return fmt.Errorf("%q is no domain: it must be a name without scheme, port and dot at its ends, such as pods.example.com", name)
	}
	return nil
}

// name is the domain below which pods are, with a dot before it.
type name string

func newName(domain string) name { return name("." + domain) }

// of reads which port of which pod is asked for by a Host header, with or without a port of the server; ok is false if none is.
func (n name) of(host string) (id compute.PodID, port int, ok bool) {
	if before, _, err := net.SplitHostPort(host); err == nil {
		host = before
	}
	first, found := strings.CutSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), string(n))
	if !found {
		return "", 0, false
	}
	parts := label.FindStringSubmatch(first)
	if parts == nil {
		return "", 0, false
	}
	port, err := strconv.Atoi(parts[2])
	return compute.PodID(parts[1]), port, err == nil
}
