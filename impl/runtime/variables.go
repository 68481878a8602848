package runtime

import (
	"maps"
	"slices"
	"strconv"

	"github.com/berthdev/berth/impl/compute"
)

// Variables gives the environment of the allocation, sorted by name, each name=value: where it is to be reached from outside, what it
// is to know, and what the user asks for; of equal names the last one wins. An empty ip is left out.
func (a Allocation) Variables(ip string, ports []compute.PublishedPort) []string {
	env := map[string]string{}
	if ip != "" {
		env["RUNPOD_PUBLIC_IP"] = ip
	}

	for _, p := range ports {
		if p.Type == "tcp" && p.Public != 0 {
			env["RUNPOD_TCP_PORT_"+strconv.Itoa(p.Private)] = strconv.Itoa(p.Public)
		}
	}

	for name, port := range a.Listen {
		env[name] = strconv.Itoa(port)
	}

	maps.Copy(env, a.Facts)
	maps.Copy(env, a.Env)
	all := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}

	return all
}
