package nullable_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/nullable"
)

type model struct {
	Needed   nullable.Nullable[string] `json:"needed"`
	Optional nullable.Nullable[string] `json:"optional,omitempty"`
}

func TestNullable_AbsentNullAndThereDiffer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model{
		`{"needed":null}`:                 {Needed: nullable.NewNullNullable[string]()},
		`{"needed":"","optional":null}`:   {nullable.NewNullableWithValue(""), nullable.NewNullNullable[string]()},
		`{"needed":"a","optional":"b"}`:   {nullable.NewNullableWithValue("a"), nullable.NewNullableWithValue("b")},
		`{"needed":null,"optional":"\""}`: {nullable.NewNullNullable[string](), nullable.NewNullableWithValue(`"`)},
	} {
		got, err := json.Marshal(want)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
		var back model
		require.NoError(t, json.Unmarshal(got, &back))
		require.Equal(t, want, back)
	}

	require.Error(t, json.Unmarshal([]byte(`{"needed":1}`), new(model)))
}

func TestNullable_OnlyAValueCanBeGot(t *testing.T) {
	t.Parallel()
	var absent nullable.Nullable[int]
	null, there := nullable.NewNullNullable[int](), nullable.NewNullableWithValue(0)
	require.Equal(t, []bool{false, true, true}, []bool{absent.IsSpecified(), null.IsSpecified(), there.IsSpecified()})
	require.Equal(t, []bool{false, true, false}, []bool{absent.IsNull(), null.IsNull(), there.IsNull()})

	for _, none := range []nullable.Nullable[int]{absent, null} {
		_, err := none.Get()
		require.Error(t, err)
		require.Panics(t, func() { none.MustGet() })
		require.Nil(t, none.Pointer())
	}

	require.Equal(t, "", absent.String()+null.String())
	require.Equal(t, "0", fmt.Sprint(there), "as people see it in tables")
	require.Zero(t, there.MustGet())
	require.Zero(t, *there.Pointer())
}
