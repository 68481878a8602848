package control

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Cluster is a cluster with its pods, in the order of their ranks.
type Cluster struct {
	compute.Cluster
	Members []compute.ClusterMember
	Pods    []compute.Pod // in full, of one that was just created; ClusterPods gives those of others, which may be large
}

// NewCluster is what createCluster asks for. Pod is what each of its pods is made from.
type NewCluster struct {
	Name     string
	Type     compute.ClusterType
	PodCount int64
	Pod      NewPod   // with TemplateID it gets all of the template's settings
	Settings []string // the members that were given, of those that a template has: beside one they are refused
	Network  bool     // its pods have addresses in the global network, where that is possible
}

// couldHold ranks refusals of data centers: one that is full now has all that the cluster needs, such as its volume; one whose hosts could
// never hold it has hosts at least.
func couldHold(refused error) int {
	switch {
	case errors.Is(refused, ErrNever):
		return 1
	case errors.Is(refused, ErrFull):
		return 2
	}
	return 0
}

// CreateCluster stores the cluster and its pods, PROVISIONING, all or none (rules clusters.together,
// clusters.create.nothing). Errors as for CreatePod; Invalid for a serverless template, and where neither a template nor the request
// has an image.
func (c *Control) CreateCluster(ctx context.Context, user compute.UserID, n NewCluster) (Cluster, error) {
	if err := c.fromClusterTemplate(ctx, user, &n); err != nil {
		return Cluster{}, err
	}
	pod, err := c.newPod(ctx, user, n.Pod)
	if err != nil {
		return Cluster{}, err
	}

	made := Cluster{Cluster: compute.Cluster{
		ID: newID(ctx, c.ids.Cluster), UserID: user, Name: n.Name, Type: n.Type, GPU: *n.Pod.GPU, PodCount: n.PodCount,
		TemplateID: n.Pod.TemplateID,
	}}

	candidates := n.Pod.DataCenterIDs
	if len(candidates) == 0 {
		for _, d := range c.catalog.DataCenters {
			candidates = append(candidates, d.ID)
		}
	}

	members := make([]compute.Pod, n.PodCount)
	for i := range members {
		members[i] = pod
		members[i].ID, members[i].Name, members[i].ClusterID = c.ids.Pod(), compute.MemberName(n.Name, i), made.ID
		members[i].ClusterType = made.Type
	}

	var full error // of the first data center that could hold all of them if it were not full
	for _, id := range candidates {
		n.Pod.DataCenterIDs = []string{id}
		d, _ := c.catalog.DataCenter(id)
		n.Pod.GlobalNetworking = n.Network && d.GlobalNetwork && c.canNetwork() && c.catalog.canNetwork(&made.GPU)
		for i := range members {
			members[i].GlobalNetworking = n.Pod.GlobalNetworking
		}
		err := c.insertCluster(ctx, &made, members, n)
		if err == nil {
			c.hintPods(made.Members)
			return made, nil
		}
		if compute.CodeOf(err) != compute.Rejected {
			return Cluster{}, err
		}

		if full == nil || couldHold(err) > couldHold(full) {
			full = err
		}
	}

	return Cluster{}, full
}

// fromClusterTemplate gives the pods the settings of the template that they name, to which they keep a link (rules
// clusters.create.template.*).
func (c *Control) fromClusterTemplate(ctx context.Context, user compute.UserID, n *NewCluster) (err error) {
	id := n.Pod.TemplateID
	if id == "" {
		if n.Pod.Image == "" && !slices.Contains(n.Settings, "image") {
			return &compute.Error{Code: compute.Invalid, Detail: "there is no image", Fields: []string{"/image: is required without a template"}}
		}
		return nil
	}
	if len(n.Settings) > 0 {
		return compute.Errorf(compute.Rejected, "templateId: the template says what %s would; give one or the other", strings.Join(n.Settings, ", "))
	}
	if n.Pod, err = c.CopyTemplate(ctx, user, id, n.Pod); err == nil && n.Pod.Image == "" {
		err = compute.Errorf(compute.Rejected, "templateId: template %q has no image", id)
	}
	return err
}

// insertCluster places the pods in the data center and stores them with their cluster, all or none.
func (c *Control) insertCluster(ctx context.Context, made *Cluster, members []compute.Pod, n NewCluster) error {
	w, err := c.wantOfNew(ctx, members[0], n.Pod)
	if err != nil {
		return err
	}

	return c.placement.place(ctx, "pod", len(members), []want{w}, func(at []choice) error {
		return create(ctx, c.store, func(tx store.Tx) error {
			made.Members, made.Pods = nil, nil
			if err := checkSpend(ctx, tx, made.UserID, times(members[0].CostPerHour, int64(len(members)))); err != nil {
				return err
			}
			for i, p := range members {
				p, err := c.insertPod(tx, p, n.Pod, &at[i])
				if err != nil {
					return err
				}
				made.Pods = append(made.Pods, p)
				made.Members = append(made.Members, compute.ClusterMember{ID: p.ID, Status: p.Status})
			}

			made.DataCenterID, made.CreatedAt = made.Pods[0].DataCenterID, tx.Wall()
			return tx.InsertCluster(made.Cluster)
		})
	})
}

// GetCluster gives the user's cluster. NotFound for an unknown and for somebody else's one.
func (c *Control) GetCluster(ctx context.Context, user compute.UserID, id compute.ClusterID) (one Cluster, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		one, err = ownCluster(tx, user, id)
		return err
	})
	return one, err
}

// ListClusters gives the user's clusters, newest first. Rejected if there is no room for all of them and their members.
func (c *Control) ListClusters(ctx context.Context, user compute.UserID, room compute.Room) (all []Cluster, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		bytes := 0
		stored, err := within(tx.ListClusters(user, func(more int) bool {
			bytes = more
			return room == nil || room(more)
		}))
		if err != nil {
			return err
		}

		for _, one := range stored {
			members, err := tx.ClusterMembers(one.ID)
			if err != nil {
				return err
			}
			if bytes += len(members) * memberBytes; room != nil && !room(bytes) && len(all) > 0 {
				return errTooLong
			}
			all = append(all, Cluster{Cluster: one, Members: members})
		}

		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// memberBytes is about what a member takes.
const memberBytes = 64

// ClusterPods gives the pods of the user's cluster, in the order of their ranks. Rejected if there is no room for all of them, NotFound as for
// GetCluster.
func (c *Control) ClusterPods(ctx context.Context, user compute.UserID, id compute.ClusterID, room compute.Room) (pods []compute.Pod, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		if _, err := ownCluster(tx, user, id); err != nil {
			return err
		}
		pods, err = within(tx.ClusterPods(id, room))
		return err
	})
	if err != nil {
		return nil, err
	}
	return pods, nil
}

// RenameCluster gives the cluster another name. NotFound as for GetCluster.
func (c *Control) RenameCluster(ctx context.Context, user compute.UserID, id compute.ClusterID, name string) (one Cluster, err error) {
	err = c.store.Write(ctx, func(tx store.Tx) error {
		if one, err = ownCluster(tx, user, id); err != nil {
			return err
		}
		one.Name = name
		return tx.RenameCluster(id, name)
	})
	return one, err
}

// DeleteCluster deletes the cluster and terminates its pods (rule clusters.delete.pods). NotFound as for GetCluster.
func (c *Control) DeleteCluster(ctx context.Context, user compute.UserID, id compute.ClusterID) error {
	var one Cluster
	err := c.placement.Write(ctx, func(tx store.Tx, claims *Claims) (err error) {
		if one, err = ownCluster(tx, user, id); err != nil {
			return err
		}
		for _, m := range one.Members { // one after the other: each may be large
			pod, err := tx.Pod(m.ID)
			if err != nil {
				return err
			}
			if err := move(tx, claims, &pod, compute.PodTerminate); err != nil {
				return err
			}
		}
		return tx.DeleteCluster(id)
	})
	if err == nil {
		c.hintPods(one.Members)
	}

	return err
}

func (c *Control) hintPods(members []compute.ClusterMember) {
	for _, m := range members {
		c.podHint(m.ID)
	}
}

// ownCluster hides from a user what is not theirs.
func ownCluster(tx store.Clusters, user compute.UserID, id compute.ClusterID) (Cluster, error) {
	one, err := tx.Cluster(id)
	if err == nil && one.UserID != user {
		err = compute.Errorf(compute.NotFound, "cluster %q does not exist", id)
	}
	if err != nil {
		return Cluster{}, err
	}
	members, err := tx.ClusterMembers(id)
	return Cluster{Cluster: one, Members: members}, err
}

// withoutClusters gives the pods that belong to no cluster (rule clusters.pods.hidden).
func withoutClusters(pods []compute.Pod) []compute.Pod {
	return slices.DeleteFunc(pods, func(p compute.Pod) bool { return p.ClusterID != "" })
}

// checkAlone refuses to change or delete a pod of a cluster by itself (rules clusters.pods.patch, clusters.pods.delete).
func checkAlone(p compute.Pod) error {
	if p.ClusterID == "" {
		return nil
	}
	return compute.Errorf(compute.Conflict, "the pod belongs to cluster %q: it cannot be changed or deleted by itself", p.ClusterID)
}
