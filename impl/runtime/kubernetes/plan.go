package kubernetes

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/distribution/reference"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

var (
	idForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,40}$`) })
	labelForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`) })            // of DNS
	nameForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`) }) // of an annotation
)

// plan is what is made for an allocation.
type plan struct {
	pod    *pod
	ports  []servicePort // none: no Service
	claims []*storageClaim
	gpus   *deviceClaim // nil: none
}

// plan works out what is to be made, and refuses what cannot run.
func (h *Runtime) plan(a runtime.Allocation) (plan, error) {
	command, err := args.Parse(a.Args)
	if err != nil {
		return plan{}, err
	}
	if err := checkWords(command); err != nil {
		return plan{}, err
	}
	if !idForm().MatchString(a.ID) {
		return plan{}, fmt.Errorf("kubernetes: allocation %q: its id must be of at most 40 lower-case letters and digits", a.ID)
	}
	if _, err := reference.ParseNormalizedNamed(a.Image); err != nil {
		return plan{}, fmt.Errorf("image %q: %w", a.Image, err)
	}
	if a.Link != nil {
		return plan{}, runtime.ErrNoNetworks
	}
	ports, err := servicePorts(a.Ports)
	if err != nil {
		return plan{}, err
	}

	no := false
	main := container{
		Name: containerName, Image: a.Image, ImagePullPolicy: string(h.config.Pull),
		SecurityContext: &security{AllowPrivilegeEscalation: h.config.AllowNewPrivileges}, Resources: h.resources(a),
	}
	main.Command, main.Args = commandOf(command)
	for _, p := range ports {
		main.Ports = append(main.Ports, containerPort{ContainerPort: p.Port, Protocol: p.Protocol})
	}

	result := plan{ports: ports, pod: &pod{
		APIVersion: "v1", Kind: "Pod",
		Metadata: h.head(h.podName(a.ID, a.Generation), a),
		Spec: podSpec{
			RestartPolicy: "Never", AutomountServiceAccountToken: &no, EnableServiceLinks: &no, Affinity: h.affinity(a), Tolerations: h.tolerations(a),
		},
	}}
	result.pod.Metadata.Finalizers = []string{finalizer}
	result.pod.Metadata.Annotations = annotations(a)
	result.pod.Metadata.Annotations[annotationAsked] = h.config.Clock.Wall().UTC().Format(askedForm)
	if labelForm().MatchString(a.Hostname) {
		result.pod.Spec.Hostname = a.Hostname
	}
	h.mount(&result, &main, a)
	h.claimGPUs(&result, &main, a)
	result.pod.Spec.Containers = []container{main}

	return result, nil
}

// podName is that of the Pod of a run.
func (h *Runtime) podName(id string, generation int64) string {
	return nameOf(id) + "-" + strconv.FormatInt(max(0, generation), 36)
}

// nameOf is that of an allocation's Service, and of the volume claim of its persistent mount.
func nameOf(id string) string { return "berth-" + id }

// head is what all objects of a run have.
func (h *Runtime) head(name string, a runtime.Allocation) meta {
	return meta{Name: name, Labels: map[string]string{
		labelOwner: h.config.Owner, labelAllocation: a.ID, labelGeneration: strconv.FormatInt(max(0, a.Generation), 10),
	}}
}

// annotations keep what labels cannot hold.
func annotations(a runtime.Allocation) map[string]string {
	all := map[string]string{annotationPorts: strings.Join(a.Ports, ",")}
	for name, value := range a.Labels {
		if nameForm().MatchString(name) {
			all[annotationLabels+name] = value
		}
	}
	return all
}

// checkWords refuses what no program can be started with: the cluster would take it, and keep it in each list of Pods.
func checkWords(c args.Command) error {
	total := 0
	for _, word := range slices.Concat(c.Entrypoint, c.Words) {
		if len(word) > compute.VariableBytes {
			return fmt.Errorf("args: a word has %d bytes, and a program takes at most %d", len(word), compute.VariableBytes)
		}
		total += len(word) + 1
	}
	if total > compute.EnvironmentBytes {
		return fmt.Errorf("args: they have over %d bytes", compute.EnvironmentBytes)
	}
	return nil
}

// commandOf gives what takes the place of the image's entrypoint and of its arguments.
func commandOf(c args.Command) (command, words []string) {
	command, words = literal(c.Entrypoint), literal(c.Words)
	if c.Entrypoint != nil && len(command) == 0 { // none: the words are the program
		return words, nil
	}
	return command, words
}

// literal keeps the cluster from putting variables into texts.
func literal(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strings.ReplaceAll(text, "$", "$$"))
	}
	return all
}

// resources are the limits, and what the scheduler counts: the same.
func (h *Runtime) resources(a runtime.Allocation) resources {
	all := map[string]quantity{}
	if a.VCPUs > 0 {
		all["cpu"] = units(a.VCPUs, "")
	}
	if a.MemoryBytes > 0 {
		all["memory"] = units(a.MemoryBytes, "")
	}
	if a.DiskGB > 0 {
		all["ephemeral-storage"] = units(a.DiskGB, "Gi")
	}
	if n := a.GPUs.Number(); n > 0 && h.config.GPUClass == "" {
		all[h.config.GPUResource] = units(int64(n), "")
	}
	if len(all) == 0 {
		return resources{}
	}
	return resources{Limits: all, Requests: maps.Clone(all)}
}

// affinity says which nodes will do: those that the allocation names, and those with its GPU type, unless a claim asks for that. Nil: all.
func (h *Runtime) affinity(a runtime.Allocation) *affinity {
	var product []nodeRequirement
	if a.GPUs.Number() > 0 && a.GPUs.Type != "" && h.config.GPUClass == "" {
		product = []nodeRequirement{{Key: h.config.GPULabel, Operator: "In", Values: h.products(a.GPUs.Type)}}
	}

	var terms []nodeSelectorTerm // of which one must hold
	if a.Hosts != nil && len(a.Hosts) == 0 {
		terms = []nodeSelectorTerm{{Expressions: product, Fields: h.others()}}
	}
	for _, name := range a.Hosts {
		terms = append(terms, nodeSelectorTerm{Expressions: product, Fields: []nodeRequirement{{Key: "metadata.name", Operator: "In", Values: []string{name}}}})
	}
	switch {
	case len(terms) == 0 && product == nil:
		return nil
	case len(terms) == 0:
		terms = []nodeSelectorTerm{{Expressions: product}}
	}
	return &affinity{NodeAffinity: &nodeAffinity{Required: &nodeSelector{Terms: terms}}}
}

// others says that none of the nodes will do that there are: one may come.
func (h *Runtime) others() (all []nodeRequirement) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(h.known)) {
		all = append(all, nodeRequirement{Key: "metadata.name", Operator: "NotIn", Values: []string{name}})
	}
	return all
}

// products gives the spellings of a GPU type that the labels of nodes have; if none has it, the one that the vendor's tool would write.
func (h *Runtime) products(id string) (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.known {
		if product := n.Metadata.Labels[h.config.GPULabel]; compute.SameGPU(product, id) && !slices.Contains(all, product) {
			all = append(all, product)
		}
	}
	if len(all) == 0 {
		guess := strings.Join(strings.Fields(id), "-")
		all = []string{strings.Trim(guess[:min(len(guess), 63)], "-_.")}
	}
	slices.Sort(all)
	return all
}

// tolerations let what asks for GPUs onto nodes that take nothing else.
func (h *Runtime) tolerations(a runtime.Allocation) []toleration {
	if a.GPUs.None() {
		return nil
	}
	return []toleration{{Key: h.config.GPUResource, Operator: "Exists"}}
}

// mount adds the mounts of an allocation to its Pod, and the volume claims that those take.
func (h *Runtime) mount(p *plan, main *container, a runtime.Allocation) {
	add := func(volumeName, path string, c *storageClaim) {
		p.pod.Spec.Volumes = append(p.pod.Spec.Volumes, volume{Name: volumeName, Claim: &claimSource{ClaimName: c.Metadata.Name}})
		main.VolumeMounts = append(main.VolumeMounts, volumeMount{Name: volumeName, MountPath: path})
		p.claims = append(p.claims, c)
	}
	if a.Persistent != nil {
		labels := map[string]string{labelOwner: h.config.Owner, labelAllocation: a.ID}
		add("persistent", a.Persistent.Path, h.storageClaim(nameOf(a.ID), labels, "ReadWriteOnce", a.Persistent.SizeGB, 1))
	}
	if a.Network != nil {
		id := string(a.Network.VolumeID)
		labels := map[string]string{labelOwner: h.config.VolumeOwner, labelVolume: id}
		add("network", a.Network.Path, h.storageClaim(volumeName(a.Network.VolumeID), labels, "ReadWriteMany", a.NetworkGB, h.config.VolumeGB))
	}
}

// storageClaim plans a volume claim; what has no size of its own gets the other one.
func (h *Runtime) storageClaim(name string, labels map[string]string, mode string, sizeGB, otherGB int64) *storageClaim {
	size := map[string]quantity{"storage": units(max(1, cmp.Or(sizeGB, otherGB)), "Gi")}
	c := &storageClaim{
		sized:      sizeGB > 0,
		APIVersion: "v1", Kind: "PersistentVolumeClaim", Metadata: meta{Name: name, Labels: labels},
		Spec: claimSpec{AccessModes: []string{mode}, Resources: resources{Requests: size}},
	}
	if class := h.config.StorageClass; class != "" {
		c.Spec.StorageClassName = &class
	}
	return c
}

// volumeName is that of the volume claim of a network volume.
func volumeName(id compute.VolumeID) string { return "berth-volume-" + string(id) }
