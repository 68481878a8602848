package control

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
)

// Processes says that what is made over an API runs as processes of this machine, and what it may set of them. Nil: it does not.
type Processes struct {
	Images []string // the names of the commands of the server's settings
	Rules  compute.ProcessRules
}

// checkPod refuses what of a pod a process cannot have, and what it must not be given by who has no more than a key. Rejected names
// the field.
func (p *Processes) checkPod(pod compute.Pod) error {
	if p == nil {
		return nil
	}
	if err := lacks(map[string]bool{
		"gpu": pod.GPU != nil, "mounts": pod.Persistent != nil || pod.Network != nil, "globalNetworking": pod.GlobalNetworking, "registry": pod.RegistryID != "",
	}); err != nil {
		return err
	}
	return p.check(pod.Image, pod.Args, pod.Env)
}

// checkEndpoint is checkPod for the workers of an endpoint. One that the server's settings declare is the operator's own.
func (p *Processes) checkEndpoint(e compute.Endpoint) error {
	if p == nil || e.Declared {
		return nil
	}
	if err := lacks(map[string]bool{"gpu": e.GPU != nil, "networkVolumes": len(e.VolumeIDs) > 0, "registry": e.RegistryID != ""}); err != nil {
		return err
	}
	return p.check(e.Image, e.Args, e.Env)
}

// lacks refuses the fields of those that need a container.
func lacks(fields map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] {
			return compute.Errorf(compute.Rejected, "%s: this server runs processes of its own machine, which have none", name)
		}
	}
	return nil
}

func (p *Processes) check(image, args string, env map[string]string) error {
	if !slices.Contains(p.Images, image) {
		return compute.Errorf(compute.Rejected, "image: this server runs processes of its own machine, and %q is none of its commands (%s)", image, strings.Join(p.Images, ", "))
	}
	return rejected(p.Rules.Check(args, env))
}

// rejected makes a rule of the service of a plain error, whose text names the field.
func rejected(err error) error {
	if err == nil {
		return nil
	}
	return &compute.Error{Code: compute.Rejected, Detail: err.Error()}
}

// checkArgs refuses arguments that cannot be read (rules pods.create.args.*).
func checkArgs(text string) error {
	if text == "" {
		return nil
	}
	_, err := args.Parse(text)
	return rejected(err)
}
