package conformance

import (
	"context"

	"github.com/berthdev/berth/impl/app"
)

// Own starts berth's own server on the directory, with everything that the rules can use, and gives it as a target.
func Own(ctx context.Context, dir string) (t Target, stop func() error, err error) {
	s, err := app.Start(ctx, app.Config{
		Data: dir, Listen: "127.0.0.1:0", TestControls: true, PrivateWebhooks: true, GraphQL: app.GraphQL{Playground: true},
		Endpoints: []app.Endpoint{{Name: "rules"}, {Name: "managed", Command: []string{"sleep", "3600"}}},
	})
	if err != nil {
		return t, nil, err
	}
	return Target{
		URL: s.URL(), QueueURL: s.QueueURL(), Key: s.FirstKey(), Endpoint: string(s.Endpoints()["rules"]),
		Managed: string(s.Endpoints()["managed"]), ControlsKey: s.ControlsKey(),
	}, s.Close, nil
}
