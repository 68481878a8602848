package graphql_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graph"
)

// BenchmarkPlain_ListOfPods measures what GraphQL does with 100 pods that are in memory, by what the Python SDK asks for.
func BenchmarkPlain_ListOfPods(b *testing.B) {
	of := &objects{}
	exec := executor.New(graph.NewExecutableSchema(graph.Config{Resolvers: given{query: givenQuery{of: of}, user: givenUser{of: of}}}))
	random := rand.New(rand.NewPCG(1, 2)) // the same values every time
	of.User, of.Cluster = &graph.User{}, &graph.Cluster{Pods: make([]*graph.Pod, 100)}
	for i := range of.Cluster.Pods {
		of.Cluster.Pods[i] = &graph.Pod{}
		fillModel(reflect.ValueOf(of.Cluster.Pods[i]).Elem(), random)
	}

	document := `{ myself { cluster { pods { id containerDiskInGb costPerHr desiredStatus dockerArgs dockerId env gpuCount imageName
		lastStatusChange machineId memoryInGb name podType port ports uptimeSeconds vcpuCount volumeInGb volumeMountPath
		runtime { ports { ip isIpPublic privatePort publicPort type } } machine { gpuDisplayName } } } } }`
	for b.Loop() {
		ctx := gqlgen.StartOperationTrace(b.Context())
		operation, errs := exec.CreateOperationContext(ctx, &gqlgen.RawParams{Query: document})
		require.Empty(b, errs)
		next, ctx := exec.DispatchOperation(ctx, operation)
		require.Empty(b, next(ctx).Errors)
	}
}
