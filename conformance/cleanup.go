package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// resource is something that a rule made: it is deleted after the rule, so that nothing is left behind on the target.
type resource struct {
	base, path string // of REST
	key        string // of who made it, as a header
}

// kinds are the lists whose members rules make, in the order in which they can be deleted: what uses others goes first. Over
// GraphQL the mutation deletes one by its id; empty: there is none.
var kinds = []struct{ list, mutation string }{
	{flashApps, `deleteFlashApp(flashAppId:%s)`},
	{"/v2/pods", `podTerminate(input:{podId:%s})`},
	{serverless, `deleteEndpoint(id:%s)`},
	{clusters, `deleteCluster(input:{id:%s})`},
	{volumePath, `deleteNetworkVolume(input:{id:%s})`},
	{globalVolumes, ""},
	{registries, `deleteRegistryAuth(registryAuthId:%s)`},
	{templates, ""},
	{delegations, ""},
	{secrets, `secretDelete(id:%s)`},
}

// makers are the fields of GraphQL that make one of a list of REST.
var makers = map[string]string{
	"podFindAndDeployOnDemand": "/v2/pods", "podRentInterruptable": "/v2/pods", "deployCpuPod": "/v2/pods", "saveEndpoint": serverless, "saveTemplate": templates,
	"createNetworkVolume": volumePath, "saveRegistryAuth": registries, "createCluster": clusters, "secretCreate": secrets,
	"createFlashApp": flashApps,
}

// track keeps what the answer says was made, and forgets what it says is gone.
func (c *Check) track(r Request, a Answer) {
	path, rest := strings.CutPrefix(r.URL, c.URL)
	path, _, _ = strings.Cut(path, "?")
	id, _ := a.JSON["id"].(string)
	switch {
	case !rest:
	case path == graphqlPath:
		data, _ := a.JSON["data"].(map[string]any)
		for field, list := range makers {
			one, _ := data[field].(map[string]any)
			if id, ok := one["id"].(string); ok {
				c.owns(list+"/"+id, r.Key)
			}
		}
	case r.Method == http.MethodPost && a.Status == http.StatusCreated && id != "":
		c.owns(path+"/"+id, r.Key)
	case r.Method == http.MethodDelete && (a.Status == http.StatusNoContent || a.Status == http.StatusNotFound):
		c.disowns(path)
	case a.Status == http.StatusNoContent:
		c.disowns(strings.TrimSuffix(path, "/action"))
	}
}

// owns has what is at the path deleted after the rule, with the key as a Request has it, if it is of one of the kinds.
func (c *Check) owns(path, key string) {
	if key == "" {
		key = "Bearer " + c.Key
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if one := (resource{c.URL, path, key}); kind(path) >= 0 && !slices.Contains(c.made, one) {
		c.made = append(c.made, one)
	}
}

func (c *Check) disowns(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = slices.DeleteFunc(c.made, func(r resource) bool { return r.path == path })
}

// kind gives the place of the kind of what is at the path; -1 if it is of none.
func kind(path string) int {
	return slices.IndexFunc(kinds, func(k struct{ list, mutation string }) bool {
		return path[:max(0, strings.LastIndexByte(path, '/'))] == k.list
	})
}

// keepSSHKeys gives the user back, after the rule, the SSH keys that they have now.
func (c *Check) keepSSHKeys() {
	c.sshKeys = c.read(sshKeyPath)
}

// cleanUp takes back what a test set, cancels its jobs and deletes what it left, so that one that fails disturbs no other. What ended the run
// ends this only if the target does not answer. The rule fails if something cannot be deleted.
func (c *Check) cleanUp() {
	c.mu.Lock()
	within := 2 * time.Minute
	if c.ctx.Err() != nil { // the run is cut short: somebody waits for its end
		within = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), within)
	c.ctx, c.over = ctx, true
	jobs := c.ran
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	defer cancel()

	steps := []func(){c.giveBackSSHKeys, c.setSSHKeysBack} // first: nobody else has them
	for url := range jobs {
		steps = append(steps, func() { c.Send(Request{Method: "POST", URL: url}) })
	}
	steps = append(steps, c.deleteMade)
	for _, id := range c.keys {
		steps = append(steps, func() { c.control("DELETE", "keys/"+id, "") })
	}
	for _, name := range c.users {
		steps = append(steps, func() { c.control("DELETE", "users/"+name+"?keepResources=true", "") })
	}

	c.inTurn(steps)
}

// inTurn takes the steps, each also where one before failed, which ends only its own function; but none once the target does not answer, or
// there is no time left.
func (c *Check) inTurn(steps []func()) {
	if len(steps) == 0 || errors.Is(c.suite.stopped(), ErrUnreached) || c.context().Err() != nil {
		return
	}
	defer c.inTurn(steps[1:])
	steps[0]()
}

// giveBackSSHKeys sets the user's SSH keys to what keepSSHKeys found.
func (c *Check) giveBackSSHKeys() {
	if c.sshKeys == nil {
		return
	}
	text, err := json.Marshal(c.sshKeys)
	require.NoError(c, err)
	if c.REST("PUT", sshKeyPath, string(text)).Status == http.StatusOK {
		c.sshKeys = nil
	}
}

// setSSHKeysBack does over GraphQL, which has no quota of requests, what giveBackSSHKeys could not do.
func (c *Check) setSSHKeysBack() {
	if c.sshKeys == nil {
		return
	}
	keys, _ := c.sshKeys["keys"].([]any)
	var text strings.Builder
	for _, key := range keys {
		fmt.Fprintln(&text, key)
	}
	c.setKeys(strings.TrimSuffix(text.String(), "\n"))
}

// deleteMade deletes what the rule made: over GraphQL first, which has no quota of requests, then what is left over REST.
func (c *Check) deleteMade() {
	c.mu.Lock()
	made := slices.Clone(c.made)
	c.mu.Unlock()
	slices.SortStableFunc(made, func(a, b resource) int { return kind(a.path) - kind(b.path) })
	byGraphQL := 0
	own := func(one resource) bool { return one.base == c.URL && one.key == "Bearer "+c.Key }
	for byGraphQL < len(made) && own(made[byGraphQL]) && kinds[kind(made[byGraphQL].path)].mutation != "" {
		byGraphQL++
	}

	var left []resource
	var steps []func()
	for some := range slices.Chunk(made[:byGraphQL], 40) { // aliases in one document
		steps = append(steps, func() {
			undone := some // all, if this fails
			defer func() { left = append(left, undone...) }()
			undone = c.deleteOverGraphQL(some)
		})
	}

	c.inTurn(append(steps, func() {
		var each []func()
		for _, one := range append(left, made[byGraphQL:]...) {
			each = append(each, func() { c.deleteOne(one) })
		}
		c.inTurn(each)
	}))
}

// deleteOne deletes one resource, over REST where that can.
func (c *Check) deleteOne(one resource) {
	if id, is := strings.CutPrefix(one.path, flashApps+"/"); is { // there is no other door to it
		c.graphQLAs(one.key, `mutation{deleteFlashApp(flashAppId:`+quoted(id)+`)}`, nil)
		return
	}
	a := c.Send(Request{Method: "DELETE", URL: one.base + one.path, Key: one.key})
	if a.Status != http.StatusNoContent && a.Status != http.StatusNotFound {
		c.Errorf("%s cannot be deleted after the rule: %d %s", one.path, a.Status, a.Body)
	}
}

// deleteOverGraphQL deletes what can be, in the order given, and gives what is left.
func (c *Check) deleteOverGraphQL(made []resource) (left []resource) {
	var mutation strings.Builder
	for i, one := range made {
		k := kinds[kind(one.path)]
		fmt.Fprintf(&mutation, " a%d:"+k.mutation, i, quoted(strings.TrimPrefix(one.path, k.list+"/")))
	}
	body, err := json.Marshal(map[string]string{"query": "mutation{" + mutation.String() + "}"})
	require.NoError(c, err)

	_, a := c.exchange(Request{Method: "POST", URL: c.URL + graphqlPath, Body: string(body)})
	var answer struct {
		Data   map[string]any
		Errors []struct {
			Path       []any
			Extensions struct{ Code string }
		}
	}

	if a.Status != http.StatusOK || json.Unmarshal(a.Body, &answer) != nil {
		return made // a target without GraphQL
	}
	for i, one := range made {
		alias := fmt.Sprint("a", i)
		_, done := answer.Data[alias]
		for _, e := range answer.Errors {
			if len(e.Path) == 0 || e.Path[0] == alias && e.Extensions.Code != "NOT_FOUND" {
				done = false
			}
		}

		if !done {
			left = append(left, one)
		}
	}

	return left
}
