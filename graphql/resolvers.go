package graphql

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

// resolvers implements what the schema needs code for.
type resolvers struct{ Services }

// What each type of the schema asks for is in the file of its resource.
type (
	queries     struct{ Services }
	mutations   struct{ Services }
	users       struct{ Services }
	gpuTypes    struct{ Services }
	cpuFlavors  struct{ Services }
	dataCenters struct{ Services }

	flashEnvironments struct{ Services }
	flashBuilds       struct{ Services }
)

var _ graph.ResolverRoot = resolvers{}

func (r resolvers) Query() graph.QueryResolver           { return queries(r) }
func (r resolvers) Mutation() graph.MutationResolver     { return mutations(r) }
func (r resolvers) User() graph.UserResolver             { return users(r) }
func (r resolvers) GpuType() graph.GpuTypeResolver       { return gpuTypes(r) }
func (r resolvers) CpuFlavor() graph.CpuFlavorResolver   { return cpuFlavors(r) } //nolint:revive // the generator names it
func (r resolvers) DataCenter() graph.DataCenterResolver { return dataCenters(r) }

func (r resolvers) FlashEnvironment() graph.FlashEnvironmentResolver { return flashEnvironments(r) }
func (r resolvers) FlashBuild() graph.FlashBuildResolver             { return flashBuilds(r) }

// violations collects what an input breaks, one line for each.
type violations []string

// must notes a violation at a field of the input, unless ok.
func (v *violations) must(ok bool, field, format string, args ...any) {
	if !ok {
		*v = append(*v, "input."+field+": "+fmt.Sprintf(format, args...))
	}
}

func (v violations) err() error {
	if len(v) == 0 {
		return nil
	}
	return &compute.Error{Code: compute.Invalid, Detail: strings.Join(v, "; "), Fields: v}
}

// value gives what p points to, or zero.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// or gives what p points to, or the fallback for nil and zero.
func or[T comparable](p *T, fallback T) T { return cmp.Or(value(p), fallback) }

// orNull gives a pointer to v, nil for zero.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// views shows each of a list. Never nil: an empty list is not null.
func views[T, V any](list []T, view func(T) V) []V {
	shown := make([]V, len(list))
	for i, one := range list {
		shown[i] = view(one)
	}
	return shown
}

// texts gives the texts of a list that are there.
func texts(list []*string) (all []string) {
	for _, s := range list {
		if value(s) != "" {
			all = append(all, *s)
		}
	}
	return all
}

// commas splits a list that is written with commas.
func commas(text string) (all []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// found hides that there is nothing of an id: by rule it is null and no error.
func found[T any](v *T, err error) (*T, error) {
	if compute.CodeOf(err) == compute.NotFound {
		return nil, nil //nolint:nilnil // rule graphql.pod.unknown
	}
	return v, err
}
