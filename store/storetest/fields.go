package storetest

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// fieldsStored fills every field of what is stored, so that one that a store forgets is named, also one that was just added.
func fieldsStored(t *testing.T, open Open) {
	s, clock := begin(t, open)
	came(t, s, "", store.Tx.InsertPod, func(tx store.Tx) (compute.Pod, error) { return tx.Pod("1") })
	came(t, s, "", store.Tx.InsertEndpoint, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("1") })
	came(t, s, "", store.Tx.InsertWorker, func(tx store.Tx) (compute.Worker, error) { return tx.Worker("1") })
	came(t, s, "", store.Tx.InsertEndedWorker, func(tx store.Tx) (compute.EndedWorker, error) { return tx.EndedWorker("1") })
	came(t, s, "Role Disabled", store.Tx.InsertKey, func(tx store.Tx) (compute.Key, error) { return tx.Key("1") }) // its user's
	came(t, s, "", store.Tx.InsertUser, func(tx store.Tx) (compute.User, error) { return tx.User("1") })
	came(t, s, "", store.Tx.InsertLogin, func(tx store.Tx) (compute.LoginRequest, error) { return tx.Login("1") })
	came(t, s, "", store.Tx.InsertVolume, func(tx store.Tx) (compute.Volume, error) { return tx.Volume("1") })
	came(t, s, "", store.Tx.InsertTemplate, func(tx store.Tx) (compute.Template, error) { return tx.Template("1") })
	came(t, s, "", store.Tx.InsertRegistry, func(tx store.Tx) (compute.Registry, error) { return tx.Registry("1") })
	came(t, s, "", store.Tx.InsertCluster, func(tx store.Tx) (compute.Cluster, error) { return tx.Cluster("1") })
	came(t, s, "", store.Tx.InsertRuntime, first(store.Tx.ListRuntimes))
	came(t, s, "", store.Tx.SetRequestCount, first(store.Tx.RequestCounts))
	came(t, s, "", store.Tx.InsertRelease, first(func(tx store.Tx) ([]compute.Release, error) { return firstPage(tx.PageReleases("1", wide)) }))
	came(t, s, "", store.Tx.InsertDelegation, first(func(tx store.Tx) ([]compute.Delegation, error) { return allOf(tx.ListDelegations("1", nil)) }))
	came(t, s, "", func(tx store.Tx, c compute.Claim) error { return tx.InsertClaims(claimedHost, c) }, first(store.Tx.ListClaims))
	came(t, s, "OutputSize", func(tx store.Tx, j compute.Job) error { return tx.InsertJob(j, nil) },
		func(tx store.Tx) (compute.Job, error) { return tx.Job("1") })

	came(t, s, "Seq Size", store.Tx.InsertWebhook, func(tx store.Tx) (w compute.Webhook, err error) {
		if err = tx.PendingWebhooks(0, func(one compute.Webhook) { w = one }); err == nil {
			w, err = tx.Webhook(w.Seq)
		}
		return w, err
	})

	came(t, s, "BeganAt SeenAt EndedAt SummedUntil", store.Tx.OpenCharge, first(func(tx store.Tx) ([]compute.Charge, error) { // by the clock
		return listCharges(tx, "1", []compute.Item{"1"}, nil, start, clock.Now().Add(time.Hour))
	}))
}

// fieldsChanged changes every field of what can be changed: what stays as it was is listed here.
func fieldsChanged(t *testing.T, open Open) {
	s, _ := begin(t, open)
	clash := func(ok bool, err error) error {
		if err == nil && !ok {
			err = compute.Errorf(compute.Conflict, "it has changed")
		}
		return err
	}

	stays(t, s, "ID UserID GPU CPU Needs Cloud TemplateID ClusterID ClusterType CreatedAt TerminateAfter", store.Tx.InsertPod, func(tx store.Tx, p compute.Pod) error {
		p.ID, p.Version = "1", 1
		if err := clash(tx.ChangePod(p)); err != nil {
			return err
		}
		p.Version++
		return clash(tx.MovePod(p))
	}, func(tx store.Tx) (compute.Pod, error) { return tx.Pod("1") })

	stays(t, s, "ID UserID Type Declared CreatedAt", store.Tx.InsertEndpoint, func(tx store.Tx, e compute.Endpoint) error {
		e.ID = "1"
		return tx.UpdateEndpoint(e)
	}, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("1") })
	stays(t, s, "Name CreatedAt", store.Tx.InsertUser, func(tx store.Tx, u compute.User) error {
		u.Name = "1"
		return tx.UpdateUser(u)
	}, func(tx store.Tx) (compute.User, error) { return tx.User("1") })
	stays(t, s, "ID UserID EndpointID CreatedAt", store.Tx.InsertTemplate, func(tx store.Tx, v compute.Template) error {
		v.ID = "1"
		return tx.UpdateTemplate(v)
	}, func(tx store.Tx) (compute.Template, error) { return tx.Template("1") })
	stays(t, s, "ID UserID DataCenterID Type CreatedAt", store.Tx.InsertVolume, func(tx store.Tx, v compute.Volume) error {
		v.ID = "1"
		return tx.UpdateVolume(v)
	}, func(tx store.Tx) (compute.Volume, error) { return tx.Volume("1") })
	stays(t, s, "ID UserID Name CreatedAt", store.Tx.InsertRegistry, func(tx store.Tx, v compute.Registry) error {
		v.ID = "1"
		return tx.UpdateRegistry(v)
	}, func(tx store.Tx) (compute.Registry, error) { return tx.Registry("1") })

	stays(t, s, "ID EndpointID Sync Webhook S3Config LowPriority ExecutionTimeout TTL OutputSize CreatedAt",
		func(tx store.Tx, j compute.Job) error { return tx.InsertJob(j, nil) },
		func(tx store.Tx, j compute.Job) error {
			was := store.GuardOf(filled[compute.Job](1))
			j.ID = "1"
			return clash(tx.MoveJob(j, was))
		}, func(tx store.Tx) (compute.Job, error) { return tx.Job("1") })
}

// came checks that what was stored comes back in every field but those that are named, which the store sets.
func came[T any](t *testing.T, s store.Store, but string, insert func(store.Tx, T) error, get func(store.Tx) (T, error)) {
	t.Helper()
	want := filled[T](1)
	write(t, s, func(tx store.Tx) error { return insert(tx, want) })
	got := read(t, s, get)
	for _, name := range fieldsOf[T]() {
		if !named(but, name) {
			assert.Equal(t, fieldOf(want, name), fieldOf(got, name), "%T.%s does not come back as it was stored", want, name)
		}
	}
}

// stays checks that a change writes every field but those that are named.
func stays[T any](t *testing.T, s store.Store, kept string, insert, change func(store.Tx, T) error, get func(store.Tx) (T, error)) {
	t.Helper()
	write(t, s, func(tx store.Tx) error { return insert(tx, filled[T](1)) })
	before := read(t, s, get)
	write(t, s, func(tx store.Tx) error { return change(tx, filled[T](2)) })
	after := read(t, s, get)
	for _, name := range fieldsOf[T]() {
		same := reflect.DeepEqual(fieldOf(before, name), fieldOf(after, name))
		assert.Equal(t, named(kept, name), same, "%T.%s: whether a change leaves it as it was", before, name)
	}
}

func named(names, name string) bool {
	for one := range strings.FieldsSeq(names) {
		if one == name {
			return true
		}
	}
	return false
}

func fieldsOf[T any]() (names []string) {
	for i := range reflect.TypeFor[T]().NumField() {
		names = append(names, reflect.TypeFor[T]().Field(i).Name)
	}
	return names
}

func fieldOf(v any, name string) any { return reflect.ValueOf(v).FieldByName(name).Interface() }

// first gives the first of a list.
func first[T any](list func(store.Tx) ([]T, error)) func(store.Tx) (T, error) {
	return func(tx store.Tx) (v T, err error) {
		all, err := list(tx)
		if len(all) > 0 {
			v = all[0]
		}
		return v, err
	}
}

// filled gives a T in which every field is set, and is another one for each n of 1 and 2.
func filled[T any](n int) T {
	var v T
	fill(reflect.ValueOf(&v).Elem(), n)
	return v
}

func fill(v reflect.Value, n int) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(start.Add(time.Duration(n) * time.Second)))
		return
	case reflect.TypeFor[time.Duration]():
		v.SetInt(int64(n) * int64(time.Millisecond))
		return
	case reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(strconv.Itoa(n)))
		return
	}

	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(strconv.Itoa(n))
	case reflect.Bool:
		v.SetBool(n == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint8:
		v.SetUint(uint64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) / 2)
	default:
		panic("storetest: a field of kind " + v.Kind().String())
	}
}
