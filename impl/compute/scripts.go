package compute

// EndpointScript is the script of an endpoint, as it is stored.
type EndpointScript struct {
	EndpointID EndpointID
	Document   string // JSON, as it was set
	Counts     string // JSON: what was done by it
}
