package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

// listed is how many pods the lists have.
const listed = 100

// podList asks GraphQL for what the Python SDK's get_pods asks for.
const podList = `query myPods { myself { pods { id containerDiskInGb costPerHr desiredStatus dockerArgs dockerId env gpuCount imageName
	lastStatusChange machineId memoryInGb name podType port ports uptimeSeconds vcpuCount volumeInGb volumeMountPath
	runtime { ports { ip isIpPublic privatePort publicPort type } } machine { gpuDisplayName } } } }`

// lists measures lists of pods over both doors.
func (b *bench) lists() error {
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()

	rest, graph, err := berth.podLists()
	if err != nil {
		return err
	}
	file := b.directory() + ".json"
	body, err := berth.once(rest)
	if err == nil {
		err = os.WriteFile(file, body, 0o600)
	}
	if err != nil {
		return err
	}
	bare, err := b.bare("list", file)
	if err != nil {
		return err
	}
	defer bare.stop()

	b.heading()
	listed := b.constant(berth, http.StatusOK, rest)
	for _, r := range []row{
		{name: "GraphQL beside REST, 64 connections", reference: listed, measured: b.constant(berth, http.StatusOK, graph), asked: atLeast(0.6)},
		{name: "REST beside values ready-made, 64 connections", reference: b.constant(bare, http.StatusOK, request(http.MethodGet, "/values", "", nil)),
			measured: listed, asked: atLeast(0.5)},
		{name: "REST beside bytes ready-made, 64 connections", reference: b.constant(bare, http.StatusOK, request(http.MethodGet, "/bytes", "", nil)), measured: listed},
	} {
		r.unit = "lists/s"
		if err := r.print(b); err != nil {
			return err
		}
	}
	return nil
}

// podLists makes pods until there are enough, and gives the requests for their list over REST and over GraphQL.
func (s *server) podLists() (rest, graph []byte, err error) {
	document, err := json.Marshal(map[string]string{"query": podList})
	if err != nil {
		return nil, nil, err
	}

	rest, graph = request(http.MethodGet, "/v2/pods", s.key, nil), request(http.MethodPost, "/graphql", s.key, document)
	there, err := s.listedPods(graph)
	if err == nil && there < listed {
		err = each(s.address, 1, func(_ int, c *conn) error {
			for range listed - there {
				if _, err := c.ask(s.createPod(goodPod), http.StatusCreated); err != nil {
					return err
				}
			}
			return nil
		})
		s.awaitIdle()
	}
	if err != nil {
		return nil, nil, err
	}

	if there, err = s.listedPods(graph); err == nil && there != listed {
		err = fmt.Errorf("GraphQL lists %d pods", there)
	}
	return rest, graph, err
}

// listedPods counts the pods of a list over GraphQL.
func (s *server) listedPods(graph []byte) (int, error) {
	var answer struct {
		Data struct{ Myself struct{ Pods []any } }
	}
	body, err := s.once(graph)
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	return len(answer.Data.Myself.Pods), err
}
