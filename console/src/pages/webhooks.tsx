import { useState } from 'preact/hooks'
import { send, type ControlsTypes } from '../api'
import { useResource } from '../data'
import { stamp } from '../format'
import { decoded, href } from '../router'
import { Button, Card, Command, Empty, ID, Page, say, Shown, Status, Tabs, Time } from '../ui/bits'
import { matches, Search, Table } from '../ui/table'
import { NeedsControls } from './clock'
import { EntryDialog } from './journal'

type Entry = ControlsTypes['schemas']['JournalEntry']

export function Webhooks() {
  return <NeedsControls title="Webhooks"><Both /></NeedsControls>
}

function Both() {
  const [tab, setTab] = useState('sent')
  const [typed, setTyped] = useState('')
  return (
    <Page title="Webhooks">
      <Tabs label="Webhooks" of={[['sent', 'Deliveries'], ['inbox', 'Inbox']]} at={tab} onPick={setTab} />
      <div role="tabpanel" aria-label={tab} class="stack">
        <div class="bar"><Search value={typed} onInput={setTyped} label="Search webhooks" /></div>
        {tab === 'sent' ? <Sent typed={typed} /> : <Inbox typed={typed} />}
      </div>
    </Page>
  )
}

function Sent({ typed }: { typed: string }) {
  const sent = useResource('webhooks', async () => (await send('get', '/_berth/webhooks')).webhooks, ['webhook', 'job'])
  const again = async (number: number) => {
    await send('post', '/_berth/webhooks/{number}/deliver', { path: { number } })
    say('It is delivered again')
    sent.reload()
  }
  return (
    <Card flush>
      <Shown of={sent}>
        {all => {
          const rows = all.filter(w => matches(typed, w.url, w.job, w.error))
          if (!all.length) return <Empty icon="webhooks" title="No webhook was sent yet" line={`berth jobs run ENDPOINT --input '{}' --webhook ${location.origin}/_berth/inbox/orders`}><p>A job with a webhook has its end reported there, and again until somebody takes it.</p></Empty>
          if (!rows.length) return <Empty title="No webhook is like that" />
          return <Table label="Deliveries" rows={rows} id={w => String(w.number)} columns={[
            { name: 'Begun', width: '110px', cell: w => <Time at={w.createdAt} /> }, { name: 'Outcome', width: '130px', cell: w => (w.error ? <Status of={w.nextAt ? 'PENDING' : 'FAILED'}>{w.nextAt ? 'Tried again' : 'Given up'}</Status> : w.status ? <Status of="COMPLETED">Taken, {w.status}</Status> : <Status of="PENDING">Waits</Status>) },
            { name: 'Address', width: 'minmax(120px, 2fr)', less: true, cell: w => <code>{w.url}</code> }, { name: 'Job', width: 'minmax(90px, 1fr)', cell: w => <a href={href('jobs', w.job)}><ID of={w.job} /></a> }, { name: 'Tries', width: '50px', right: true, less: true, cell: w => w.tries },
            { name: 'Next try', width: '110px', right: true, less: true, cell: w => <Time at={w.nextAt} /> }, { name: 'Why', width: '1fr', less: true, cell: w => <span class="muted">{w.error}</span> }, { name: 'Actions', width: '104px', right: true, cell: w => <Button small kind="bare" onClick={() => again(w.number)} label={`Deliver again: ${w.job}`}>Deliver again</Button> },
          ]} />
        }}
      </Shown>
    </Card>
  )
}

function Inbox({ typed }: { typed: string }) {
  const came = useResource('inbox', async () => (await send('get', '/_berth/journal', { query: { operation: 'receiveWebhook' } })).entries, ['journal', 'webhook'])
  const [seen, setSeen] = useState<Entry | null>(null)
  const address = `${location.origin}/_berth/inbox/orders`
  return (
    <>
      <p class="muted">Any address below <code>{location.origin}/_berth/inbox/</code> takes webhooks, without a key.</p>
      <Card flush>
        <Shown of={came}>
          {all => {
            const rows = [...all].reverse().filter(e => matches(typed, e.path, e.request.body.text))
            if (!all.length) return <Empty icon="webhooks" title="The inbox is empty" line={`curl -s ${address} -H 'Content-Type: application/json' -d '{"id":"1","status":"COMPLETED"}'`} />
            if (!rows.length) return <Empty title="No webhook is like that" />
            return <Table label="Inbox" rows={rows} id={e => String(e.number)} onOpen={setSeen} columns={[
              { name: 'Number', width: '70px', cell: e => e.number }, { name: 'To', width: '1fr', cell: e => decoded(e.path.split('/').pop() ?? '') }, { name: 'Body', width: '3fr', less: true, cell: e => <code>{e.request.body.text}</code> }, { name: 'Time', width: '150px', right: true, cell: e => stamp(e.time) },
            ]} />
          }}
        </Shown>
      </Card>
      <Card title="Send it there"><Command line={`berth jobs run ENDPOINT --input '{}' --webhook ${address}`} /></Card>
      {seen && <EntryDialog entry={seen} onClose={() => setSeen(null)} />}
    </>
  )
}
