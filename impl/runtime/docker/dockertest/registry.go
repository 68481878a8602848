package dockertest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// The media types of what a registry serves.
const (
	manifestType = "application/vnd.docker.distribution.manifest.v2+json"
	configType   = "application/vnd.docker.container.image.v1+json"
	layerType    = "application/vnd.docker.image.rootfs.diff.tar.gzip"
)

// Registry serves the player as a private image, to who logs in as the user, until the test has ended, and gives its name. It is
// as much of a registry as a pull needs.
func Registry(t testing.TB, user, password string) (image string) {
	f, err := find()
	require.NoError(t, err)
	archive, err := pack("player", f.program)
	require.NoError(t, err)

	var layer bytes.Buffer
	zip := gzip.NewWriter(&layer)
	_, err = zip.Write(archive.Bytes())
	require.NoError(t, err)
	require.NoError(t, zip.Close())

	config := document(t, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": []string{"/player"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(archive.Bytes())}},
	})
	part := func(kind string, content []byte) map[string]any {
		return map[string]any{"mediaType": kind, "size": len(content), "digest": digest(content)}
	}
	manifest := document(t, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": part(configType, config), "layers": []any{part(layerType, layer.Bytes())},
	})

	blobs := map[string][]byte{digest(config): config, digest(layer.Bytes()): layer.Bytes()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}

		content, kind := blobs[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]], "application/octet-stream"
		switch {
		case r.URL.Path == "/v2/":
			content, kind = []byte("{}"), "application/json"
		case strings.Contains(r.URL.Path, "/manifests/"):
			content, kind = manifest, manifestType
		}

		if content == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Header().Set("Docker-Content-Digest", digest(content))
		if r.Method != http.MethodHead {
			_, _ = w.Write(content)
		}
	}))

	t.Cleanup(server.Close)
	image = strings.TrimPrefix(server.URL, "http://") + "/private/player:1"
	t.Cleanup(func() { // the layers may be gone with a container already
		_, _ = f.engine.ImageRemove(context.Background(), image, client.ImageRemoveOptions{Force: true})
	})
	return image
}

func document(t testing.TB, v any) []byte {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}
