package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// examineTime is how long an examination of the cluster may take.
const examineTime = 10 * time.Second

// right is something that berth has to be allowed.
type right struct {
	group, resource, sub string
	verbs                []string
	everywhere           bool // and not in the namespace alone
	optional             bool // berth goes on without it
}

// rights are what berth has to be allowed.
var rights = []right{
	{resource: pods, verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
	{resource: pods, sub: "log", verbs: []string{"get"}},
	{resource: pods, sub: "exec", verbs: []string{"get", "create"}, optional: true},
	{resource: secrets, verbs: []string{"get", "list", "create", "patch", "delete"}},
	{resource: services, verbs: []string{"get", "list", "watch", "create", "delete"}},
	{resource: claims, verbs: []string{"get", "list", "create", "patch", "delete"}},
	{resource: "nodes", verbs: []string{"get", "list", "watch"}, everywhere: true, optional: true},
	{group: "metrics.k8s.io", resource: pods, verbs: []string{"get"}, optional: true},
}

// deviceRights are what berth has to be allowed besides, where GPUs are claimed by dynamic resource allocation.
var deviceRights = []right{
	{group: devicesGroup, resource: deviceClaims, verbs: []string{"get", "list", "create", "delete"}},
	{group: devicesGroup, resource: "resourceslices", verbs: []string{"list", "watch"}, everywhere: true, optional: true},
}

// name is that for people.
func (r right) name() string {
	name := r.resource
	if r.sub != "" {
		name += "/" + r.sub
	}
	if r.group != "" {
		name += "." + r.group
	}
	return name
}

// doctor looks at the cluster of the settings.
func doctor(ctx context.Context, v setting.Values) runtime.Report {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	config := configIn(v)
	config.GPUResource, config.GPULabel = cmp.Or(config.GPUResource, DefaultGPUResource), cmp.Or(config.GPULabel, DefaultGPULabel)
	config.GPUDriver = cmp.Or(config.GPUDriver, DefaultGPUDriver)
	found, err := sourceOf(config).load()
	if err != nil {
		return runtime.Report{Detail: err.Error()}
	}

	e := examination{config: config, client: newClient(found, compute.SystemClock{})}
	defer e.client.close()
	if err := e.examine(ctx); err != nil {
		return runtime.Report{Detail: fmt.Sprintf("the cluster at %s: %v", found.server, err)}
	}
	if v.Text(workerURLSetting) == "" && v.Text(publicURLSetting) == "" {
		e.warn("Pods reach the queue only at an address of this machine that the cluster reaches: --worker-url or --public-url, or --queue-listen with one")
	}
	return runtime.Report{
		Available: len(e.missing) == 0, Warnings: append(e.missing, e.warnings...),
		Detail: fmt.Sprintf("%s at %s, namespace %s: %s; %s", e.version, found.server, found.namespace, e.nodes, e.classes),
	}
}

// examination is what is found out of a cluster.
type examination struct {
	config                  Config
	client                  *client
	version, nodes, classes string
	missing, warnings       []string
}

func (e *examination) warn(format string, args ...any) {
	e.warnings = append(e.warnings, fmt.Sprintf(format, args...))
}

func (e *examination) examine(ctx context.Context) error {
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := e.client.do(ctx, call{what: "get the version", method: http.MethodGet, path: "/version"}, &version); err != nil {
		return err
	}
	e.version = "Kubernetes " + clean(version.GitVersion)

	all := rights
	if e.config.GPUClass != "" {
		all = slices.Concat(rights, deviceRights)
	}
	for _, r := range all {
		var without []string
		for _, verb := range r.verbs {
			may, err := e.may(ctx, r, verb)
			if err != nil {
				return err
			}
			if !may {
				without = append(without, verb)
			}
		}
		switch {
		case len(without) == 0:
		case r.optional:
			e.warn("berth may not %s %s, and goes on without", setting.Or(without), r.name())
		default:
			e.missing = append(e.missing, fmt.Sprintf("berth may not %s %s in the namespace %s", setting.Or(without), r.name(), e.client.namespace))
		}
	}

	e.lookAtNodes(ctx)
	e.lookAtClasses(ctx)
	if e.config.GPUClass != "" {
		e.lookAtDevices(ctx)
	}
	return nil
}

// review asks whether something may be done.
type review struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Spec       reviewSpec   `json:"spec"`
	Status     reviewStatus `json:"status,omitzero"`
}

type reviewSpec struct {
	Attributes reviewAttributes `json:"resourceAttributes"`
}

type reviewAttributes struct {
	Namespace   string `json:"namespace,omitempty"`
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
}

type reviewStatus struct {
	Allowed bool `json:"allowed"`
}

func (e *examination) may(ctx context.Context, r right, verb string) (bool, error) {
	asked := review{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}
	asked.Spec.Attributes = reviewAttributes{Namespace: e.client.namespace, Verb: verb, Group: r.group, Resource: r.resource, Subresource: r.sub}
	if r.everywhere {
		asked.Spec.Attributes.Namespace = ""
	}
	var answered review
	err := e.client.do(ctx, call{
		what: "ask for the right to " + verb + " " + r.name(), method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body: asked,
	}, &answered)
	return answered.Status.Allowed, err
}

// lookAtNodes counts the nodes, and their GPUs by product.
func (e *examination) lookAtNodes(ctx context.Context) {
	all, _, err := listAll[node](ctx, e.client, nodesPath, "")
	if err != nil {
		e.nodes = "nodes unknown"
		e.warn("the nodes cannot be listed: %v", err)
		return
	}

	ready, gpus := 0, map[string]int64{}
	for _, n := range all {
		if conditionOf(n.Status.Conditions, conditionReady).Status == isTrue {
			ready++
		}
		if count := int64(n.Status.Allocatable[e.config.GPUResource].value()); count > 0 {
			gpus[cmp.Or(n.Metadata.Labels[e.config.GPULabel], "GPU without the label "+e.config.GPULabel)] += count
		}
	}

	e.nodes = fmt.Sprintf("%d of %d nodes ready", ready, len(all))
	switch {
	case e.config.GPUClass != "": // its devices are the GPUs
	case len(gpus) > 0:
		e.nodes += ", " + listed(gpus)
	default:
		e.warn("no node has the resource %s: there are no GPUs", e.config.GPUResource)
	}
}

// listed names products, each with how many there are.
func listed(gpus map[string]int64) string {
	var parts []string
	for _, product := range slices.Sorted(maps.Keys(gpus)) {
		parts = append(parts, fmt.Sprintf("%d %s", gpus[product], cmp.Or(product, "GPU without the attribute "+attributeProduct)))
	}
	return strings.Join(parts, ", ")
}

// lookAtDevices counts the GPUs that can be claimed, and looks for their class.
func (e *examination) lookAtDevices(ctx context.Context) {
	all, _, err := listAll[resourceSlice](ctx, e.client, slicesPath, "")
	if isAbsent(err) {
		e.nodes += ", GPUs unknown"
		e.missing = append(e.missing, fmt.Sprintf("--%s: %v", gpuClassSetting, errNoDevices))
		return
	}

	mine := map[string]*resourceSlice{}
	for i := range all {
		if all[i].Spec.Driver == e.config.GPUDriver {
			mine[all[i].Metadata.Name] = &all[i]
		}
	}
	switch gpus := surveyOf(mine).products; {
	case err != nil:
		e.nodes += ", GPUs unknown"
		e.warn("the ResourceSlices cannot be listed: %v", err)
	case len(gpus) > 0:
		e.nodes += ", " + listed(gpus)
	default:
		e.warn("the driver %s offers no device on any node: there are no GPUs", e.config.GPUDriver)
	}

	class := e.config.GPUClass
	err = e.client.do(ctx, call{what: "get the DeviceClass " + class, method: http.MethodGet, path: classesPath + "/" + url.PathEscape(class)}, nil)
	switch {
	case err == nil:
		e.classes += "; device class " + class
	case isGone(err):
		e.warn("the cluster has no DeviceClass %q: what asks for GPUs waits until there is one", class)
	default: // berth works without the right
		e.classes += "; nobody knows whether there is the device class " + class
	}
}

const defaultClass = "storageclass.kubernetes.io/is-default-class"

// lookAtClasses names the storage classes.
func (e *examination) lookAtClasses(ctx context.Context) {
	all, _, err := listAll[metadataOnly](ctx, e.client, "/apis/storage.k8s.io/v1/storageclasses", "")
	if err != nil {
		e.classes = "storage classes unknown"
		return
	}

	var names []string
	found := false
	for _, c := range all {
		isDefault := c.Metadata.Annotations[defaultClass] == "true"
		found = found || c.Metadata.Name == e.config.StorageClass || e.config.StorageClass == "" && isDefault
		if isDefault {
			c.Metadata.Name += " (default)"
		}
		names = append(names, c.Metadata.Name)
	}
	e.classes = "storage classes: " + cmp.Or(strings.Join(names, ", "), "none")
	switch {
	case found:
	case e.config.StorageClass == "":
		e.warn("the cluster has no default storage class, and none is set: persistent mounts and network volumes cannot be made")
	default:
		e.warn("the cluster has no storage class %q: persistent mounts and network volumes cannot be made", e.config.StorageClass)
	}
}
