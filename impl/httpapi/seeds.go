package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/seed"
)

// keysOfName is how many keys of other tokens an earlier seed may have had under the name of one.
const keysOfName = 100

// Plant creates what the seed has and the server has not, at its start. Of a seed all of whose rows were created before nothing is created
// again, be it there still or not. The error is a seed.Problems where items are refused.
func (h *Handler) Plant(ctx context.Context) error {
	if h.services.Seed == nil {
		return nil
	}
	for _, i := range h.services.Seed.Items {
		h.services.IDs.Spare(i.ID)
	}
	return h.services.plant(ctx, false)
}

// plant creates what the seed has. After a reset its users and keys are as they were at first, whatever became of them.
func (s *Services) plant(ctx context.Context, reset bool) error {
	if s.Seed == nil {
		return nil
	}
	digest, err := s.Control.Seeded(ctx)
	if err != nil {
		return err
	}

	var problems seed.Problems
	made, there := 0, 0
	for _, i := range s.Seed.Items {
		if digest == s.Seed.Digest && !seed.NeedsControls(i.List) { // its row
			continue
		}
		created, err := s.plantItem(ctx, i, reset)
		if refusal, is := errors.AsType[*compute.Error](err); is && refusal.Code != compute.Internal && refusal.Code != compute.Unavailable {
			problems = append(problems, problemsOf(i, refusal)...)
			continue
		}
		if err != nil {
			return err
		}
		if created {
			made++
		} else {
			there++
		}
	}

	if len(problems) > 0 {
		return problems
	}
	if digest != s.Seed.Digest {
		s.Log.Info("what the seed has is there", "created", made, "known", there)
		return s.Control.SetSeeded(ctx, s.Seed.Digest)
	}
	return nil
}

// problemsOf says where in the seed what is refused stands.
func problemsOf(i seed.Item, refusal *compute.Error) (all seed.Problems) {
	if len(refusal.Fields) == 0 {
		return seed.Problems{{Place: i.At, Message: refusal.Detail}}
	}
	for _, f := range refusal.Fields {
		all = append(all, seed.Problem{Place: i.At, Message: f})
	}
	return all
}

// plantItem creates an item, unless it is there; it reports whether it did.
func (s *Services) plantItem(ctx context.Context, i seed.Item, reset bool) (created bool, err error) {
	user := cmp.Or(i.User, s.Owner)
	if of, has := ofLists[i.List]; has {
		if there, err := s.Control.Has(ctx, user, of, i.ID); err != nil || there {
			if err == nil && of == control.ResourcePod {
				err = s.checkPlanted(ctx, user, i)
			}
			return false, err
		}
	}
	if seed.NeedsControls(i.List) && s.Controls == nil {
		return false, compute.Errorf(compute.Rejected, "%s are for tests: the server needs --test-controls", i.List)
	}

	ctx = control.WithID(ctx, i.ID)
	switch body := i.Body.(type) {
	case *controls.NewUser:
		return s.plantUser(ctx, i, *body, reset)
	case *controls.NewKey:
		err = s.plantKey(ctx, i, *body, reset)
		for n := 2; compute.CodeOf(err) == compute.Conflict && !i.Named && n <= keysOfName; n++ { // an earlier seed had another key of that name
			err = s.plantKey(control.WithID(ctx, string(compute.FixedKeyID(fmt.Sprint(i.ID, "\n", n)))), i, *body, false)
		}
	case *controls.Quotas:
		err = s.setQuotas(*body)
	case *controls.Fault:
		err = s.plantFault(*body)
	case *rest.UpdateSSHKeysRequest:
		return s.plantSSHKeys(ctx, user, body.Keys)
	case *rest.CreateRegistryRequest:
		_, err = s.Registries.Create(ctx, user, body.Name, compute.Login{Username: body.Username, Password: body.Password})
	case *rest.CreateDelegationRequest:
		name, _ := body.Name.Get() // absent or null: none
		_, err = s.Registries.Delegate(ctx, user, body.Resource, name)
	case *rest.CreateSecretRequest:
		_, err = s.Secrets.Create(ctx, user, newSecret(*body))
	case *rest.CreateNetworkVolumeRequest:
		_, err = s.Control.CreateVolume(ctx, user, newVolume(*body))
	case *rest.CreateGlobalVolumeRequest:
		_, err = s.Control.CreateGlobalVolume(ctx, user, body.Name)
	case *rest.CreateTemplateRequest:
		err = s.plantTemplate(ctx, user, *body)
	case *rest.CreateEndpointRequest:
		err = s.plantEndpoint(ctx, user, *body)
	case *rest.CreateClusterRequest:
		_, err = s.Control.CreateCluster(ctx, user, newCluster(*body))
	case *rest.CreatePodRequest:
		err = s.plantPod(ctx, user, i, *body)
	}
	return err == nil, err
}

// checkPlanted says of a pod that is there whether it is so for its retention alone: it has its id until then, and no other one is created.
func (s *Services) checkPlanted(ctx context.Context, user compute.UserID, i seed.Item) error {
	_, err := s.Control.GetPod(ctx, user, compute.PodID(i.ID))
	if compute.CodeOf(err) == compute.NotFound { // which one that is TERMINATED counts as
		err = nil
		s.Log.Warn("a pod of the seed is not created: one that was terminated has its id until its retention is over", "pod", i.ID, "file", i.At.File, "line", i.At.Line)
	}
	return err
}

// ofLists are the resources of the lists whose items can be there already. Of the others it makes no difference.
var ofLists = map[string]control.Resource{
	seed.Registries: control.ResourceRegistry, seed.Delegations: control.ResourceDelegation, seed.Secrets: control.ResourceSecret,
	seed.NetworkVolumes: control.ResourceVolume, seed.GlobalVolumes: control.ResourceGlobalVolume, seed.Templates: control.ResourceTemplate,
	seed.Endpoints: control.ResourceEndpoint, seed.Clusters: control.ResourceCluster, seed.Pods: control.ResourcePod,
}

// plantUser leaves a user alone who is there, but after a reset gives it the role that it had at first.
func (s *Services) plantUser(ctx context.Context, i seed.Item, body controls.NewUser, reset bool) (created bool, err error) {
	name, role := compute.UserID(body.Name), newRole(body)
	_, err = s.Keyring.Plant(ctx, compute.User{Name: name, Role: role, Disabled: i.Off})
	switch {
	case compute.CodeOf(err) != compute.Conflict:
		return err == nil, err
	case reset:
		_, err = s.Keyring.ChangeUser(ctx, name, compute.UserChange{Role: &role, Disabled: &i.Off})
		return false, err
	}
	return false, nil
}

func (s *Services) plantKey(ctx context.Context, i seed.Item, body controls.NewKey, reset bool) error {
	n, err := newKey(body, s.Owner)
	if err != nil {
		return err
	}
	if reset {
		if err := s.Keyring.Forget(ctx, i.Token); err != nil {
			return err
		}
	}
	return s.Keyring.Keep(ctx, n, i.Token)
}

// plantSSHKeys leaves a user alone who has keys.
func (s *Services) plantSSHKeys(ctx context.Context, user compute.UserID, lines []string) (created bool, err error) {
	known, err := s.Control.SSHKeys(ctx, user)
	if err != nil || len(known) > 0 {
		return false, err
	}
	return true, s.Control.SetSSHKeys(ctx, user, lines)
}

func (s *Services) plantFault(body controls.Fault) error {
	f, err := s.newFault("", body)
	if err == nil {
		_, err = s.Faults.Add(f)
	}
	return err
}

func (s *Services) plantTemplate(ctx context.Context, user compute.UserID, body rest.CreateTemplateRequest) error {
	asked, err := newTemplate(body)
	if err == nil {
		_, err = s.Control.CreateTemplate(ctx, user, asked)
	}
	return err
}

func (s *Services) plantEndpoint(ctx context.Context, user compute.UserID, body rest.CreateEndpointRequest) error {
	asked, err := newEndpoint(body)
	if err == nil {
		_, err = s.Endpoints.Create(ctx, user, compute.EndpointType(body.Type), asked)
	}
	return err
}

func (s *Services) plantPod(ctx context.Context, user compute.UserID, i seed.Item, body rest.CreatePodRequest) error {
	asked, err := newPod(body)
	if err != nil {
		return err
	}
	pod, err := s.Control.CreatePod(ctx, user, asked)
	if err == nil && i.Off {
		_, err = s.Control.ActOnPod(ctx, user, pod.ID, compute.PodStop)
	}
	return err
}
