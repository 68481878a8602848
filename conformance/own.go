package conformance

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/berthdev/berth/impl/app"
)

// Own starts berth's own server in the directory, with everything that the rules can use, and gives it as a target; beside
// it one that posts to no private address.
func Own(ctx context.Context, dir string) (t Target, stop func() error, err error) {
	t, stopOpen, err := start(ctx, filepath.Join(dir, "open"), true)
	if err != nil {
		return t, nil, err
	}
	guarded, stopGuarded, err := start(ctx, filepath.Join(dir, "guarded"), false)
	if err != nil {
		return t, nil, errors.Join(err, stopOpen())
	}
	t.Guarded = &guarded
	return t, func() error { return errors.Join(stopOpen(), stopGuarded()) }, nil
}

func start(ctx context.Context, dir string, private bool) (t Target, stop func() error, err error) {
	s, err := app.Start(ctx, app.Config{
		Data: dir, Listen: "127.0.0.1:0", TestControls: true, PrivateWebhooks: private, GraphQL: app.GraphQL{Playground: true}, Docs: true,
		Endpoints: []app.Endpoint{{Name: "rules"}, {Name: "managed", Command: []string{"sleep", "3600"}}},
	})
	if err != nil {
		return t, nil, err
	}
	return Target{
		URL: s.URL(), QueueURL: s.QueueURL(), Key: s.FirstKey(), Endpoint: string(s.Endpoints()["rules"]),
		Managed: string(s.Endpoints()["managed"]), Declared: string(s.Endpoints()["managed"]), ControlsKey: s.ControlsKey(),
	}, s.Close, nil
}
