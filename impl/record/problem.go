package record

import (
	"encoding/json"
	"net/http"
)

// problem is a refusal of ours, in the form of the interface that the request is for.
type problem struct {
	Title   string `json:"title"`
	Status  int    `json:"status,omitempty"` // the queue has error
	Detail  string `json:"detail"`
	Error   string `json:"error,omitempty"`
	Nearest any    `json:"nearest,omitempty"`
}

// refuse answers with a problem, as the document of the operation has it.
func refuse(w http.ResponseWriter, document string, status int, detail string, nearest any) {
	p := problem{Title: http.StatusText(status), Detail: detail, Nearest: nearest}
	if document == "queue" {
		p.Error = detail
	} else {
		p.Status = status
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p) // the client may have gone
}
