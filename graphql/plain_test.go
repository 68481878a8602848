package graphql_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/gen/graph"
)

// given are resolvers that give what they hold.
type given struct {
	graph.ResolverRoot
	user  givenUser
	query givenQuery
}

func (g given) Query() graph.QueryResolver { return g.query }
func (g given) User() graph.UserResolver   { return g.user }

type givenQuery struct {
	graph.QueryResolver
	of *objects
}

type givenUser struct {
	graph.UserResolver
	of *objects
}

// objects are one of each type.
type objects struct {
	Pod         *graph.Pod
	PodTemplate *graph.PodTemplate
	DataCenters []*graph.DataCenter
	GpuTypes    []*graph.GpuType
	CPUFlavors  []*graph.CPUFlavor
	CPUTypes    []*graph.CPUType
	Pools       []*graph.ServerlessGpuPool
	Cluster     *graph.Cluster
	Endpoints   []*graph.Endpoint
	Registries  []*graph.ContainerRegistryAuth
	Secrets     []*graph.Secret
	Volumes     []*graph.NetworkVolume
	FlashApp    *graph.FlashApp
	Login       *graph.FlashAuthRequest
	User        *graph.User
}

func (q givenQuery) Myself(context.Context) (*graph.User, error) { return q.of.User, nil }
func (q givenQuery) Pod(context.Context, *graph.PodFilter) (*graph.Pod, error) {
	return q.of.Pod, nil
}

func (q givenQuery) FlashApp(context.Context, string) (*graph.FlashApp, error) {
	return q.of.FlashApp, nil
}

func (q givenQuery) FlashAuthRequestStatus(context.Context, string) (*graph.FlashAuthRequest, error) {
	return q.of.Login, nil
}

func (q givenQuery) PodTemplate(context.Context, string) (*graph.PodTemplate, error) {
	return q.of.PodTemplate, nil
}

func (q givenQuery) DataCenters(context.Context) ([]*graph.DataCenter, error) {
	return q.of.DataCenters, nil
}

func (q givenQuery) GpuTypes(context.Context, *graph.GpuTypeFilter) ([]*graph.GpuType, error) {
	return q.of.GpuTypes, nil
}

func (q givenQuery) CPUFlavors(context.Context, *graph.CPUFlavorInput) ([]*graph.CPUFlavor, error) {
	return q.of.CPUFlavors, nil
}

func (q givenQuery) CPUTypes(context.Context) ([]*graph.CPUType, error) { return q.of.CPUTypes, nil }

func (q givenQuery) ServerlessGpuPools(context.Context) ([]*graph.ServerlessGpuPool, error) {
	return q.of.Pools, nil
}

func (u givenUser) Cluster(context.Context, *graph.User, *graph.ClusterInput) (*graph.Cluster, error) {
	return u.of.Cluster, nil
}

func (u givenUser) Endpoints(context.Context, *graph.User) ([]*graph.Endpoint, error) {
	return u.of.Endpoints, nil
}

func (u givenUser) ContainerRegistryCreds(context.Context, *graph.User) ([]*graph.ContainerRegistryAuth, error) {
	return u.of.Registries, nil
}

func (u givenUser) Secrets(context.Context, *graph.User) ([]*graph.Secret, error) {
	return u.of.Secrets, nil
}

func (u givenUser) NetworkVolumes(context.Context, *graph.User) ([]*graph.NetworkVolume, error) {
	return u.of.Volumes, nil
}

// TestPlain_FieldsAreThoseOfTheModels holds every field of every type that no resolver gives against encoding/json, over values that are
// often absent.
func TestPlain_FieldsAreThoseOfTheModels(t *testing.T) {
	t.Parallel()
	of := &objects{}
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: given{query: givenQuery{of: of}, user: givenUser{of: of}}})
	exec := executor.New(schema)

	seen := map[string]bool{}
	all := func(name string) string { return selectionOf(schema.Schema(), schema.Schema().Types[name], 8, seen) }
	document := "{ pod" + all("Pod") + " podTemplate(id: \"a\")" + all("PodTemplate") + " dataCenters" + all("DataCenter") + " gpuTypes" + all("GpuType") +
		" flashApp(flashAppId: \"a\")" + all("FlashApp") + " flashAuthRequestStatus(flashAuthRequestId: \"a\")" + all("FlashAuthRequest") + " cpuFlavors" + all("CpuFlavor") + " cpuTypes" + all("CpuType") + " serverlessGpuPools" + all("ServerlessGpuPool") +
		" myself { cluster" + all("Cluster") + " endpoints" + all("Endpoint") + " containerRegistryCreds" + all("ContainerRegistryAuth") +
		" secrets" + all("Secret") + " networkVolumes" + all("NetworkVolume") + " } }"
	for name, d := range schema.Schema().Types {
		switch {
		case d.Kind != ast.Object || strings.HasPrefix(name, "__"), name == "Query", name == "Mutation", name == "User":
		case slices.Contains([]string{"LowestPrice", "Specifics", "GpuAvailability", "GpuTypeCudaVersion", "Discount", "FlashArtifact", "FlashArtifactUpload"}, name): // which resolvers give, or nothing
		default:
			require.True(t, seen[name], "nothing here asks for a %s", name)
		}
	}

	random := rand.New(rand.NewPCG(1, 2)) // the same values every time
	for range 200 {
		fillModel(reflect.ValueOf(of).Elem(), random)
		of.User = &graph.User{}
		ctx := gqlgen.StartOperationTrace(t.Context())
		operation, errs := exec.CreateOperationContext(ctx, &gqlgen.RawParams{Query: document})
		require.Empty(t, errs)
		next, ctx := exec.DispatchOperation(ctx, operation)
		answer := next(ctx)
		require.Empty(t, answer.Errors)

		want := map[string]any{
			"pod": of.Pod, "flashApp": of.FlashApp, "flashAuthRequestStatus": of.Login, "podTemplate": of.PodTemplate, "dataCenters": of.DataCenters, "gpuTypes": of.GpuTypes, "cpuFlavors": of.CPUFlavors,
			"cpuTypes": of.CPUTypes, "serverlessGpuPools": of.Pools, "myself": map[string]any{
				"cluster": of.Cluster, "endpoints": of.Endpoints, "containerRegistryCreds": of.Registries, "secrets": of.Secrets, "networkVolumes": of.Volumes,
			},
		}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		require.Equal(t, present(t, text), present(t, answer.Data))
	}
}

// byResolvers are the fields of models that resolvers give.
var byResolvers = map[string]bool{
	"User": true, "LowestPrice": true, "Specifics": true, "GpuAvailability": true,
	"FlashEnvironment.Endpoints": true, "FlashEnvironment.ActiveArtifact": true, "FlashBuild.Manifest": true,
}

// selectionOf asks for every field of a type that no resolver gives, so deep.
func selectionOf(s *ast.Schema, d *ast.Definition, depth int, seen map[string]bool) string {
	if d.Kind != ast.Object {
		return ""
	}
	if depth == 0 {
		return "none"
	}

	seen[d.Name] = true
	var b strings.Builder
	for _, f := range d.Fields {
		if byResolvers[d.Name+"."+strings.ToUpper(f.Name[:1])+f.Name[1:]] {
			continue
		}
		below := ""
		if inner := s.Types[f.Type.Name()]; len(f.Arguments) == 0 {
			below = selectionOf(s, inner, depth-1, seen)
		}
		if len(f.Arguments) == 0 && below != "none" {
			b.WriteString(" " + f.Name + below)
		}
	}
	if b.Len() == 0 {
		return "none"
	}
	return " {" + b.String() + " }"
}

// fillModel sets v to a value; pointers and lists now and then to none.
func fillModel(v reflect.Value, random *rand.Rand) {
	if _, ok := v.Interface().(time.Time); ok {
		v.Set(reflect.ValueOf(time.UnixMilli(random.Int64N(1 << 40)).UTC()))
		return
	}

	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; !byResolvers[name] && !byResolvers[v.Type().Name()+"."+name] {
				fillModel(v.Field(i), random)
			}
		}
	case reflect.Pointer:
		v.SetZero()
		if random.IntN(5) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillModel(v.Elem(), random)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fillModel(v.Index(i), random)
		}
	case reflect.String:
		if v.SetString("WORD"); v.Type() != reflect.TypeFor[string]() {
			return // an enumeration
		}
		v.SetString([]string{"", "a", "<&>", "é\n\"\\\t\x01", "\u2028"}[random.IntN(5)])
	case reflect.Int:
		v.SetInt(random.Int64N(1000) - 500)
	case reflect.Float64:
		v.SetFloat([]float64{0, 0.1, -7, 1e-9, 1e9}[random.IntN(5)])
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	}
}

// present gives the members of JSON that are not null and no empty list.
func present(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	return withoutNull(v)
}

func withoutNull(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, of := range v {
			of = withoutNull(of)
			if list, ok := of.([]any); of == nil || ok && len(list) == 0 {
				delete(v, name)
			} else {
				v[name] = of
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNull(v[i])
		}
	}
	return v
}
