// A request of a client without a key to log in, which the address names: somebody who is signed in approves or denies it.
import { useEffect, useState } from 'preact/hooks'
import { open, Problem } from '../api'
import { useResource } from '../data'
import { search } from '../router'
import { session } from '../session'
import { Button, Card, Empty, Facts, Failure, Page, Shown, Status, Time } from '../ui/bits'

interface Login { id: string; status: string; createdAt: string; expiresAt: string; apiKeyName: string | null; clientAddress: string | null; userAgent: string | null }

const fields = 'id status createdAt expiresAt apiKeyName clientAddress userAgent'
const again = 2000 // milliseconds between two looks at a request that is not over

async function ask(kind: 'query' | 'mutation', field: string, id: string): Promise<Login> {
  const answer = await open('post', '/graphql', { body: { query: `${kind} ($id: String!) { ${field}(flashAuthRequestId: $id) { ${fields} } }`, variables: { id } } })
  const { data, errors } = (await answer.json()) as { data?: Record<string, Login | null> | null; errors?: { message: string }[] }
  const found = data?.[field]
  if (!found) throw new Problem(400, 'Not done', errors?.[0]?.message ?? 'The server does not say why.')
  return found
}

const outcomes: Record<string, string> = {
  APPROVED: 'The client gets its key as soon as it asks again. You may close this page.',
  CONSUMED: 'The client has its key. You may close this page.',
  DENIED: 'The client gets no key. You may close this page.',
  EXPIRED: 'It was not approved in time, or the client did not ask again. Log in there once more.',
}

export function Login() {
  const id = search.value.get('request') ?? ''
  const [error, setError] = useState<unknown>(null)
  const request = useResource(id ? `login ${id}` : null, () => ask('query', 'flashAuthRequestStatus', id))
  const status = request.data?.status
  useEffect(() => {
    if (status !== 'PENDING' && status !== 'APPROVED') return
    const timer = setInterval(request.reload, again)
    return () => clearInterval(timer)
  }, [id, status])
  const decide = async (field: string) => {
    setError(null)
    await ask('mutation', field, id).catch(setError)
    request.reload()
  }
  if (!id) return <Page title="Log in a client"><Empty title="The address names no request" icon="keys"><p>Open the one that the client prints.</p></Empty></Page>
  return (
    <Page title="Log in a client">
      <Card title="A client asks for a key">
        <Shown of={request} rows={4}>
          {l => (
            <div class="stack">
              <Facts of={[
                ['Status', <Status of={l.status} />], ['Code', <code class="strong">{id.slice(-8)}</code>], ['Comes from', <code>{l.clientAddress}</code>], ['Calls itself', <code>{l.userAgent || 'nothing'}</code>],
                ['Name of the key', l.apiKeyName], ['Asked', <Time at={l.createdAt} />], ['User of the key', session.value?.user],
              ]} />
              {l.status === 'PENDING' ? (
                <>
                  <p class="note bad"><strong>Approve this only if you have just begun to log in yourself, and the address in your terminal ends with the code.</strong> The client gets a key that permits what yours does. If somebody sent you the link, deny it.</p>
                  {error ? <Failure of={error} /> : null}
                  <div class="actions"><Button kind="main" onClick={() => decide('approveFlashAuthRequest')}>Approve</Button><Button kind="danger" onClick={() => decide('denyFlashAuthRequest')}>Deny</Button></div>
                </>
              ) : <p class={l.status === 'APPROVED' || l.status === 'CONSUMED' ? 'note good' : 'note'} role="status">{outcomes[l.status] ?? ''}</p>}
            </div>
          )}
        </Shown>
      </Card>
    </Page>
  )
}
