package kubetest

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// change is one of the stored objects, for who watches.
type change struct {
	version  uint64
	kind     string // ADDED, MODIFIED or DELETED
	resource string
	object   object
}

const mostHistory = 20_000

// commit stores a change of an object, which is its own from then on. The caller has the lock.
func (s *Server) commit(kind, resource string, o object) {
	s.version++
	put(o, strconv.FormatUint(s.version, 10), "metadata", "resourceVersion")
	if kind == "DELETED" {
		delete(s.stored[resource], nameOf(o))
	} else {
		s.stored[resource][nameOf(o)] = o
	}
	s.history = append(s.history, change{s.version, kind, resource, clone(o)})
	if extra := len(s.history) - mostHistory; extra > 0 {
		s.oldest = s.history[extra-1].version
		s.history = slices.Clone(s.history[extra:])
	}

	close(s.changed)
	s.changed = make(chan struct{})
	if resource == pods || resource == nodes || versionOf(resource) == "resource.k8s.io/v1" {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	if kind == "DELETED" && resource == pods {
		s.collect(o)
	}
}

// The forms of names and labels.
var (
	nameForm  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	hostForm  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	labelForm = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
	keyForm   = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	dataForm  = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
)

// check refuses what the real server refuses, too, of what berth may get wrong.
func check(resource string, o object) *refusal {
	invalid := func(field string, value any) *refusal {
		return refuse(http.StatusUnprocessableEntity, "Invalid", "%s %q is invalid: %s: Invalid value: %v", kinds[resource], nameOf(o), field, value)
	}
	if !nameForm.MatchString(nameOf(o)) {
		return invalid("metadata.name", nameOf(o))
	}
	if text(o, "kind") != kinds[resource] || text(o, "apiVersion") != versionOf(resource) {
		return refuse(http.StatusBadRequest, "BadRequest", "%s in version %q cannot be handled as a %s", text(o, "kind"), text(o, "apiVersion"), kinds[resource])
	}

	labels, _ := at(o, "metadata", "labels").(object)
	for name, value := range labels {
		if value, ok := value.(string); !ok || !keyForm.MatchString(name) || !labelForm.MatchString(value) {
			return invalid("metadata.labels", name)
		}
	}
	annotations, _ := at(o, "metadata", "annotations").(object)
	for name := range annotations {
		if !keyForm.MatchString(name) {
			return invalid("metadata.annotations", name)
		}
	}

	switch resource {
	case services:
		seen := map[string]bool{}
		for _, p := range items(o, "spec", "ports") {
			if key := text(p, "protocol") + strconv.FormatInt(number(p, "port"), 10); seen[key] || !hostForm.MatchString(text(p, "name")) {
				return invalid("spec.ports", key)
			} else {
				seen[key] = true
			}
		}
		if len(seen) == 0 {
			return invalid("spec.ports", "[]")
		}
	case secrets:
		data, _ := at(o, "data").(object)
		for name := range data {
			if !dataForm.MatchString(name) {
				return invalid("data", name)
			}
		}
	case pods:
		return checkPod(o, invalid)
	case deviceClaims:
		return checkDeviceClaim(o, invalid)
	}
	return nil
}

func checkPod(o object, invalid func(string, any) *refusal) *refusal {
	if host := text(o, "spec", "hostname"); host != "" && !hostForm.MatchString(host) {
		return invalid("spec.hostname", host)
	}
	for _, f := range words(o, "metadata", "finalizers") {
		if !keyForm.MatchString(f) {
			return invalid("metadata.finalizers", f)
		}
	}

	all := items(o, "spec", "containers")
	if len(all) == 0 || text(all[0], "image") == "" {
		return invalid("spec.containers", "[]")
	}
	limits, _ := at(all[0], "resources", "limits").(object)
	requests, _ := at(all[0], "resources", "requests").(object)
	for name, value := range requests {
		if _, ok := amount(value); !ok || limits[name] != value {
			return invalid("spec.containers[0].resources", name)
		}
	}
	for _, c := range items(all[0], "resources", "claims") {
		if !slices.ContainsFunc(items(o, "spec", "resourceClaims"), func(has object) bool { return text(has, "name") == text(c, "name") }) {
			return invalid("spec.containers[0].resources.claims", text(c, "name"))
		}
	}

	terms := items(o, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	for _, term := range terms {
		for _, f := range items(term, "matchFields") {
			if text(f, "key") != "metadata.name" || len(words(f, "values")) != 1 {
				return invalid("spec.affinity.matchFields", words(f, "values"))
			}
		}
		for _, f := range items(term, "matchExpressions") {
			if text(f, "operator") == "In" && len(words(f, "values")) == 0 {
				return invalid("spec.affinity.matchExpressions", f["key"])
			}
		}
	}
	return nil
}

// create stores a new object. The caller has the lock.
func (s *Server) create(resource string, o object) (object, *refusal) {
	if bad := check(resource, o); bad != nil {
		return nil, bad
	}
	name := nameOf(o)
	if _, exists := s.stored[resource][name]; exists {
		return nil, refuse(http.StatusConflict, "AlreadyExists", "%s %q already exists", resource, name)
	}
	put(o, newUID(), "metadata", "uid")
	put(o, s.now(), "metadata", "creationTimestamp")
	if resource != nodes && resource != deviceSlices && resource != deviceClasses {
		put(o, Namespace, "metadata", "namespace")
	}

	switch resource {
	case pods:
		put(o, object{"phase": "Pending", "qosClass": "Burstable"}, "status")
		for name, value := range map[string]any{"terminationGracePeriodSeconds": 30.0, "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "serviceAccountName": "default"} {
			if !has(o, "spec", name) {
				put(o, value, "spec", name)
			}
		}
	case claims:
		put(o, []any{"kubernetes.io/pvc-protection"}, "metadata", "finalizers")
		put(o, object{"phase": "Bound"}, "status")
	case services:
		if bad := s.publish(o); bad != nil {
			return nil, bad
		}
	}
	s.commit("ADDED", resource, o)
	return clone(o), nil
}

// change changes an object and stores it; nothing happens if there is none of that uid. The caller has the lock.
func (s *Server) change(resource, name, uid string, f func(object)) {
	o := s.stored[resource][name]
	if o == nil || uid != "" && uidOf(o) != uid {
		return
	}
	o = clone(o)
	f(o)
	s.commit("MODIFIED", resource, o)
}

// patch merges a patch into an object. The caller has the lock.
func (s *Server) patch(resource, name string, patch object) (object, *refusal) {
	o := s.stored[resource][name]
	if o == nil {
		return nil, notFound(resource, name)
	}
	if wanted := text(patch, "metadata", "uid"); wanted != "" && wanted != uidOf(o) {
		return nil, refuse(http.StatusUnprocessableEntity, "Invalid", "%s %q is invalid: metadata.uid: Invalid value: %q: field is immutable", kinds[resource], name, wanted)
	}
	if wanted := text(patch, "metadata", "resourceVersion"); wanted != "" && wanted != text(o, "metadata", "resourceVersion") {
		return nil, refuse(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: the object has been modified", resource, name)
	}
	if (resource == pods || resource == deviceClaims) && has(patch, "spec") {
		return nil, refuse(http.StatusUnprocessableEntity, "Invalid", "%s %q is invalid: spec: Forbidden: updates may not change fields", kinds[resource], name)
	}

	o = clone(o)
	merge(o, patch)
	if has(o, "metadata", "deletionTimestamp") && len(words(o, "metadata", "finalizers")) == 0 && number(o, "metadata", "deletionGracePeriodSeconds") == 0 {
		s.commit("DELETED", resource, o)
	} else {
		s.commit("MODIFIED", resource, o)
	}
	return clone(o), nil
}

// remove deletes an object: at once, or once its grace has passed and its finalizers are gone. The caller has the lock.
func (s *Server) remove(resource, name string, options object) (object, *refusal) {
	o := s.stored[resource][name]
	if o == nil {
		return nil, notFound(resource, name)
	}
	if wanted := text(options, "preconditions", "uid"); wanted != "" && wanted != uidOf(o) {
		return nil, refuse(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: Precondition failed: UID in precondition", resource, name)
	}

	o = clone(o)
	var grace int64
	if resource == pods && text(o, "spec", "nodeName") != "" && !isTerminal(o) {
		grace = number(o, "spec", "terminationGracePeriodSeconds")
		if has(options, "gracePeriodSeconds") {
			grace = number(options, "gracePeriodSeconds")
		}
	}
	if has(o, "metadata", "deletionTimestamp") && number(o, "metadata", "deletionGracePeriodSeconds") <= grace && grace > 0 {
		return o, nil
	}

	asked := s.clock.Wall()
	if before, err := time.Parse(time.RFC3339, text(o, "metadata", "deletionTimestamp")); err == nil { // a shorter grace is of the first request, too
		asked = before.Add(-time.Duration(number(o, "metadata", "deletionGracePeriodSeconds")) * time.Second)
	}
	put(o, asked.Add(time.Duration(grace)*time.Second).Format(time.RFC3339), "metadata", "deletionTimestamp")
	put(o, float64(grace), "metadata", "deletionGracePeriodSeconds")
	switch {
	case grace > 0 || len(words(o, "metadata", "finalizers")) > 0:
		s.commit("MODIFIED", resource, o)
	default:
		s.commit("DELETED", resource, o)
		s.unpublish(o)
	}
	if resource == claims {
		s.freeClaims()
	}
	return clone(o), nil
}

func isTerminal(p object) bool {
	phase := text(p, "status", "phase")
	return phase == "Succeeded" || phase == "Failed"
}

// collect removes what goes with a Pod that is gone: what it owns, and volume claims that were kept for it alone. The caller has the lock.
func (s *Server) collect(p object) {
	for _, resource := range []string{secrets, services} {
		for _, o := range slices.Collect(maps.Values(s.stored[resource])) {
			for _, owner := range items(o, "metadata", "ownerReferences") {
				if text(owner, "uid") == uidOf(p) {
					_, _ = s.remove(resource, nameOf(o), object{})
				}
			}
		}
	}
	s.freeClaims()
}

// freeClaims removes the volume claims that are to be deleted and that no Pod uses. The caller has the lock.
func (s *Server) freeClaims() {
	used := map[string]bool{}
	for _, p := range s.stored[pods] {
		for _, v := range items(p, "spec", "volumes") {
			if !isTerminal(p) {
				used[text(v, "persistentVolumeClaim", "claimName")] = true
			}
		}
	}
	for _, c := range slices.Collect(maps.Values(s.stored[claims])) {
		if has(c, "metadata", "deletionTimestamp") && !used[nameOf(c)] {
			delete(s.disks, uidOf(c))
			s.commit("DELETED", claims, clone(c))
		}
	}
}
