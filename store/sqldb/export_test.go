package sqldb

// Tables gives the names of the columns of each table, as the lists have them, for the test that holds them against the schema.
func Tables() map[string][]string {
	return map[string][]string{
		"pods": names(podColumns), "endpoints": names(endpointColumns), "releases": names(releaseColumns), "workers": names(workerColumns),
		"ended_workers": names(endedWithLog), "claims": names(claimColumns), "claim_sums": names(sumColumns), "jobs": names(jobColumns),
		"job_inputs": names(inputColumns), "job_pieces": names(pieceColumns), "chunks": names(chunkColumns), "webhooks": names(webhookColumns),
		"job_counts": names(countColumns), "keys": names(keyColumns), "request_counts": names(requestCountColumns), "volumes": names(volumeColumns),
		"registries": names(registryColumns), "delegations": names(delegationColumns), "templates": names(templateColumns),
		"ssh_keys": names(sshKeyColumns), "clusters": names(clusterColumns), "system_lines": names(lineColumns), "charges": names(chargeColumns), "charge_sums": names(chargeSumColumns),
		"runtimes": names(runtimeColumns), "clock": append(names(lagColumn), names(seenColumn)...), "secrets": names(sealedSecretColumns), "global_volumes": names(globalVolumeColumns),
		"builds": names(insertBuild), "host_changes": names(hostChangeColumns), "seeds": names(seedColumn), "states": names(stateColumns), "scripts": names(scriptColumns),
		"flash_apps": names(flashAppColumns), "flash_environments": names(flashEnvironmentColumns), "flash_builds": append(names(flashBuildColumns), "manifest"),
		"audit": append(names(auditFields), "seq"), "refusals": append(names(refusalFields), "seq"), "users": names(userColumns), "logins": names(loginColumns),
	}
}

// PageStatements gives the statements that read pages of lists, by table.
func PageStatements() map[string][]string {
	return map[string][]string{
		"pods": {pagesPods.first, pagesPods.later}, "endpoints": {pagesEndpoints.first, pagesEndpoints.later},
		"templates": {pagesTemplates.first, pagesTemplates.later}, "volumes": {pagesVolumes.first, pagesVolumes.later},
		"global_volumes": {pagesGlobalVolumes.first, pagesGlobalVolumes.later},
	}
}

// JobStatements gives the statements that list jobs, by the index that each is to use.
func JobStatements() map[string]string {
	return map[string]string{"jobs_of_endpoint": listJobs, "jobs_open_or_failed": listOpenJobs}
}

// ChargeSearch is a statement about charges that ended or their sums, with how many arguments it has, and the step that finds its rows.
type ChargeSearch struct {
	Statement string
	Arguments int
	Step      string
}

// ChargeSearches gives these statements.
func ChargeSearches() []ChargeSearch {
	return []ChargeSearch{
		{eachChargeSum, 5, "SEARCH charge_sums USING PRIMARY KEY (user_id=? AND item=? AND day>? AND day<?)"},
		{eachSpent, 2, "SEARCH charge_sums USING INDEX charge_sums_of_day (day>? AND day<?)"},
		{eachSpentOf, 3, "SEARCH charge_sums USING PRIMARY KEY (user_id=?)"},
		{endedCharges, 2, "SEARCH charges USING INDEX charges_ended (ended_at<?)"},
	}
}

func names[T any](c columns[T]) (all []string) {
	for _, one := range c {
		if one.write != nil {
			all = append(all, one.name)
		}
	}
	return all
}
