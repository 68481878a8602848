package graphql

import (
	"context"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

// Myself is the query myself: null without a key.
func (queries) Myself(ctx context.Context) (*graph.User, error) {
	if callOf(ctx).key == nil {
		return nil, nil //nolint:nilnil // rule graphql.anonymous.myself
	}
	return userView(callOf(ctx).key), nil
}

// UpdateUserSettings is the mutation updateUserSettings.
func (m mutations) UpdateUserSettings(ctx context.Context, input *graph.UpdateUserSettingsInput) (*graph.User, error) {
	if input != nil && input.PubKey != nil {
		if err := m.Control.SetPublicKeys(ctx, user(ctx), *input.PubKey); err != nil {
			return nil, err
		}
	}
	return userView(callOf(ctx).key), nil
}

func userView(k *compute.Key) *graph.User {
	id := string(k.UserID)
	return &graph.User{ID: &id, AuthID: &id, SpendLimit: orNull(k.SpendLimit)}
}

// PubKey is User.pubKey.
func (u users) PubKey(ctx context.Context, _ *graph.User) (*string, error) {
	keys, err := u.Control.PublicKeys(ctx, user(ctx))
	if err != nil {
		return nil, err
	}
	return orNull(keys), reserve(ctx, u.Answers, len(keys), "read them with GET /v2/account/ssh-keys")
}

// CurrentSpendPerHr is User.currentSpendPerHr.
func (u users) CurrentSpendPerHr(ctx context.Context, _ *graph.User) (*float64, error) {
	spend, err := u.Control.SpendOf(ctx, user(ctx))
	if err != nil {
		return nil, err
	}
	usd := spend.USD()
	return &usd, nil
}

// Pods is User.pods: one read, however many there are.
func (u users) Pods(ctx context.Context, _ *graph.User) ([]*graph.Pod, error) {
	pods, err := listed(ctx, u.Answers, "/v2/pods", u.Control.ListPods)
	if err != nil {
		return nil, err
	}
	now := u.Clock.Wall()
	list := make([]*graph.Pod, len(pods))
	for i, p := range pods {
		list[i] = u.podView(p, now, hostOf(ctx))
	}
	return list, nil
}
