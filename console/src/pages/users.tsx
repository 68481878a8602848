import { useState } from 'preact/hooks'
import { Problem, send, type ControlsTypes } from '../api'
import { useResource } from '../data'
import { hasControls, session } from '../session'
import { Button, Card, Dialog, Empty, Page, say, Shown, Status, sure, Time } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'
import { matches, Search, Table } from '../ui/table'

type User = ControlsTypes['schemas']['User']

const does: Record<User['role'], string> = { admin: 'Everything, users and hosts too', member: 'Everything but users and hosts', reader: 'Reads, and changes nothing' }

export function Users() {
  const [typed, setTyped] = useState('')
  const [making, setMaking] = useState(false)
  const [giving, setGiving] = useState<User | null>(null)
  const admin = session.value?.may.hosts === true || hasControls.value
  const users = useResource(admin ? 'users' : null, async () => (await send('get', '/_berth/users')).users, ['key'])
  const change = async (name: string, body: ControlsTypes['schemas']['UserChange']) => {
    await send('patch', '/_berth/users/{userName}', { path: { userName: name }, body })
    users.reload()
  }
  const disable = async (u: User) => {
    if (!u.disabled && !(await sure(`Disable ${u.name}?`, 'Requests with its keys are refused until it is enabled again.', 'Disable'))) return
    await change(u.name, { disabled: !u.disabled })
  }
  const remove = async (u: User) => {
    if (!(await sure(`Delete ${u.name}?`, 'Its keys are revoked.', 'Delete'))) return
    try {
      await send('delete', '/_berth/users/{userName}', { path: { userName: u.name } })
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 409 || !error.detail.includes(' has ')) throw error
      if (!(await sure(`Delete ${u.name} and keep what it has?`, error.detail, 'Keep and delete'))) return
      await send('delete', '/_berth/users/{userName}', { path: { userName: u.name }, query: { keepResources: true } })
    }
    say('Deleted')
    users.reload()
  }
  if (!admin) return <Page title="Users"><Card><Empty icon="users" title="Users are for admins" line="berth users list"><p>This key may not read them.</p></Empty></Card></Page>
  return (
    <Page title="Users" actions={<button type="button" class="button main" data-new onClick={() => setMaking(true)}>Make a user</button>}>
      <div class="bar"><Search value={typed} onInput={setTyped} label="Search users" />{users.data && <span class="faint num end">{users.data.length} {users.data.length === 1 ? 'user' : 'users'}</span>}</div>
      <Card flush>
        <Shown of={users} rows={3}>
          {all => {
            const rows = all.filter(u => matches(typed, u.name, u.role))
            if (!rows.length) return <Empty title="No user is like that" />
            return <Table label="Users" rows={rows} id={u => u.name} columns={[
              { name: 'User', width: 'minmax(120px, 1.5fr)', cell: u => <span class="strong">{u.name}</span>, by: u => u.name }, { name: 'Role', width: '90px', cell: u => <span class="tag">{u.role}</span>, by: u => u.role },
              { name: 'May', width: 'minmax(150px, 2fr)', less: true, cell: u => <span class="muted">{does[u.role]}</span> }, { name: 'State', width: '104px', less: true, cell: u => (u.disabled ? <Status of="ERROR">Disabled</Status> : <Status of="RUNNING">Enabled</Status>), by: u => String(u.disabled) },
              { name: 'Created', width: '116px', right: true, less: true, cell: u => <Time at={u.createdAt} />, by: u => u.createdAt ?? '' },
              { name: 'Actions', width: '206px', right: true, cell: u => <span class="nowrap"><Button small kind="bare" onClick={() => setGiving(u)} label={`Role of ${u.name}`}>Role</Button> <Button small kind="bare" onClick={() => disable(u)} label={`${u.disabled ? 'Enable' : 'Disable'} ${u.name}`}>{u.disabled ? 'Enable' : 'Disable'}</Button> <Button small kind="bare" onClick={() => remove(u)} label={`Delete ${u.name}`}>Delete</Button></span> },
            ]} />
          }}
        </Shown>
      </Card>
      {making && <Make onClose={() => { setMaking(false); users.reload() }} />}
      {giving && <Give user={giving} onClose={() => setGiving(null)} change={change} />}
    </Page>
  )
}

function Make({ onClose }: { onClose: () => void }) {
  const [value, setValue] = useState<Record<string, unknown>>({ role: 'member' })
  const submit = async (sent: Record<string, unknown>) => {
    await send('post', '/_berth/users', { body: sent as unknown as ControlsTypes['schemas']['NewUser'] })
    say('The user is made, and has no key yet')
    onClose()
  }
  return <Dialog title="Make a user" onClose={onClose}><Form schema={schemaOf('NewUser')} value={value} onChange={setValue} onSubmit={submit} onCancel={onClose} submit="Make" first={['name', 'role']} /></Dialog>
}

function Give({ user, onClose, change }: { user: User; onClose: () => void; change: (name: string, body: ControlsTypes['schemas']['UserChange']) => Promise<void> }) {
  const [value, setValue] = useState<Record<string, unknown>>({ role: user.role })
  const submit = async (sent: Record<string, unknown>) => {
    await change(user.name, sent as ControlsTypes['schemas']['UserChange'])
    onClose()
  }
  return <Dialog title={`Role of ${user.name}`} onClose={onClose}><p class="muted">It counts from the next request on, for the keys that there are.</p><Form schema={schemaOf('UserChange')} value={value} onChange={setValue} onSubmit={submit} onCancel={onClose} submit="Save" first={['role']} hidden={['/disabled']} /></Dialog>
}
