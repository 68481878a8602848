package kubetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schedule places Pods as long as the cluster is there.
func (s *Server) schedule() {
	for {
		select {
		case <-s.wake:
		case <-s.done:
			return
		}
		s.mu.Lock()
		s.place()
		s.mu.Unlock()
	}
}

// place gives each Pod that has none a node with room for it, or says why there is none. The caller has the lock.
func (s *Server) place() {
	s.freeDevices()
	used := map[string]map[string]float64{}
	var waiting []object
	for _, p := range s.stored[pods] {
		switch node := text(p, "spec", "nodeName"); {
		case node != "" && !isTerminal(p):
			take(used, node, p)
		case node == "" && !isTerminal(p) && !has(p, "metadata", "deletionTimestamp"):
			waiting = append(waiting, p)
		}
	}

	slices.SortFunc(waiting, func(a, b object) int {
		return cmp.Or(cmp.Compare(text(a, "metadata", "creationTimestamp"), text(b, "metadata", "creationTimestamp")), cmp.Compare(nameOf(a), nameOf(b)))
	})
	names := slices.Sorted(maps.Keys(s.stored[nodes]))
	for _, p := range waiting {
		node, message := s.choose(p, names, used)
		if node == "" {
			s.waits(p, message)
			continue
		}
		take(used, node, p)
		s.giveDevices(p, node)
		s.change(pods, nameOf(p), uidOf(p), func(o object) {
			put(o, node, "spec", "nodeName")
			setCondition(o, object{"type": "PodScheduled", "status": "True", "lastTransitionTime": s.now()})
		})
		s.work.Go(func() { s.kubelet(nameOf(p), uidOf(p), node) })
	}
}

// waits says why a Pod has no node. The caller has the lock.
func (s *Server) waits(p object, message string) {
	for _, c := range items(p, "status", "conditions") {
		if text(c, "type") == "PodScheduled" && text(c, "message") == message {
			return
		}
	}
	s.change(pods, nameOf(p), uidOf(p), func(o object) {
		setCondition(o, object{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message, "lastTransitionTime": s.now()})
	})
}

// take counts what a Pod takes of a node.
func take(used map[string]map[string]float64, node string, p object) {
	if used[node] == nil {
		used[node] = map[string]float64{}
	}
	used[node]["pods"]++
	for _, c := range items(p, "spec", "containers") {
		requests, _ := at(c, "resources", "requests").(object)
		for name, value := range requests {
			n, _ := amount(value)
			used[node][name] += n
		}
	}
}

// choose gives the first node that will do, or the message in the words of the real scheduler.
func (s *Server) choose(p object, names []string, used map[string]map[string]float64) (node, message string) {
	for _, v := range items(p, "spec", "volumes") {
		if claim := text(v, "persistentVolumeClaim", "claimName"); claim != "" && s.stored[claims][claim] == nil {
			return "", fmt.Sprintf("0/%d nodes are available: persistentvolumeclaim %q not found.", len(names), claim)
		}
	}
	if len(names) == 0 {
		return "", "no nodes available to schedule pods"
	}
	if message := s.unready(p); message != "" {
		return "", fmt.Sprintf("0/%d nodes are available: %s.", len(names), message)
	}

	counts := map[string]int{}
	for _, name := range names {
		why := unfit(p, s.stored[nodes][name], used[name])
		if len(why) == 0 {
			if _, all := s.devicesFor(p, name); all {
				return name, ""
			}
			why = []string{"cannot allocate all claims"}
		}
		for _, w := range why {
			counts[w]++
		}
	}
	var parts []string
	for why, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, why))
	}
	slices.Sort(parts)
	return "", fmt.Sprintf("0/%d nodes are available: %s.", len(names), strings.Join(parts, ", "))
}

// unfit reports why a Pod cannot be on a node; nothing if it can.
func unfit(p, node object, used map[string]float64) (why []string) {
	if on, _ := at(node, "spec", "unschedulable").(bool); on {
		return []string{"node(s) were unschedulable"}
	}
	for _, c := range items(node, "status", "conditions") {
		if text(c, "type") == "Ready" && text(c, "status") != "True" {
			return []string{"node(s) had untolerated taint(s)"}
		}
	}
	for _, taint := range items(node, "spec", "taints") {
		if !slices.ContainsFunc(items(p, "spec", "tolerations"), func(t object) bool { return text(t, "key") == text(taint, "key") }) {
			return []string{fmt.Sprintf("node(s) had untolerated taint(s) {%s: %s}", text(taint, "key"), text(taint, "value"))}
		}
	}
	if !suits(p, node) {
		return []string{"node(s) didn't match Pod's node affinity/selector"}
	}

	wanted := map[string]map[string]float64{}
	take(wanted, "", p)
	for name, n := range wanted[""] {
		has, _ := amount(at(node, "status", "allocatable", name))
		if used[name]+n > has {
			if name == "pods" {
				why = append(why, "Too many pods")
			} else {
				why = append(why, "Insufficient "+name)
			}
		}
	}
	return why
}

// suits reports whether a node is among those that a Pod asks for.
func suits(p, node object) bool {
	const required = "requiredDuringSchedulingIgnoredDuringExecution"
	terms := items(p, "spec", "affinity", "nodeAffinity", required, "nodeSelectorTerms")
	if !has(p, "spec", "affinity", "nodeAffinity", required) {
		return true
	}
	return slices.ContainsFunc(terms, func(term object) bool {
		for _, r := range items(term, "matchExpressions") {
			if !slices.Contains(words(r, "values"), text(node, "metadata", "labels", text(r, "key"))) {
				return false
			}
		}
		for _, r := range items(term, "matchFields") {
			if slices.Contains(words(r, "values"), nameOf(node)) == (text(r, "operator") == "NotIn") {
				return false
			}
		}
		return true
	})
}
