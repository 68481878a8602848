package graphql

import (
	"context"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

// SaveRegistryAuth is the mutation saveRegistryAuth.
func (m mutations) SaveRegistryAuth(ctx context.Context, input graph.SaveRegistryAuthInput) (*graph.ContainerRegistryAuth, error) {
	var bad violations
	bad.must(input.Name != "", "name", "must not be empty")
	l, err := login(&bad, input.Username, input.Password)
	if err != nil {
		return nil, err
	}
	return showRegistry(m.Registries.Create(ctx, user(ctx), input.Name, l))
}

// UpdateRegistryAuth is the mutation updateRegistryAuth.
func (m mutations) UpdateRegistryAuth(ctx context.Context, input graph.UpdateRegistryAuthInput) (*graph.ContainerRegistryAuth, error) {
	var bad violations
	l, err := login(&bad, input.Username, input.Password)
	if err != nil {
		return nil, err
	}
	return showRegistry(m.Registries.Update(ctx, user(ctx), compute.RegistryID(input.ID), l))
}

func login(bad *violations, username, password string) (compute.Login, error) {
	bad.must(username != "", "username", "must not be empty")
	bad.must(password != "", "password", "must not be empty")
	return compute.Login{Username: username, Password: password}, bad.err()
}

// DeleteRegistryAuth is the mutation deleteRegistryAuth.
func (m mutations) DeleteRegistryAuth(ctx context.Context, id string) (*bool, error) {
	return nil, m.Registries.Delete(ctx, user(ctx), compute.RegistryID(id))
}

// ContainerRegistryCreds is User.containerRegistryCreds: one read, however many there are.
func (u users) ContainerRegistryCreds(ctx context.Context, _ *graph.User) ([]*graph.ContainerRegistryAuth, error) {
	registries, err := u.Registries.List(ctx, user(ctx))
	return views(registries, registryView), err
}

func showRegistry(r compute.Registry, err error) (*graph.ContainerRegistryAuth, error) {
	if err != nil {
		return nil, err
	}
	return registryView(r), nil
}

func registryView(r compute.Registry) *graph.ContainerRegistryAuth {
	id := string(r.ID)
	return &graph.ContainerRegistryAuth{ID: &id, Name: &r.Name}
}
