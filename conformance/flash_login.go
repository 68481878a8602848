package conformance

import (
	"net/http"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// loginTime is from a request to log in to its end.
const loginTime = 10 * time.Minute

// loginAgent is what these clients call themselves.
const loginAgent = "Conformance-Client/1.0"

// askLogin sends the mutation that makes a request to log in, without a key.
func (c *Check) askLogin(arguments string) Answer {
	return c.Send(Request{
		Method: "POST", URL: c.URL + graphqlPath, Key: "-", Header: map[string]string{"User-Agent": loginAgent},
		Body: `{"query":` + c.text(`mutation createFlashAuthRequest{createFlashAuthRequest`+arguments+`{id status expiresAt createdAt apiKeyName codeChallenge codeChallengeMethod clientAddress}}`) + `}`,
	})
}

// newLogin makes a request to log in and gives its id.
func (c *Check) newLogin(arguments string) string {
	return c.data(c.askLogin(arguments))["createFlashAuthRequest"].(map[string]any)["id"].(string)
}

// login asks how far a request is, with a key; "-": without one.
func (c *Check) login(key, id string) Answer {
	return c.graphQLAs(key, `query flashAuthRequestStatus($flashAuthRequestId: String!) {
		flashAuthRequestStatus(flashAuthRequestId: $flashAuthRequestId) { id status expiresAt apiKey clientAddress userAgent }
	}`, map[string]any{"flashAuthRequestId": id})
}

// loginIs asserts how far a request is, and that nobody without a key is handed one.
func (c *Check) loginIs(id, status string) map[string]any {
	found := c.data(c.login("-", id))["flashAuthRequestStatus"].(map[string]any)
	require.Equal(c, status, found["status"])
	require.Nil(c, found["apiKey"])
	return found
}

// fetched gives the key of an approved request.
func (c *Check) fetched(id string) string {
	found := c.data(c.login("-", id))["flashAuthRequestStatus"].(map[string]any)
	require.Equal(c, "APPROVED", found["status"])
	return found["apiKey"].(string)
}

// decideLogin sends approve or deny with a key.
func (c *Check) decideLogin(key, verb, id string) Answer {
	return c.graphQLAs(key, `mutation($id:String!){`+verb+`FlashAuthRequest(flashAuthRequestId:$id){status apiKey}}`, map[string]any{"id": id})
}

// approver makes a user with a key, and gives them; more are further members of the key.
func (c *Check) approver(more string, scopes ...string) (id, key string) {
	c.needsControls()
	id, key = c.newKey(`,"user":"approver"`+more, scopes...)
	return id, "Bearer " + key
}

// keyOfLogin gives the key, in full, that whoever asks gets once the approver has approved.
func (c *Check) keyOfLogin(approver string) string {
	id := c.newLogin("")
	require.Equal(c, "APPROVED", c.data(c.decideLogin(approver, "approve", id))["approveFlashAuthRequest"].(map[string]any)["status"])
	return c.fetched(id)
}

var _ = area(func() {
	add("flash.login", nil, func(c *Check) {
		made := c.data(c.askLogin(""))["createFlashAuthRequest"].(map[string]any)
		require.Equal(c, "PENDING", made["status"])
		require.Len(c, made["id"], 40)
		require.Equal(c, loginTime, c.time(made["expiresAt"]).Sub(c.time(made["createdAt"])))
		require.Nil(c, made["codeChallenge"])
		found := c.loginIs(made["id"].(string), "PENDING")
		require.Equal(c, made["id"], found["id"])
		require.Equal(c, made["expiresAt"], found["expiresAt"])
		require.NotEqual(c, made["id"], c.newLogin(""))
	})

	add("flash.login.arguments", nil, func(c *Check) {
		challenge := "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
		made := c.data(c.askLogin(`(apiKeyName:"my laptop",codeChallenge:"` + challenge + `",codeChallengeMethod:"S256")`))["createFlashAuthRequest"].(map[string]any)
		require.Equal(c, "my laptop", made["apiKeyName"])
		require.Equal(c, challenge, made["codeChallenge"])
		require.Equal(c, "S256", made["codeChallengeMethod"])
		for _, wrong := range []string{
			`(apiKeyName:"a\nb")`, `(codeChallenge:"short",codeChallengeMethod:"S256")`, `(codeChallenge:"` + challenge + `")`,
			`(codeChallenge:"` + challenge + `",codeChallengeMethod:"plain")`, `(codeChallengeMethod:"S256")`,
		} {
			c.wrongly(c.askLogin(wrong), 200, "INVALID")
		}
	})

	add("flash.login.approve", []string{"getSession"}, func(c *Check) {
		_, approver := c.approver("", "graphql:read", "graphql:write", "rest:read")
		id := c.newLogin(`(apiKeyName:"my laptop")`)
		require.Equal(c, map[string]any{"status": "APPROVED", "apiKey": nil}, c.data(c.decideLogin(approver, "approve", id))["approveFlashAuthRequest"])
		key := c.fetched(id)
		made, by := c.session(key)["key"].(map[string]any), c.session(approver[len("Bearer "):])["key"].(map[string]any)
		require.Equal(c, by["user"], made["user"])
		require.Equal(c, "my laptop", made["name"])
		require.NotEqual(c, by["id"], made["id"])
		require.Equal(c, 200, c.listPods(key).Status)
	})

	add("flash.login.once", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:read", "graphql:write")
		id := c.newLogin("")
		c.data(c.decideLogin(approver, "approve", id))

		const clients = 8
		keys, all := make(chan string, clients), sync.WaitGroup{}
		for range clients {
			all.Go(func() {
				a := c.login("-", id)
				if found, _ := a.JSON["data"].(map[string]any)["flashAuthRequestStatus"].(map[string]any); found["apiKey"] != nil {
					keys <- found["apiKey"].(string)
				}
			})
		}
		all.Wait()
		require.Len(c, keys, 1)
		c.loginIs(id, "CONSUMED")
	})

	add("flash.login.guests", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:read", "graphql:write")
		id := c.newLogin("")
		c.data(c.decideLogin(approver, "approve", id))
		found := c.data(c.login(approver, id))["flashAuthRequestStatus"].(map[string]any)
		require.Equal(c, "APPROVED", found["status"])
		require.Nil(c, found["apiKey"], "it is for the client")
		require.NotEmpty(c, c.fetched(id))
	})

	add("flash.login.shown", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:read", "graphql:write")
		id := c.newLogin("")
		found := c.data(c.login(approver, id))["flashAuthRequestStatus"].(map[string]any)
		require.NotEmpty(c, found["clientAddress"])
		require.Equal(c, loginAgent, found["userAgent"])
		found = c.loginIs(id, "PENDING")
		require.Nil(c, found["clientAddress"], "who has no key is not told")
		require.Nil(c, found["userAgent"])
	})

	add("flash.login.deny", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:write")
		id := c.newLogin("")
		require.Equal(c, "DENIED", c.data(c.decideLogin(approver, "deny", id))["denyFlashAuthRequest"].(map[string]any)["status"])
		c.loginIs(id, "DENIED")
		for _, verb := range []string{"approve", "deny"} {
			c.wrongly(c.decideLogin(approver, verb, id), 200, "CONFLICT")
		}
	})

	add("flash.login.keys", nil, func(c *Check) {
		c.needsControls()
		id := c.newLogin("")
		for _, verb := range []string{"approve", "deny"} {
			c.wrongly(c.decideLogin("-", verb, id), http.StatusUnauthorized, "UNAUTHENTICATED")
			_, reader := c.newKey("", "graphql:read", "rest:write")
			c.wrongly(c.decideLogin("Bearer "+reader, verb, id), 200, "FORBIDDEN")
		}
		c.loginIs(id, "PENDING")
	})

	add("flash.login.scopes", []string{"getSession"}, func(c *Check) {
		_, approver := c.approver(`,"expiresIn":3600000,"spendLimit":1.5,"exempt":true`, "graphql:read", "graphql:write", "queue:*:invoke")
		key := c.keyOfLogin(approver)
		made, by := c.session(key)["key"].(map[string]any), c.session(approver[len("Bearer "):])["key"].(map[string]any)
		for _, same := range []string{"scopes", "expiresAt", "spendLimit", "user"} {
			require.Equal(c, by[same], made[same], same)
		}
		require.Equal(c, false, made["exempt"])
		c.Refused(c.listPods(key), 403)
	})

	add("flash.login.approver", nil, func(c *Check) {
		keyID, approver := c.approver("", "graphql:read", "graphql:write")
		id := c.newLogin("")
		c.data(c.decideLogin(approver, "approve", id))
		c.set("DELETE", "keys/"+keyID, "")
		c.loginIs(id, "DENIED")
	})

	add("flash.login.expiry", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:read", "graphql:write")
		c.frozen(func() {
			pending, approved := c.newLogin(""), c.newLogin("")
			c.data(c.decideLogin(approver, "approve", approved))
			c.advance(loginTime - time.Millisecond)
			c.loginIs(pending, "PENDING")
			c.advance(time.Millisecond)
			c.loginIs(pending, "EXPIRED")
			c.loginIs(approved, "EXPIRED")
			c.wrongly(c.decideLogin(approver, "approve", pending), 200, "CONFLICT")
		})
	})

	add("flash.login.unknown", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:read", "graphql:write")
		for _, id := range []string{"a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", c.newLogin("")[1:]} {
			c.wrongly(c.login("-", id), 200, "NOT_FOUND")
			c.wrongly(c.decideLogin(approver, "approve", id), 200, "NOT_FOUND")
			c.wrongly(c.decideLogin(approver, "deny", id), 200, "NOT_FOUND")
		}
	})

	add("flash.login.bounds", nil, func(c *Check) {
		_, approver := c.approver("", "graphql:write")
		const most = 20
		var made []string
		var last Answer
		for range most + 1 {
			last = c.askLogin("")
			if last.JSON["errors"] != nil {
				break
			}
			made = append(made, c.data(last)["createFlashAuthRequest"].(map[string]any)["id"].(string))
		}
		c.wrongly(last, 200, "TOO_MANY")
		require.NotEmpty(c, made)
		for _, id := range made { // which makes room for others
			c.data(c.decideLogin(approver, "deny", id))
		}
		c.newLogin("")
	})

	add("flash.login.audit", []string{"listAudit"}, func(c *Check) {
		a := c.auditor()
		id := c.newLogin("")
		c.data(c.decideLogin("Bearer "+a.key, "approve", id))
		key := c.session(c.fetched(id))["key"].(map[string]any)["id"].(string)
		did := a.did()
		require.Len(c, did, 3)
		require.Contains(c, did, "flashAuthRequestStatus key "+key+" created []")
		require.Regexp(c, `^approveFlashAuthRequest login [0-9a-f]{16} changed \[status\]$`, did[2])
		require.NotContains(c, c.text(a.auditBy(a.key, "")), id)
	})
})
