package httpapi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestBillView_ShowsAllThatIsBilledAndNothingElse(t *testing.T) {
	t.Parallel()
	amounts, id := control.Amounts{}, "r"
	for i, item := range slices.Concat(podItems, serverlessItems, storageItems, clusterItems) {
		amounts.Add(item, compute.NanoUSD(1_000_000_000<<i))
	}
	record := control.BillRecord{Start: time.UnixMilli(0), End: time.UnixMilli(1), Resource: id, Amounts: amounts}
	b := control.Bill{Start: record.Start, End: record.End, Bucket: compute.DayBucket, Resource: &id, Records: []control.BillRecord{record}, Resources: 1, Totals: amounts}

	all, pods, serverless, endpoints, volumes, clusters := billView(b), podBillView(b), serverlessBillView(b), endpointBillView(b), volumeBillView(b), clusterBillView(b)
	for _, part := range []any{
		all, all.Metadata, all.Metadata.Query, pods, pods.Metadata, pods.Metadata.Query, serverless, serverless.Metadata, serverless.Metadata.Query,
		endpoints, endpoints.Metadata, endpoints.Metadata.Query, endpoints.Metadata.Totals, endpoints.Records[0],
		volumes, volumes.Metadata, volumes.Metadata.Query, volumes.Metadata.Totals, volumes.Records[0], clusters, clusters.Metadata, clusters.Metadata.Query,
	} {
		require.Empty(t, missing(part))
	}

	// What is in the price of something else, or is not sold, is always 0.
	zero := func(part any) []string {
		names := missing(part)
		for i, name := range names {
			names[i] = name[strings.Index(name, ".")+1:]
		}
		slices.Sort(names)
		return names
	}

	for _, part := range []any{all.Metadata.Totals, all.Records[0]} {
		require.Equal(t, []string{
			"ClusterDiskAmount", "ClusterNetworkingAmount", "EndpointAmount", "PodDiskAmount", "ServerlessDiskAmount", "ServerlessFeeAmount",
		}, zero(part))
	}

	for _, part := range []any{pods.Metadata.Totals, pods.Records[0]} {
		require.Equal(t, []string{"DiskAmount"}, zero(part))
	}
	for _, part := range []any{serverless.Metadata.Totals, serverless.Records[0]} {
		require.Equal(t, []string{"DiskAmount", "FeeAmount"}, zero(part))
	}
	for _, part := range []any{clusters.Metadata.Totals, clusters.Records[0]} {
		require.Equal(t, []string{"DiskAmount", "NetworkingAmount"}, zero(part))
	}
	require.InDelta(t, 1+2, pods.Records[0].GpuAmount+pods.Records[0].CPUAmount, 0)
	require.InDelta(t, 4+8, serverless.Metadata.Totals.GpuAmount+serverless.Metadata.Totals.CPUAmount, 0)
	require.InDelta(t, 16+2*32, volumes.Metadata.Totals.StandardAmount+2*volumes.Metadata.Totals.HighPerformanceAmount, 0)
	require.InDelta(t, 127, all.Metadata.Totals.TotalAmount, 0)
}
