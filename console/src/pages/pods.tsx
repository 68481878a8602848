import { useState } from 'preact/hooks'
import { words, usd } from '../format'
import { ask, href, search } from '../router'
import { Card, Choice, Empty, ID, LinkButton, Page, Shown, Status, Time } from '../ui/bits'
import { matches, Search, Table } from '../ui/table'
import { curl, usePods, type Pod } from './shared'

export const machine = (p: Pod): string => (p.gpu ? `${p.gpu.count && p.gpu.count > 1 ? `${p.gpu.count} × ` : ''}${p.gpu.id.replace(/^NVIDIA /, '')}` : p.cpu ? `${p.cpu.vcpuCount} vCPU ${p.cpu.id}` : '')

const statuses = ['RUNNING', 'STARTING', 'PROVISIONING', 'EXITED', 'ERROR', 'TERMINATED'] as const

export function Pods() {
  const pods = usePods()
  const [typed, setTyped] = useState('')
  const status = search.value.get('status') ?? ''
  return (
    <Page title="Pods" actions={<LinkButton to={href('pods', 'new')} icon="plus" kind="main">Create a pod</LinkButton>}>
      <div class="bar">
        <Search value={typed} onInput={setTyped} label="Search pods" />
        <Choice label="Status" at={status} onPick={v => ask({ status: v })} of={[['', 'All'], ...statuses.map(s => [s, words(s)] as [string, string])]} />
        {pods.data && <span class="faint num end">{pods.data.length} pods</span>}
      </div>
      <Card flush>
        <Shown of={pods}>
          {all => {
            const rows = all.filter(p => (!status || p.status === status) && matches(typed, p.name, p.id, p.image, machine(p)))
            if (!all.length) return <Empty icon="pods" title="There is no pod yet" line={curl('POST', '/v2/pods', { name: 'first', image: 'ubuntu:24.04', cpu: { id: 'cpu3g', vcpuCount: 2 } })}><p>A pod is a container of your own, on a GPU or on vCPUs, until you end it.</p></Empty>
            if (!rows.length) return <Empty title="No pod is like that" />
            return (
              <Table label="Pods" rows={rows} id={p => p.id} to={p => href('pods', p.id)} columns={[
                { name: 'Name', width: 'minmax(120px, 1.6fr)', cell: p => p.name, by: p => p.name },
                { name: 'Status', width: '128px', cell: p => <Status of={p.status} />, by: p => p.status },
                { name: 'Machine', width: 'minmax(110px, 1.2fr)', less: true, cell: machine, by: machine },
                { name: 'Image', width: 'minmax(100px, 1.4fr)', less: true, cell: p => <span class="muted">{p.image}</span>, by: p => p.image },
                { name: 'Where', width: '96px', less: true, cell: p => p.dataCenterId ?? <span class="faint">–</span>, by: p => p.dataCenterId ?? '' },
                { name: 'An hour', width: '76px', right: true, cell: p => usd(p.cost), by: p => p.cost },
                { name: 'Created', width: '118px', right: true, less: true, cell: p => <Time at={p.createdAt} />, by: p => p.createdAt },
                { name: 'ID', width: '126px', less: true, cell: p => <ID of={p.id} /> },
              ]} />
            )
          }}
        </Shown>
      </Card>
    </Page>
  )
}
