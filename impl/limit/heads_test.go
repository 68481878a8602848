package limit_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeads_AreBoundedTogether: a head of short headers takes many times its bytes in memory.
func TestHeads_AreBoundedTogether(t *testing.T) {
	serve(t, 200, func(s *served) {
		s.handle = func(http.ResponseWriter, *http.Request) {}
		var long strings.Builder
		long.WriteString("GET / HTTP/1.1\r\nHost: a\r\n")
		for i := 0; long.Len() < 60<<10; i++ {
			fmt.Fprintf(&long, "a%x:\r\n", i)
		}

		var open []net.Conn
		cutOf := func(address string) (cut int) {
			from := len(open)
			for range 50 { // 3 MB
				open = append(open, s.dialFrom(address, long.String()))
			}
			pause(100 * time.Millisecond)
			for _, c := range open[from:] {
				_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); !isTimeout(err) { // it is ended, or answered where it ends within a line
					cut++
				}
			}
			return cut
		}
		for _, address := range []string{"192.0.2.1", "192.0.2.2"} { // each has half of all
			cut := cutOf(address)
			require.Greater(s, cut, 5, address)
			require.Less(s, cut, 25, address)
		}
		require.Greater(s, cutOf("192.0.2.3"), 45, "there is no more")

		status, _ := s.status(s.dial(get))
		require.Equal(s, "200 OK", status, "short heads are free")
		for _, c := range open {
			_ = c.Close()
		}
		pause(100 * time.Millisecond)
		status, _ = s.status(s.dial(long.String() + "\r\n"))
		require.Equal(s, "200 OK", status, "others have given theirs back")
	})
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // as the connection gave it
	return ok && timeout.Timeout()
}
