import { useState } from 'preact/hooks'
import { send, type ControlsTypes } from '../api'
import { count, span } from '../format'
import { href } from '../router'
import { Button, Card, Dialog, Empty, Page, say, Shown, sure } from '../ui/bits'
import { Form, operations, schemaOf } from '../ui/form'
import { Table } from '../ui/table'
import { NeedsControls } from './clock'
import { useFaults } from './shared'

type Shown1 = ControlsTypes['schemas']['ShownFault']

export function Faults() {
  return <NeedsControls title="Faults"><List /></NeedsControls>
}

// does says in words what a fault does.
export function does(f: Shown1): string {
  const all: string[] = []
  if (f.latency) all.push(f.latencyMax ? `waits ${span(f.latency)} to ${span(f.latencyMax)}` : `waits ${span(f.latency)}`)
  if (f.status) all.push(`answers ${f.status}`)
  if (f.drop) all.push('cuts the connection')
  if (f.half !== undefined) all.push(`sends ${f.half} % of the body`)
  if (f.garbage) all.push('sends garbage')
  if (f.bytesPerSecond) all.push(`sends ${count(f.bytesPerSecond)} bytes a second`)
  return all.join(', ')
}

function when(f: Shown1): string {
  const all: string[] = [f.when === 'after' ? 'after the operation' : 'before it']
  if (f.after) all.push(`not the first ${f.after}`)
  if (f.nth) all.push(`only call ${f.nth}`)
  if (f.every) all.push(`every ${f.every}th`)
  if (f.times) all.push(`${f.times} times`)
  if (f.probability !== undefined) all.push(`${Math.round(f.probability * 100)} % of calls`)
  if (f.resource) all.push(`of ${f.resource}`)
  if (f.keyId) all.push(`by ${f.keyId}`)
  return all.join(', ')
}

function List() {
  const faults = useFaults()
  const [adding, setAdding] = useState(false)
  const clear = async () => {
    if (!(await sure('Take all faults back?', 'Calls that met one already go on as it was scripted.', 'Take back'))) return
    await send('delete', '/_berth/faults')
    faults.reload()
  }
  const remove = async (id: string) => {
    await send('delete', '/_berth/faults/{faultId}', { path: { faultId: id } })
    faults.reload()
  }
  return (
    <Page title="Faults" actions={<>{(faults.data?.length ?? 0) > 0 && <Button kind="danger" onClick={clear}>Take all back</Button>}<button type="button" class="button main" data-new onClick={() => setAdding(true)}>Script a fault</button></>}>
      <p class="muted">A call meets the first fault that it matches and whose turn it is. What met one says so in the <a href={href('journal')}>journal</a>.</p>
      <Card flush>
        <Shown of={faults}>
          {all => all.length === 0 ? <Empty icon="faults" title="Nothing is scripted to go wrong" line="berth faults add --operation createPod --status 503 --times 1" /> : (
            <Table label="Faults" rows={all} id={f => f.id} columns={[
              { name: 'Operation', width: 'minmax(110px, 1fr)', cell: f => <span class="strong">{f.operation}</span>, by: f => f.operation }, { name: 'Does', width: 'minmax(110px, 1.3fr)', cell: does }, { name: 'When', width: '1.5fr', less: true, cell: f => <span class="muted">{when(f)}</span> },
              { name: 'Calls', width: '60px', right: true, less: true, cell: f => count(f.calls) }, { name: 'Met', width: '60px', right: true, cell: f => count(f.shown) }, { name: 'ID', width: '100px', less: true, cell: f => <code class="id">{f.id}</code> },
              { name: 'Actions', width: '88px', right: true, cell: f => <Button small kind="bare" onClick={() => remove(f.id)} label={`Take back ${f.id}`}>Take back</Button> },
            ]} />
          )}
        </Shown>
      </Card>
      {adding && <Add onClose={() => { setAdding(false); faults.reload() }} />}
    </Page>
  )
}

function Add({ onClose }: { onClose: () => void }) {
  const [value, setValue] = useState<Record<string, unknown>>({ operation: 'createPod', status: 503, times: 1 })
  const submit = async (sent: Record<string, unknown>) => {
    await send('post', '/_berth/faults', { body: sent as unknown as ControlsTypes['schemas']['Fault'] })
    say('The fault is scripted')
    onClose()
  }
  return (
    <Dialog title="Script a fault" onClose={onClose}>
      <Form schema={schemaOf('Fault')} value={value} onChange={setValue} onSubmit={submit} onCancel={onClose} submit="Script it" first={['operation', 'when', 'status', 'latency', 'drop', 'times', 'probability']}
        choices={{ '/operation': [{ value: '*', text: 'Every operation' }, ...operations.map(o => ({ value: o, text: o }))] }} labels={{ '/latency': 'Latency (ms)', '/latencyMax': 'Latency at most (ms)', '/retryAfter': 'Retry-After (s)' }} />
    </Dialog>
  )
}
