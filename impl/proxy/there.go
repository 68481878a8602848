package proxy

import (
	"net/http"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// thereLook is how often it is looked whether the client of a request that waits for a worker is still there.
const thereLook = time.Second

// whileThere calls gone, until stop is called, if the client of a request leaves before its body has been read, which is when net/http begins to look.
func whileThere(r *http.Request, gone func()) (stop func()) {
	if r.Body == nil || r.Body == http.NoBody || r.ProtoMajor != 1 {
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		for {
			look, forget := compute.SystemClock{}.After(thereLook)
			select {
			case <-look:
			case <-ended:
				forget()
				return
			}
			if limit.Gone(r) {
				gone()
				return
			}
		}
	}()
	return func() { close(ended) }
}
