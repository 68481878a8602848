package graphql

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// ServerlessGpuPools is the query serverlessGpuPools.
func (q queries) ServerlessGpuPools(context.Context) ([]*graph.ServerlessGpuPool, error) {
	pools := map[string]*graph.ServerlessGpuPool{}
	list := []*graph.ServerlessGpuPool{}
	for _, t := range q.Control.Catalog().GPUs {
		if t.Pool == "" {
			continue
		}
		if pools[t.Pool] == nil {
			pools[t.Pool] = &graph.ServerlessGpuPool{ID: &t.Pool}
			list = append(list, pools[t.Pool])
		}
		pools[t.Pool].GpuTypeIds = append(pools[t.Pool].GpuTypeIds, &t.ID)
	}

	return list, nil
}

// Endpoints is User.endpoints: as many reads for many as for one.
func (u users) Endpoints(ctx context.Context, _ *graph.User) ([]*graph.Endpoint, error) {
	endpoints, err := listed(ctx, u.Answers, "/v2/serverless", u.Services.Endpoints.List)
	if err != nil {
		return nil, err
	}
	return u.endpointViews(ctx, endpoints)
}

// Endpoint is User.endpoint.
func (u users) Endpoint(ctx context.Context, _ *graph.User, id string) (*graph.Endpoint, error) {
	endpoint, err := u.Services.Endpoints.Get(ctx, user(ctx), compute.EndpointID(id))
	if err == nil {
		err = counted(ctx, u.Answers, "/v2/serverless/"+id, endpoint.Env, endpoint.Args)
	}
	return found(u.showEndpoint(ctx)(endpoint, err))
}

// SaveEndpoint is the mutation saveEndpoint.
func (m mutations) SaveEndpoint(ctx context.Context, input graph.EndpointInput) (*graph.Endpoint, error) {
	id := compute.EndpointID(value(input.ID))
	if id == "" {
		kind, change, err := m.newEndpoint(input)
		if err != nil {
			return nil, err
		}
		return m.saved(ctx, compute.Endpoint{}, change, func() (compute.Endpoint, error) { return m.Endpoints.Create(ctx, user(ctx), kind, change) })
	}

	before, err := m.Endpoints.Get(ctx, user(ctx), id)
	if err != nil {
		return nil, err
	}
	change, err := m.endpointChange(input, before)
	if err != nil {
		return nil, err
	}
	return m.updated(ctx, before, change)
}

// UpdateEndpointTemplate is the mutation updateEndpointTemplate.
func (m mutations) UpdateEndpointTemplate(ctx context.Context, input *graph.UpdateEndpointTemplateInput) (*graph.Endpoint, error) {
	if input == nil {
		input = &graph.UpdateEndpointTemplateInput{}
	}
	var bad violations
	bad.must(value(input.EndpointID) != "", "endpointId", "is required")
	bad.must(value(input.TemplateID) != "", "templateId", "is required")
	if err := bad.err(); err != nil {
		return nil, err
	}
	before, err := m.Endpoints.Get(ctx, user(ctx), compute.EndpointID(*input.EndpointID))
	if err != nil {
		return nil, err
	}
	return m.updated(ctx, before, control.EndpointChange{TemplateID: (*compute.TemplateID)(input.TemplateID)})
}

func (m mutations) updated(ctx context.Context, before compute.Endpoint, change control.EndpointChange) (*graph.Endpoint, error) {
	return m.saved(ctx, before, change, func() (compute.Endpoint, error) { return m.Endpoints.Update(ctx, user(ctx), before.ID, change) })
}

// saved saves an endpoint and shows it. What the answer has of it is counted before: where that is refused, nothing was saved.
func (m mutations) saved(ctx context.Context, before compute.Endpoint, change control.EndpointChange, save func() (compute.Endpoint, error)) (*graph.Endpoint, error) {
	after, err := m.changedEndpoint(ctx, before, change)
	if err != nil {
		return nil, err
	}
	if err := reserve(ctx, m.Answers, endpointSettings(after).bytes(true), "save this one with REST, in /v2/serverless"); err != nil {
		return nil, err
	}
	parts, err := m.partsOf(ctx, []compute.Endpoint{after})
	if err != nil {
		return nil, err
	}

	e, err := save()
	if err != nil {
		return nil, err
	}
	return parts.view(m.Services, e), nil
}

// DeleteEndpoint is the mutation deleteEndpoint.
func (m mutations) DeleteEndpoint(ctx context.Context, id string) (*bool, error) {
	return nil, m.Endpoints.Delete(ctx, user(ctx), compute.EndpointID(id))
}

// showEndpoint gives the view of what a use case gave.
func (s Services) showEndpoint(ctx context.Context) func(compute.Endpoint, error) (*graph.Endpoint, error) {
	return func(e compute.Endpoint, err error) (*graph.Endpoint, error) {
		if err != nil {
			return nil, err
		}
		list, err := s.endpointViews(ctx, []compute.Endpoint{e})
		if err != nil {
			return nil, err
		}
		return list[0], nil
	}
}

// endpointViews shows endpoints. Errors as for partsOf.
func (s Services) endpointViews(ctx context.Context, endpoints []compute.Endpoint) ([]*graph.Endpoint, error) {
	parts, err := s.partsOf(ctx, endpoints)
	if err != nil {
		return nil, err
	}
	return views(endpoints, func(e compute.Endpoint) *graph.Endpoint { return parts.view(s, e) }), nil
}

// endpointParts are what views of endpoints have that is not the endpoint's own.
type endpointParts struct {
	volumes map[compute.VolumeID]compute.Volume
	workers map[compute.EndpointID][]compute.Worker
	env     bool   // of the workers: it is asked for
	host    string // the name under which the client reaches this server
}

// partsOf reads the volumes and workers of endpoints, each at once for all of them, and only if it is asked for. A worker is shown with what
// its endpoint has, and counts as much. Errors as for listed.
func (s Services) partsOf(ctx context.Context, endpoints []compute.Endpoint) (p endpointParts, err error) {
	p.host = hostOf(ctx)
	if selected(ctx, "networkVolume", "networkVolumeIds") {
		list, err := s.volumes(ctx)
		if err != nil {
			return p, err
		}
		p.volumes = map[compute.VolumeID]compute.Volume{}
		for _, v := range list {
			p.volumes[v.ID] = v
		}
	}

	if !selected(ctx, "pods") {
		return p, nil
	}
	if p.workers, err = s.Endpoints.WorkersOfAll(ctx, endpoints); err != nil {
		return p, err
	}

	p.env = selectedBelow(ctx, "pods", "env")
	bytes := 0
	for _, e := range endpoints {
		if n := len(p.workers[e.ID]); n > 0 {
			bytes += n * endpointSettings(e).bytes(p.env)
		}
	}
	return p, reserve(ctx, s.Answers, bytes, "read the workers of one with GET /v2/serverless/{id}/workers")
}

// view shows an endpoint with its workers.
func (p endpointParts) view(s Services, e compute.Endpoint) *graph.Endpoint {
	v := s.endpointView(e, p.volumes)
	if !p.env {
		e.Env = nil // it is copied for each worker
	}
	v.Pods = views(p.workers[e.ID], func(w compute.Worker) *graph.Pod { return s.workerView(e, w, p.host) })
	return v
}

// selected reports whether the document asks for one of the fields below the one that is being resolved.
func selected(ctx context.Context, names ...string) bool {
	return slices.ContainsFunc(graphql.CollectAllFields(ctx), func(name string) bool { return slices.Contains(names, name) })
}

// selectedBelow reports whether the document asks for a field of what another one gives, which is below the one that is being resolved.
func selectedBelow(ctx context.Context, field, name string) bool {
	operation := graphql.GetOperationContext(ctx)
	for _, f := range graphql.CollectFields(operation, graphql.GetFieldContext(ctx).Field.Selections, nil) {
		below := graphql.CollectFields(operation, f.Selections, nil)
		if f.Name == field && slices.ContainsFunc(below, func(b graphql.CollectedField) bool { return b.Name == name }) {
			return true
		}
	}
	return false
}
