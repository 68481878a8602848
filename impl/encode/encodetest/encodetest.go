// Package encodetest compares generated encoders with encoding/json.
package encodetest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/encode"
)

const values = 200 // of each type: with a dozen optional members each of them is often there and often not

// Check fails unless an empty T and many filled ones are encoded exactly as encoding/json does it. The fields that are named, of any
// type that T is made of (Pod.Name), are left out: they are other editions'.
func Check[T encode.Appender](t *testing.T, without ...string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same values every time
	var v T
	for range values {
		got := string(v.AppendJSON(nil)) + "\n"
		leaveOut(reflect.ValueOf(&v).Elem(), without)

		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(v))
		require.Equal(t, want.String(), got, "%T", v)
		fill(reflect.ValueOf(&v).Elem(), random)
	}
}

// leaveOut empties the fields that are named.
func leaveOut(v reflect.Value, names []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case slices.Contains(names, v.Type().Name()+"."+f.Name):
				v.Field(i).SetZero()
			case f.IsExported():
				leaveOut(v.Field(i), names)
			}
		}

	case reflect.Pointer:
		if !v.IsNil() {
			leaveOut(v.Elem(), names)
		}
	case reflect.Slice:
		if value := v.MethodByName("Pointer"); value.IsValid() { // of a nullable
			leaveOut(value.Call(nil)[0], names)
			return
		}

		for i := range v.Len() {
			leaveOut(v.Index(i), names)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem() // what stands in a map cannot be changed there
			value.Set(v.MapIndex(key))
			leaveOut(value, names)
			v.SetMapIndex(key, value)
		}
	}
}

var (
	texts  = []string{"", "a", "<&>", "é\n\"", "\u2028"}
	floats = []float64{0, 0.1, -7, 1e-9, 1e30}
	raws   = []string{"null", `{ "a": "<" }`, "1"}
)

// fill sets v to a value, now and then to the empty one.
func fill(v reflect.Value, random *rand.Rand) {
	if n, ok := v.Addr().Interface().(interface{ SetNull() }); ok && random.IntN(3) == 0 {
		n.SetNull()
		return
	}

	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(random.Int64N(1 << 40)).UTC()))
		return
	case json.RawMessage:
		v.SetBytes([]byte(raws[random.IntN(len(raws))]))
		return
	}

	if v.SetZero(); random.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), random)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), random)
	case reflect.Slice:
		if set := v.Addr().MethodByName("Set"); set.IsValid() { // of a nullable
			value := reflect.New(set.Type().In(0)).Elem()
			fill(value, random)
			set.Call([]reflect.Value{value})
			return
		}

		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fill(v.Index(i), random)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range random.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, random)
			fill(value, random)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(texts[random.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64())
	case reflect.Float64:
		v.SetFloat(floats[random.IntN(len(floats))])
	}
}
