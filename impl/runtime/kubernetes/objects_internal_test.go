package kubernetes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

// narrow gives a client of the cluster that reads no answer of more than so many bytes.
func narrow(s *kubetest.Server, most int) *client {
	c := newClient(credentials{server: s.URL(), namespace: kubetest.Namespace, transport: newTransport(nil, nil), authorize: bearer(nil)}, compute.SystemClock{})
	c.mostBody = most
	return c
}

// secretOf is one of an allocation, with so many bytes in it.
func secretOf(id string, size int) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "berth-" + id + "-0-env", "labels": map[string]any{labelOwner: "test", labelAllocation: id}},
		"data":     map[string]any{"KEY": strings.Repeat("x", size)},
	}
}

func TestListAll_AsksForFewerWhereAPageIsTooLarge(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	for i := range 40 {
		s.Put(t, secrets, secretOf(fmt.Sprintf("a%02d", i), 1000*(i%3)))
	}
	c := narrow(s, 6000)
	defer c.close()
	all, version, err := listAll[secret](t.Context(), c, c.path(secrets), "")
	require.NoError(t, err)
	require.NotEmpty(t, version)
	require.Len(t, all, 40)
	for i, one := range all {
		require.Equal(t, fmt.Sprintf("berth-a%02d-0-env", i), one.Metadata.Name, "none is left out, and none comes twice")
	}

	s.Put(t, secrets, secretOf("b", 6000))
	_, _, err = listAll[secret](t.Context(), c, c.path(secrets), "")
	require.ErrorIs(t, err, errTooLarge, "it is too large by itself")
}

// What is in Secrets is up to users, and nobody needs it to sweep.
func TestListParts_ReadsNothingOfSecretsButTheirHeads(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	for _, id := range []string{"a", "b"} {
		s.Put(t, secrets, secretOf(id, 6000))
	}
	h := copied()
	h.config.Owner, h.client = "test", narrow(s, 3000)
	defer h.client.close()
	found, err := h.listParts(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "berth-a-0-env", found["a"][0].name)
	require.NotEmpty(t, found["a"][0].uid)
}
