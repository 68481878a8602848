package limit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

func TestHosts_AllowOnlyNamesOthersCannotPointHere(t *testing.T) {
	t.Parallel()
	h, err := limit.NewHosts([]string{"berth.example.com", ".lan.example, Other.example."})
	require.NoError(t, err)
	for _, host := range []string{
		"", "127.0.0.1:8765", "127.0.0.1", "[::1]:8765", "[::1]", "10.1.2.3", "localhost:8765", "LOCALHOST", "app.localhost", "berth", "berth:8765",
		"host.docker.internal:8765", "berth.example.com", "BERTH.example.com:80", "berth.example.com.", "a.lan.example", "a.b.lan.example:1", "other.example",
	} {
		require.NoError(t, h.Check(host), host)
	}

	for _, host := range []string{
		"evil.example", "evil.example:8765", "berth.example.com.evil.example", "example.com", "lan.example", "evillan.example", "127.0.0.1.evil.example",
		"localhost.evil.example", "evil.localhost.example",
	} {
		err := h.Check(host)
		require.Equal(t, compute.Forbidden, compute.CodeOf(err), host)
		require.ErrorContains(t, err, "--allowed-host")
	}

	h, err = limit.NewHosts([]string{"*"})
	require.NoError(t, err)
	require.NoError(t, h.Check("evil.example"))
}

func TestHosts_NameWhatIsNoHost(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"http://berth.example.com", "berth.example.com:8765", "*.example.com", "a b", "a,,b", "a/b"} {
		_, err := limit.NewHosts([]string{name})
		require.Error(t, err, name)
	}
	_, err := limit.NewHosts([]string{"::1", "10.0.0.1", ".example.com"})
	require.NoError(t, err)
}
