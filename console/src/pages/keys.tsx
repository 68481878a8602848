import { useState } from 'preact/hooks'
import { Problem, send, type ControlsTypes } from '../api'
import { useResource } from '../data'
import { href } from '../router'
import { hasControls, session } from '../session'
import { Button, Card, Command, Dialog, Empty, ID, Page, say, Shown, sure, Time } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'
import { Table } from '../ui/table'

type Key = ControlsTypes['schemas']['ListedKey']

export function Keys() {
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<{ id: string; key: string } | null>(null)
  const list = useResource('keys', async () => {
    if (!session.value?.follows) return null
    try {
      return (await send('get', '/_berth/keys')).keys
    } catch (error) {
      if (error instanceof Problem && [403, 404, 405].includes(error.status)) return null // this key, or this server, lists none
      throw error
    }
  }, ['key'])
  const revoke = async (id: string, name: string) => {
    if (!(await sure(`Revoke ${name}?`, 'Requests with it are refused from then on.', 'Revoke'))) return
    await send('delete', '/_berth/keys/{keyId}', { path: { keyId: id } })
    say('Revoked')
    setMade(null)
    list.reload()
  }
  return (
    <Page title="Keys" actions={hasControls.value && <button type="button" class="button main" data-new onClick={() => setCreating(true)}>Create a key</button>}>
      {made && <Card title="The new key"><div class="stack"><p class="note good">It is shown this once. Copy it now.</p><Command line={made.key} /><div class="actions"><Button small kind="danger" onClick={() => revoke(made.id, made.id)}>Revoke it</Button></div></div></Card>}
      <Card title="API keys" flush>
        <Shown of={list as { data: Key[] | null | undefined; error: unknown; reload: () => void }} rows={3}>
          {all => all === null || all === undefined ? <Empty icon="keys" title="Keys are not listed here" line="berth keys list"><p>{hasControls.value ? <>Those that made requests stand in the <a href={href('journal')}>journal</a>.</> : 'The command line lists and makes them, on the machine of the server.'}</p></Empty> : (
            <Table label="API keys" rows={all} id={k => k.id} columns={[
              { name: 'Name', width: 'minmax(110px, 1fr)', cell: k => <span class="strong">{k.name || 'no name'}</span>, by: k => k.name }, { name: 'User', width: '110px', less: true, cell: k => k.user, by: k => k.user }, { name: 'Scopes', width: 'minmax(110px, 1.5fr)', less: true, cell: k => <span class="tags">{k.scopes.map(s => <span class="tag" key={s}>{s}</span>)}</span> },
              { name: 'Created', width: '116px', right: true, less: true, cell: k => <Time at={k.createdAt} />, by: k => k.createdAt ?? '' }, { name: 'Expires', width: '116px', right: true, cell: k => (k.revokedAt ? <span class="tag bad">revoked</span> : k.expiresAt ? <Time at={k.expiresAt} /> : 'never') }, { name: 'ID', width: '130px', less: true, cell: k => <ID of={k.id} /> },
              { name: 'Actions', width: '74px', right: true, cell: k => hasControls.value && !k.revokedAt && <Button small kind="bare" onClick={() => revoke(k.id, k.name || k.id)} label={`Revoke ${k.name || k.id}`}>Revoke</Button> },
            ]} />
          )}
        </Shown>
      </Card>
      <SSHKeys />
      {creating && <Create onClose={key => { setCreating(false); if (key) setMade(key); list.reload() }} />}
    </Page>
  )
}

function Create({ onClose }: { onClose: (key?: { id: string; key: string }) => void }) {
  const [value, setValue] = useState<Record<string, unknown>>({ scopes: ['all'] })
  const submit = async (sent: Record<string, unknown>) => onClose(await send('post', '/_berth/keys', { body: sent as unknown as ControlsTypes['schemas']['NewKey'] }))
  return <Dialog title="Create a key" onClose={() => onClose()}><p class="muted">Scopes are <code>all</code>, <code>admin</code>, <code>rest:read</code>, <code>rest:write</code>, <code>graphql:read</code>, <code>graphql:write</code> and <code>queue:*:invoke</code>.</p><Form schema={schemaOf('NewKey')} value={value} onChange={setValue} onSubmit={submit} onCancel={() => onClose()} submit="Create" first={['name', 'scopes', 'user', 'expiresIn']} labels={{ '/expiresIn': 'Expires in (ms)' }} /></Dialog>
}

function SSHKeys() {
  const keys = useResource('ssh keys', async () => (await send('get', '/v2/account/ssh-keys')).keys)
  const [text, setText] = useState<string | null>(null)
  const [error, setError] = useState('')
  const save = async () => {
    setError('')
    try {
      await send('put', '/v2/account/ssh-keys', { body: { keys: text!.split('\n').map(l => l.trim()).filter(Boolean) } })
      say('Saved')
      setText(null)
      keys.reload()
    } catch (e) {
      setError(e instanceof Problem ? (e.errors[0] ?? e.detail) : String(e))
    }
  }
  return (
    <Card title="SSH keys">
      <Shown of={keys} rows={2}>
        {all => (
          <div class="stack">
            <div class="field"><label for="ssh">Public keys of this account</label><textarea id="ssh" class="code" rows={4} spellcheck={false} placeholder="ssh-ed25519 AAAA… me@laptop, one a line" aria-invalid={error ? 'true' : undefined} value={text ?? all.join('\n')} onInput={e => setText(e.currentTarget.value)} /><p class="says">{error ? <strong>{error}</strong> : 'Pods that start SSH get them, as PUBLIC_KEY.'}</p></div>
            <div class="actions"><Button kind="main" disabled={text === null} onClick={save}>Save</Button></div>
          </div>
        )}
      </Shown>
    </Card>
  )
}
