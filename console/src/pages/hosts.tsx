import { useState } from 'preact/hooks'
import { send, type ControlsTypes } from '../api'
import { short } from '../format'
import { hasControls } from '../session'
import { Button, Card, Dialog, Empty, Page, say, Shown, Status, sure } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'
import { matches, Search, Table } from '../ui/table'
import { dataCenterChoices, useCpus, useDataCenters, useGpus, useHosts, type Host } from './shared'

const share = (h: number, free: number) => (h ? <>{short(h - free)} <span class="faint">of {short(h)}</span></> : <span class="faint">–</span>)

export function Hosts() {
  const hosts = useHosts()
  const [typed, setTyped] = useState('')
  const [adding, setAdding] = useState(false)
  const drain = async (h: Host) => {
    await send('patch', '/_berth/hosts/{hostId}', { path: { hostId: h.id }, body: { draining: !h.draining } })
    hosts.reload()
  }
  const remove = async (h: Host) => {
    if (!(await sure(`Take ${h.id} out of the fleet?`, 'Pods that run there get an error, workers end, and their jobs go back to the queue.', 'Take it out'))) return
    await send('delete', '/_berth/hosts/{hostId}', { path: { hostId: h.id } })
    hosts.reload()
  }
  const interrupt = async () => {
    if (!(await sure('Interrupt every interruptible pod?', 'As when somebody else gets their room: they get SIGTERM, and SIGKILL five seconds later.', 'Interrupt'))) return
    const { pods, workers } = await send('post', '/_berth/interrupt', { body: {} })
    say(`${pods} pods and ${workers} workers were interrupted`)
  }
  return (
    <Page title="Hosts" actions={<>{hasControls.value && <Button onClick={interrupt}>Interrupt pods</Button>}<button type="button" class="button main" data-new onClick={() => setAdding(true)}>Add a host</button></>}>
      <div class="bar"><Search value={typed} onInput={setTyped} label="Search hosts" />{hosts.data && <span class="faint num end">{hosts.data.length} hosts</span>}</div>
      <Card flush>
        <Shown of={hosts}>
          {all => {
            const rows = all.filter(h => matches(typed, h.id, h.dataCenterId, h.gpu))
            if (!all.length) return <Empty icon="hosts" title="There is no host" line={`echo '{"id":"box-7","dataCenterId":"EU-RO-1","cpus":["cpu3g"],"vcpus":16,"memoryGb":64,"diskGb":500}' | berth hosts add --file -`} />
            if (!rows.length) return <Empty title="No host is like that" />
            return <Table label="Hosts" rows={rows} id={h => h.id} columns={[
              { name: 'Host', width: 'minmax(150px, 2fr)', cell: h => <span class="strong">{h.id}</span>, by: h => h.id }, { name: 'State', width: '104px', cell: h => (h.away ? <Status of="ERROR">Away</Status> : h.draining ? <Status of="LOW">Draining</Status> : <Status of="RUNNING">In use</Status>) },
              { name: 'GPU', width: 'minmax(90px, 1fr)', less: true, cell: h => h.gpu?.replace(/^NVIDIA /, '') ?? <span class="faint">–</span>, by: h => h.gpu ?? '' }, { name: 'GPUs held', width: '100px', right: true, less: true, cell: h => share(h.gpuCount, h.free.gpus) },
              { name: 'vCPUs held', width: '130px', right: true, less: true, cell: h => share(h.vcpus, h.free.vcpus) }, { name: 'Memory (GB)', width: '130px', right: true, less: true, cell: h => share(h.memoryGb, h.free.memoryGb) },
              { name: 'Actions', width: '132px', right: true, cell: h => <span class="nowrap"><Button small kind="bare" onClick={() => drain(h)} label={`${h.draining ? 'Use' : 'Drain'} ${h.id}`}>{h.draining ? 'Use' : 'Drain'}</Button> <Button small kind="bare" onClick={() => remove(h)} label={`Remove ${h.id}`}>Remove</Button></span> },
            ]} />
          }}
        </Shown>
      </Card>
      {adding && <Add onClose={() => { setAdding(false); hosts.reload() }} />}
    </Page>
  )
}

function Add({ onClose }: { onClose: () => void }) {
  const [value, setValue] = useState<Record<string, unknown>>({ vcpus: 16, memoryGb: 64, diskGb: 500 })
  const [centers, gpus, cpus] = [useDataCenters(), useGpus(), useCpus()]
  const submit = async (sent: Record<string, unknown>) => {
    await send('post', '/_berth/hosts', { body: sent as unknown as ControlsTypes['schemas']['NewHost'] })
    say('The host is in the fleet')
    onClose()
  }
  return (
    <Dialog title="Add a host" onClose={onClose}>
      <Form schema={schemaOf('NewHost')} value={value} onChange={setValue} onSubmit={submit} onCancel={onClose} submit="Add" first={['id', 'dataCenterId', 'cpus', 'vcpus', 'memoryGb', 'diskGb', 'gpu', 'gpuCount']}
        choices={{ '/dataCenterId': dataCenterChoices(centers.data), '/gpu': gpus.data?.map(g => ({ value: g.id, text: g.name })), '/cpus': cpus.data?.map(c => ({ value: c.id, text: c.id })) }} labels={{ '/id': 'ID', '/cpus': 'Flavors', '/gpu': 'GPU type', '/memoryGb': 'Memory (GB)', '/diskGb': 'Disk (GB)' }} />
    </Dialog>
  )
}
