package conformance

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// triesOf gives how often untilSoon calls what never is true and takes so long, and what it fails with.
func triesOf(t *testing.T, each time.Duration) (n int, failure string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, r := waitingCheck(t, 0)
		ended := make(chan bool)
		go func() {
			defer close(ended)
			c.untilSoon("so it is", func() bool {
				n++
				time.Sleep(each)
				return false
			})
		}()
		<-ended
		failure, _ = r.outcome()
	})
	return n, failure
}

func TestUntilSoon_TriesLongerWhereEachTryIsSlow(t *testing.T) {
	t.Parallel()
	for each, want := range map[time.Duration]int{100 * time.Millisecond: 10, 2 * time.Second: 31, 20 * time.Second: 10} {
		n, failure := triesOf(t, each)
		require.Equal(t, want, n, each)
		require.Contains(t, failure, "so it is")
	}
}
