package validate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseInt_ListsAnEnumOnlyForAFault(t *testing.T) {
	one := &Integer{Min: 0, Max: 99}
	for i := range int64(50) {
		one.Enum = append(one.Enum, 2*i)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if value, fault := parseInt("96", one); value != 96 || fault != "" {
			t.Error(value, fault)
		}
	}))

	_, fault := parseInt("97", one)
	require.Equal(t, "must be one of 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, …", fault)
	_, fault = parseInt("3", &Integer{Max: 9, Enum: []int64{1, 2}})
	require.Equal(t, "must be one of 1, 2", fault)
}
