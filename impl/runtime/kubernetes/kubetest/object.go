package kubetest

import (
	"encoding/json"
	"slices"
	"strings"
)

// The resources.
const (
	pods     = "pods"
	nodes    = "nodes"
	secrets  = "secrets"
	services = "services"
	claims   = "persistentvolumeclaims"
	classes  = "storageclasses"

	deviceClaims  = "resourceclaims"
	deviceSlices  = "resourceslices"
	deviceClasses = "deviceclasses"
)

// kinds are those of the resources' objects.
var kinds = map[string]string{
	pods: "Pod", nodes: "Node", secrets: "Secret", services: "Service", claims: "PersistentVolumeClaim", classes: "StorageClass",
	deviceClaims: "ResourceClaim", deviceSlices: "ResourceSlice", deviceClasses: "DeviceClass",
}

// versionOf is the version of the API that has a resource.
func versionOf(resource string) string {
	switch resource {
	case deviceClaims, deviceSlices, deviceClasses:
		return "resource.k8s.io/v1"
	case classes:
		return "storage.k8s.io/v1"
	}
	return "v1"
}

// object is one of the API, as JSON has it.
type object = map[string]any

// clone copies a value deeply.
func clone[T any](of T) (same T) {
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &same)
	}
	if err != nil {
		panic(err) // it came from JSON
	}
	return same
}

// at gives what is at a path in an object; nil if there is nothing.
func at(o object, path ...string) any {
	var value any = o
	for _, name := range path {
		inner, ok := value.(object)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

// text gives the text at a path; empty if there is none.
func text(o object, path ...string) string {
	s, _ := at(o, path...).(string)
	return s
}

// number gives the number at a path; 0 if there is none.
func number(o object, path ...string) int64 {
	switch n := at(o, path...).(type) {
	case float64:
		return int64(n)
	case int64:
		return n
	case int:
		return int64(n)
	}
	return 0
}

// has reports whether there is something at a path.
func has(o object, path ...string) bool { return at(o, path...) != nil }

// items gives the objects of a list at a path.
func items(o object, path ...string) (all []object) {
	list, _ := at(o, path...).([]any)
	for _, one := range list {
		if inner, ok := one.(object); ok {
			all = append(all, inner)
		}
	}
	return all
}

// words gives the texts of a list at a path.
func words(o object, path ...string) (all []string) {
	list, _ := at(o, path...).([]any)
	for _, one := range list {
		if word, ok := one.(string); ok {
			all = append(all, word)
		}
	}
	return all
}

// put sets what is at a path. Objects on the way are made.
func put(o object, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		inner, ok := o[name].(object)
		if !ok {
			inner = object{}
			o[name] = inner
		}
		o = inner
	}
	o[path[len(path)-1]] = value
}

func nameOf(o object) string { return text(o, "metadata", "name") }
func uidOf(o object) string  { return text(o, "metadata", "uid") }

// selects reports whether labels are those that a selector asks for: a=b and a, with commas between.
func selects(selector string, o object) bool {
	for part := range strings.SplitSeq(selector, ",") {
		if part == "" {
			continue
		}
		name, value, equal := strings.Cut(part, "=")
		label, there := at(o, "metadata", "labels", name).(string)
		if !there || equal && label != value {
			return false
		}
	}
	return true
}

// merge applies a JSON merge patch (RFC 7386).
func merge(to, patch object) {
	for name, value := range patch {
		inner, is := value.(object)
		if value == nil {
			delete(to, name)
			continue
		}
		if !is {
			to[name] = value
			continue
		}
		below, ok := to[name].(object)
		if !ok {
			below = object{}
			to[name] = below
		}
		merge(below, inner)
	}
}

// setCondition sets a condition of a status, in place of the one of its type.
func setCondition(o object, c object) {
	list, _ := at(o, "status", "conditions").([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(one any) bool {
		before, _ := one.(object)
		return before["type"] == c["type"]
	})
	put(o, append(list, c), "status", "conditions")
}
