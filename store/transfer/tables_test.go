package transfer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/transfer"
)

// table makes a table of columns of text.
func table(name string, key []string, parents []string, columns ...string) transfer.Table {
	t := transfer.Table{Name: name, Key: key, Parents: parents}
	for _, c := range columns {
		t.Columns = append(t.Columns, transfer.Column{Name: c, Kind: transfer.Text})
	}
	return t
}

func TestDifference_NamesEachOne(t *testing.T) {
	t.Parallel()
	from := []transfer.Table{table("a", []string{"x", "y"}, nil, "x", "y"), table("b", []string{"x"}, []string{"a"}, "x"), table("c", nil, nil, "x")}
	require.Empty(t, transfer.Difference(from, from))
	require.Empty(t, transfer.Difference(nil, nil))

	to := []transfer.Table{table("a", []string{"y", "x"}, nil, "x", "y"), table("b", []string{"x"}, nil, "x"), table("d", nil, nil, "x")}
	to[0].Columns[1].Kind = transfer.Integer
	to[1].Columns[0].Null = true
	var says []string
	for _, err := range transfer.Difference(from, to) {
		says = append(says, err.Error())
	}
	require.Equal(t, []string{
		"table a: key (x, y) in the source, key (y, x) in the target",
		"table a: the source has a column y text, the target does not",
		"table a: the target has a column y integer, the source does not",
		"table b: key (x), hangs on a in the source, key (x) in the target",
		"table b: the source has a column x text, the target does not",
		"table b: the target has a column x text or NULL, the source does not",
		"the source has a table c, the target does not",
		"the target has a table d, the source does not",
	}, says)
}

func TestAddColumn_MakesTablesOfRowsOfASchema(t *testing.T) {
	t.Parallel()
	var all []transfer.Table
	column := func(name string) transfer.Column { return transfer.Column{Name: name, Kind: transfer.Text} }
	all = transfer.AddColumn(all, "a", column("x"), 2)
	all = transfer.AddColumn(all, "a", column("y"), 0)
	all = transfer.AddColumn(all, "a", column("z"), 1)
	all = transfer.AddColumn(all, "b", column("x"), 1)
	transfer.AddParent(all, "b", "a")
	transfer.AddParent(all, "b", "c")
	transfer.AddParent(all, "none", "a")
	require.Equal(t, []transfer.Table{
		table("a", []string{"z", "x"}, nil, "x", "y", "z"), table("b", []string{"x"}, []string{"a", "c"}, "x"),
	}, all)
	require.Equal(t, `"x", "y", "z"`, all[0].Names())
}

func TestFilled_AsksForEachTable(t *testing.T) {
	t.Parallel()
	require.Equal(t, `SELECT 'a' WHERE EXISTS (SELECT 1 FROM "a") UNION ALL SELECT 'b' WHERE EXISTS (SELECT 1 FROM "b")`,
		transfer.Filled([]transfer.Table{{Name: "a"}, {Name: "b"}}))
	require.EqualError(t, &transfer.NotEmpty{Tables: []string{"a"}}, "it is not empty: a has rows")
	require.EqualError(t, &transfer.NotEmpty{Tables: []string{"a", "b"}}, "it is not empty: a, b have rows")
}

func TestCheckVersion_TakesTheProgramsOwn(t *testing.T) {
	t.Parallel()
	require.NoError(t, transfer.CheckVersion(7, 7))
	require.ErrorContains(t, transfer.CheckVersion(8, 7), "a newer berth wrote it: its schema is version 8, this program knows 7")
	require.ErrorContains(t, transfer.CheckVersion(6, 7), "an older berth wrote it: its schema is version 6, and this program's 7")
}
