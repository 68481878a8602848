import { send, type RestTypes } from '../api'
import { useResource } from '../data'
import { count, span, usd } from '../format'
import { ask, href, search } from '../router'
import { hasControls } from '../session'
import { Card, Choice, Empty, ID, Page, Shown } from '../ui/bits'
import { Bars } from '../ui/chart'
import { Table } from '../ui/table'

type Size = RestTypes['schemas']['BillingBucketSize']
const spans: Record<string, [Size, number, string]> = { day: ['hour', 24, 'Last 24 hours'], month: ['day', 30, 'Last 30 days'], quarter: ['week', 13, 'Last 13 weeks'], year: ['month', 12, 'Last 12 months'] }
const names = ['Pods', 'Serverless', 'Storage', 'Clusters']
const tones = ['accent', 'busy', 'wait', 'good']

export function Billing() {
  const at = search.value.get('span') ?? 'month'
  const [bucketSize, lastN, title] = spans[at] ?? spans.month!
  const billing = useResource(`billing ${at}`, () => send('get', '/v2/billing', { query: { bucketSize, lastN } as never }), ['clock'])
  const costs = useResource(hasControls.value ? 'costs' : null, () => send('get', '/_berth/costs', { query: { limit: 200 } as never }), ['clock', 'pod'])
  return (
    <Page title="Billing" actions={<Choice label="Time" at={at} onPick={v => ask({ span: v })} of={Object.entries(spans).map(([v, [, , t]]) => [v, t] as [string, string])} />}>
      <Shown of={billing}>
        {b => {
          const totals = b.metadata.totals
          const parts = (r: typeof totals) => [r.podGpuAmount + r.podCpuAmount + r.podDiskAmount, r.serverlessGpuAmount + r.serverlessCpuAmount + r.serverlessDiskAmount + r.serverlessFeeAmount, r.storageStandardAmount + r.storageHighPerformanceAmount, r.clusterGpuAmount + r.clusterDiskAmount + r.clusterNetworkingAmount]
          const records = new Map(b.records.map(r => [Date.parse(r.startTime), parts(r as unknown as typeof totals)]))
          const bars = buckets(Date.parse(b.metadata.query.startTime), Date.parse(b.metadata.query.endTime), bucketSize).map(t => ({ label: label(t, bucketSize), parts: records.get(t) ?? [0, 0, 0, 0] }))
          return (
            <>
              <div class="figures">
                <div><span class="name">{title}</span><div class="value num">{usd(totals.totalAmount)}</div></div>
                {parts(totals).map((v, i) => <div key={names[i]}><span class="name">{names[i]}</span><div class="value num">{usd(v)}</div></div>)}
              </div>
              <Card><Bars label={title} names={names} tones={tones} bars={bars} write={usd} /></Card>
              {totals.totalAmount === 0 && <p class="note">Nothing was billed in this time. What runs is billed by the second, and shown once its first minute is over.</p>}
            </>
          )
        }}
      </Shown>
      {hasControls.value && (
        <Card title="By resource, of all users, since the start or the last reset" flush actions={costs.data && <span class="strong num">{usd(costs.data.total)}</span>}>
          <Shown of={costs}>
            {c => c.costs.length === 0 ? <Empty icon="billing" title="Nothing has cost anything yet" line="berth costs" /> : (
              <Table label="Costs" rows={c.costs} id={r => `${r.kind} ${r.id}`} to={r => (r.kind === 'pod' ? href('pods', r.id ?? '') : r.kind === 'endpoint' ? href('endpoints', r.id ?? '') : href('billing'))} columns={[
                { name: 'Resource', width: 'minmax(120px, 1fr)', cell: r => <ID of={r.id ?? ''} /> }, { name: 'Kind', width: '100px', cell: r => r.kind }, { name: 'User', width: '1fr', less: true, cell: r => r.user }, { name: 'Ran for', width: '110px', right: true, less: true, cell: r => span(r.milliseconds) }, { name: 'Cost', width: '110px', right: true, cell: r => usd(r.amount) },
              ]} />
            )}
            </Shown>
            {costs.data && costs.data.count > costs.data.costs.length && <p class="note">{count(costs.data.count)} in all; the highest are shown.</p>}
        </Card>
      )}
    </Page>
  )
}

// buckets gives the beginnings of the buckets of a time, in UTC.
function buckets(from: number, until: number, size: Size): number[] {
  const all: number[] = []
  const at = new Date(from)
  while (at.getTime() < until && all.length < 400) {
    all.push(at.getTime())
    if (size === 'hour') at.setUTCHours(at.getUTCHours() + 1)
    else if (size === 'day') at.setUTCDate(at.getUTCDate() + 1)
    else if (size === 'week') at.setUTCDate(at.getUTCDate() + 7)
    else at.setUTCMonth(at.getUTCMonth() + (size === 'year' ? 12 : 1))
  }
  return all
}

function label(t: number, size: Size): string {
  const iso = new Date(t).toISOString()
  return size === 'hour' ? `${iso.slice(5, 10)} ${iso.slice(11, 13)}:00` : size === 'month' ? iso.slice(0, 7) : iso.slice(0, 10)
}
