package compute

// PodRuntime is what a RUNNING pod does now. What its runtime cannot tell is absent.
type PodRuntime struct {
	Ports         []PublishedPort
	CPUPercent    *float64 // of the vCPUs it may use, 0 to 100
	MemoryPercent *float64 // of the memory it may use, 0 to 100
}

// PublishedPort is where a port of a pod can be reached from outside.
type PublishedPort struct {
	Private int
	Public  int    // 0: not reachable
	Type    string // http, tcp or udp
	IP      string // empty: any address of the host
}
