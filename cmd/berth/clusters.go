package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// clusterFields are those of creating a cluster.
func clusterFields() []field {
	fields := slices.DeleteFunc(container(), func(f field) bool { return f.flag == "registry" }) // a template may give it
	return append(fields,
		choice("type", "/type", "APPLICATION, TRAINING, SLURM or RAY", "APPLICATION", "TRAINING", "SLURM", "RAY"),
		text("gpu", "/compute/gpuTypeId", "GPU type; see berth catalog gpus").offering(idsOf(gpuTypes)),
		number("gpu-count", "/compute/gpuCountPerPod", "how many GPUs each pod has"),
		number("pods", "/compute/podCount", "how many pods there are"),
		naming(text("template", "/templateId", "the template that gives the pods their settings, in place of image and the like, by id or name"), templates),
		naming(made("volume", "/mounts/network", "a network volume to mount, ID:PATH or NAME:PATH", networkMount), volumes),
		made("persistent", "/mounts/persistent", "a volume on the host, GB:PATH", persistentMount),
		list("data-center", "/dataCenterIds", "a data center that will do").offering(idsOf(dataCenters)),
		truth("start-ssh", "/startSsh", "give the pods your SSH keys, as PUBLIC_KEY"),
		truth("start-jupyter", "/startJupyter", "give the pods a new password, as JUPYTER_PASSWORD"),
	)
}

// statuses counts the pods of a cluster by status.
func statuses(c rest.Cluster) string {
	var all []string
	for status, n := range c.Pods.ByStatus {
		all = append(all, fmt.Sprintf("%d %s", n, status))
	}
	slices.Sort(all)
	return textOf(all)
}

func clusters() *resource[rest.Cluster] {
	return &resource[rest.Cluster]{
		noun: "cluster", article: "a", nouns: "clusters",
		examples: map[string]string{
			"create": "  berth clusters create --name training --type TRAINING --image pytorch/pytorch:2.9.0 --gpu 'NVIDIA L4' --gpu-count 2 --pods 4 --wait",
			"get":    "  berth clusters get training --json | jq .primary",
			"update": "  berth clusters update training --name inference",
			"delete": "  berth clusters delete training",
		},
		columns: []column[rest.Cluster]{
			{head: "ID", value: func(c rest.Cluster) string { return c.ID }},
			{head: "NAME", value: func(c rest.Cluster) string { return c.Name }},
			{head: "TYPE", value: func(c rest.Cluster) string { return string(c.Type) }},
			{head: "PODS", value: statuses},
			{head: "MACHINE", value: func(c rest.Cluster) string {
				return fmt.Sprintf("%d × %s", c.Compute.GpuCountPerPod, c.Compute.GpuTypeID)
			}},
			{head: "DATA CENTER", value: func(c rest.Cluster) string { return pointed(c.DataCenterID) }},
			{head: "CREATED", value: func(c rest.Cluster) string { return textOf(c.CreatedAt) }},
			{head: "TEMPLATE", value: func(c rest.Cluster) string { return pointed(c.Template) }, wide: true},
			{head: "PRIMARY", value: func(c rest.Cluster) string {
				if c.Primary == nil {
					return "-"
				}
				return c.Primary.PodID + ", " + string(c.Primary.Status)
			}, wide: true},
		},
		id:     func(c rest.Cluster) string { return c.ID },
		name:   func(c rest.Cluster) string { return c.Name },
		create: body{fields: clusterFields()},
		update: body{fields: []field{text("name", "/name", "its name")}},

		listing: func(ctx context.Context, c *restclient.Client, _ *string) (*http.Response, error) {
			return c.ListClusters(ctx)
		},
		items: func(c *connection, document []byte) ([]rest.Cluster, error) {
			list, err := parse[rest.ClusterList](c, document)
			return list.Clusters, err
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetCluster(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreateClusterWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdateClusterWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeleteCluster(ctx, id)
		},
		wait:  awaitCluster,
		until: "all of its pods are RUNNING",
	}
}

// awaitCluster waits until all pods of a cluster are RUNNING.
func awaitCluster(cmd *cobra.Command, w *waiting, c *connection, id string) error {
	hint := "berth clusters pods " + id + " shows them"
	return w.await(cmd, fmt.Sprintf("cluster %s is not RUNNING", id), hint, func(ctx context.Context) (string, bool, error) {
		cluster, _, err := fetch[rest.Cluster](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.rest.GetCluster(ctx, id) })
		if isStatus(err, http.StatusNotFound) {
			return "", false, &failure{code: exitEnded, cause: fmt.Errorf("cluster %s was deleted", id)}
		}
		if err != nil {
			return "", false, err
		}

		state := fmt.Sprintf("of the pods of cluster %s, %s", id, statuses(cluster))
		for _, gone := range []rest.PodStatus{rest.PodStatusEXITED, rest.PodStatusERROR, rest.PodStatusTERMINATED} {
			if cluster.Pods.ByStatus[string(gone)] > 0 {
				return "", false, &failure{code: exitEnded, cause: fmt.Errorf("%s", state), hint: hint}
			}
		}
		return state, cluster.Pods.ByStatus[string(rest.PodStatusRUNNING)] == cluster.Pods.Total, nil
	})
}

func newClustersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "clusters", Aliases: []string{"cluster"}, Short: "Create, list, rename and delete clusters of GPU pods",
		Long: "Create, list, rename and delete clusters: equal GPU pods in one data center, created together or not at all.",
	}
	r := clusters()
	cmd.AddCommand(r.commands()...)
	cmd.AddCommand(r.kind().again(newClusterPodsCommand(r)))
	return cmd
}

func newClusterPodsCommand(r *resource[rest.Cluster]) *cobra.Command {
	return &cobra.Command{
		Use:               "pods CLUSTER",
		Short:             "List the pods of a cluster, in the order of their ranks",
		Example:           "  berth clusters pods training",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id, err := r.kind().locate(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}

			list, document, err := fetch[rest.ClusterPodList](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
				return c.rest.ListClusterPods(ctx, id)
			})
			if err != nil || asJSON(cmd) {
				return orPrint(cmd, document, r.hint(err))
			}
			return printTable(cmd, pods().columns, list.Pods)
		},
	}
}
