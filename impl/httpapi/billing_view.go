package httpapi

import (
	"time"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// billQuery translates what all bills take.
func billQuery(p rest.ListBillingParams, items []compute.Item) control.BillQuery {
	return control.BillQuery{
		Start: given(p.StartTime), End: given(p.EndTime), LastN: value(p.LastN), Bucket: compute.BucketSize(value(p.BucketSize)), Items: items,
	}
}

// given gives a time that was asked for, zero for none. The first moment of the year 1, which is zero too, is given as the one after it.
func given(t *time.Time) time.Time {
	if t != nil && t.IsZero() {
		return t.Add(1)
	}
	return value(t)
}

// filter gives the resource that was asked for, null for all.
func filter(b control.Bill) nullable.Nullable[string] {
	if b.Resource == nil {
		return nullable.NewNullNullable[string]()
	}
	return nullable.NewNullableWithValue(*b.Resource)
}

func billQueryView(b control.Bill) rest.BillingQuery {
	return rest.BillingQuery{StartTime: b.Start, EndTime: b.End, BucketSize: rest.BillingBucketSize(b.Bucket)}
}

// billView fills every field of the published bill. Disks and networks are in prices, there is no fee and no public endpoint:
// those amounts are 0.
func billView(b control.Bill) rest.BillingList {
	return rest.BillingList{
		Metadata: rest.BillingMetadata{Query: billQueryView(b), RecordCount: int64(len(b.Records)), Totals: rest.BillingAmounts{
			TotalAmount: b.Totals.Total().USD(), PodGpuAmount: b.Totals.Of(compute.PodGPU).USD(), PodCPUAmount: b.Totals.Of(compute.PodCPU).USD(),
			ServerlessGpuAmount: b.Totals.Of(compute.ServerlessGPU).USD(), ServerlessCPUAmount: b.Totals.Of(compute.ServerlessCPU).USD(),
			StorageStandardAmount:        b.Totals.Of(compute.StorageStandard).USD(),
			StorageHighPerformanceAmount: b.Totals.Of(compute.StorageHighPerformance).USD(), ClusterGpuAmount: b.Totals.Of(compute.ClusterGPU).USD(),
		}},
		Records: views(b.Records, func(r control.BillRecord) rest.BillingRecord {
			return rest.BillingRecord{
				StartTime: r.Start, EndTime: r.End, TotalAmount: r.Amounts.Total().USD(), PodGpuAmount: r.Amounts.Of(compute.PodGPU).USD(),
				PodCPUAmount: r.Amounts.Of(compute.PodCPU).USD(), ServerlessGpuAmount: r.Amounts.Of(compute.ServerlessGPU).USD(),
				ServerlessCPUAmount: r.Amounts.Of(compute.ServerlessCPU).USD(), StorageStandardAmount: r.Amounts.Of(compute.StorageStandard).USD(),
				StorageHighPerformanceAmount: r.Amounts.Of(compute.StorageHighPerformance).USD(), ClusterGpuAmount: r.Amounts.Of(compute.ClusterGPU).USD(),
			}
		}),
	}
}

func podBillView(b control.Bill) rest.PodBillingList {
	return rest.PodBillingList{
		Metadata: rest.PodBillingMetadata{
			Query:       rest.PodBillingQuery{StartTime: b.Start, EndTime: b.End, BucketSize: rest.BillingBucketSize(b.Bucket), PodID: filter(b)},
			RecordCount: int64(len(b.Records)), UniquePodCount: int64(b.Resources),
			Totals: rest.PodBillingAmounts{
				TotalAmount: b.Totals.Total().USD(), GpuAmount: b.Totals.Of(compute.PodGPU).USD(), CPUAmount: b.Totals.Of(compute.PodCPU).USD(),
			},
		},
		Records: views(b.Records, func(r control.BillRecord) rest.PodBillingRecord {
			return rest.PodBillingRecord{
				PodID: r.Resource, StartTime: r.Start, EndTime: r.End, TotalAmount: r.Amounts.Total().USD(),
				GpuAmount: r.Amounts.Of(compute.PodGPU).USD(), CPUAmount: r.Amounts.Of(compute.PodCPU).USD(),
			}
		}),
	}
}

func serverlessBillView(b control.Bill) rest.ServerlessBillingList {
	return rest.ServerlessBillingList{
		Metadata: rest.ServerlessBillingMetadata{
			Query: rest.ServerlessBillingQuery{
				StartTime: b.Start, EndTime: b.End, BucketSize: rest.BillingBucketSize(b.Bucket), ServerlessID: filter(b),
			},
			RecordCount: int64(len(b.Records)), UniqueServerlessCount: int64(b.Resources),
			Totals: rest.ServerlessBillingAmounts{
				TotalAmount: b.Totals.Total().USD(), GpuAmount: b.Totals.Of(compute.ServerlessGPU).USD(), CPUAmount: b.Totals.Of(compute.ServerlessCPU).USD(),
			},
		},
		Records: views(b.Records, func(r control.BillRecord) rest.ServerlessBillingRecord {
			return rest.ServerlessBillingRecord{
				ServerlessID: r.Resource, StartTime: r.Start, EndTime: r.End, TotalAmount: r.Amounts.Total().USD(),
				GpuAmount: r.Amounts.Of(compute.ServerlessGPU).USD(), CPUAmount: r.Amounts.Of(compute.ServerlessCPU).USD(),
			}
		}),
	}
}

func endpointBillView(b control.Bill) rest.EndpointBillingList {
	return rest.EndpointBillingList{
		Metadata: rest.EndpointBillingMetadata{
			Query: billQueryView(b), RecordCount: int64(len(b.Records)), Totals: rest.EndpointBillingAmounts{TotalAmount: b.Totals.Total().USD()},
		},
		Records: views(b.Records, func(r control.BillRecord) rest.EndpointBillingRecord {
			return rest.EndpointBillingRecord{StartTime: r.Start, EndTime: r.End, TotalAmount: r.Amounts.Total().USD()}
		}),
	}
}

func volumeBillView(b control.Bill) rest.NetworkVolumeBillingList {
	return rest.NetworkVolumeBillingList{
		Metadata: rest.NetworkVolumeBillingMetadata{
			Query: rest.NetworkVolumeBillingQuery{
				StartTime: b.Start, EndTime: b.End, BucketSize: rest.BillingBucketSize(b.Bucket), NetworkVolumeID: filter(b),
			},
			RecordCount: int64(len(b.Records)), UniqueNetworkVolumeCount: int64(b.Resources),
			Totals: rest.NetworkVolumeBillingAmounts{
				TotalAmount: b.Totals.Total().USD(), StandardAmount: b.Totals.Of(compute.StorageStandard).USD(),
				HighPerformanceAmount: b.Totals.Of(compute.StorageHighPerformance).USD(),
			},
		},
		Records: views(b.Records, func(r control.BillRecord) rest.NetworkVolumeBillingRecord {
			return rest.NetworkVolumeBillingRecord{
				NetworkVolumeID: r.Resource, StartTime: r.Start, EndTime: r.End, TotalAmount: r.Amounts.Total().USD(),
				StandardAmount: r.Amounts.Of(compute.StorageStandard).USD(), HighPerformanceAmount: r.Amounts.Of(compute.StorageHighPerformance).USD(),
			}
		}),
	}
}

func clusterBillView(b control.Bill) rest.ClusterBillingList {
	return rest.ClusterBillingList{
		Metadata: rest.ClusterBillingMetadata{
			Query:       rest.ClusterBillingQuery{StartTime: b.Start, EndTime: b.End, BucketSize: rest.BillingBucketSize(b.Bucket), ClusterID: filter(b)},
			RecordCount: int64(len(b.Records)), UniqueClusterCount: int64(b.Resources),
			Totals: rest.ClusterBillingAmounts{TotalAmount: b.Totals.Total().USD(), GpuAmount: b.Totals.Of(compute.ClusterGPU).USD()},
		},
		Records: views(b.Records, func(r control.BillRecord) rest.ClusterBillingRecord {
			return rest.ClusterBillingRecord{
				ClusterID: r.Resource, StartTime: r.Start, EndTime: r.End, TotalAmount: r.Amounts.Total().USD(),
				GpuAmount: r.Amounts.Of(compute.ClusterGPU).USD(),
			}
		}),
	}
}
