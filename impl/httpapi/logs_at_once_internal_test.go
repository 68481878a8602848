package httpapi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// giving gives lines with these texts, those of the system after the others.
func giving(err error, container, system []string) compute.ReadLog {
	return func(_ context.Context, emit compute.EmitLog) error {
		for i, text := range container {
			if err := emit(compute.LogLine{Source: compute.LogContainer, Position: int64(i), Text: text}); err != nil {
				return err
			}
		}
		for i, text := range system {
			if err := emit(compute.LogLine{Source: compute.LogSystem, Position: int64(i), Text: text}); err != nil {
				return err
			}
		}
		return err
	}
}

func TestLogs_AtOnceHaveTheLastLinesThatThereIsRoomFor(t *testing.T) {
	t.Parallel()
	const stamp = "1970-01-01T00:00:00.000000000Z "
	logs, err := atOnce(t.Context(), giving(nil, []string{"a"}, []string{"b"}))
	require.NoError(t, err)
	require.Equal(t, []string{stamp + "a"}, logs.Container)
	require.Equal(t, []string{stamp + "b"}, logs.System)
	logs, err = atOnce(t.Context(), giving(nil, nil, nil))
	require.NoError(t, err)
	require.Equal(t, []string{}, logs.Container, "an empty list, not null")
	require.Equal(t, []string{}, logs.System)
	_, err = atOnce(t.Context(), giving(errors.New("the disk is gone"), nil, nil))
	require.Error(t, err)

	// 1 MB is what there is room for, with the times.
	half := strings.Repeat("x", 1<<19-len(stamp))
	logs, err = atOnce(t.Context(), giving(nil, []string{half, half}, nil))
	require.NoError(t, err)
	require.Len(t, logs.Container, 2, "both fit exactly")
	logs, err = atOnce(t.Context(), giving(nil, []string{"first", half, half}, nil))
	require.NoError(t, err)
	require.Len(t, logs.Container, 2, "the oldest has gone")
	require.NotContains(t, logs.Container[0], "first")
	logs, err = atOnce(t.Context(), giving(nil, []string{half, half, "last"}, nil))
	require.NoError(t, err)
	require.Len(t, logs.Container, 2)
	require.Contains(t, logs.Container[1], "last")
	logs, err = atOnce(t.Context(), giving(nil, []string{half, strings.Repeat("y", 1<<21)}, nil))
	require.NoError(t, err)
	require.Len(t, logs.Container, 1, "a line is never left out for its own length")
	require.Len(t, logs.Container[0], 1<<21+len(stamp))
}

func TestLogs_AreAskedForFromTheEndOn(t *testing.T) {
	t.Parallel()
	require.Equal(t, compute.LogQuery{Tail: 100, Mark: true}, logQuery(rest.GetPodLogsParams{}))
	tail, since, after := int64(7), time.UnixMilli(5), time.UnixMilli(6)
	asked := logQuery(rest.GetPodLogsParams{Tail: &tail, Since: &since, LastEventID: &after})
	require.Equal(t, compute.LogQuery{Tail: 7, Since: time.UnixMilli(5), After: time.UnixMilli(6), Mark: true}, asked)
}
