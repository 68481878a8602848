package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// The settings.
const (
	fileSetting        = "kube-config"
	contextSetting     = "kube-context"
	namespaceSetting   = "kube-namespace"
	classSetting       = "kube-storage-class"
	volumeSetting      = "kube-volume-size"
	serviceSetting     = "kube-service-type"
	gpuSetting         = "kube-gpu-resource"
	gpuLabelSetting    = "kube-gpu-label"
	gpuClassSetting    = "kube-gpu-class"
	gpuDriverSetting   = "kube-gpu-driver"
	zoneLabelSetting   = "kube-zone-label"
	pullSetting        = "kube-pull"
	pullTimeoutSetting = "kube-pull-timeout"

	// Settings of others that are heeded here, too.
	privilegesSetting = "allow-new-privileges"
	workerURLSetting  = "worker-url"
	publicURLSetting  = "public-url"
)

// workersOwner ends the name of the owner of workers' Pods, which are not to be taken for pods.
const workersOwner = "-workers"

// policies are the pull policies, by the words of the setting.
var policies = map[string]PullPolicy{"if-absent": PullIfAbsent, "always": PullAlways, "never": PullNever}

func init() {
	can := compute.AllCapabilities
	can.Networks, can.Schedules = false, true
	runtime.Register(runtime.Kind{
		Name: "kubernetes", Summary: "a Pod of a Kubernetes cluster, whose scheduler places it; it outlives berth and is taken up again by it", Can: can,
		Settings: settings(), Noted: true,
		Open: opens, OpenEarlier: openEarlier, Doctor: doctor, Address: addressIn,
	})
}

func settings() []setting.Setting {
	positive := func(text string) error {
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 1 {
			return errors.New("it must be at least 1")
		}
		return nil
	}

	return []setting.Setting{
		{
			Name: fileSetting, Option: "KubeConfig",
			Help: "kubeconfig of the cluster that kubernetes uses; without it KUBECONFIG, the service account of the Pod that berth is in, or ~/.kube/config; Pods reach the queue at --worker-url or --public-url",
		},
		{Name: contextSetting, Option: "KubeContext", Help: "context of the kubeconfig; without it the current one"},
		{Name: namespaceSetting, Option: "KubeNamespace", Help: "namespace of everything that berth creates in the cluster; without it that of the context, or of berth's own Pod"},
		{Name: classSetting, Option: "KubeStorageClass", Help: "storage class of the claims for persistent mounts and network volumes; without it the cluster's default"},
		{
			Name: volumeSetting, Kind: setting.Number, Default: strconv.Itoa(DefaultVolumeGB), Option: "KubeVolumeSize", Check: positive,
			Help: "GB that the claim for a global volume asks for, which has no size of its own",
		},
		{
			Name: serviceSetting, Default: string(NodePort), Choices: []string{string(NodePort), string(LoadBalancer)}, Option: "KubeServiceType",
			Help: "how kubernetes publishes ports: NodePort, at the address of a Pod's node, or LoadBalancer",
		},
		{Name: gpuSetting, Default: DefaultGPUResource, Option: "KubeGPUResource", Help: "resource of nodes that counts GPUs"},
		{Name: gpuLabelSetting, Default: DefaultGPULabel, Option: "KubeGPULabel", Help: "label of nodes that names their GPU type"},
		{
			Name: gpuClassSetting, Option: "KubeGPUClass",
			Help: "DeviceClass of which GPUs are claimed by dynamic resource allocation, from Kubernetes 1.34 on; without it a device plugin gives them",
		},
		{
			Name: gpuDriverSetting, Default: DefaultGPUDriver, Option: "KubeGPUDriver",
			Help: "with --kube-gpu-class: the driver whose ResourceSlices have the GPUs of nodes, and their types",
		},
		{Name: zoneLabelSetting, Default: DefaultZoneLabel, Option: "KubeZoneLabel", Help: "label of nodes that names their data center"},
		{
			Name: pullSetting, Default: "if-absent", Choices: []string{"if-absent", "always", "never"}, Option: "KubePull",
			Help: "when nodes of kubernetes pull images: if-absent, always or never",
		},
		{
			Name: pullTimeoutSetting, Kind: setting.Duration, Default: "10m0s", Option: "KubePullTimeout",
			Help: "how long to keep a Pod whose image cannot be pulled or whose container cannot be created",
			Check: func(text string) error {
				if d, err := time.ParseDuration(text); err != nil || d < time.Second {
					return errors.New("it must be at least 1s")
				}
				return nil
			},
		},
	}
}

// configIn reads the settings. What has no value there has none in the Config.
func configIn(v setting.Values) Config {
	c := Config{
		File: v.Text(fileSetting), Context: v.Text(contextSetting), Namespace: v.Text(namespaceSetting), StorageClass: v.Text(classSetting),
		Service: ServiceType(v.Text(serviceSetting)), GPUResource: v.Text(gpuSetting), GPULabel: v.Text(gpuLabelSetting), ZoneLabel: v.Text(zoneLabelSetting),
		GPUClass: v.Text(gpuClassSetting), GPUDriver: v.Text(gpuDriverSetting),
		Pull: policies[v.Text(pullSetting)], AllowNewPrivileges: v.On(privilegesSetting),
	}
	c.VolumeGB, _ = strconv.ParseInt(v.Text(volumeSetting), 10, 64)
	c.PullTimeout, _ = time.ParseDuration(v.Text(pullTimeoutSetting))
	return c
}

func sourceOf(c Config) source {
	return source{file: c.File, context: c.Context, namespace: c.Namespace}
}

// opens makes the runtimes of pods and of workers over the cluster of the settings.
func opens(_ context.Context, c runtime.Config) (runtime.Opened, error) {
	config := configIn(c.Values)
	found, err := sourceOf(config).load()
	if err != nil {
		return runtime.Opened{}, err
	}
	return both(c, config, found)
}

// openEarlier makes the runtimes of pods and of workers over a cluster that an earlier server used. The error says so if nobody knows any
// more how to log in to it.
func openEarlier(c runtime.Config, address string) (runtime.Opened, error) {
	config := configIn(c.Values)
	found, err := sourceOf(config).at(address)
	if err != nil {
		return runtime.Opened{}, err
	}
	return both(c, config, found)
}

func both(c runtime.Config, config Config, found credentials) (o runtime.Opened, err error) {
	if config.Owner, err = c.Owner(); err != nil {
		return o, err
	}
	config.VolumeOwner = config.Owner    // pods and workers share them
	config.Clock = compute.SystemClock{} // the cluster does not live on a clock that a test has set
	config.Log = c.Log
	pods, err := open(config, found)
	if err != nil {
		return o, err
	}

	config.Owner += workersOwner
	workers, err := open(config, found)
	if err != nil {
		return o, errors.Join(err, pods.Close())
	}
	return runtime.Opened{Pods: pods, Workers: workers}, nil
}

// addressIn gives the address of the settings.
func addressIn(v setting.Values) (string, error) {
	found, err := sourceOf(configIn(v)).load()
	return found.address(), err
}

// address is that of the namespace, whoever asks.
func (c credentials) address() string {
	if c.server == "" {
		return ""
	}
	return strings.TrimRight(c.server, "/") + namespacesPath + c.namespace
}

const namespacesPath = "/api/v1/namespaces/"

// at gives the credentials for an address: those that are meant, or else those of a context of the kubeconfig.
func (s source) at(address string) (credentials, error) {
	i := strings.LastIndex(address, namespacesPath)
	if i < 0 {
		return credentials{}, fmt.Errorf("kubernetes: %q is no address of a namespace", address)
	}
	s.namespace = address[i+len(namespacesPath):]
	found, err := s.load()
	if err == nil && found.address() == address {
		return found, nil
	}

	config, readErr := readConfigs(s.files())
	if readErr == nil {
		for _, c := range config.Contexts {
			if found, err := config.credentials(c.Name, s.namespace); err == nil && found.address() == address {
				return found, nil
			}
		}
	}
	return credentials{}, fmt.Errorf("kubernetes: no kubeconfig at hand has a context for %s", address)
}
