package docker

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRegistryOf_IsTheHostOfAnImage(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"ubuntu": "", "ubuntu:24.04": "", "library/ubuntu": "", "docker.io/library/ubuntu": "", "ghcr.io/a/b:1": "ghcr.io", "localhost/a": "localhost", "127.0.0.1:5000/a@sha256:0": "127.0.0.1:5000",
	} {
		require.Equal(t, want, registryOf(image), image)
	}
}
