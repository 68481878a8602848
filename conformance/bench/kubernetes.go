package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// podsAtOnce is how many pods a row of the part kubernetes makes at once.
const podsAtOnce = 32

// cluster is the test cluster of conformance/cluster: real programs of Kubernetes, and nodes that are simulated.
type cluster struct {
	server
	url    string
	client *http.Client
}

// kubernetes measures how long pods take on a cluster, through berth beside a bare client of its API server that makes the same objects.
func (b *bench) kubernetes() error {
	b.heading()
	programs, err := clusterPrograms()
	if err != nil {
		b.skipped("pods on Kubernetes", err.Error())
		return nil
	}
	k, err := b.cluster(programs)
	if err != nil {
		return err
	}
	defer k.stop()

	berth, err := b.launch(b.directory(), "", nil, "--runtime", "kubernetes", "--kube-config", filepath.Join(k.data, "berth.kubeconfig"),
		"--worker-url", "http://berth.test", "--private-webhooks")
	if err == nil {
		berth, err = b.withKey(berth)
	}
	if err != nil {
		return err
	}
	defer berth.stop()

	var object map[string]any // as berth makes one
	ours := func(n int) func() (reading, error) {
		return func() (reading, error) { return berth.podsRunning(n, k, &object) }
	}
	if _, err := ours(1)(); err != nil {
		return err
	}
	bare := func(n int) func() (reading, error) {
		return func() (reading, error) { return k.podsRunning(n, object) }
	}
	for _, r := range []row{
		{name: "one pod, from its creation until it runs, beside a bare client", reference: bare(1), measured: ours(1), unit: "ms"},
		{name: fmt.Sprintf("%d pods at once, until all run, beside a bare client", podsAtOnce), reference: bare(podsAtOnce), measured: ours(podsAtOnce), unit: "ms"},
	} {
		if err := r.print(b); err != nil {
			return err
		}
	}
	return nil
}

// clusterPrograms gives the directory of the programs that make cluster has built.
func clusterPrograms() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	built, err := filepath.Glob(filepath.Join(cache, "berth-cluster", "*", "stages.yaml"))
	if err != nil || len(built) == 0 {
		return "", errors.Join(err, errors.New("the programs of a cluster are not built here: make cluster"))
	}
	return filepath.Dir(slices.Max(built)), nil
}

// cluster starts the test cluster with one large node.
func (b *bench) cluster(programs string) (*cluster, error) {
	k := &cluster{client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: podsAtOnce,
	}}}
	k.data = b.directory()
	k.cmd = exec.Command("../cluster/up.sh", programs, k.data)
	k.cmd.Stderr = &k.said
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := k.start(); err != nil {
		return nil, err
	}

	for lines := bufio.NewScanner(out); k.url == "" && lines.Scan(); {
		k.url, _ = strings.CutPrefix(lines.Text(), "ready ")
	}
	if k.url == "" {
		k.stop()
		return nil, fmt.Errorf("the cluster did not start: %s", k.said.Bytes())
	}
	node := exec.Command("python3", "../cluster/objects.py", k.url, "node", "large", "0", "", "EU-RO-1", "1000", "4000Gi", "40000Gi")
	if said, err := node.CombinedOutput(); err != nil {
		k.stop()
		return nil, fmt.Errorf("a node: %w: %s", err, said)
	}

	return k, nil
}

// send asks the API server.
func (k *cluster) send(method, path string, body any) (answer map[string]any, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequest(method, k.url+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer admin-token")
	req.Header.Set("Content-Type", "application/json")
	res, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}

	defer func() { _ = res.Body.Close() }()
	if text, err = io.ReadAll(res.Body); err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	if err != nil {
		return nil, err
	}
	return answer, json.Unmarshal(text, &answer)
}

// namespaced is where berth's Pods are.
const namespaced = "/api/v1/namespaces/berth/pods"

// podsRunning makes so many pods at once, and gives how long it takes until all run. Afterwards it deletes them, and waits until the cluster
// has none. It gives an object of one of them, as a client would make it again.
func (s *server) podsRunning(n int, k *cluster, object *map[string]any) (r reading, err error) {
	ids := make([]string, n)
	r, err = s.reading(func() (int64, error) {
		err := each(s.address, n, func(i int, c *conn) error {
			body, err := c.ask(s.createPod(goodPod), http.StatusCreated)
			if err != nil {
				return err
			}
			var pod struct{ ID string }
			err = json.Unmarshal(body, &pod)
			ids[i] = pod.ID
			return err
		})
		if err != nil {
			return 0, err
		}

		return int64(n), eventually(func() (bool, error) {
			body, err := s.once(request(http.MethodGet, "/v2/pods?limit=100", s.key, nil))
			return bytes.Count(body, []byte(`"RUNNING"`)) == n, err
		})
	})
	if err != nil {
		return r, err
	}
	r.value = 1000 * float64(n) / r.value // ms for all, of how many a second

	if *object == nil {
		if *object, err = k.again(); err != nil {
			return r, err
		}
	}
	err = each(s.address, n, func(i int, c *conn) error {
		_, err := c.ask(request(http.MethodDelete, "/v2/pods/"+ids[i], s.key, nil), http.StatusNoContent)
		return err
	})
	return r, errors.Join(err, k.gone())
}

// podsRunning makes so many of the object at once, and gives how long it takes until all run, as the other one does.
func (k *cluster) podsRunning(n int, object map[string]any) (reading, error) {
	start := time.Now()
	var all errgroup.Group
	for i := range n {
		all.Go(func() error {
			one := maps.Clone(object)
			one["metadata"] = map[string]any{"name": fmt.Sprintf("bare-%d", i)}
			_, err := k.send(http.MethodPost, namespaced, one)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return reading{}, err
	}

	err := eventually(func() (bool, error) {
		left, err := k.count("?limit=1&fieldSelector=status.phase!%3DRunning")
		return left == 0, err
	})
	took := reading{value: milliseconds(time.Since(start)), units: int64(n)}
	for i := range n {
		if _, gone := k.send(http.MethodDelete, fmt.Sprintf("%s/bare-%d", namespaced, i), nil); gone != nil {
			err = errors.Join(err, gone)
		}
	}
	return took, errors.Join(err, k.gone())
}

// again gives what is needed to make the only Pod of the cluster once more. Without its labels it is none of berth's.
func (k *cluster) again() (map[string]any, error) {
	list, err := k.send(http.MethodGet, namespaced, nil)
	if err != nil {
		return nil, err
	}
	items, _ := list["items"].([]any)
	if len(items) != 1 {
		return nil, fmt.Errorf("the cluster has %d Pods, and not one", len(items))
	}
	one := items[0].(map[string]any)
	spec := one["spec"].(map[string]any)
	delete(spec, "nodeName") // it was scheduled
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec}, nil
}

// gone waits until the cluster has no Pods.
func (k *cluster) gone() error {
	return eventually(func() (bool, error) {
		n, err := k.count("?limit=1")
		return n == 0, err
	})
}

// count counts the Pods of a list.
func (k *cluster) count(of string) (int, error) {
	list, err := k.send(http.MethodGet, namespaced+of, nil)
	items, _ := list["items"].([]any)
	return len(items), err
}

// eventually asks every few milliseconds, until it is so.
func eventually(so func() (bool, error)) error {
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if yes, err := so(); yes || err != nil {
			return err
		}
	}
	return errors.New("it took longer than a minute")
}
