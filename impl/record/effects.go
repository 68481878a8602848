package record

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/journal"
)

var (
	// held are the operations with GET that wait for something and give it once; with 204 they give nothing.
	held = []string{"takeJob", "takeJobs", "stopJobs"}
	// changing are the others that change something, as leases and jobs.
	changing = []string{"ping", "stream", "openAIModels", "openAIRouteGet"}
)

// reads reports whether the request changes nothing, so that it may be sent again.
func (x *Exchange) reads() bool {
	if isGraphQL(x.Path) {
		body, _ := x.Request.bytes() // who read the recording knows that it can be decoded
		return !bytes.Contains(body, []byte("mutation"))
	}
	return (x.Method == http.MethodGet || x.Method == http.MethodHead) && !slices.Contains(held, x.Operation) && !slices.Contains(changing, x.Operation)
}

// again reports whether the request may be sent again after that answer: it changes nothing, it was given nothing, or what it is given is gathered.
func (x *Exchange) again(a *answer) bool {
	return x.reads() || x.streams() || a.Status == http.StatusNoContent && slices.Contains(held, x.Operation)
}

// refused reports whether the answer is an error.
func (x *Exchange) refused() bool { return x.Status >= http.StatusBadRequest }

// request is what requests for the same have in common.
type request struct {
	method, path, query, body string
	key                       int
	status                    int // of reads of a stream: one that is over is gone at some time
}

// polls gives for each exchange the last request for the same until something is changed, which is its own place where there is none: a client that
// waits for several things asks for them in turn. It may wait until something is there, and so be refused at first; what was given before a refusal
// is no wait for that.
func polls(all []Exchange) []int {
	last, next := make([]int, len(all)), map[request]int{}
	for i := len(all) - 1; i >= 0; i-- {
		x := &all[i]
		last[i] = i
		if !x.reads() && !x.streams() {
			clear(next)
			continue
		}
		of := request{method: x.Method, path: x.Path, query: x.Query, body: x.Request.Body, key: x.Key}
		if x.streams() {
			of.status = x.Status
		}
		if end, ok := next[of]; ok && (x.refused() || !all[end].refused()) {
			last[i] = end
		} else {
			next[of] = i
		}
	}
	return last
}

// overwrites reports whether the request would put what stands in the place of a secret into something that is there, which may have the secret. What
// no document has may do so, as may a mutation whose fields are not known: that of a body that cannot be read as one document.
func (x *Exchange) overwrites() bool {
	body, _ := x.Request.bytes()
	if x.reads() || !bytes.Contains(body, []byte(journal.Masked)) {
		return false
	}
	if isGraphQL(x.Path) {
		return len(x.Fields) == 0 || slices.ContainsFunc(x.Fields, func(field string) bool { return !makes(field, body) })
	}
	return x.Method == http.MethodPatch || x.Method == http.MethodPut || x.Operation == unknownOperation
}

var (
	// makers are mutations that make something, beside those whose names begin with create. What no document has may change anything.
	makers = []string{"podFindAndDeployOnDemand", "podRentInterruptable", "deployCpuPod", "secretCreate", "saveRegistryAuth"}
	// savers make something unless they are given the id of what is to change.
	savers = []string{"saveTemplate", "saveEndpoint"}
	// identified finds such an id, among arguments or variables; null is none.
	identified = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bid\\?"?\s*:\s*\\?["$]`) })
)

// makes reports whether a mutation of a document makes something, and changes nothing that is there.
func makes(mutation string, document []byte) bool {
	if !slices.Contains(savers, mutation) {
		return slices.Contains(makers, mutation) || strings.HasPrefix(mutation, "create")
	}
	var sent struct {
		Query     string          `json:"query"`
		Variables json.RawMessage `json:"variables"`
	}
	err := json.Unmarshal(document, &sent)
	return err == nil && !identified().MatchString(sent.Query) && !identified().Match(sent.Variables)
}
