package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestRegistries_DelegateRepositoriesOfECR(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	registries := newRegistries(t, db, ids)
	ctx := t.Context()
	tagged, err := registries.Delegate(ctx, "u", "arn:aws:ecr:us-east-1:123456789012:repository/team/app:v2", "n")
	require.NoError(t, err)
	require.NotEmpty(t, tagged.ID)
	require.False(t, tagged.CreatedAt.IsZero())
	require.Equal(t, compute.Delegation{
		ID: tagged.ID, UserID: "u", Name: "n", Region: "us-east-1", Account: "123456789012", Repository: "team/app", Tag: "v2", CreatedAt: tagged.CreatedAt,
	}, tagged)
	latest, err := registries.Delegate(ctx, "u", "arn:aws:ecr:eu-west-1:1:repository/app", "")
	require.NoError(t, err)
	require.Equal(t, []string{"eu-west-1", "1", "app", "latest"}, []string{latest.Region, latest.Account, latest.Repository, latest.Tag})

	for _, wrong := range []string{"", "app", "arn:aws:ecr:us-east-1:1", "arn:aws:ecr:us-east-1:1:image/app", "arn:aws:ecr:us-east-1:repository/app"} {
		_, err := registries.Delegate(ctx, "u", wrong, "n")
		require.Equal(t, compute.Rejected, compute.CodeOf(err), wrong)
		require.ErrorContains(t, err, "resource: ")
	}

	all, err := registries.Delegations(ctx, "u", nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []compute.Delegation{tagged, latest}, all)
	theirs, err := registries.Delegations(ctx, "v", nil)
	require.NoError(t, err)
	require.Empty(t, theirs)
	require.Equal(t, compute.NotFound, compute.CodeOf(registries.Revoke(ctx, "v", tagged.ID)))
	require.NoError(t, registries.Revoke(ctx, "u", tagged.ID))
	require.Equal(t, compute.NotFound, compute.CodeOf(registries.Revoke(ctx, "u", tagged.ID)))
	all, err = registries.Delegations(ctx, "u", nil)
	require.NoError(t, err)
	require.Equal(t, []compute.Delegation{latest}, all)
}
