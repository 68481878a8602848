package sqldb

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestColumns_StringsComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{nil, {}, {""}, {"a"}, {"a", "b"}, {",", `","`, "["}, {`"`, `\`, "<&>", "é\n"}, {"", ""}} {
		got, err := wordsOf[string](wordsText(want))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, want := range []map[string]string{nil, {}, {"": ""}, {"a": "b"}, {"a": "b", "c": ":", ":": ","}, {`","`: `":"`, `":"`: "é"}} {
		got, err := wordMapOf(wordMapText(want))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// thing is what the columns of these tests are of.
type thing struct {
	name  string
	at    time.Time
	count *int64
}

var thingColumns = all(columns[thing]{
	text("name", func(t *thing) *string { return &t.name }),
	instant("at", func(t *thing) *time.Time { return &t.at }),
	written("length", func(t *thing) any { return len(t.name) }),
	computed("max(x, y)", whole("z", func(*thing) *int { return new(int) })),
}, optional(func(t *thing) **int64 { return &t.count }, columns[int64]{whole("count", itself[int64])}))

func TestColumns_OneListGivesTextsArgumentsAndRow(t *testing.T) {
	t.Parallel()
	require.Equal(t, "INSERT INTO things (name, at, length, count) VALUES (?, ?, ?, ?)", thingColumns.insert("things"))
	require.Equal(t, "name = ?, at = ?, length = ?, count = ?", thingColumns.set())
	require.Equal(t, `"name", "at", max(x, y), "count"`, thingColumns.list())
	require.Equal(t, `t."name", t."at", max(x, y), t."count"`, thingColumns.from("t").list())
	require.Equal(t, `"count"`, thingColumns.only("count").list())
	require.PanicsWithValue(t, "sqldb: there is no column colour", func() { thingColumns.only("colour") })

	n := int64(7)
	for _, want := range []thing{{}, {"n", time.UnixMilli(1).UTC(), &n}} {
		values := thingColumns.values(nil, &want, "more")
		require.Len(t, values, 5)
		require.Equal(t, "more", values[4])
		var got thing
		require.NoError(t, thingColumns.scan(row{values[0], values[1], int64(0), values[3]}, &got))
		require.Equal(t, want, got)
	}
}

func TestColumns_UnfitRowIsNamedByItsColumn(t *testing.T) {
	t.Parallel()
	var v thing
	for _, c := range []struct {
		of   row
		want string
	}{
		{row{int64(1), nil, int64(0), nil}, "name: it is a int64 and no string"},
		{row{"n", "yesterday", int64(0), nil}, "at: it is a string and no int64"},
		{row{nil, nil, int64(0), nil}, "name: it is a <nil> and no string"},
		{row{"n", nil, int64(0), true}, "count: it is a bool and no int64"},
		{row{"n"}, "at: the row has no more than 1 columns"},
	} {
		require.EqualError(t, thingColumns.scan(c.of, &v), c.want)
	}
}
