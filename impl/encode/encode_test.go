package encode_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/encode"
)

func TestEncode_AgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	same := func(v any, got []byte) {
		t.Helper()
		require.Equal(t, "x"+string(encode.Any(nil, v)), string(got))
		require.True(t, json.Valid(got[1:]))
	}

	x := func() []byte { return []byte("x") }
	for r := range rune(0x300) {
		same("a"+string(r), encode.String(x(), "a"+string(r)))
	}
	for _, s := range []string{"", "<>&", "\u2028\u2029", "\xff", "日本", "😀"} {
		same(s, encode.String(x(), s))
	}

	for _, f := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.9e-7, 1e-7, 1e20, 1e21, -1e21, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3,
	} {
		same(f, encode.Float(x(), f))
	}

	require.Panics(t, func() { encode.Float(nil, math.NaN()) })
	require.Panics(t, func() { encode.Float(nil, math.Inf(1)) })
	for _, at := range []time.Time{{}, time.UnixMilli(1_700_000_000_120).UTC(), time.Unix(0, 1).In(time.FixedZone("", 3600))} {
		same(at, encode.Time(x(), at))
	}
	require.Panics(t, func() { encode.Time(nil, time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)) })

	for _, text := range []json.RawMessage{nil, json.RawMessage("{ \"a\" : [ 1, \"<\u2028\" ] }")} {
		same(text, encode.Raw(x(), text))
	}
	require.Panics(t, func() { encode.Raw(nil, json.RawMessage("{")) })

	same(int64(math.MinInt64), encode.Int(x(), math.MinInt64))
	same(true, encode.Bool(x(), true))
	require.Equal(t, []string{"a", "b"}, encode.Names(map[string]int{"b": 1, "a": 2}))
	require.Equal(t, "[]", string(encode.End([]byte("["), ']')))
	require.Equal(t, "{1}", string(encode.End([]byte("{1,"), '}')))
}
