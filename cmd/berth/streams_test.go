package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controlsclient"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// answering answers a request.
type answering func(ctx context.Context) (*http.Response, error)

// played answers requests one after the other, and the last way all those that follow, in the time of testing/synctest.
type played struct {
	answers []answering
	asked   int
}

func (p *played) Do(r *http.Request) (*http.Response, error) {
	p.asked++
	return p.answers[min(p.asked, len(p.answers))-1](r.Context())
}

// notThere is a server that is not there, nearby.
func notThere(context.Context) (*http.Response, error) {
	return nil, &url.Error{Op: "Get", URL: "http://berth.example", Err: errors.New("connection refused")}
}

// swallowed is a server that is not there, far away: nothing comes back.
func swallowed(ctx context.Context) (*http.Response, error) {
	<-ctx.Done()
	return nil, &url.Error{Op: "Get", URL: "http://berth.example", Err: context.Cause(ctx)}
}

// answers answers with a status.
func answers(status int) answering {
	return func(context.Context) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody}, nil
	}
}

// errBroken breaks a stream off.
var errBroken = errors.New("connection reset by peer")

// stands answers with a stream that stands for so long, then has the text, and ends with the error, or in order.
func stands(d time.Duration, text string, end error) answering {
	return func(ctx context.Context) (*http.Response, error) {
		from, to := io.Pipe()
		stop := context.AfterFunc(ctx, func() { _ = to.CloseWithError(context.Cause(ctx)) })
		go func() {
			defer stop()
			<-time.After(d)
			_, _ = io.WriteString(to, text)
			_ = to.CloseWithError(end)
		}()
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: from}, nil
	}
}

// logLine is an event of a log.
func logLine(text string) string {
	return fmt.Sprintf("id: %[1]s\ndata: {\"source\":\"container\",\"line\":%[1]q,\"ts\":\"2026-01-31T12:00:00.000000001Z\"}\n\n", text)
}

// commandOf is a command that writes to out.
func commandOf(t *testing.T, out io.Writer) *cobra.Command {
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetOut(out)
	cmd.SetErr(io.Discard)
	return cmd
}

// followLog follows a log that is answered so, and gives what was printed, how long it took, and how it ended.
func followLog(t *testing.T, all ...answering) (printed string, took time.Duration, err error) {
	p := &played{answers: all}
	c, err := restclient.NewClient("http://berth.example", restclient.WithHTTPClient(p))
	require.NoError(t, err)
	var out bytes.Buffer
	q, began := logQuery{follow: true}, time.Now()
	err = q.print(commandOf(t, &out), &connection{server: "http://berth.example"}, func(ctx context.Context, params *rest.GetPodLogsParams, resume restclient.RequestEditorFn) (*http.Response, error) {
		return c.GetPodLogs(ctx, "k3v9x2m1q8w7rt", params, resume)
	})
	return out.String(), time.Since(began), err
}

func TestLogs_FollowBearsWhatComesLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []answering
		printed string
	}{
		"a stream that stood for minutes breaks off": {
			[]answering{stands(0, logLine("a"), nil), stands(5*time.Minute, "", errBroken), notThere, notThere, stands(5*time.Minute, logLine("b"), errBroken), stands(0, "", nil)}, "a\nb\n",
		},
		"a pod that writes nothing": {
			[]answering{stands(5*time.Minute, "", errBroken), notThere, stands(time.Minute, "", errBroken), stands(5*time.Minute, logLine("a"), nil), stands(0, "", nil)}, "a\n",
		},
		"a server that stops in order, again and again": {
			[]answering{stands(time.Hour, "", nil), notThere, stands(time.Hour, "", nil), notThere, stands(time.Hour, "", nil), stands(time.Hour, logLine("a"), nil), stands(0, "", nil)}, "a\n",
		},
		"a server that stops still":              {[]answering{stands(time.Hour, "", nil), answers(503), answers(503), stands(time.Hour, logLine("a"), nil), stands(0, "", nil)}, "a\n"},
		"a proxy whose server is away":           {[]answering{stands(time.Hour, logLine("a"), nil), answers(502), answers(504), stands(time.Hour, logLine("b"), nil), stands(0, "", nil)}, "a\nb\n"},
		"a pod is deleted that wrote nothing":    {[]answering{stands(time.Hour, "", errBroken), answers(404)}, ""},
		"a server that is away for half of that": {append([]answering{stands(time.Hour, "", errBroken)}, append(times(patience/firstPause/2, notThere), stands(0, "", nil), stands(0, "", nil))...), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				printed, _, err := followLog(t, c.answers...)
				require.NoError(t, err)
				require.Equal(t, c.printed, printed)
			})
		})
	}
}

// times gives a way to answer so many times.
func times(n time.Duration, a answering) (all []answering) {
	for range n {
		all = append(all, a)
	}
	return all
}

func TestLogs_FollowGivesUpOnAServerThatStaysAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []answering
		took    time.Duration // at the least; a second more at the most
		code    int
	}{
		"from the start":                    {[]answering{notThere}, 0, exitUnreached},
		"from the start, and far away":      {[]answering{swallowed}, requestTime, exitUnreached},
		"later":                             {[]answering{stands(time.Hour, logLine("a"), errBroken), notThere}, time.Hour + patience, exitUnreached},
		"later, behind a proxy":             {[]answering{stands(time.Hour, logLine("a"), errBroken), answers(502)}, time.Hour + patience, exitRefused},
		"later, behind one that does begin": {[]answering{stands(time.Hour, logLine("a"), errBroken), stands(0, "", errBroken)}, time.Hour + patience, exitUnreached},
		"for those without the key":         {[]answering{stands(time.Hour, logLine("a"), nil), answers(401)}, time.Hour, exitRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, took, err := followLog(t, c.answers...)
				var f *failure
				require.ErrorAs(t, err, &f)
				require.Equal(t, c.code, f.code)
				require.GreaterOrEqual(t, took, c.took)
				require.LessOrEqual(t, took, c.took+time.Second)
			})
		})
	}
}

// podEvent is an event of a pod.
func podEvent(id string) string {
	return fmt.Sprintf("id: %[1]s\nevent: pod\ndata: {\"kind\":\"pod\",\"id\":%[1]q,\"change\":\"created\"}\n\n", id)
}

// followEvents follows two events that are answered so.
func followEvents(t *testing.T, out io.Writer, all ...answering) (took time.Duration, err error) {
	c, err := controlsclient.NewClient("http://berth.example", controlsclient.WithHTTPClient(&played{answers: all}))
	require.NoError(t, err)
	f := eventFollower{connection: &connection{controls: c, server: "http://berth.example"}, cmd: commandOf(t, out), count: 2}
	began := time.Now()
	err = f.follow()
	return time.Since(began), err
}

func TestEvents_AreFollowedOverWhatBreaksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		halfAway := times(patience/firstPause/2, notThere)
		_, err := followEvents(t, &out, append(append([]answering{stands(20*time.Second, podEvent("a"), errBroken)}, halfAway...), stands(time.Hour, podEvent("b"), nil))...)
		require.NoError(t, err)
		require.Equal(t, "pod       created   a\npod       created   b\n", out.String())
	})
}

func TestEvents_EndWithAServerThatStaysAway(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]answering{
		"nearby":   notThere,
		"far away": swallowed,
		"far away, with a dial that minds nobody": func(ctx context.Context) (*http.Response, error) {
			<-time.After(patience + time.Second)
			return notThere(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				took, err := followEvents(t, io.Discard, one)
				var f *failure
				require.ErrorAs(t, err, &f)
				require.Equal(t, exitUnreached, f.code)
				require.Less(t, took, 2*patience+5*time.Second)
			})
		})
	}
}

// full is a disk that takes no more.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestEvents_ThatCannotBePrintedAreAFailure: however long the stream stood.
func TestEvents_ThatCannotBePrintedAreAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := followEvents(t, full{}, stands(time.Hour, podEvent("a"), nil), answers(500))
		require.ErrorIs(t, err, errFull)
	})
}

// TestWait_BearsAHoldThatIsCutOff: the server has answered nothing for long, as it was asked to.
func TestWait_BearsAHoldThatIsCutOff(t *testing.T) {
	t.Parallel()
	var c connection
	for name, cut := range map[string]error{
		"by the network":       c.unreached(errBroken),
		"by a proxy, with 502": c.refused(&http.Response{StatusCode: 502, Header: http.Header{}}, nil),
		"by a proxy, with 504": c.refused(&http.Response{StatusCode: 504, Header: http.Header{}}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, looks := waiting{held: true}, 0
				look := func(context.Context) (string, bool, error) {
					if looks++; looks < 3 {
						time.Sleep(patience + 15*time.Second)
					}
					if looks == 2 {
						return "", false, cut
					}
					return "", looks == 3, nil
				}
				require.NoError(t, w.await(commandOf(t, io.Discard), "", "", look))
				require.Equal(t, 3, looks)
			})
		})
	}

	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := (&waiting{}).await(commandOf(t, io.Discard), "", "", func(context.Context) (string, bool, error) { return "", false, c.unreached(errBroken) })
		require.ErrorIs(t, err, errBroken)
		require.Greater(t, time.Since(began), patience)
		require.Less(t, time.Since(began), patience+5*time.Second)
	})
}
