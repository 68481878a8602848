package control

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestControl_SpendsUpToTheLimitOfTheKey(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, []Host{l4s("a", 9)})
	ctx := WithSpendLimit(t.Context(), compute.Key{SpendLimit: 0.86})
	var last compute.PodID
	for range 2 {
		pod, err := c.CreatePod(ctx, "u", oneL4())
		require.NoError(t, err, "exactly the limit is not over it")
		last = pod.ID
	}
	_, err := c.CreatePod(ctx, "u", oneL4())
	require.Equal(t, compute.OverSpend, compute.CodeOf(err))
	require.ErrorContains(t, err, "the spend limit of the key is 0.86 USD an hour: pods cost 0.86 now, and would cost 1.29")
	_, err = c.CreatePod(ctx, "v", oneL4())
	require.NoError(t, err, "each user spends alone")
	sum, err := c.SpendOf(t.Context(), "u")
	require.NoError(t, err)
	require.EqualValues(t, 860_000_000, sum)

	_, err = c.ActOnPod(ctx, "u", last, compute.PodStop)
	require.NoError(t, err)
	_, err = c.CreatePod(WithSpendLimit(t.Context(), compute.Key{}), "u", spotL4())
	require.NoError(t, err, "without a limit")
	_, err = c.ActOnPod(ctx, "u", last, compute.PodStart)
	require.ErrorContains(t, err, "pods cost 0.83 now, and would cost 1.26")
	require.Equal(t, compute.PodExited, c.stored(t, last).Status)
}

const someKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHMAhJoqovDFGApqEiFxFTRKy0T4h3gKxFl8q+j4IuRs"

func TestControl_SSHPod_LetsInWhoMayChangePods(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, nil)
	users := []compute.User{
		{Name: "admin", Role: compute.RoleAdmin}, {Name: "member", Role: compute.RoleMember}, {Name: "reader", Role: compute.RoleReader},
		{Name: "disabled", Role: compute.RoleAdmin, Disabled: true},
	}
	require.NoError(t, c.store.Write(t.Context(), func(tx store.Tx) (err error) {
		for _, u := range append(users, compute.User{Name: "nobody"}) {
			if u.Role != "" {
				u.CreatedAt = tx.Wall()
				err = errors.Join(err, tx.InsertUser(u))
			}
			err = errors.Join(err, tx.SetSSHKeys(u.Name, []string{someKey}),
				tx.InsertPod(compute.Pod{ID: compute.PodID(u.Name), UserID: u.Name, Status: compute.PodRunning}))
		}
		return errors.Join(err, tx.InsertPod(compute.Pod{ID: "gone", UserID: "member", Status: compute.PodTerminated}))
	}))

	for user, keys := range map[compute.PodID][]string{"admin": {someKey}, "member": {someKey}, "reader": nil, "disabled": nil, "nobody": nil} {
		pod, lines, err := c.SSHPod(t.Context(), user)
		require.NoError(t, err, "%s", user)
		require.Equal(t, user, pod.ID)
		require.Equal(t, keys, lines, "%s", user)
	}
	for _, id := range []compute.PodID{"gone", "none"} {
		_, lines, err := c.SSHPod(t.Context(), id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s", id)
		require.Empty(t, lines)
	}
}

func TestControl_PublicKeys_AreTheLinesOfAText(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, nil)
	ctx := t.Context()
	text, err := c.PublicKeys(ctx, "u")
	require.NoError(t, err)
	require.Empty(t, text)
	require.NoError(t, c.SetPublicKeys(ctx, "u", "\n  "+someKey+" one \n\n"+someKey+"\r\n"))
	text, err = c.PublicKeys(ctx, "u")
	require.NoError(t, err)
	require.Equal(t, someKey+" one\n\n"+someKey, text)

	err = c.SetPublicKeys(ctx, "u", someKey+"\nno key\n"+someKey+"\nssh-rsa "+someKey[len("ssh-ed25519 "):])
	var refused *compute.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, compute.Invalid, refused.Code)
	require.Equal(t, []string{"/keys/1: must be an SSH public key", "/keys/3: must be an SSH public key"}, refused.Fields)
	lines, err := c.SSHKeys(ctx, "u")
	require.NoError(t, err)
	require.Len(t, lines, 2, "nothing was replaced")
	require.NoError(t, c.SetPublicKeys(ctx, "u", " \n"))
	lines, err = c.SSHKeys(ctx, "u")
	require.NoError(t, err)
	require.Empty(t, lines)
}

func TestControl_SetSSHKeys_TakesWhatAVariableCanHave(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, nil)
	ctx := t.Context()
	most := compute.VariableBytes - len("PUBLIC_KEY=")
	first := someKey + " " + strings.Repeat("c", 100_000)
	second := someKey + " " + strings.Repeat("c", most-len(first)-len("\n")-len(someKey)-len(" "))
	require.NoError(t, c.SetSSHKeys(ctx, "u", []string{first, second}))
	err := c.SetSSHKeys(ctx, "u", []string{first, second + "c"})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "keys: they have 131061 bytes together, and a pod with startSsh takes at most 131060")
	lines, err := c.SSHKeys(ctx, "u")
	require.NoError(t, err)
	require.Equal(t, []string{first, second}, lines, "nothing was replaced")
}
