package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// The API of dynamic resource allocation.
const (
	devicesGroup   = "resource.k8s.io"
	devicesVersion = devicesGroup + "/v1"
	devicesPath    = "/apis/" + devicesVersion
	slicesPath     = devicesPath + "/resourceslices"
	classesPath    = devicesPath + "/deviceclasses"
)

const (
	gpuRequest  = "gpu"  // the name of the claim in its Pod, and of the request in the claim
	claimSuffix = "-gpu" // of the claim's name, after that of its Pod
	exactCount  = "ExactCount"
)

// The attributes of devices that are read.
const (
	attributeType    = "type"
	attributeProduct = "productName"
	attributeCUDA    = "cudaDriverVersion"

	typeGPU = "gpu" // and not a part of one
)

// errNoDevices says that the cluster is too old for claims for devices.
var errNoDevices = errors.New("the cluster has no " + devicesVersion + ", by which GPUs are claimed: Kubernetes has it since 1.34")

// replaceSlices takes in a list of all slices.
func (h *Runtime) replaceSlices(all []resourceSlice, _ string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.slices)
	for i := range all {
		if s := &all[i]; s.Spec.Driver == h.config.GPUDriver {
			h.slices[s.Metadata.Name] = s
		}
	}
	h.gpus = nil
	h.changedHosts()
}

// changeSlice takes in an event.
func (h *Runtime) changeSlice(kind string, s *resourceSlice) {
	if s.Spec.Driver != h.config.GPUDriver {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if kind == eventDeleted {
		delete(h.slices, s.Metadata.Name)
	} else {
		h.slices[s.Metadata.Name] = s
	}
	h.gpus = nil
	h.changedHosts()
}

// knowsDevices reports whether the slices are known, or will never be: where berth may not read them, or where the cluster is too old to have
// any, nodes have no GPUs.
func (h *Runtime) knowsDevices() bool {
	if h.devices == nil {
		return true
	}
	ok, cause := h.devices.known()
	return ok || answered(cause, http.StatusForbidden) || isAbsent(cause)
}

// survey gives what the slices say. The caller has the lock.
func (h *Runtime) survey() *gpuSurvey {
	if h.gpus == nil {
		h.gpus = surveyOf(h.slices)
	}
	return h.gpus
}

// gpuSurvey is what slices say of GPUs.
type gpuSurvey struct {
	nodes    map[string]nodeGPUs // by the node's name
	products map[string]int64    // how many there are of each; those without a name are of the product ""
}

// nodeGPUs are those of a node.
type nodeGPUs struct {
	count   int64
	product string // the one of which it has most
	cuda    string // the version that its driver runs, like 12.8; empty: nobody knows
}

// surveyOf counts the GPUs of the slices of one driver. Of each pool those of its highest generation count.
func surveyOf(all map[string]*resourceSlice) *gpuSurvey {
	highest := map[string]int64{}
	for _, s := range all {
		pool := s.Spec.Pool
		highest[pool.Name] = max(highest[pool.Name], pool.Generation)
	}

	counts, cuda := map[string]map[string]int64{}, map[string]string{}
	for _, s := range all {
		node := s.Spec.NodeName
		if node == "" || s.Spec.Pool.Generation < highest[s.Spec.Pool.Name] {
			continue
		}
		for _, d := range s.Spec.Devices {
			if kind := s.attribute(d, attributeType).String; kind != "" && kind != typeGPU {
				continue
			}
			if counts[node] == nil {
				counts[node] = map[string]int64{}
			}
			counts[node][s.attribute(d, attributeProduct).String]++
			cuda[node] = max(cuda[node], cudaForm().FindString(s.attribute(d, attributeCUDA).Version))
		}
	}

	survey := &gpuSurvey{nodes: map[string]nodeGPUs{}, products: map[string]int64{}}
	for node, products := range counts {
		its := nodeGPUs{cuda: cuda[node]}
		for product, n := range products {
			its.count += n
			survey.products[product] += n
		}
		its.product = slices.MinFunc(slices.Collect(maps.Keys(products)), func(a, b string) int {
			return cmp.Or(cmp.Compare(products[b], products[a]), cmp.Compare(a, b))
		})
		survey.nodes[node] = its
	}
	return survey
}

// attribute gives an attribute of one of the slice's devices, whose name may be that of the driver's domain or have none.
func (s *resourceSlice) attribute(d device, name string) deviceAttribute {
	if a, has := d.Attributes[name]; has {
		return a
	}
	return d.Attributes[s.Spec.Driver+"/"+name]
}

// claimGPUs has a Pod get its GPUs by a device claim, if a class of devices is set.
func (h *Runtime) claimGPUs(p *plan, main *container, a runtime.Allocation) {
	n := int64(a.GPUs.Number())
	if n == 0 || h.config.GPUClass == "" {
		return
	}
	asked := exactRequest{DeviceClassName: h.config.GPUClass, AllocationMode: exactCount, Count: n}
	if a.GPUs.Type != "" {
		expression := productIn(h.config.GPUDriver, h.deviceProducts(a.GPUs.Type))
		asked.Selectors = []deviceSelector{{CEL: celSelector{Expression: expression}}}
	}

	name := p.pod.Metadata.Name + claimSuffix
	p.gpus = &deviceClaim{
		APIVersion: devicesVersion, Kind: "ResourceClaim", Metadata: h.head(name, a),
		Spec: deviceClaimSpec{Devices: deviceRequests{Requests: []deviceRequest{{Name: gpuRequest, Exactly: asked}}}},
	}
	p.pod.Spec.ResourceClaims = []podClaim{{Name: gpuRequest, ResourceClaimName: name}}
	p.pod.Metadata.Annotations[annotationGPUs] = strconv.FormatInt(n, 10)
	main.Resources.Claims = []localReference{{Name: gpuRequest}}
}

// claimed is how many GPUs the device claim of a Pod asks for.
func claimed(p *pod) float64 {
	n, _ := strconv.ParseUint(p.Metadata.Annotations[annotationGPUs], 10, 32)
	return float64(n)
}

// deviceProducts gives the spellings of a GPU type that devices have; if none has it, the type's own name, so that the Pod waits for one.
func (h *Runtime) deviceProducts(id string) (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for product := range h.survey().products {
		if compute.SameGPU(product, id) {
			all = append(all, product)
		}
	}
	if len(all) == 0 {
		return []string{id}
	}
	slices.Sort(all)
	return all
}

// productIn is the CEL expression that holds for devices of the driver whose product is one of those. What strconv.Quote writes, CEL reads.
func productIn(driver string, products []string) string {
	var quoted []string
	for _, product := range products {
		quoted = append(quoted, strconv.Quote(product))
	}
	return fmt.Sprintf("device.attributes[%s].%s in [%s]", strconv.Quote(driver), attributeProduct, strings.Join(quoted, ", "))
}

// makeDeviceClaim makes a device claim, or takes the one that a start which was cut off has left. One that asks for something else, or is
// being removed, has to go first.
func (h *Runtime) makeDeviceClaim(ctx context.Context, wanted *deviceClaim) (*deviceClaim, error) {
	name := wanted.Metadata.Name
	answers := false
	for wait := h.patience("device claim " + name); ; {
		made, err := create(ctx, h.client, deviceClaims, name, wanted)
		switch {
		case isAbsent(err) && answers:
			return nil, errNoDevices
		case isAbsent(err): // or a proxy before the server has answered
			if err := h.client.do(ctx, call{what: "get the version", method: http.MethodGet, path: "/version"}, nil); err != nil {
				return nil, err
			}
			answers = true
			continue
		case !because(err, reasonExists):
			return made, err
		}

		has, err := fetch[deviceClaim](ctx, h.client, deviceClaims, name)
		switch {
		case isGone(err):
		case err != nil:
			return nil, err
		case has.Metadata.Labels[labelOwner] != h.config.Owner:
			return nil, fmt.Errorf("kubernetes: the device claim %s is somebody else's", name)
		case !has.Metadata.DeletionTimestamp.IsZero():
		case has.asksFor(wanted.Spec):
			return has, nil
		default:
			if err := h.removeParts(ctx, []part{{deviceClaims, name, has.Metadata.UID}}); err != nil {
				return nil, err
			}
		}

		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
}

// asksFor reports whether the claim asks for just those devices.
func (c *deviceClaim) asksFor(wanted deviceClaimSpec) bool {
	return slices.EqualFunc(c.Spec.Devices.Requests, wanted.Devices.Requests, func(has, wanted deviceRequest) bool {
		a, b := has.Exactly, wanted.Exactly
		return has.Name == wanted.Name && a.DeviceClassName == b.DeviceClassName && a.AllocationMode == b.AllocationMode && a.Count == b.Count &&
			slices.Equal(a.Selectors, b.Selectors)
	})
}
