package graphql

import (
	"cmp"

	"github.com/berthdev/berth/impl/compute"
)

// settings are what a pod, a template or an endpoint has that may be large.
type settings struct {
	name, image, args, readme string
	ports                     []string
	env                       map[string]string
}

func podSettings(p compute.Pod) settings {
	return settings{name: p.Name, image: p.Image, args: p.Args, ports: p.Ports, env: p.Env}
}

func templateSettings(t compute.Template) settings {
	return settings{name: t.Name, image: t.Image, args: t.Args, readme: t.Readme, ports: t.Ports, env: t.Env}
}

func endpointSettings(e compute.Endpoint) settings {
	return settings{name: e.Name, image: e.Image, args: e.Args, ports: e.Ports, env: e.Env}
}

// with gives the settings with a change of some of them. Nil is unchanged.
func (s settings) with(image, args *string, ports []string, env map[string]string) settings {
	s.image, s.args = *cmp.Or(image, &s.image), *cmp.Or(args, &s.args)
	if ports != nil {
		s.ports = ports
	}
	if env != nil {
		s.env = env
	}
	return s
}

// bytes are about those that an answer has of them, with the environment or without.
func (s settings) bytes(env bool) int {
	n := bytesOf(nil, s.name, s.image, s.args, s.readme) + bytesOf(nil, s.ports...)
	if env {
		n += bytesOf(s.env)
	}
	return n
}
