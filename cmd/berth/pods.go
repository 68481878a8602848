package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/restclient"
)

// container are the fields that pods, templates and endpoints share.
func container() []field {
	return []field{
		text("name", "/name", "its name"),
		text("image", "/image", "container image"),
		text("args", "/args", "arguments of its entrypoint, as in a shell"),
		number("disk", "/disk", "container disk in GB"),
		list("port", "/ports", "a port to publish, like 8080/http or 22/tcp"),
		pairs("env", "/env", "NAME=VALUE for the environment"),
		naming(reference("registry", "/registry", "the registry credential for the image, by id or name"), registries),
	}
}

// podFields are those of creating and changing pods.
func podFields() []field {
	return append(container(),
		naming(made("volume", "/mounts/network", "a network volume to mount, ID:PATH or NAME:PATH", networkMount), volumes),
		made("persistent", "/mounts/persistent", "a volume on the host, GB:PATH; deprecated in favor of --volume", persistentMount),
		truth("global-networking", "/globalNetworking", "an address in the network of your pods"),
	)
}

func networkMount(text string) (any, error) {
	id, path, ok := strings.Cut(text, ":")
	if !ok {
		return nil, fmt.Errorf("%q is not ID:PATH", text)
	}
	return []map[string]string{{"volumeId": id, "path": path}}, nil
}

func persistentMount(text string) (any, error) {
	gb, path, ok := strings.Cut(text, ":")
	size, err := strconv.ParseInt(gb, 10, 64)
	if !ok || err != nil {
		return nil, fmt.Errorf("%q is not GB:PATH", text)
	}
	return map[string]any{"size": size, "path": path}, nil
}

// machines says what a pod runs on.
func machines(p rest.Pod) string {
	switch {
	case p.Gpu != nil && p.Gpu.Count != nil:
		return fmt.Sprintf("%d × %s", *p.Gpu.Count, p.Gpu.ID)
	case p.Gpu != nil:
		return p.Gpu.ID
	case p.CPU != nil:
		return cpus(*p.CPU)
	}
	return "-"
}

func cpus(c rest.CPUConfig) string {
	return fmt.Sprintf("%s, %d vCPUs, %d GB", c.ID, c.VcpuCount, c.Memory)
}

// addresses says where the ports of a running pod are.
func addresses(p rest.Pod) string {
	var all []string
	if runtime := p.Runtime.Pointer(); runtime != nil {
		for _, port := range runtime.Ports {
			if public, ip := port.Public.Pointer(), port.IP.Pointer(); public != nil && ip != nil && port.Private != nil {
				all = append(all, fmt.Sprintf("%d at %s:%d", *port.Private, *ip, *public))
			}
		}
	}
	return textOf(all)
}

func mounts(m rest.Mounts) string {
	var all []string
	for _, n := range m.Network {
		all = append(all, n.VolumeID+" at "+n.Path)
	}
	if m.Persistent != nil {
		all = append(all, fmt.Sprintf("%d GB at %s", m.Persistent.Size, m.Persistent.Path))
	}
	return textOf(all)
}

func pods() *resource[rest.Pod] {
	return &resource[rest.Pod]{
		noun: "pod", article: "a", nouns: "pods",
		examples: map[string]string{
			"create": `  berth pods create --name first --image ubuntu:24.04 --cpu cpu3g --vcpus 2 --wait
  berth pods create --name train --image acme/train:2 --gpu 'NVIDIA L4' --gpu-count 2 --env EPOCHS=3 --port 22/tcp
  berth pods create --file pod.json --name second
  id=$(berth pods create --file - --json < pod.json | jq -r .id)`,
			"list":   "  berth pods list\n  berth pods list --json | jq -r '.pods[].id'",
			"get":    "  berth pods get k3v9x2m1q8w7rt",
			"update": "  berth pods update k3v9x2m1q8w7rt --image acme/train:3 --wait",
			"delete": "  berth pods delete k3v9x2m1q8w7rt",
		},
		columns: []column[rest.Pod]{
			{head: "ID", value: func(p rest.Pod) string { return p.ID }},
			{head: "NAME", value: func(p rest.Pod) string { return p.Name }},
			{head: "STATUS", value: func(p rest.Pod) string { return string(p.Status) }},
			{head: "MACHINE", value: machines},
			{head: "IMAGE", value: func(p rest.Pod) string { return p.Image }},
			{head: "USD/H", value: func(p rest.Pod) string { return textOf(p.Cost) }},
			{head: "CREATED", value: func(p rest.Pod) string { return textOf(p.CreatedAt) }},
			{head: "STARTED", value: func(p rest.Pod) string { return pointed(p.StartedAt.Pointer()) }, wide: true},
			{head: "ACTIONS", value: func(p rest.Pod) string { return join(p.Actions) }, wide: true},
			{head: "ARGS", value: func(p rest.Pod) string { return orDash(p.Args) }, wide: true},
			{head: "ENV", value: func(p rest.Pod) string { return textOf(p.Env) }, wide: true},
			{head: "DISK", value: func(p rest.Pod) string { return fmt.Sprintf("%d GB", p.Disk) }, wide: true},
			{head: "MOUNTS", value: func(p rest.Pod) string { return mounts(p.Mounts) }, wide: true},
			{head: "PORTS", value: func(p rest.Pod) string { return textOf(p.Ports) }, wide: true},
			{head: "ADDRESSES", value: addresses, wide: true},
			{head: "INTERNAL DNS", value: func(p rest.Pod) string { return pointed(p.GlobalNetworking.InternalDNS) }, wide: true},
			{head: "CLOUD", value: func(p rest.Pod) string { return string(p.Cloud) }, wide: true},
			{head: "DATA CENTER", value: func(p rest.Pod) string { return pointed(p.DataCenterID.Pointer()) }, wide: true},
			{head: "TEMPLATE", value: func(p rest.Pod) string { return pointed(p.Template.Pointer()) }, wide: true},
			{head: "REGISTRY", value: func(p rest.Pod) string { return pointed(p.Registry.Pointer()) }, wide: true},
			{head: "LOCKED", value: func(p rest.Pod) string { return textOf(p.Locked) }, wide: true},
		},

		more: httpAddresses,
		id:   func(p rest.Pod) string { return p.ID },
		name: func(p rest.Pod) string { return p.Name },
		note: func(p rest.Pod) string { return p.Name + ", " + string(p.Status) },
		create: body{fields: append(podFields(),
			text("gpu", "/gpu/id", "GPU type; see berth catalog gpus").offering(idsOf(gpuTypes)),
			number("gpu-count", "/gpu/count", "how many GPUs"),
			text("cpu", "/cpu/id", "CPU flavor, for a pod without GPU; see berth catalog cpus").offering(idsOf(cpuTypes)),
			number("vcpus", "/cpu/vcpuCount", "how many vCPUs"),
			choice("cloud", "/cloud", "SECURE or COMMUNITY", "SECURE", "COMMUNITY"),
			list("data-center", "/dataCenterIds", "a data center that will do").offering(idsOf(dataCenters)),
		)},
		update: body{fields: append(podFields(), truth("locked", "/locked", "refuse to stop and restart it"))},
		listing: func(ctx context.Context, c *restclient.Client, cursor *string) (*http.Response, error) {
			return c.ListPods(ctx, &rest.ListPodsParams{Cursor: cursor})
		},
		items: func(c *connection, document []byte) ([]rest.Pod, error) {
			list, err := parse[rest.PodList](c, document)
			return list.Pods, err
		},
		getting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.GetPod(ctx, id)
		},
		creating: func(ctx context.Context, c *restclient.Client, contentType string, body io.Reader) (*http.Response, error) {
			return c.CreatePodWithBody(ctx, contentType, body)
		},
		updating: func(ctx context.Context, c *restclient.Client, id, contentType string, body io.Reader) (*http.Response, error) {
			return c.UpdatePodWithBody(ctx, id, contentType, body)
		},
		deleting: func(ctx context.Context, c *restclient.Client, id string) (*http.Response, error) {
			return c.DeletePod(ctx, id)
		},
		wait: func(cmd *cobra.Command, w *waiting, c *connection, id string) error {
			return awaitPod(cmd, w, c, id, rest.PodStatusRUNNING)
		},
		until: "the pod is RUNNING",
	}
}

// join writes words after one another.
func join[T ~string](all []T) string {
	var words []string
	for _, one := range all {
		words = append(words, string(one))
	}
	return textOf(words)
}

func newPodsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "pods",
		Aliases: []string{"pod"},
		Short:   "Create, list, change, start, stop and delete pods, and read their logs",
	}

	r := pods()
	for _, sub := range r.commands() {
		if sub.Name() == "delete" {
			sub.Aliases = append(sub.Aliases, "terminate") // the word of the API's action
		}
		cmd.AddCommand(sub)
	}

	cmd.AddCommand(
		newPodActionCommand(r, rest.PodActionStart, "Start a pod that has ended", rest.PodStatusRUNNING),
		newPodActionCommand(r, rest.PodActionStop, "Stop a pod; its volumes keep their data, its container disk does not", rest.PodStatusEXITED),
		newPodActionCommand(r, rest.PodActionRestart, "Restart a pod's container", rest.PodStatusRUNNING),
		r.kind().again(newPodLogsCommand(r)), r.kind().again(newPodsWhyCommand()), r.kind().again(newPodExecCommand(r)), r.kind().again(newPodShellCommand(r)),
		newPodCopyCommand(r), r.kind().again(newPodHistoryCommand(r)),
	)

	return cmd
}

func newPodActionCommand(r *resource[rest.Pod], action rest.PodAction, short string, status rest.PodStatus) *cobra.Command {
	var w waiting
	cmd := &cobra.Command{
		Use:               string(action) + " " + r.placeholder(),
		Short:             short,
		Example:           fmt.Sprintf("  berth pods %s k3v9x2m1q8w7rt --wait", action),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: r.ids().first().values,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			id, err := c.pod(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			document, err := c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
				return c.rest.PodAction(ctx, id, rest.PodActionRequest{Action: action})
			})
			if isStatus(err, http.StatusConflict) {
				return hinted(err, fmt.Sprintf("berth pods get %s shows its status and actions", id))
			}
			if err != nil {
				return r.hint(err)
			}

			as := *r
			as.wait = func(cmd *cobra.Command, w *waiting, c *connection, id string) error {
				return awaitPod(cmd, w, c, id, status)
			}
			return as.awaitAndPrint(cmd, &w, c, id, document)
		},
	}

	w.add(cmd, "the pod is "+string(status))
	return r.kind().again(cmd)
}

// awaitPod waits for a status. A pod that ended meanwhile is a failure, unless that was waited for.
func awaitPod(cmd *cobra.Command, w *waiting, c *connection, id string, status rest.PodStatus) error {
	hint := "its log may say why: berth pods logs " + id
	return w.await(cmd, fmt.Sprintf("pod %s is not %s", id, status), hint, func(ctx context.Context) (string, bool, error) {
		pod, _, err := fetch[rest.Pod](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.rest.GetPod(ctx, id) })
		if isStatus(err, http.StatusNotFound) {
			return "", false, &failure{code: exitEnded, cause: fmt.Errorf("pod %s was deleted", id)}
		}
		if err != nil {
			return "", false, err
		}

		state := fmt.Sprintf("pod %s is %s", id, pod.Status)
		switch pod.Status {
		case status:
			return state, true, nil
		case rest.PodStatusPROVISIONING, rest.PodStatusSTARTING, rest.PodStatusRUNNING:
			return state, false, nil
		}

		return "", false, &failure{code: exitEnded, cause: errors.New(state), hint: hint}
	})
}
