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
	show, id := m.showEndpoint(ctx), compute.EndpointID(value(input.ID))
	if id == "" {
		kind, change, err := m.newEndpoint(input)
		if err != nil {
			return nil, err
		}
		return show(m.Endpoints.Create(ctx, user(ctx), kind, change))
	}

	before, err := m.Endpoints.Get(ctx, user(ctx), id)
	if err != nil {
		return nil, err
	}
	change, err := m.endpointChange(input, before)
	if err != nil {
		return nil, err
	}

	return show(m.Endpoints.Update(ctx, user(ctx), id, change))
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
	change := control.EndpointChange{TemplateID: (*compute.TemplateID)(input.TemplateID)}
	return m.showEndpoint(ctx)(m.Endpoints.Update(ctx, user(ctx), compute.EndpointID(*input.EndpointID), change))
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

// endpointViews shows endpoints with their volumes and workers, each read at once for all of them, and only if it is
// asked for.
func (s Services) endpointViews(ctx context.Context, endpoints []compute.Endpoint) ([]*graph.Endpoint, error) {
	volumes := map[compute.VolumeID]compute.Volume{}
	if selected(ctx, "networkVolume", "networkVolumeIds") {
		list, err := s.Control.ListVolumes(ctx, user(ctx))
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			volumes[v.ID] = v
		}
	}

	workers := map[compute.EndpointID][]compute.Worker{}
	if selected(ctx, "pods") {
		var err error
		if workers, err = s.Endpoints.WorkersOfAll(ctx, endpoints); err != nil {
			return nil, err
		}
	}

	return views(endpoints, func(e compute.Endpoint) *graph.Endpoint {
		v := s.endpointView(e, volumes)
		v.Pods = views(workers[e.ID], func(w compute.Worker) *graph.Pod { return s.workerView(e, w) })
		return v
	}), nil
}

// selected reports whether the document asks for one of the fields below the one that is being resolved.
func selected(ctx context.Context, names ...string) bool {
	return slices.ContainsFunc(graphql.CollectAllFields(ctx), func(name string) bool { return slices.Contains(names, name) })
}
