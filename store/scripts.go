package store

import "github.com/berthdev/berth/impl/compute"

// Scripts stores what the workers of endpoints do that have no handler. They go with their endpoints.
type Scripts interface {
	// SetScript stores the script in place of that of the endpoint.
	SetScript(compute.EndpointScript) error
	// Script gives the script of the endpoint, and whether it has one.
	Script(compute.EndpointID) (compute.EndpointScript, bool, error)
	// ListScripts gives all, by their endpoints.
	ListScripts() ([]compute.EndpointScript, error)
	// DeleteScript removes the script of the endpoint, known or not.
	DeleteScript(compute.EndpointID) error
}
