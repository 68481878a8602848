package graphql

import (
	"context"
	"regexp"
	"sync"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// secretPattern is what REST has for the name of a secret.
var secretPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.\-/]{0,190}$`) })

// Secrets is User.secrets: one read, as far as the document has room.
func (u users) Secrets(ctx context.Context, _ *graph.User) ([]*graph.Secret, error) {
	secrets, err := listed(ctx, u.Answers, "", func(ctx context.Context, user compute.UserID, room compute.Room) ([]compute.Secret, error) {
		return u.Services.Secrets.List(ctx, user, nil, room)
	})
	return views(secrets, secretView), err
}

// SecretCreate is the mutation secretCreate.
func (m mutations) SecretCreate(ctx context.Context, input graph.SecretCreateInput) (*graph.Secret, error) {
	var bad violations
	bad.must(secretPattern().MatchString(input.Name), "name", "must be a letter or _, then also digits, . - and /, 191 at most")
	bad.must(input.Value != "", "value", "must not be empty")
	if err := bad.err(); err != nil {
		return nil, err
	}
	made, err := m.Secrets.Create(ctx, user(ctx), control.NewSecret{Name: input.Name, Value: input.Value, Description: value(input.Description)})
	if err != nil {
		return nil, err
	}
	return secretView(made), nil
}

// SecretDelete is the mutation secretDelete.
func (m mutations) SecretDelete(ctx context.Context, id string) (*bool, error) {
	return nil, m.Secrets.Delete(ctx, user(ctx), compute.SecretID(id))
}

func secretView(s compute.Secret) *graph.Secret {
	id, changed := string(s.ID), orNull(s.ChangedAt)
	return &graph.Secret{ID: &id, Name: &s.Name, Description: orNull(s.Description), CreatedAt: &s.CreatedAt, UpdatedAt: changed, LastUpdatedAt: changed}
}
