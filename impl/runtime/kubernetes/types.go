package kubernetes

import (
	"encoding/json"
	"time"
)

// The kinds of objects, as far as this room reads or writes them. The names and forms are those of the API.

// meta is what every object has.
type meta struct {
	Name              string            `json:"name,omitempty"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	OwnerReferences   []ownerReference  `json:"ownerReferences,omitempty"`
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp time.Time         `json:"deletionTimestamp,omitzero"` // when its grace will have passed; zero: it is not being deleted
	DeletionGrace     *int64            `json:"deletionGracePeriodSeconds,omitempty"`
}

type ownerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

// metadataOnly is an object of which nothing else is read.
type metadataOnly struct {
	Metadata meta `json:"metadata"`
}

// object is one that can be listed and watched.
type object interface{ head() *meta }

type pod struct {
	APIVersion string    `json:"apiVersion,omitempty"`
	Kind       string    `json:"kind,omitempty"`
	Metadata   meta      `json:"metadata"`
	Spec       podSpec   `json:"spec"`
	Status     podStatus `json:"status,omitzero"`
}

func (p *pod) head() *meta { return &p.Metadata }

type podSpec struct {
	NodeName                     string           `json:"nodeName,omitempty"`
	Hostname                     string           `json:"hostname,omitempty"`
	RestartPolicy                string           `json:"restartPolicy,omitempty"`
	AutomountServiceAccountToken *bool            `json:"automountServiceAccountToken,omitempty"`
	EnableServiceLinks           *bool            `json:"enableServiceLinks,omitempty"`
	Affinity                     *affinity        `json:"affinity,omitempty"`
	Tolerations                  []toleration     `json:"tolerations,omitempty"`
	ImagePullSecrets             []localReference `json:"imagePullSecrets,omitempty"`
	Containers                   []container      `json:"containers"`
	Volumes                      []volume         `json:"volumes,omitempty"`
	ResourceClaims               []podClaim       `json:"resourceClaims,omitempty"`
}

// podClaim is a device claim that a Pod has, by a name of the Pod's own.
type podClaim struct {
	Name              string `json:"name"`
	ResourceClaimName string `json:"resourceClaimName,omitempty"`
}

type localReference struct {
	Name string `json:"name"`
}

type affinity struct {
	NodeAffinity *nodeAffinity `json:"nodeAffinity,omitempty"`
}

type nodeAffinity struct {
	Required *nodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

type nodeSelector struct {
	Terms []nodeSelectorTerm `json:"nodeSelectorTerms"`
}

type nodeSelectorTerm struct {
	Expressions []nodeRequirement `json:"matchExpressions,omitempty"`
	Fields      []nodeRequirement `json:"matchFields,omitempty"`
}

type nodeRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

type toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Effect   string `json:"effect,omitempty"`
}

type container struct {
	Name            string          `json:"name"`
	Image           string          `json:"image"`
	ImagePullPolicy string          `json:"imagePullPolicy,omitempty"`
	Command         []string        `json:"command,omitempty"`
	Args            []string        `json:"args,omitempty"`
	Env             []envVariable   `json:"env,omitempty"`
	EnvFrom         []envSource     `json:"envFrom,omitempty"`
	Ports           []containerPort `json:"ports,omitempty"`
	Resources       resources       `json:"resources,omitzero"`
	VolumeMounts    []volumeMount   `json:"volumeMounts,omitempty"`
	SecurityContext *security       `json:"securityContext,omitempty"`
}

type envVariable struct {
	Name      string         `json:"name"`
	Value     string         `json:"value,omitempty"`
	ValueFrom *variableField `json:"valueFrom,omitempty"`
}

type variableField struct {
	FieldRef fieldReference `json:"fieldRef"`
}

type fieldReference struct {
	FieldPath string `json:"fieldPath"`
}

type envSource struct {
	SecretRef localReference `json:"secretRef"`
}

type containerPort struct {
	ContainerPort int    `json:"containerPort"`
	Protocol      string `json:"protocol"`
}

type resources struct {
	Limits   map[string]quantity `json:"limits,omitempty"`
	Requests map[string]quantity `json:"requests,omitempty"`
	Claims   []localReference    `json:"claims,omitempty"` // of the Pod, by its names of them
}

type volumeMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
}

type security struct {
	AllowPrivilegeEscalation bool `json:"allowPrivilegeEscalation"`
}

type volume struct {
	Name  string       `json:"name"`
	Claim *claimSource `json:"persistentVolumeClaim,omitempty"`
}

type claimSource struct {
	ClaimName string `json:"claimName"`
}

type podStatus struct {
	Phase             string            `json:"phase,omitempty"`
	Reason            string            `json:"reason,omitempty"`
	Message           string            `json:"message,omitempty"`
	HostIP            string            `json:"hostIP,omitempty"`
	PodIP             string            `json:"podIP,omitempty"`
	Conditions        []condition       `json:"conditions,omitempty"`
	ContainerStatuses []containerStatus `json:"containerStatuses,omitempty"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type containerStatus struct {
	Name  string         `json:"name"`
	State containerState `json:"state,omitzero"`
}

type containerState struct {
	Waiting    *waitingState    `json:"waiting,omitempty"`
	Running    *runningState    `json:"running,omitempty"`
	Terminated *terminatedState `json:"terminated,omitempty"`
}

type waitingState struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type runningState struct {
	StartedAt time.Time `json:"startedAt,omitzero"`
}

type terminatedState struct {
	ExitCode   int       `json:"exitCode"`
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

type node struct {
	Metadata meta       `json:"metadata"`
	Spec     nodeSpec   `json:"spec"`
	Status   nodeStatus `json:"status"`
}

func (n *node) head() *meta { return &n.Metadata }

type nodeSpec struct {
	Unschedulable bool    `json:"unschedulable,omitempty"`
	Taints        []taint `json:"taints,omitempty"`
}

type taint struct {
	Key    string `json:"key"`
	Effect string `json:"effect"`
}

type nodeStatus struct {
	Allocatable map[string]quantity `json:"allocatable,omitempty"`
	Conditions  []condition         `json:"conditions,omitempty"`
	Addresses   []nodeAddress       `json:"addresses,omitempty"`
}

type nodeAddress struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

type service struct {
	APIVersion string        `json:"apiVersion,omitempty"`
	Kind       string        `json:"kind,omitempty"`
	Metadata   meta          `json:"metadata"`
	Spec       serviceSpec   `json:"spec"`
	Status     serviceStatus `json:"status,omitzero"`
}

func (s *service) head() *meta { return &s.Metadata }

type serviceSpec struct {
	Type     string            `json:"type,omitempty"`
	Selector map[string]string `json:"selector,omitempty"`
	Ports    []servicePort     `json:"ports,omitempty"`
}

type servicePort struct {
	Name       string `json:"name,omitempty"`
	Protocol   string `json:"protocol,omitempty"`
	Port       int    `json:"port"`
	TargetPort int    `json:"targetPort,omitempty"`
	NodePort   int    `json:"nodePort,omitempty"`
}

type serviceStatus struct {
	LoadBalancer loadBalancer `json:"loadBalancer,omitzero"`
}

type loadBalancer struct {
	Ingress []ingress `json:"ingress,omitempty"`
}

type ingress struct {
	IP       string `json:"ip,omitempty"`
	Hostname string `json:"hostname,omitempty"`
}

type secret struct {
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Metadata   meta              `json:"metadata"`
	Type       string            `json:"type,omitempty"`
	Data       map[string][]byte `json:"data,omitempty"` // base64 in JSON
}

func (s *secret) head() *meta { return &s.Metadata }

// storageClaim is a PersistentVolumeClaim.
type storageClaim struct {
	APIVersion string    `json:"apiVersion,omitempty"`
	Kind       string    `json:"kind,omitempty"`
	Metadata   meta      `json:"metadata"`
	Spec       claimSpec `json:"spec"`
	sized      bool      // what is wanted has a size of its own, and not that of the settings
}

func (c *storageClaim) head() *meta { return &c.Metadata }

type claimSpec struct {
	AccessModes      []string  `json:"accessModes,omitempty"`
	StorageClassName *string   `json:"storageClassName,omitempty"`
	Resources        resources `json:"resources,omitzero"`
}

// deviceClaim is a ResourceClaim: so many devices of a class.
type deviceClaim struct {
	APIVersion string          `json:"apiVersion,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	Metadata   meta            `json:"metadata"`
	Spec       deviceClaimSpec `json:"spec"`
}

type deviceClaimSpec struct {
	Devices deviceRequests `json:"devices"`
}

type deviceRequests struct {
	Requests []deviceRequest `json:"requests"`
}

type deviceRequest struct {
	Name    string       `json:"name"`
	Exactly exactRequest `json:"exactly"`
}

type exactRequest struct {
	DeviceClassName string           `json:"deviceClassName"`
	AllocationMode  string           `json:"allocationMode,omitempty"`
	Count           int64            `json:"count,omitempty"`
	Selectors       []deviceSelector `json:"selectors,omitempty"`
}

type deviceSelector struct {
	CEL celSelector `json:"cel"`
}

type celSelector struct {
	Expression string `json:"expression"`
}

// resourceSlice is a part of a driver's pool of devices.
type resourceSlice struct {
	Metadata meta              `json:"metadata"`
	Spec     resourceSliceSpec `json:"spec"`
}

func (s *resourceSlice) head() *meta { return &s.Metadata }

type resourceSliceSpec struct {
	Driver   string       `json:"driver"`
	NodeName string       `json:"nodeName,omitempty"`
	Pool     resourcePool `json:"pool"`
	Devices  []device     `json:"devices,omitempty"`
}

type resourcePool struct {
	Name       string `json:"name"`
	Generation int64  `json:"generation"` // slices of a lower one than the pool has by now count no more
}

type device struct {
	Name       string                     `json:"name"`
	Attributes map[string]deviceAttribute `json:"attributes,omitempty"`
}

// deviceAttribute is a value of one of the types that are read here.
type deviceAttribute struct {
	String  string `json:"string,omitempty"`
	Version string `json:"version,omitempty"`
}

// list is a page of objects.
type list[T any] struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// event is one of a watch.
type event struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// status is what the API answers where it gives no object.
type status struct {
	Kind    string        `json:"kind"`
	Status  string        `json:"status"`
	Message string        `json:"message"`
	Reason  string        `json:"reason"`
	Code    int           `json:"code"`
	Details statusDetails `json:"details"`
}

type statusDetails struct {
	Name              string `json:"name"` // of the object that it is about
	RetryAfterSeconds int    `json:"retryAfterSeconds"`

	Causes []statusCause `json:"causes"`
}

type statusCause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// deleteOptions say how an object is deleted.
type deleteOptions struct {
	APIVersion    string        `json:"apiVersion"`
	Kind          string        `json:"kind"`
	Grace         *int64        `json:"gracePeriodSeconds,omitempty"`
	Preconditions preconditions `json:"preconditions,omitzero"`
}

type preconditions struct {
	UID string `json:"uid,omitempty"`
}

// podMetrics is what the metrics API measures of a Pod.
type podMetrics struct {
	Containers []struct {
		Usage map[string]quantity `json:"usage"`
	} `json:"containers"`
}
