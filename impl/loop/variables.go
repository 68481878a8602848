package loop

import (
	"maps"
	goruntime "runtime"
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// description is what pods and workers alike find about themselves in their environment.
type description struct {
	id           string
	hostname     string
	dataCenterID string // empty: it holds no host
	gpu          *compute.GPU
	vcpus        int64  // 0: as many as the machine has
	base         string // of all interfaces, as it reaches them
	key          string // its own
}

// variables are those that programs in pods and workers look for. The addresses and the key are what an SDK takes, so that a call
// inside comes here.
func (d description) variables() map[string]string {
	gpus, vcpus := int64(0), d.vcpus
	if d.gpu != nil {
		gpus = d.gpu.Count
	}
	if vcpus == 0 {
		vcpus = int64(goruntime.NumCPU())
	}

	all := map[string]string{
		"RUNPOD_POD_ID":            d.id,
		"RUNPOD_POD_HOSTNAME":      d.hostname,
		"RUNPOD_GPU_COUNT":         strconv.FormatInt(gpus, 10),
		"RUNPOD_CPU_COUNT":         strconv.FormatInt(vcpus, 10),
		"RUNPOD_API_KEY":           d.key,
		"RUNPOD_API_BASE_URL":      d.base,
		"RUNPOD_ENDPOINT_BASE_URL": d.base + "/v2",
	}

	if d.dataCenterID != "" {
		all["RUNPOD_DC_ID"] = d.dataCenterID
	}
	return all
}

// protocol are the variables that a worker of an SDK works by, with the placeholders that it fills in: $ID is the worker's id in the
// take URL and the job's id in the URLs of reports.
func protocol(e compute.EndpointID, id compute.WorkerID, base, key string, ping time.Duration) map[string]string {
	url := base + "/v2/" + string(e)
	return map[string]string{
		"RUNPOD_WEBHOOK_GET_JOB":         url + "/job-take/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_OUTPUT":     url + "/job-done/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_STREAM":     url + "/job-stream/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_PING":            url + "/ping/$RUNPOD_POD_ID?gpu=none",
		"RUNPOD_PING_INTERVAL":           strconv.FormatInt(max(1000, ping.Milliseconds()), 10), // below 1000 the SDK's pinger dies
		"RUNPOD_AI_API_KEY":              key,
		"RUNPOD_POD_ID":                  string(id),
		"RUNPOD_POD_HOSTNAME":            string(id),
		"RUNPOD_ENDPOINT_ID":             string(e),
		"RUNPOD_SKIP_AUTO_SYSTEM_CHECKS": "true", // they ask a public address and need a GPU
		"RUNPOD_SKIP_GPU_CHECK":          "true",
	}
}

// without gives env without the names that are in those, which a user cannot set.
func without(env, those map[string]string) map[string]string {
	left := map[string]string{}
	for name, value := range env {
		if _, taken := those[name]; !taken {
			left[name] = value
		}
	}
	return left
}

// environment gives the facts of a worker for its environment, and what is left of its endpoint's own environment.
func (l *Workers) environment(e compute.Endpoint, w compute.Worker, key string) (facts, own map[string]string) {
	base := l.URL
	if !e.Declared {
		base = l.OuterURL
	}
	by := protocol(e.ID, w.ID, base(), key, l.Ping)
	facts = description{
		id: string(w.ID), hostname: string(w.ID), dataCenterID: w.DataCenterID, gpu: w.GPU, vcpus: l.Placement.VCPUs(w.GPU, w.CPU), base: base(), key: key,
	}.variables()
	maps.Copy(facts, by)
	if e.Type == compute.LoadBalancer {
		facts["HEALTH_CHECK_PATH"] = e.Serving().HealthPath
	}
	return facts, without(e.Env, by)
}

// facts gives what a pod's environment has about it. What its own environment says instead is the user's to say.
func (l *Pods) facts(p compute.Pod) map[string]string {
	return description{
		id: string(p.ID), hostname: p.ID.Hostname(), dataCenterID: p.DataCenterID, gpu: p.GPU, vcpus: l.Placement.VCPUs(p.GPU, p.CPU), base: l.URL(), key: l.Key(p),
	}.variables()
}

// served gives the ports of a worker of an endpoint that balances load, those among them on which requests come whether the endpoint names
// them or not, and the variables that tell the worker of these. What the endpoint's own environment says of a port stands.
func served(e compute.Endpoint) (ports []string, listen map[string]int) {
	at := e.Serving()
	ports, listen = slices.Clone(e.Ports), map[string]int{}
	for name, port := range map[string]int{compute.EnvPort: at.Port, compute.EnvHealthPort: at.HealthPort} {
		if text := strconv.Itoa(port) + "/" + compute.HTTPPort; !slices.Contains(ports, text) {
			ports = append(ports, text)
		}
		if _, own := e.Env[name]; !own {
			listen[name] = port
		}
	}
	return ports, listen
}

// Ports gives where the ports of a worker are reached; none: it is not up, or none of them is. It asks nobody.
func (l *Workers) Ports(id compute.WorkerID) []compute.PublishedPort {
	w, _ := l.containers.Memory(id)
	return w.ports
}
