package proxy

import (
	"net/http"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// Watch sees what is asked of pods and workers, for tests: the journal keeps it, and scripted faults become of it.
type Watch interface {
	// Record gives what the request is to be answered with, and the request as it is to be read; over is called once it is answered.
	Record(w http.ResponseWriter, r *http.Request, operation string, resources ...journal.Resource) (to http.ResponseWriter, with *http.Request, over func())
	// Meet has do answer the request between the faults that the call meets. It panics as net/http wants it where one cuts the connection.
	Meet(w http.ResponseWriter, r *http.Request, operation string, key compute.KeyID, resources []journal.Resource, do http.HandlerFunc)
}

// recorded has do answer the request, and the journal keep both.
func (p *Proxy) recorded(w http.ResponseWriter, r *http.Request, operation string, resources []journal.Resource, do http.HandlerFunc) {
	if p.Watch == nil {
		do(w, r)
		return
	}
	to, with, over := p.Watch.Record(w, r, operation, resources...)
	defer over() // also when the connection is cut
	do(to, with)
}

// met has do answer the request, and faults become of it.
func (p *Proxy) met(w http.ResponseWriter, r *http.Request, operation string, key compute.KeyID, resources []journal.Resource, do http.HandlerFunc) {
	if p.Watch == nil {
		do(w, r)
		return
	}
	p.Watch.Meet(w, r, operation, key, resources, do)
}

// ofPod are the resources of a request to a port of a pod.
func ofPod(id compute.PodID, port string) []journal.Resource {
	return []journal.Resource{{Kind: "pod", ID: string(id)}, {Kind: "port", ID: port}}
}

// ofEndpoint are those of a request to an endpoint.
func ofEndpoint(id compute.EndpointID) []journal.Resource {
	return []journal.Resource{{Kind: "endpoint", ID: string(id)}}
}
