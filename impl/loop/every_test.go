package loop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
)

func TestOfFailuresThatFollowEachOtherTheLogHasTheFirstAndTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var text bytes.Buffer
		runs := 0
		loop.Every(ctx, time.Second, compute.SystemClock{}, slog.New(slog.NewTextHandler(&text, nil)), "sweep", func(context.Context) error {
			switch runs++; {
			case runs%10 == 0:
				return nil
			case runs == 25:
				stop()
			}
			return errors.New("full")
		})
		require.Equal(t, 3, strings.Count(text.String(), "msg=sweep "), text.String())
		require.Equal(t, 2, strings.Count(text.String(), `msg="sweep works again" failures=9`), text.String())
	})
}
