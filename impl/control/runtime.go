package control

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// Runtime is what the rules know of what pods, and the workers of endpoints that are not declared, run on.
type Runtime struct {
	Can compute.Capabilities
	// Check refuses, with Rejected, what a pod or endpoint may not ask for besides what the runtime has not the capability for; nil:
	// nothing is refused.
	Check func(image, args string, env map[string]string) error
	// Engine refuses an engine of a host that cannot be used; nil: hosts have none of their own.
	Engine func(Host) error
}

// checkPod refuses what of a pod the runtime cannot do. Rejected names the field.
func (r Runtime) checkPod(pod compute.Pod) error {
	if err := lacks(map[string]bool{
		"gpu": pod.GPU != nil && !r.Can.GPUs, "mounts": (pod.Persistent != nil || pod.Network != nil) && !r.Can.Mounts,
		"globalNetworking": pod.GlobalNetworking && !r.Can.Networks, "registry": pod.RegistryID != "" && !r.Can.Registry,
	}); err != nil {
		return err
	}
	return r.check(pod.Image, pod.Args, pod.Env)
}

// checkEndpoint is checkPod for the workers of an endpoint. One that the server's settings declare is the operator's own.
func (r Runtime) checkEndpoint(e compute.Endpoint) error {
	if e.Declared {
		return nil
	}
	if err := lacks(map[string]bool{
		"gpu": e.GPU != nil && !r.Can.GPUs, "networkVolumes": len(e.VolumeIDs) > 0 && !r.Can.Mounts, "mounts": e.GlobalVolumeID != "" && !r.Can.Mounts,
		"registry": e.RegistryID != "" && !r.Can.Registry,
	}); err != nil {
		return err
	}
	return r.check(e.Image, e.Args, e.Env)
}

func (r Runtime) check(image, args string, env map[string]string) error {
	if r.Check == nil {
		return nil
	}
	return r.Check(image, args, env)
}

// lacks refuses the fields for which the runtime has not the capability.
func lacks(fields map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] {
			return compute.Errorf(compute.Rejected, "%s: what this server runs pods and workers on has none", name)
		}
	}
	return nil
}
