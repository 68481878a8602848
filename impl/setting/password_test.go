package setting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/setting"
)

func TestPassword_IsNeverShown(t *testing.T) {
	t.Parallel()
	for value, shown := range map[string]string{
		"":                                      "",
		"127.0.0.1:8765":                        "127.0.0.1:8765",
		"postgres://u@h/d?sslmode=verify-full":  "postgres://u@h/d?sslmode=verify-full",
		"postgres://u:hidden@h/d":               "postgres://u:xxxxx@h/d",
		"postgres://h/d?password=hidden&user=u": "postgres://h/d?password=xxxxx&user=u",
		"postgres://h/d?sslpassword=hidden":     "postgres://h/d?sslpassword=xxxxx",
		"postgres://u:hid/den@h/d":              "",
		"u:hidden@h/d":                          "u:xxxxx@h/d",
		"host=h password='hidden one'":          "host=h password=xxxxx",
	} {
		require.Equal(t, shown, setting.Redacted(value))
		require.Equal(t, shown != value, setting.HasPassword(value), value)
	}
}
