package observe_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/observe"
)

func TestParseLevels_RefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	for text, message := range map[string]string{
		"":                      `"" is no level`,
		"loud":                  `"loud" is no level`,
		"queue=":                `"queue=" is no level`,
		"info,debug":            "more than one level for all",
		"queue=info,queue=info": "queue has more than one level",
		"kitchen=debug":         `"kitchen" is no room of the log`,
	} {
		_, err := observe.ParseLevels(text)
		require.ErrorContains(t, err, message, text)
	}

	l, err := observe.ParseLevels("queue=debug,warn,loop=error")
	require.NoError(t, err)
	require.Equal(t, slog.LevelWarn, l.Level)
	require.Equal(t, map[string]slog.Level{"queue": slog.LevelDebug, "loop": slog.LevelError}, l.Rooms)
	require.Equal(t, slog.LevelDebug, l.Least())
	l, err = observe.ParseLevels("queue=debug")
	require.NoError(t, err)
	require.Equal(t, slog.LevelInfo, l.Level)
}

func TestRooms_ArePackages(t *testing.T) {
	t.Parallel()
	for _, room := range observe.Rooms {
		_, err := os.Stat(filepath.Join("..", room))
		if err != nil {
			_, err = os.Stat(filepath.Join("..", "..", room))
		}
		require.NoError(t, err, room)
	}
}

// logged gives what a logger of the levels writes of a line of each level of this package, which is called observe_test.
func logged(l observe.Levels, change func(*slog.Logger) *slog.Logger) string {
	var out bytes.Buffer
	log := change(slog.New(l.Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: l.Least(), ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		},
	}))))
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		log.Log(nil, level, level.String()) //nolint:staticcheck // nobody reads the context
	}
	return out.String()
}

func TestLevels_OfARoomAreItsOwn(t *testing.T) {
	t.Parallel()
	as := func(log *slog.Logger) *slog.Logger { return log }
	of := func(level slog.Level, rooms map[string]slog.Level) observe.Levels {
		return observe.Levels{Level: level, Rooms: rooms}
	}
	require.Equal(t, "msg=WARN\n", logged(of(slog.LevelWarn, map[string]slog.Level{"queue": slog.LevelDebug}), as))
	require.Equal(t, "msg=DEBUG\nmsg=INFO\nmsg=WARN\n", logged(of(slog.LevelWarn, map[string]slog.Level{"observe_test": slog.LevelDebug}), as))
	require.Equal(t, "msg=WARN\n", logged(of(slog.LevelDebug, map[string]slog.Level{"observe_test": slog.LevelWarn}), as))
	require.Equal(t, "msg=INFO\nmsg=WARN\n", logged(of(slog.LevelInfo, nil), as))
	require.Equal(t, "msg=WARN a=1 g.b=2\n", logged(of(slog.LevelDebug, map[string]slog.Level{"observe_test": slog.LevelWarn}), func(log *slog.Logger) *slog.Logger {
		return log.With("a", 1).WithGroup("g").With("b", 2)
	}))
}
