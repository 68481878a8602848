package httpapi

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/problem"
)

// v1Path begins the paths of version 1 of the REST interface, which has ended (rules v1.*).
const v1Path = "/v1"

// changed is a member of version 1 and what it is in version 2; empty: nothing.
type changed struct{ was, is string }

// retired is an operation of version 1 and what takes its place.
type retired struct {
	method, path string // a segment in braces is any
	id           string // of the operation of version 2
	with         string // what its body is to be, where that is one thing
	body, answer []changed
}

// What members of bodies and answers of version 1 are in version 2.
var (
	v1Container = []changed{
		{"imageName", "image"}, {"containerDiskInGb", "disk"}, {"dockerEntrypoint", "entrypoint"}, {"dockerStartCmd", "cmd"},
		{"containerRegistryAuthId", "registry"}, {"volumeInGb", "mounts.persistent.size"}, {"volumeMountPath", "mounts.persistent.path"},
	}
	v1NewPod = append([]changed{
		{"cloudType", "cloud"}, {"gpuTypeIds", "gpu.id"}, {"gpuCount", "gpu.count"}, {"cpuFlavorIds", "cpu.id"}, {"vcpuCount", "cpu.vcpuCount"},
		{"networkVolumeId", "mounts.network"}, {"allowedCudaVersions", "gpu.allowedCudaVersions"}, {"minRAMPerGPU", "gpu.minRamPerGpu"},
		{"minVCPUPerGPU", "gpu.minVcpuCountPerGpu"}, {"computeType", ""}, {"countryCodes", ""}, {"cpuFlavorPriority", ""}, {"dataCenterPriority", ""},
		{"gpuTypePriority", ""}, {"interruptible", ""}, {"locked", ""}, {"minDiskBandwidthMBps", ""}, {"minDownloadMbps", ""}, {"minUploadMbps", ""},
		{"supportPublicIp", ""},
	}, v1Container...)
	v1Pod = append([]changed{
		{"desiredStatus", "status"}, {"costPerHr", "cost"}, {"lastStartedAt", "startedAt"}, {"portMappings", "runtime.ports"}, {"publicIp", "runtime.ports"},
		{"templateId", "template"}, {"vcpuCount", "cpu.vcpuCount"}, {"memoryInGb", "cpu.memory"}, {"networkVolume", "mounts.network"}, {"machineId", ""},
	}, v1Container[1:]...)
	v1Endpoint = []changed{
		{"workersMin", "workers.min"}, {"workersMax", "workers.max"}, {"idleTimeout", "workers.idleTimeout"}, {"executionTimeoutMs", "timeout"},
		{"scalerType", "scaling.type"}, {"scalerValue", "scaling"}, {"gpuCount", "gpu.count"}, {"gpuTypeIds", "gpu.pools"}, {"allowedCudaVersions", "gpu.allowedCudaVersions"},
		{"cpuFlavorIds", "cpu"}, {"vcpuCount", "cpu"}, {"networkVolumeId", "networkVolumes"}, {"computeType", ""},
	}
	v1Template = append([]changed{{"isPublic", "public"}, {"isServerless", "serverless"}}, v1Container...)
	v1Volume   = []changed{{"dataCenterId", "dataCenter"}}
	v1Billing  = []changed{{"query.grouping", ""}}
)

// v1 are the operations of version 1.
var v1 = []retired{
	{http.MethodPost, "/pods", "createPod", "", v1NewPod, v1Pod},
	{http.MethodGet, "/pods", "listPods", "", nil, inList("pods", v1Pod)},
	{http.MethodGet, "/pods/{id}", "getPod", "", nil, v1Pod},
	{http.MethodPatch, "/pods/{id}", "updatePod", "", v1Container, v1Pod},
	{http.MethodPost, "/pods/{id}/update", "updatePod", "", v1Container, v1Pod},
	{http.MethodDelete, "/pods/{id}", "deletePod", "", nil, nil},
	{http.MethodPost, "/pods/{id}/start", "podAction", `{"action":"start"}`, nil, v1Pod},
	{http.MethodPost, "/pods/{id}/stop", "podAction", `{"action":"stop"}`, nil, v1Pod},
	{http.MethodPost, "/pods/{id}/restart", "podAction", `{"action":"restart"}`, nil, v1Pod},
	{http.MethodPost, "/pods/{id}/reset", "podAction", `{"action":"restart"}`, nil, v1Pod},

	{http.MethodPost, "/endpoints", "createEndpoint", "", v1Endpoint, v1Endpoint},
	{http.MethodGet, "/endpoints", "listEndpoints", "", nil, inList("endpoints", v1Endpoint)},
	{http.MethodGet, "/endpoints/{id}", "getEndpoint", "", nil, v1Endpoint},
	{http.MethodPatch, "/endpoints/{id}", "updateEndpoint", "", v1Endpoint, v1Endpoint},
	{http.MethodPost, "/endpoints/{id}/update", "updateEndpoint", "", v1Endpoint, v1Endpoint},
	{http.MethodDelete, "/endpoints/{id}", "deleteEndpoint", "", nil, nil},

	{http.MethodPost, "/templates", "createTemplate", "", v1Template, v1Template},
	{http.MethodGet, "/templates", "listTemplates", "", nil, inList("templates", v1Template)},
	{http.MethodGet, "/templates/{id}", "getTemplate", "", nil, v1Template},
	{http.MethodPatch, "/templates/{id}", "updateTemplate", "", v1Template, v1Template},
	{http.MethodPost, "/templates/{id}/update", "updateTemplate", "", v1Template, v1Template},
	{http.MethodDelete, "/templates/{id}", "deleteTemplate", "", nil, nil},

	{http.MethodPost, "/networkvolumes", "createNetworkVolume", "", v1Volume, v1Volume},
	{http.MethodGet, "/networkvolumes", "listNetworkVolumes", "", nil, inList("networkVolumes", v1Volume)},
	{http.MethodGet, "/networkvolumes/{id}", "getNetworkVolume", "", nil, v1Volume},
	{http.MethodPatch, "/networkvolumes/{id}", "updateNetworkVolume", "", nil, v1Volume},
	{http.MethodPost, "/networkvolumes/{id}/update", "updateNetworkVolume", "", nil, v1Volume},
	{http.MethodDelete, "/networkvolumes/{id}", "deleteNetworkVolume", "", nil, nil},

	{http.MethodPost, "/containerregistryauth", "createRegistry", "", nil, nil},
	{http.MethodGet, "/containerregistryauth", "listRegistries", "", nil, inList("registries", nil)},
	{http.MethodGet, "/containerregistryauth/{id}", "getRegistry", "", nil, nil},
	{http.MethodDelete, "/containerregistryauth/{id}", "deleteRegistry", "", nil, nil},

	{http.MethodGet, "/billing/pods", "listPodBilling", "", v1Billing, inList("records", nil)},
	{http.MethodGet, "/billing/endpoints", "listServerlessBilling", "", v1Billing, inList("records", nil)},
	{http.MethodGet, "/billing/networkvolumes", "listNetworkVolumeBilling", "", v1Billing, inList("records", nil)},
}

// wholeAnswer stands for the answer itself, which was a list.
const wholeAnswer = "the list"

// inList says of an answer that was a list, and that now has it as a member.
func inList(member string, items []changed) []changed {
	return append([]changed{{wholeAnswer, member}}, items...)
}

// retiredError refuses a request of version 1.
type retiredError struct {
	detail string
	lines  []string
}

func (e *retiredError) Error() string { return e.detail }

// Problem is what the wire says.
func (e *retiredError) Problem() problem.Problem {
	return problem.Problem{Entry: problem.Entry{Status: http.StatusGone, Title: http.StatusText(http.StatusGone)}, Detail: e.detail, Errors: e.lines}
}

// refuseV1 answers everything below /v1: with the operation of version 2 that takes the place of this one, if it is known.
func refuseV1(c echo.Context) error {
	method, path := c.Request().Method, c.Request().URL.Path
	for _, r := range v1 {
		id, ok := r.takes(method, strings.TrimPrefix(path, v1Path))
		if !ok {
			continue
		}
		op := rest.Ops[r.id]
		c.Response().Header().Set("Link", "<"+strings.Replace(op.Path, "{id}", id, 1)+`>; rel="successor-version"`)
		return r.refusal()
	}
	return &retiredError{detail: fmt.Sprintf("version 1 of the REST interface has ended, and no operation of version 2 takes the place of %s %s; what there is stands in /v2/openapi.json", method, path)}
}

// takes reports whether the request is one of the operation, and gives the id that its path names. HEAD is as good as GET.
func (r retired) takes(method, path string) (id string, ok bool) {
	if method != r.method && (method != http.MethodHead || r.method != http.MethodGet) {
		return "", false
	}
	want, have := strings.Split(r.path, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return "", false
	}
	for i, segment := range want {
		switch {
		case segment == "{id}" && isPlain(have[i]):
			id = have[i]
		case segment != have[i]:
			return "", false
		}
	}
	return id, true
}

// isPlain reports whether the text can stand in a header as it is: ids have letters, digits, - and _ alone.
func isPlain(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// refusal names the operation of version 2, and what else is called otherwise there.
func (r retired) refusal() *retiredError {
	op := rest.Ops[r.id]
	e := &retiredError{detail: fmt.Sprintf("version 1 of the REST interface has ended: in place of %s %s%s there is %s %s (%s)", r.method, v1Path, r.path, op.Method, op.Path, r.id)}
	if r.with != "" {
		e.detail += " with the body " + r.with
	}
	for _, m := range r.body {
		at, is := "/"+m.was, "is not in version 2"
		if strings.HasPrefix(m.was, "query.") {
			at = m.was
		}
		if m.is != "" {
			is = "is /" + strings.ReplaceAll(m.is, ".", "/")
		}
		e.lines = append(e.lines, at+": "+is)
	}
	for _, m := range r.answer {
		is := "is not there any more"
		if m.is != "" {
			is = "is " + m.is
		}
		e.lines = append(e.lines, "answer: "+m.was+" "+is)
	}
	return e
}
