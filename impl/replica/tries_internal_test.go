package replica

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// silent is an owner that is stopped: it takes what it is sent, and answers nothing.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestForwarder_GivesUpARequestThatWasLateAsWell: it was to go to the former owner before another one was known, and went after it.
func TestForwarder_GivesUpARequestThatWasLateAsWell(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]store.Owner{"there is another": {ID: "b", Address: "http://b", Epoch: 2}, "nor has that one it any more": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := join(t, &table{}, "c", nil)
				c.forward.proxy.Transport = silent{}
				c.see(&view{owner: store.Owner{ID: "a", Address: "http://a", Epoch: 1}})
				c.see(&view{owner: store.Owner{ID: "b", Address: "http://b", Epoch: 2}})
				c.see(&view{owner: later})
				synctest.Wait() // it has given up what was under way, which is nothing

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/v2/e/run", strings.NewReader("{}"))
				sent := make(chan *try, 1)
				go func() {
					sent <- c.forward.send(w, r, &try{to: &url.URL{Scheme: "http", Host: "a"}, epoch: 1, body: keep(r, &c.forward.kept)})
				}()
				time.Sleep(lateAnswer)
				synctest.Wait()
				require.Len(t, sent, 1)
				require.False(t, (<-sent).again)
				require.Equal(t, http.StatusServiceUnavailable, w.Code)
				require.Contains(t, w.Body.String(), errNoAnswer.Detail)
				time.Sleep(lateEnd) // what gives up ends
			})
		})
	}
}
