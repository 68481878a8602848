package kubetest

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// GPUDriver is the driver of devices that say no other.
const GPUDriver = "gpu.nvidia.com"

// deviceFinalizer keeps a claim as long as it has devices.
const deviceFinalizer = "resource.kubernetes.io/delete-protection"

// Devices are a slice of what a driver offers on a node.
type Devices struct {
	Name       string   // of the slice; empty: the node's
	Node       string   // whose they are
	Driver     string   // empty: GPUDriver
	Pool       string   // empty: the node's name
	Generation int64    // of the pool: slices of a lower one than the highest do not count
	Products   []string // one for each device; empty: it does not say
	CUDA       string   // version that the driver runs, in three parts; empty: it does not say
	Type       string   // of the devices; empty: they do not say
}

// AddDevices has a driver offer devices.
func (s *Server) AddDevices(t testing.TB, d Devices) {
	t.Helper()
	if d.Driver == "" {
		d.Driver = GPUDriver
	}
	if d.Pool == "" {
		d.Pool = d.Node
	}
	if d.Name == "" {
		d.Name = d.Node
	}

	var all []any
	for i, product := range d.Products {
		attributes := object{"uuid": object{"string": "GPU-" + newUID()}}
		if product != "" {
			attributes["productName"] = object{"string": product}
		}
		if d.Type != "" {
			attributes["type"] = object{"string": d.Type}
		}
		if d.CUDA != "" {
			attributes[d.Driver+"/cudaDriverVersion"] = object{"version": d.CUDA}
		}
		all = append(all, object{"name": fmt.Sprint("gpu-", i), "attributes": attributes})
	}
	s.Put(t, deviceSlices, object{"metadata": object{"name": d.Name}, "spec": object{
		"driver": d.Driver, "nodeName": d.Node, "devices": all,
		"pool": object{"name": d.Pool, "generation": float64(d.Generation), "resourceSliceCount": 1.0},
	}})
}

// AddDeviceClass makes a class of the GPUs of GPUDriver: of its devices those whose type is gpu, or who do not say theirs.
func (s *Server) AddDeviceClass(t testing.TB, name string) {
	t.Helper()
	s.Put(t, deviceClasses, object{"metadata": object{"name": name}, "spec": object{}})
}

// What a server may lack that is older than claims for devices.
const (
	DeviceGroup   = "the group of the API"
	DeviceVersion = "the version, and it has an earlier one"
)

// WithoutDevices has the server lack claims for devices.
func (s *Server) WithoutDevices(lacks string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacks = lacks
}

// missesDevices answers what is asked of devices if the server lacks them.
func (s *Server) missesDevices(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	lacks := s.lacks
	s.mu.Unlock()
	switch lacks {
	case DeviceGroup:
		http.NotFound(w, r) // without a Status
	case DeviceVersion:
		refuse(http.StatusNotFound, "NotFound", "the server could not find the requested resource").write(w)
	}
	return lacks != ""
}

// productsForm is that of the expressions that berth writes.
var productsForm = regexp.MustCompile(`^device\.attributes\[("(?:[^"\\]|\\.)*")\]\.productName in \[(.+)\]$`)

// readProducts reads an expression: the products, of which a device of the driver has to be one.
func readProducts(expression string) (driver string, products []string, ok bool) {
	parts := productsForm.FindStringSubmatch(expression)
	if parts == nil {
		return "", nil, false
	}
	driver, err := strconv.Unquote(parts[1])
	for rest := parts[2]; err == nil; {
		var quoted, product string
		if quoted, err = strconv.QuotedPrefix(rest); err != nil {
			break
		}
		product, err = strconv.Unquote(quoted)
		products = append(products, product)
		if rest = rest[len(quoted):]; rest == "" {
			return driver, products, err == nil
		}
		if rest, ok = strings.CutPrefix(rest, ", "); !ok {
			break
		}
	}
	return "", nil, false
}

// checkDeviceClaim refuses what the real server refuses, and expressions of other forms than berth's.
func checkDeviceClaim(o object, invalid func(string, any) *refusal) *refusal {
	all := items(o, "spec", "devices", "requests")
	if len(all) == 0 {
		return invalid("spec.devices.requests", "[]")
	}
	for _, r := range all {
		switch {
		case !hostForm.MatchString(text(r, "name")):
			return invalid("spec.devices.requests.name", text(r, "name"))
		case !nameForm.MatchString(text(r, "exactly", "deviceClassName")):
			return invalid("spec.devices.requests.exactly.deviceClassName", text(r, "exactly", "deviceClassName"))
		case text(r, "exactly", "allocationMode") != "ExactCount" || number(r, "exactly", "count") < 1:
			return invalid("spec.devices.requests.exactly.count", number(r, "exactly", "count"))
		}
		for _, selector := range items(r, "exactly", "selectors") {
			if _, _, ok := readProducts(text(selector, "cel", "expression")); !ok {
				return invalid("spec.devices.requests.exactly.selectors", text(selector, "cel", "expression"))
			}
		}
	}
	return nil
}

// claimsOf gives the names of the device claims of a Pod.
func claimsOf(p object) (names []string) {
	for _, c := range items(p, "spec", "resourceClaims") {
		names = append(names, text(c, "resourceClaimName"))
	}
	return names
}

// unready reports why no node will do for a Pod's device claims, whatever it has; empty if one may. The caller has the lock.
func (s *Server) unready(p object) string {
	for _, name := range claimsOf(p) {
		c := s.stored[deviceClaims][name]
		switch {
		case c == nil:
			return fmt.Sprintf("resourceclaim %q not found", name)
		case has(c, "metadata", "deletionTimestamp"):
			return fmt.Sprintf("resourceclaim %q is being deleted", name)
		case has(c, "status", "allocation"):
			return "resourceclaim in use"
		}
		for _, r := range items(c, "spec", "devices", "requests") {
			if class := text(r, "exactly", "deviceClassName"); s.stored[deviceClasses][class] == nil {
				return fmt.Sprintf("request %s: device class %s does not exist", text(r, "name"), class)
			}
		}
	}
	return ""
}

// devicesFor finds the devices of a node for a Pod's claims, by their names; all is false if they are too few. The caller has the lock.
func (s *Server) devicesFor(p object, node string) (found map[string][]any, all bool) {
	found = map[string][]any{}
	used := map[string]bool{}
	for _, c := range s.stored[deviceClaims] {
		for _, r := range items(c, "status", "allocation", "devices", "results") {
			used[keyOf(r)] = true
		}
	}

	for _, name := range claimsOf(p) {
		for _, r := range items(s.stored[deviceClaims][name], "spec", "devices", "requests") {
			wanted := number(r, "exactly", "count")
			for _, d := range s.offered(node, r) {
				if wanted > 0 && !used[keyOf(d)] {
					used[keyOf(d)] = true
					wanted--
					found[name] = append(found[name], d)
				}
			}
			if wanted > 0 {
				return nil, false
			}
		}
	}
	return found, true
}

// keyOf tells apart devices.
func keyOf(result object) string {
	return text(result, "driver") + "/" + text(result, "pool") + "/" + text(result, "device")
}

// offered gives the devices of a node that a request selects, as results of an allocation. The caller has the lock.
func (s *Server) offered(node string, request object) (all []object) {
	highest := map[string]int64{}
	for _, o := range s.stored[deviceSlices] {
		pool := text(o, "spec", "pool", "name")
		highest[pool] = max(highest[pool], number(o, "spec", "pool", "generation"))
	}

	for _, name := range slices.Sorted(maps.Keys(s.stored[deviceSlices])) {
		o := s.stored[deviceSlices][name]
		pool, driver := text(o, "spec", "pool", "name"), text(o, "spec", "driver")
		if text(o, "spec", "nodeName") != node || driver != GPUDriver || number(o, "spec", "pool", "generation") < highest[pool] {
			continue
		}
		for _, d := range items(o, "spec", "devices") {
			kind := text(d, "attributes", "type", "string")
			if (kind == "" || kind == "gpu") && selected(request, driver, d) {
				all = append(all, object{"request": text(request, "name"), "driver": driver, "pool": pool, "device": text(d, "name")})
			}
		}
	}
	return all
}

// selected reports whether the selectors of a request select a device.
func selected(request object, driver string, d object) bool {
	for _, selector := range items(request, "exactly", "selectors") {
		of, products, _ := readProducts(text(selector, "cel", "expression"))
		if of != driver || !slices.Contains(products, text(d, "attributes", "productName", "string")) {
			return false
		}
	}
	return true
}

// giveDevices allocates the devices of a Pod on its node. The caller has the lock.
func (s *Server) giveDevices(p object, node string) {
	found, _ := s.devicesFor(p, node)
	for name, results := range found {
		s.change(deviceClaims, name, "", func(o object) {
			put(o, object{
				"allocation":  object{"devices": object{"results": results}},
				"reservedFor": []any{object{"resource": pods, "name": nameOf(p), "uid": uidOf(p)}},
			}, "status")
			put(o, []any{deviceFinalizer}, "metadata", "finalizers")
		})
	}
}

// freeDevices takes the devices of claims back whose Pod has ended or is gone. The caller has the lock.
func (s *Server) freeDevices() {
	for _, c := range slices.Collect(maps.Values(s.stored[deviceClaims])) {
		for _, user := range items(c, "status", "reservedFor") {
			p := s.stored[pods][text(user, "name")]
			if p != nil && uidOf(p) == text(user, "uid") && !isTerminal(p) {
				continue
			}
			c = clone(c)
			delete(c, "status")
			delete(c["metadata"].(object), "finalizers")
			kind := "MODIFIED"
			if has(c, "metadata", "deletionTimestamp") {
				kind = "DELETED"
			}
			s.commit(kind, deviceClaims, c)
		}
	}
}
