package compute

// PodRuntime is what a RUNNING pod does now. What its runtime does not know is absent.
type PodRuntime struct {
	Ports         []PublishedPort
	CPUPercent    *float64 // of the vCPUs it may use, 0 to 100
	MemoryPercent *float64 // of the memory it may use, 0 to 100
	GPUs          []GPUUse // of each; nil if that is not measured
}

// GPUUse is what a pod does with one of its GPUs.
type GPUUse struct {
	Percent       float64 // of the time in which it worked, 0 to 100
	MemoryPercent float64 // of its memory, 0 to 100
}

// HTTPPort is the type of a port that is shown over HTTP.
const HTTPPort = "http"

// PublishedPort is where a port of a pod can be reached from outside.
type PublishedPort struct {
	Private int
	Public  int    // 0: not reachable
	Type    string // http, tcp or udp
	IP      string // empty: any address of the host
	Inner   string // host and port at which berth itself reaches it, published or not; empty: at IP and Public
	Via     string // an address that means something to the runtime's Dialer alone, by which berth reaches it then; empty: by the network
}
