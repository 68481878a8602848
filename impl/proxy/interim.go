package proxy

import (
	"context"
	"errors"
	"net/http/httptrace"
	"net/textproto"
	"strconv"
	"sync/atomic"
)

// mostInterim is how many interim answers, such as 103 Early Hints, may come before an answer. Each is passed on, and the bytes of its
// headers are counted anew: without a bound a program could send them until its time to answer is over.
const mostInterim = 100

// errInterim says that there were more.
var errInterim = errors.New("proxy: too many interim answers")

// tooManyInterim is what is said of who sent them.
var tooManyInterim = "sent more than " + strconv.Itoa(mostInterim) + " interim answers (1xx) before its answer"

// boundInterim has a request of this context fail with errInterim once more than mostInterim have come.
func boundInterim(ctx context.Context) context.Context {
	var came atomic.Int32
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error {
		if came.Add(1) > mostInterim {
			return errInterim
		}
		return nil
	}})
}
