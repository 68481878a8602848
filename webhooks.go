package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package
	"net/url"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// Webhook is the delivery of a job's document, as spec/controls.yaml describes it.
type Webhook = controls.Webhook

// Webhooks are the deliveries of one server, and its receiver of any name.
type Webhooks struct{ s *Server }

// Webhooks gives those of the server. It panics unless the runtime is RuntimeSim: what really runs has no test controls.
func (s *Server) Webhooks() Webhooks {
	s.needControls("a log of webhooks")
	return Webhooks{s}
}

// List gives the last deliveries, the newest first. The error is that of ctx.
func (w Webhooks) List(ctx context.Context) ([]Webhook, error) {
	var list controls.WebhookList
	err := w.s.ask(&list, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.GetWebhooks(ctx) })
	return list.Webhooks, err
}

// Deliver delivers the job's document once more to where the delivery of that number went. It fails for one that is unknown.
func (w Webhooks) Deliver(ctx context.Context, number int64) error {
	return w.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.DeliverWebhook(ctx, number) })
}

// InboxURL gives the address of a receiver of webhooks of that name, which is there for every name and asks for no key.
func (w Webhooks) InboxURL(name string) string {
	return w.s.URL() + "/_berth/inbox/" + url.PathEscape(name)
}

// Received gives the requests that came to the receiver of that name, the newest last. The error is that of ctx.
func (w Webhooks) Received(ctx context.Context, name string) ([]JournalEntry, error) {
	operation := "receiveWebhook"
	return w.s.Journal().Entries(ctx, JournalFilter{Operation: &operation, Resource: &name})
}
