import { useEffect, useRef, useState } from 'preact/hooks'
import { send } from '../api'
import { how, listen, type Change } from '../live'
import { firstLine, span, words } from '../format'
import { ask, href, search } from '../router'
import { Card, Choice, Empty, Failure, ID, LinkButton, Loading, Page, Status, Time } from '../ui/bits'
import { Search, Table } from '../ui/table'
import { curl, useEndpoints, type Job } from './shared'

export const statuses = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const

interface Filter { status: string; endpointId: string; error: string }

// most is how many rows are kept; then it begins anew with the newest ones.
const most = 20_000

// useJobs reads the jobs page by page, as far as somebody looks, and the newest ones again when some change.
function useJobs(f: Filter) {
  const [rows, setRows] = useState<Job[] | null>(null)
  const [error, setError] = useState<unknown>(null)
  const next = useRef<string | null>(null)
  const busy = useRef(false)
  const all = useRef(new Map<string, Job>())
  const name = JSON.stringify(f)
  const latest = useRef(name)
  latest.current = name

  const read = async (cursor: string | null, limit: number) => send('get', '/_berth/jobs', { query: {
    limit, ...(cursor ? { cursor } : {}), ...(f.status ? { status: f.status as Job['status'] } : {}), ...(f.endpointId ? { endpointId: f.endpointId } : {}), ...(f.error ? { error: f.error } : {}),
  } })
  const show = () => setRows([...all.current.values()]) // in the order of the pages: the last one that was submitted first

  const more = async () => {
    if (busy.current || !next.current) return
    busy.current = true
    try {
      let page = await read(next.current, 1000)
      while (!page.jobs.length && page.pagination.hasNextPage && name === latest.current) page = await read(page.pagination.nextCursor, 1000) // it has looked at some, and found none
      if (name !== latest.current) { // the list is another one by now
        busy.current = false
        return
      }
      for (const j of page.jobs) all.current.set(j.id, j)
      next.current = page.pagination.hasNextPage ? page.pagination.nextCursor : null
      show()
    } catch (e) {
      setError(e)
    }
    busy.current = false
  }

  useEffect(() => {
    let gone = false
    let timer = 0
    let last = 0
    let lost = false // changes, so that nobody knows which jobs have gone
    all.current = new Map()
    next.current = null
    setRows(null)
    setError(null)
    const first = async (anew = false) => {
      last = Date.now()
      try {
        const known = all.current.size
        const page = await read(null, 500)
        if (gone) return
        const joins = page.jobs.some(j => all.current.has(j.id)) // else there are others between them
        const whole = anew || !joins || known <= page.jobs.length || known > most || !page.pagination.hasNextPage // those that have gone are gone
        if (whole) all.current = new Map()
        const fresh = page.jobs.filter(j => !all.current.has(j.id))
        if (fresh.length) all.current = new Map([...fresh.map(j => [j.id, j] as const), ...all.current])
        for (const j of page.jobs) all.current.set(j.id, j)
        if (whole) next.current = page.pagination.hasNextPage ? page.pagination.nextCursor : null
        setError(null)
        show()
      } catch (e) {
        lost ||= anew
        if (!gone) setError(e)
      }
    }
    void first()
    const silence = listen((changes: Change[]) => {
      lost ||= how.value === 'events' && changes.some(c => c.kind === 'reset') // who looks from time to time has a reset each time
      for (const c of changes) {
        const j = c.kind === 'job' ? all.current.get(c.id) : undefined
        if (!j) continue
        if (c.change === 'deleted' || (f.status && c.status && c.status !== f.status)) all.current.delete(c.id)
        else if (c.status) all.current.set(c.id, { ...j, status: c.status as Job['status'] })
      }
      if (timer || !changes.some(c => c.kind === 'reset' || (c.kind === 'job' && (!f.endpointId || c.endpointId === f.endpointId)))) return
      timer = window.setTimeout(() => {
        timer = 0
        const anew = lost
        lost = false
        void first(anew)
      }, Math.max(80, 1000 - (Date.now() - last)))
    })
    return () => {
      gone = true
      latest.current = ''
      silence()
      clearTimeout(timer)
    }
  }, [name])
  useEffect(() => {
    if (rows?.length === 0) void more()
  }, [rows])
  return { rows, error, more, complete: next.current === null }
}

export function JobTable({ endpointId, tall }: { endpointId?: string; tall?: boolean }) {
  const status = search.value.get('status') ?? ''
  const of = endpointId ?? search.value.get('endpoint') ?? ''
  const error = search.value.get('error') ?? ''
  const [typed, setTyped] = useState(error)
  const endpoints = useEndpoints()
  const jobs = useJobs({ status, endpointId: of, error })
  useEffect(() => {
    const timer = setTimeout(() => typed !== error && ask({ error: typed }), 350)
    return () => clearTimeout(timer)
  }, [typed])
  const nameOf = new Map(endpoints.data?.map(e => [e.id, e.name]))
  return (
    <>
      <div class="bar jobbar">
        <Search value={typed} onInput={setTyped} label="Search errors" />
        <Choice label="Status" at={status} onPick={v => ask({ status: v })} of={[['', 'All'], ...statuses.map(s => [s, words(s)] as [string, string])]} />
        {!endpointId && <Choice label="Endpoint" at={of} onPick={v => ask({ endpoint: v })} of={[['', 'All'], ...(endpoints.data ?? []).map(e => [e.id, e.name] as [string, string])]} />}
        {jobs.rows && <span class="faint num end">{jobs.rows.length.toLocaleString('en-US')}{jobs.complete ? '' : '+'} jobs</span>}
      </div>
      {jobs.error ? <Failure of={jobs.error} /> : null}
      {!jobs.rows && !jobs.error ? <Loading rows={8} /> : null}
      {jobs.rows?.length === 0 && !jobs.complete && !jobs.error ? <Loading rows={3} /> : null}
      {jobs.rows?.length === 0 && jobs.complete && (status || error || of !== (endpointId ?? '')
        ? <Empty title="No job is like that" />
        : <Empty icon="jobs" title="There is no job yet" line={curl('POST', `/v2/${of || endpoints.data?.[0]?.id || 'ENDPOINT'}/run`, { input: { hello: 'world' } })}><LinkButton to={`${href('jobs', 'new')}${of ? `?endpoint=${of}` : ''}`} icon="play" kind="main">Run a job</LinkButton></Empty>)}
      {jobs.rows && jobs.rows.length > 0 && (
        <Table label="Jobs" tall={tall ?? false} rows={jobs.rows} id={j => j.id} to={j => href('jobs', j.id)} onEnd={() => void jobs.more()} columns={[
          { name: 'Job', width: 'minmax(120px, 1.3fr)', cell: j => <ID of={j.id} /> },
          { name: 'Status', width: '118px', cell: j => <Status of={j.status} /> },
          ...(endpointId ? [] : [{ name: 'Endpoint', width: 'minmax(80px, .8fr)', less: true, cell: (j: Job) => nameOf.get(j.endpointId) ?? j.endpointId }]),
          { name: 'Submitted', width: '116px', right: true, cell: j => <Time at={j.submittedAt} /> },
          { name: 'Waited', width: '84px', right: true, less: true, cell: j => (j.delayTime === undefined ? '–' : span(j.delayTime)) },
          { name: 'Ran', width: '84px', right: true, less: true, cell: j => (j.executionTime === undefined ? '–' : span(j.executionTime)) },
          { name: 'Attempts', width: '66px', right: true, less: true, cell: j => j.attempts },
          { name: 'Error', width: 'minmax(100px, 1.5fr)', less: true, cell: j => <span class="muted">{firstLine(j.error)}</span> },
        ]} />
      )}
    </>
  )
}

export function Jobs() {
  return (
    <Page title="Jobs" actions={<LinkButton to={href('jobs', 'new')} icon="play" kind="main">Run a job</LinkButton>}>
      <Card flush><JobTable /></Card>
    </Page>
  )
}
