package control

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
)

// checkContainer holds what a container is made of against the rules that are the same for pods, templates and endpoints. Rejected
// names the field.
func checkContainer(ports []string, arguments string, env map[string]string) error {
	if err := checkPorts(ports); err != nil {
		return err
	}
	if err := checkEnv(env); err != nil {
		return err
	}
	if arguments == "" {
		return nil
	}
	_, err := args.Parse(arguments)
	return rejected(err)
}

// checkPorts refuses the same private port twice (rule pods.ports.twice).
func checkPorts(ports []string) error {
	seen := map[string]bool{}
	for _, p := range ports {
		number, _, _ := strings.Cut(p, "/")
		if seen[number] {
			return compute.Errorf(compute.Rejected, "ports: port %s is listed twice", number)
		}
		seen[number] = true
	}
	return nil
}

// checkEnv refuses what no environment can hold (rule pods.create.env.names). A name with an equals sign would be another variable,
// such as one that berth sets.
func checkEnv(env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(env[name], "\x00") {
			return compute.Errorf(compute.Rejected, "env: %q: a name is not empty and has no equals sign, and neither name nor value has a NUL", name)
		}
	}
	return nil
}

// rejected makes a rule of the service of a plain error, whose text names the field.
func rejected(err error) error {
	if err == nil {
		return nil
	}
	return &compute.Error{Code: compute.Rejected, Detail: err.Error()}
}
