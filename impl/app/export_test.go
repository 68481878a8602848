package app

import (
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// LoadSteps are the steps of a load, in their order.
var LoadSteps = []string{"prepared", "ended", "set aside", "replaced", "begun"}

// KilledAt gives the settings of a server that is killed when it has done the step of a load.
func (c Config) KilledAt(step string) Config {
	c.probe.loading = func(done string) {
		if done != step {
			return
		}
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {} // the signal is on its way
	}
	return c
}

// WithStatesOf gives the settings of a server whose states have so many bytes at most.
func (c Config) WithStatesOf(bytes int64) Config {
	c.probe.stateBytes = bytes
	return c
}

// FreePort gives a port of the machine that nobody has now, below those that the system gives to who asks for any.
func FreePort(t *testing.T) string {
	for {
		port := strconv.Itoa(20000 + rand.IntN(12000))
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+port)
		require.NoError(t, t.Context().Err())
		if err == nil {
			require.NoError(t, listener{l.(*net.TCPListener)}.Close()) // a process that is just being started has it, too
			return port
		}
	}
}
