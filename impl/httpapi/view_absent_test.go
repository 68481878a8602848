package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/why"
)

func TestViews_LeaveOutWhatIsNotThere(t *testing.T) {
	t.Parallel()
	require.Equal(t, controls.Cost{}, costView(control.Cost{}))
	require.Nil(t, keyView(compute.Key{}).SpendLimit)
	require.Nil(t, keyView(compute.Key{}).Contract)
	require.Equal(t, []string{}, keyView(compute.Key{}).Scopes)
	require.Nil(t, roleOf(compute.Key{}))
	require.EqualValues(t, "admin", *roleOf(compute.Key{Role: compute.RoleAdmin}))
	require.True(t, secretView(compute.Secret{}).ValueLastUpdatedAt.IsNull())
	require.True(t, webhookView(compute.Webhook{}).NextAt.IsNull())
	require.Equal(t, time.UnixMilli(5), webhookView(compute.Webhook{NextAt: time.UnixMilli(5)}).NextAt.MustGet())
	require.Nil(t, userView(compute.User{}).CreatedAt)

	host := hostView(control.FleetHost{})
	require.Equal(t, []any{(*string)(nil), (*string)(nil), (*string)(nil), (*string)(nil)}, []any{host.Engine, host.Away, host.Gpu, host.CudaVersion})
	require.True(t, host.PublicIP, "unless it is said that there is none")
	none := false
	without := control.FleetHost{Away: "gone"}
	without.PublicIP = &none
	require.False(t, hostView(without).PublicIP)
	require.Equal(t, "gone", *hostView(without).Away)

	built := buildView(compute.Build{Status: compute.BuildCompleted, Image: "i"})
	require.Equal(t, "i", built.ImageName.MustGet())
	require.True(t, built.StartedAt.IsNull())
	require.True(t, buildView(compute.Build{Status: "FAILED", Image: "i"}).ImageName.IsNull(), "it has no image before its end")

	reason := whyView(why.Answer{}, nil)
	require.Nil(t, reason.Since)
	require.EqualValues(t, 10_000, interval, "samples are ten seconds apart")
	require.Nil(t, reason.Details.Attempts)
	require.Nil(t, reason.Details.Ahead)
	require.Nil(t, reason.Details.Addresses)
	require.Equal(t, []string{}, reason.Details.Lines)
	ahead := 0
	reason = whyView(why.Answer{Details: why.Details{Attempts: 1, Ahead: &ahead, Ports: []int{80}}}, func(int) string { return "there" })
	require.EqualValues(t, 1, *reason.Details.Attempts)
	require.EqualValues(t, 0, *reason.Details.Ahead)
	require.Equal(t, []string{"there"}, reason.Details.Addresses)
}

func TestViews_TemplateShowsItsCredentialToItsOwner(t *testing.T) {
	t.Parallel()
	template := compute.Template{UserID: "u", RegistryID: "r"}
	require.Equal(t, "r", templateView(template, "u").Registry.MustGet())
	require.True(t, templateView(template, "v").Registry.IsNull())
	require.Nil(t, templateView(template, "u").Mounts.Persistent)
}

func TestViews_CatalogShowsWhatIsOffered(t *testing.T) {
	t.Parallel()
	none := gpuTypeView(control.GPUTypeStock{})
	require.False(t, none.Secure || none.Community)
	require.Equal(t, []any{0.0, 0.0, (*float64)(nil)}, []any{none.Price.Secure, none.Price.Community, none.Price.Serverless})
	require.Nil(t, none.Availability)
	require.Nil(t, cpuTypeView(control.CPUFlavorStock{}).Availability)
	require.Nil(t, dataCenterView(control.DataCenterStock{}).GpuAvailability)
	require.Nil(t, dataCenterView(control.DataCenterStock{}).CPUAvailability)
	require.Equal(t, []rest.VolumeType{}, dataCenterView(control.DataCenterStock{}).NetworkVolumeTypes)
	require.Equal(t, []rest.ResourceAvailability{}, dataCenterView(control.DataCenterStock{GPUs: []control.ResourceStock{}}).GpuAvailability, "nothing is not unknown")
	require.Equal(t, map[string]string{}, publicTemplateView(control.PublicTemplate{}).Env)
	require.Equal(t, map[string]string{"A": "1"}, publicTemplateView(control.PublicTemplate{Env: map[string]string{"A": "1"}}).Env)
	require.True(t, publicTemplateView(control.PublicTemplate{}).Public)

	gpus := dataCenterQuery(rest.ListDataCentersParams{Include: rest.DataCenterInclude{"GPU_AVAILABILITY"}})
	require.Equal(t, []bool{true, false}, []bool{gpus.GPUs, gpus.CPUs})
	both := dataCenterQuery(rest.ListDataCentersParams{Include: rest.DataCenterInclude{"GPU_AVAILABILITY", "CPU_AVAILABILITY"}})
	require.Equal(t, []bool{true, true}, []bool{both.GPUs, both.CPUs})
	require.False(t, gpuQuery(rest.ListGpuTypesParams{}).Include)
	require.False(t, cpuQuery(rest.ListCPUTypesParams{}).Include)
}

func TestViews_ClusterNamesTheSettingsThatItSays(t *testing.T) {
	t.Parallel()
	require.Empty(t, newCluster(rest.CreateClusterRequest{Name: "c"}).Settings)
	image, disk := "i", int64(5)
	all := newCluster(rest.CreateClusterRequest{Image: &image, Disk: &disk, Env: map[string]string{}, Ports: []string{}, Mounts: &rest.Mounts{}})
	require.Equal(t, []string{"image", "disk", "env", "ports", "mounts"}, all.Settings, "empty ones, too")

	view := clusterView(control.Cluster{Members: []compute.ClusterMember{{ID: "a", Status: compute.PodRunning}, {ID: "b", Status: compute.PodStarting}, {ID: "c", Status: compute.PodRunning}}})
	require.Equal(t, map[string]int64{"RUNNING": 2, "STARTING": 1}, view.Pods.ByStatus)
	require.EqualValues(t, 3, view.Pods.Total)
	require.Equal(t, "a", view.Primary.PodID)
	require.Nil(t, view.Template)
}

func TestViews_FirstMomentOfAllIsATime(t *testing.T) {
	t.Parallel()
	require.True(t, given(nil).IsZero())
	require.Equal(t, time.Time{}.Add(1), given(new(time.Time)), "zero would be none")
	at := time.UnixMilli(5)
	require.Equal(t, at, given(&at))
}
