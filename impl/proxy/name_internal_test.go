package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestName_ARequestForTheServerItselfAllocatesNothing(t *testing.T) {
	n := newName(DefaultDomain)
	for _, host := range []string{"berth.example.com", "berth.example.com:8080", "berth.example.com."} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			_, _, _ = n.of(host)
			_, _ = n.endpoint(host)
		}), host)
	}
}
