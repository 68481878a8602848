package setting_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/setting"
)

func TestSetting_VariableHasTheSettingsName(t *testing.T) {
	t.Parallel()
	require.Equal(t, "BERTH_QUEUE_LISTEN", setting.Setting{Name: "queue-listen"}.Variable())
}

func TestSetting_IsSecretByItsName(t *testing.T) {
	t.Parallel()
	for name, is := range map[string]bool{"key": true, "otlp-token": true, "a-b-password": true, "keys": false, "server": false, "key-file": false, "monkey": false} {
		require.Equal(t, is, setting.Setting{Name: name}.Secret(), name)
	}
}

func TestSetting_NamesAValueThatMakesNoSense(t *testing.T) {
	t.Parallel()
	even := func(value string) error {
		if value != "2" {
			return errors.New("it must be 2")
		}
		return nil
	}

	for want, c := range map[string]struct {
		setting setting.Setting
		values  []string
	}{
		``:                                   {setting.Setting{Name: "a"}, []string{"anything"}},
		`on "yes": it must be true or false`: {setting.Setting{Name: "on", Kind: setting.Switch}, []string{"yes"}},
		`n "1.5": it must be a whole number`: {setting.Setting{Name: "n", Kind: setting.Number}, []string{"1.5"}},
		`d "soon": it must be a duration such as 90s`: {setting.Setting{Name: "d", Kind: setting.Duration}, []string{"soon"}},
		`pull "often": it must be always or never`:    {setting.Setting{Name: "pull", Choices: []string{"always", "never"}}, []string{"often"}},
		`l "d": it must be a, b or c`:                 {setting.Setting{Name: "l", Kind: setting.List, Choices: []string{"a", "b", "c"}}, []string{"a", "d"}},
		`e "3": it must be 2`:                         {setting.Setting{Name: "e", Kind: setting.Number, Check: even}, []string{"3"}},
		`x "1, 2": it must be one value, not a list`:  {setting.Setting{Name: "x"}, []string{"1", "2"}},
		`the-key "": the value makes no sense`:        {setting.Setting{Name: "the-key", Check: even}, []string{"hidden"}},
	} {
		err := c.setting.Validate(c.values)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want)
	}
}

func TestValues_UnsetOnesAreZero(t *testing.T) {
	t.Parallel()
	v := setting.Values{"a": {"1"}, "on": {"true"}, "l": {"x", "y"}}
	require.Equal(t, "1", v.Text("a"))
	require.True(t, v.On("on"))
	require.Equal(t, []string{"x", "y"}, v.List("l"))
	require.Empty(t, v.Text("b"))
	require.False(t, v.On("off"))
	require.Empty(t, v.List("m"))
}
