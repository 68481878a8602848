package kubernetes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestPublished_PortOfANodeWithoutAnAddressIsNot(t *testing.T) {
	t.Parallel()
	var s service
	require.NoError(t, json.Unmarshal([]byte(`{"spec":{"type":"NodePort","ports":[{"port":22,"protocol":"TCP","nodePort":30022}]}}`), &s))
	var n node
	h := &Runtime{cache: cache{offers: map[string]*service{"a": &s}, known: map[string]*node{"n": &n}}}
	var p pod
	p.Metadata.Labels, p.Metadata.Annotations = map[string]string{labelAllocation: "a"}, map[string]string{annotationPorts: "22/tcp"}
	p.Spec.NodeName = "n"
	require.Equal(t, []compute.PublishedPort{{Private: 22, Type: "tcp"}}, h.published(&p))

	require.NoError(t, json.Unmarshal([]byte(`{"status":{"addresses":[{"type":"InternalIP","address":"10.9.0.1"}]}}`), &n))
	require.Equal(t, []compute.PublishedPort{{Private: 22, Type: "tcp", Public: 30022, IP: "10.9.0.1"}}, h.published(&p))
}

func TestPublished_BerthInTheClusterGoesToThePodItself(t *testing.T) {
	t.Parallel()
	h := &Runtime{inside: true, cache: cache{offers: map[string]*service{}, known: map[string]*node{}}}
	var p pod
	p.Metadata.Labels, p.Metadata.Annotations = map[string]string{labelAllocation: "a"}, map[string]string{annotationPorts: "8888/http,53/udp"}
	require.Equal(t, []compute.PublishedPort{{Private: 8888, Type: "http"}, {Private: 53, Type: "udp"}}, h.published(&p), "it has no address yet")

	p.Status.PodIP = "fd00::7"
	require.Equal(t, []compute.PublishedPort{{Private: 8888, Type: "http", Inner: "[fd00::7]:8888"}, {Private: 53, Type: "udp", Inner: "[fd00::7]:53"}}, h.published(&p))
	h.inside = false
	require.Empty(t, h.published(&p)[0].Inner)
}
