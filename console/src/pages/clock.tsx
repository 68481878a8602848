import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { send, type ControlsTypes } from '../api'
import { clockMode, setClock, useNow, useResource } from '../data'
import { span, stamp } from '../format'
import { tell } from '../live'
import { hasControls } from '../session'
import { Button, Card, Choice, Empty, failed, Page, say, Status, sure } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'

const units: [string, string][] = [['1000', 'seconds'], ['60000', 'minutes'], ['3600000', 'hours'], ['86400000', 'days']]

// NeedsControls stands in place of a page that needs the key of the test controls.
export function NeedsControls({ title, children }: { title: string; children: ComponentChildren }) {
  if (hasControls.value) return <>{children}</>
  return <Page title={title}><Card><Empty icon="lock" title="This needs the key of the test controls" line="berth serve --ephemeral --test-controls"><p>A server that has them prints it at its start. Sign out, and in with both keys.</p></Empty></Card></Page>
}

export function Clock() {
  return <NeedsControls title="Clock"><Controls /></NeedsControls>
}

function Controls() {
  const now = useNow()
  const clock = useResource('clock', async () => {
    const c = await send('get', '/_berth/clock')
    setClock(c)
    return c
  }, ['clock'])
  const [amount, setAmount] = useState('5')
  const [unit, setUnit] = useState('60000')
  const done = (c: ControlsTypes['schemas']['Clock']) => {
    setClock(c)
    clock.reload()
    tell([{ kind: 'clock', id: '', change: 'changed' }, { kind: 'reset', id: '', change: 'changed' }])
  }
  const milliseconds = Math.round(Number(amount) * Number(unit))
  const advance = async (ms: number) => {
    done(await send('post', '/_berth/clock/advance', { body: { milliseconds: ms } }))
    say(`The clock went on by ${span(ms)}`)
  }
  const reset = async () => {
    if (!(await sure('Reset the server?', 'Pods, jobs, volumes, faults and the journal are forgotten. Keys and declared endpoints stay, and what its seed has is there again.', 'Reset'))) return
    await send('post', '/_berth/reset')
    say('The server is as it was at its start')
    tell([{ kind: 'reset', id: '', change: 'changed' }])
  }
  const c = clock.data
  return (
    <Page title="Clock">
      <div class="grid">
        <Card title="Time of the server">
          <div class="stack">
            <div class="clockface num">{stamp(now)}</div>
            <p><Status of={clockMode.value}>{({ running: 'It runs', frozen: 'It stands still', auto: 'It goes by itself to what is due' } as const)[clockMode.value]}</Status></p>
            <div class="actions">
              {clockMode.value === 'running' ? <Button kind="main" icon="pause" onClick={() => send('post', '/_berth/clock/freeze').then(done)}>Freeze</Button> : <Button kind="main" icon="play" onClick={() => send('post', '/_berth/clock/resume').then(done)}>Resume</Button>}
              {clockMode.value !== 'auto' && <Button icon="next" onClick={() => send('post', '/_berth/clock/auto', { body: { settle: 20 } }).then(done)}>Go by itself</Button>}
              {clockMode.value === 'auto' && <Button icon="pause" onClick={() => send('post', '/_berth/clock/freeze').then(done)}>Freeze</Button>}
            </div>
            {c && <p class="muted">{c.held} requests wait for it{c.lag ? `; what is due lags by ${span(c.lag)}` : ''}.</p>}
          </div>
        </Card>
        <Card title="Set it forward">
          <div class="stack">
            <p class="muted">It goes from one thing that is due to the next, does each at its own time, and answers when all are done.</p>
            <div class="actions">{[[10_000, '10 s'], [60_000, '1 min'], [600_000, '10 min'], [3_600_000, '1 h'], [86_400_000, '1 day']].map(([ms, text]) => <Button key={text} onClick={() => advance(ms as number)}>{text}</Button>)}</div>
            <form class="bar" onSubmit={e => { e.preventDefault(); void advance(milliseconds).catch(failed) }}>
              <label class="choice"><span>By</span><input type="number" min="0" step="any" value={amount} onInput={e => setAmount(e.currentTarget.value)} /></label>
              <Choice label="Unit" of={units} at={unit} onPick={setUnit} />
              <Button type="submit" icon="next" disabled={!(milliseconds >= 0)}>Advance</Button>
            </form>
          </div>
        </Card>
        <Quotas />
        <Card title="Storage">
          <div class="stack">
            <p class="muted">While it takes no writes, what would write is refused as by a disk that is full, that fails, or that another program has locked.</p>
            <div class="actions">{(['writable', 'full', 'failing', 'locked'] as const).map(state => <Button key={state} onClick={() => send('put', '/_berth/storage', { body: { state } }).then(() => say(`The storage is ${state}`))}>{state}</Button>)}</div>
          </div>
        </Card>
        <Fleet />
        <Card title="Reset"><div class="stack"><p class="muted">Everything but keys and declared endpoints is forgotten; what the seed of the server has is there again.</p><div class="actions"><Button kind="danger" onClick={reset}>Reset the server</Button></div></div></Card>
      </div>
    </Page>
  )
}

function Quotas() {
  const [value, setValue] = useState<Record<string, unknown>>({ minute: 1000, hour: 30000, day: 500000 })
  return <Card title="Rate limits"><Form schema={schemaOf('Quotas')} value={value} onChange={setValue} submit="Set" onSubmit={async sent => { await send('put', '/_berth/quotas', { body: sent as never }); say('The limits are set') }} first={['minute', 'hour', 'day', 'queue']} labels={{ '/minute': 'A minute', '/hour': 'An hour', '/day': 'A day', '/queue': 'Limits of the queue' }} /></Card>
}

function Fleet() {
  const [value, setValue] = useState<Record<string, unknown>>({})
  return <Card title="Simulated fleet"><Form schema={schemaOf('FleetSettings')} value={value} onChange={setValue} submit="Set" onSubmit={async sent => { await send('put', '/_berth/fleet', { body: sent as never }); say('The fleet is set') }} first={['boot', 'interruptAfter']} labels={{ '/boot': 'Boot (ms)', '/interruptAfter': 'Interrupt after (ms)' }} /></Card>
}
