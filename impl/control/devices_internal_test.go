package control

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDevices_PickTheFirstThatNobodyHas(t *testing.T) {
	t.Parallel()
	var d devices
	require.Equal(t, []int{0, 1}, d.pick(2, 4))
	require.Empty(t, d.pick(0, 4))
	require.Equal(t, []int{0, 1, 2, 3}, d.pick(9, 4), "there are no more")
	d.set([]int{0, 2}, true)
	require.Equal(t, devices{true, false, true}, d)
	require.Equal(t, []int{1, 3}, d.pick(2, 4))
	require.Equal(t, []int{1}, d.pick(2, 3))
	d.set([]int{0}, false)
	d.set(nil, true)
	require.Equal(t, []int{0, 1}, d.pick(2, 4))
}

func TestHost_NamesItsDevices(t *testing.T) {
	t.Parallel()
	named := host{Host: &Host{GPUCount: 3, GPUDevices: []string{"x", "y", "z"}}}
	numbered := host{Host: &Host{GPUCount: 3}}
	require.Equal(t, []string{"x", "z"}, []string{named.device(0), named.device(2)})
	require.Equal(t, []string{"0", "2"}, []string{numbered.device(0), numbered.device(2)})

	require.Equal(t, []int{2, 0}, named.numbers([]string{"z", "gone", "7", "x"}), "what it does not have any more is left out")
	require.Equal(t, []int{1, 0}, named.numbers([]string{"1", "0"}), "those of before they had ids are the same ones")
	require.Equal(t, []int{2, 0}, numbered.numbers([]string{"2", "x", "3", "-1", "0"}))
	named.GPUCount = 2
	require.Equal(t, []int{1}, named.numbers([]string{"z", "y"}), "nor has it that any more")
	require.Empty(t, numbered.numbers(nil))
}
