package main

import (
	"context"
	"net/http"

	"github.com/berthdev/berth/gen/rest"
)

// bills are those that can be read, each from its own operation.
func bills() []bill {
	return []bill{billOfAll(), billOfPods(), billOfEndpoints(), billOfPublicEndpoints(), billOfVolumes(), billOfClusters()}
}

func billOfAll() bill {
	return bill{
		use: "all", short: "Read the whole bill", example: "  berth billing all --by month --since 2026-01-01",
		ask: func(ctx context.Context, c *connection, w window) (*http.Response, error) {
			return c.rest.ListBilling(ctx, &rest.ListBillingParams{StartTime: w.start, EndTime: w.end, BucketSize: w.bucket, LastN: w.last})
		},
		read: func(c *connection, document []byte) (records []billed, total float64, err error) {
			list, err := parse[rest.BillingList](c, document)
			for _, r := range list.Records {
				records = append(records, billed{from: r.StartTime, total: r.TotalAmount, amounts: []amount{
					{"pods' GPUs", r.PodGpuAmount}, {"pods' CPUs", r.PodCPUAmount}, {"pods' disks", r.PodDiskAmount},
					{"workers' GPUs", r.ServerlessGpuAmount}, {"workers' CPUs", r.ServerlessCPUAmount}, {"workers' disks", r.ServerlessDiskAmount},
					{"workers' fee", r.ServerlessFeeAmount}, {"public endpoints", r.EndpointAmount},
					{"storage", r.StorageStandardAmount}, {"fast storage", r.StorageHighPerformanceAmount},
					{"clusters' GPUs", r.ClusterGpuAmount}, {"clusters' disks", r.ClusterDiskAmount}, {"clusters' network", r.ClusterNetworkingAmount},
				}})
			}
			return records, list.Metadata.Totals.TotalAmount, err
		},
	}
}

func billOfPods() bill {
	return bill{
		use: "pods", aliases: []string{"pod"}, short: "Read the bill of pods, without those of clusters", example: "  berth billing pods --by hour --last 24\n  berth billing pods --pod first",
		of: "pod", find: pods().kind().find, offer: idsOf(pods),
		ask: func(ctx context.Context, c *connection, w window) (*http.Response, error) {
			return c.rest.ListPodBilling(ctx, &rest.ListPodBillingParams{StartTime: w.start, EndTime: w.end, BucketSize: w.bucket, LastN: w.last, PodID: w.id})
		},
		read: func(c *connection, document []byte) (records []billed, total float64, err error) {
			list, err := parse[rest.PodBillingList](c, document)
			for _, r := range list.Records {
				records = append(records, billed{r.PodID, r.StartTime, []amount{{"GPUs", r.GpuAmount}, {"CPUs", r.CPUAmount}, {"disk", r.DiskAmount}}, r.TotalAmount})
			}
			return records, list.Metadata.Totals.TotalAmount, err
		},
	}
}

func billOfEndpoints() bill {
	return bill{
		use: "endpoints", aliases: []string{"endpoint", "serverless"}, short: "Read the bill of serverless endpoints, while their workers run", example: "  berth billing endpoints --endpoint words --last 7",
		of: "endpoint", find: endpoints().kind().find, offer: idsOf(endpoints),
		ask: func(ctx context.Context, c *connection, w window) (*http.Response, error) {
			return c.rest.ListServerlessBilling(ctx, &rest.ListServerlessBillingParams{StartTime: w.start, EndTime: w.end, BucketSize: w.bucket, LastN: w.last, ServerlessID: w.id})
		},
		read: func(c *connection, document []byte) (records []billed, total float64, err error) {
			list, err := parse[rest.ServerlessBillingList](c, document)
			for _, r := range list.Records {
				records = append(records, billed{r.ServerlessID, r.StartTime, []amount{{"GPUs", r.GpuAmount}, {"CPUs", r.CPUAmount}, {"disk", r.DiskAmount}, {"fee", r.FeeAmount}}, r.TotalAmount})
			}
			return records, list.Metadata.Totals.TotalAmount, err
		},
	}
}

func billOfPublicEndpoints() bill {
	return bill{
		use: "public-endpoints", short: "Read the bill of models that the service itself runs; a berth runs none", example: "  berth billing public-endpoints",
		ask: func(ctx context.Context, c *connection, w window) (*http.Response, error) {
			return c.rest.ListEndpointBilling(ctx, &rest.ListEndpointBillingParams{StartTime: w.start, EndTime: w.end, BucketSize: w.bucket, LastN: w.last})
		},
		read: func(c *connection, document []byte) (records []billed, total float64, err error) {
			list, err := parse[rest.EndpointBillingList](c, document)
			for _, r := range list.Records {
				records = append(records, billed{from: r.StartTime, total: r.TotalAmount})
			}
			return records, list.Metadata.Totals.TotalAmount, err
		},
	}
}

func billOfVolumes() bill {
	return bill{
		use: "volumes", aliases: []string{"volume"}, short: "Read the bill of network volumes, from their creation to their deletion", example: "  berth billing volumes --by month",
		of: "volume", find: volumes().kind().find, offer: idsOf(volumes),
		ask: func(ctx context.Context, c *connection, w window) (*http.Response, error) {
			return c.rest.ListNetworkVolumeBilling(ctx, &rest.ListNetworkVolumeBillingParams{StartTime: w.start, EndTime: w.end, BucketSize: w.bucket, LastN: w.last, NetworkVolumeID: w.id})
		},
		read: func(c *connection, document []byte) (records []billed, total float64, err error) {
			list, err := parse[rest.NetworkVolumeBillingList](c, document)
			for _, r := range list.Records {
				records = append(records, billed{r.NetworkVolumeID, r.StartTime, []amount{{"storage", r.StandardAmount}, {"fast storage", r.HighPerformanceAmount}}, r.TotalAmount})
			}
			return records, list.Metadata.Totals.TotalAmount, err
		},
	}
}

func billOfClusters() bill {
	return bill{
		use: "clusters", aliases: []string{"cluster"}, short: "Read the bill of clusters, while their pods run", example: "  berth billing clusters --cluster training",
		of: "cluster", find: clusters().kind().find, offer: idsOf(clusters),
		ask: func(ctx context.Context, c *connection, w window) (*http.Response, error) {
			return c.rest.ListClusterBilling(ctx, &rest.ListClusterBillingParams{StartTime: w.start, EndTime: w.end, BucketSize: w.bucket, LastN: w.last, ClusterID: w.id})
		},
		read: func(c *connection, document []byte) (records []billed, total float64, err error) {
			list, err := parse[rest.ClusterBillingList](c, document)
			for _, r := range list.Records {
				records = append(records, billed{r.ClusterID, r.StartTime, []amount{{"GPUs", r.GpuAmount}, {"disks", r.DiskAmount}, {"network", r.NetworkingAmount}}, r.TotalAmount})
			}
			return records, list.Metadata.Totals.TotalAmount, err
		},
	}
}
