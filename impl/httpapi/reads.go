package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/validate"
)

// notReads are the operations that are asked for by GET and yet must not be repeated: they give out what is gone then, or reach a worker or a pod.
// To take jobs is none of them: the lease of what nobody got ends.
var notReads = []string{"stream", "openAIModels", "openAIRouteGet", "execPod", "execWorker"}

// readPaths are the paths of the operations that only read, in their segments.
var readPaths = sync.OnceValue(func() (paths [][]string) {
	for _, ops := range []map[string]validate.Op{ofAny(rest.Editions), ofAny(queue.Editions), worker.Ops, controls.Ops} {
		for id, op := range ops {
			if op.Method == http.MethodGet && !slices.Contains(notReads, id) {
				paths = append(paths, strings.Split(op.Path, "/"))
			}
		}
	}
	return paths
})

// Reads reports whether a request, which leads into no pod and to no endpoint by name, only reads: it changes nothing, takes nothing away, and may
// be answered twice. What is not known does not.
func Reads(r *http.Request) bool {
	path := r.URL.Path
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead, strings.Contains(strings.ToUpper(r.URL.RawPath), "%2F"):
		return false
	case path == "/", path == HealthPath, path == ReadyPath, published[path] != "", isArtifact(path), isPage(path, consolePath), isPage(path, docsPath):
		return true
	}

	segments := strings.Split(path, "/")
	return slices.ContainsFunc(readPaths(), func(want []string) bool {
		return slices.EqualFunc(want, segments, func(want, have string) bool { return want == have || want != "" && want[0] == '{' && have != "" })
	})
}

// isPage reports whether the path is that of a page, or of what is below it.
func isPage(path, page string) bool {
	rest, found := strings.CutPrefix(path, page)
	return found && (rest == "" || rest[0] == '/')
}
