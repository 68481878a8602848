package graphql

import (
	"context"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// FlashAuthRequestStatus is the query flashAuthRequestStatus. The key goes to who asks without one: the page on which somebody decides, and a
// client that is logged in, only look.
func (q queries) FlashAuthRequestStatus(ctx context.Context, id string) (*graph.FlashAuthRequest, error) {
	c := callOf(ctx)
	found, err := q.Logins.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.key != nil || found.Status != compute.LoginApproved {
		return loginView(c, id, found), nil
	}

	asApprover := audit.Actor{User: found.UserID, Key: found.Approver, Request: c.requestID, Operation: "flashAuthRequestStatus", Client: c.client}
	fetched, token, err := q.Logins.Fetch(audit.With(ctx, asApprover), id)
	if err != nil {
		return nil, err
	}
	if token != "" {
		fetched.Status = compute.LoginApproved // what clients expect with the key
	}
	view := loginView(c, id, fetched)
	view.APIKey = orNull(token)
	return view, nil
}

// CreateFlashAuthRequest is the mutation createFlashAuthRequest.
func (m mutations) CreateFlashAuthRequest(ctx context.Context, name, challenge, method *string) (*graph.FlashAuthRequest, error) {
	c := callOf(ctx)
	made, id, err := m.Logins.Ask(ctx, control.NewLogin{
		Name: value(name), Challenge: value(challenge), Method: value(method), Client: c.client, Agent: c.request.UserAgent(),
	})
	if err != nil {
		return nil, err
	}
	return loginView(c, id, made), nil
}

// ApproveFlashAuthRequest is the mutation approveFlashAuthRequest.
func (m mutations) ApproveFlashAuthRequest(ctx context.Context, id string) (*graph.FlashAuthRequest, error) {
	return m.decide(ctx, id, true)
}

// DenyFlashAuthRequest is the mutation denyFlashAuthRequest.
func (m mutations) DenyFlashAuthRequest(ctx context.Context, id string) (*graph.FlashAuthRequest, error) {
	return m.decide(ctx, id, false)
}

func (m mutations) decide(ctx context.Context, id string, approve bool) (*graph.FlashAuthRequest, error) {
	c := callOf(ctx)
	decided, err := m.Logins.Decide(ctx, id, *c.key, approve)
	if err != nil {
		return nil, err
	}
	return loginView(c, id, decided), nil
}

// loginView shows a request without its key. Where it came from is for who decides it.
func loginView(c *call, id string, l compute.LoginRequest) *graph.FlashAuthRequest {
	status := string(l.Status)
	v := &graph.FlashAuthRequest{
		ID: &id, Status: &status, ExpiresAt: &l.ExpiresAt, CreatedAt: &l.CreatedAt, APIKeyName: orNull(l.Name), CodeChallenge: orNull(l.Challenge),
	}
	if l.Challenge != "" {
		method := compute.LoginChallengeMethod
		v.CodeChallengeMethod = &method
	}
	if c.key != nil {
		v.ClientAddress, v.UserAgent = &l.Client, &l.Agent
	}
	return v
}
