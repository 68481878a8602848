package conformance

import (
	"context"
	"errors"

	"github.com/berthdev/berth/impl/app"
)

// Own starts berth's own server on the directory, with everything that the rules can use, and gives it as a target.
func Own(ctx context.Context, dir string) (t Target, stop func() error, err error) {
	main, err := app.Start(ctx, app.Config{Data: dir + "/main", Listen: "127.0.0.1:0", Endpoints: []app.Endpoint{{Name: "rules"}}})
	if err != nil {
		return t, nil, err
	}
	small, err := app.Start(ctx, app.Config{Data: dir + "/small", Listen: "127.0.0.1:0", Quotas: app.Quotas{Minute: 5}})
	if err != nil {
		return t, nil, errors.Join(err, main.Close())
	}
	stop = func() error { return errors.Join(main.Close(), small.Close()) }
	t = Target{
		URL: main.URL(), QueueURL: main.QueueURL(), Key: main.FirstKey(), Endpoint: string(main.Endpoints()["rules"]),
		Small: &Small{URL: small.URL(), Key: small.FirstKey()},
	}
	if _, t.ReadKey, err = main.CreateKey(ctx, app.NewKey("reader", []string{"rest:read"}, false, 0)); err != nil {
		return t, nil, errors.Join(err, stop())
	}
	return t, stop, nil
}
