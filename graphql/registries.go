package graphql

import (
	"context"
	"unicode/utf8"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

// SaveRegistryAuth is the mutation saveRegistryAuth.
func (m mutations) SaveRegistryAuth(ctx context.Context, input graph.SaveRegistryAuthInput) (*graph.ContainerRegistryAuth, error) {
	var bad violations
	filled(&bad, "name", input.Name, loginName)
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

// How long the texts of a login may be, as REST has it: in characters.
const (
	loginName     = 191
	loginPassword = 16_384
)

// filled holds a text against what REST has: it is not empty, and has so many characters at most.
func filled(bad *violations, field, text string, most int) {
	bad.must(text != "", field, "must not be empty")
	bad.must(utf8.RuneCountInString(text) <= most, field, "must have at most %d characters", most)
}

func login(bad *violations, username, password string) (compute.Login, error) {
	filled(bad, "username", username, loginName)
	filled(bad, "password", password, loginPassword)
	return compute.Login{Username: username, Password: password}, bad.err()
}

// DeleteRegistryAuth is the mutation deleteRegistryAuth.
func (m mutations) DeleteRegistryAuth(ctx context.Context, id string) (*bool, error) {
	return nil, m.Registries.Delete(ctx, user(ctx), compute.RegistryID(id))
}

// ContainerRegistryCreds is User.containerRegistryCreds: one read, as far as the document has room.
func (u users) ContainerRegistryCreds(ctx context.Context, _ *graph.User) ([]*graph.ContainerRegistryAuth, error) {
	registries, err := listed(ctx, u.Answers, "", u.Registries.List)
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
