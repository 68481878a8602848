import { useState } from 'preact/hooks'
import { send, type RestTypes } from '../api'
import { useResource } from '../data'
import { usd } from '../format'
import { go, href } from '../router'
import { Card, Command, Page, say, Status } from '../ui/bits'
import { Form, schemaOf } from '../ui/form'
import { cpuChoices, curl, dataCenterChoices, gpuChoices, powers, registryChoices, useCpus, useDataCenters, useGpus, useRegistries, useTemplates, useVolumes, volumeChoices } from './shared'

type Body = RestTypes['schemas']['CreatePodRequest']

// oneMachine leaves of gpu and cpu the one that was asked for last: a pod has one of them.
function oneMachine(was: Record<string, unknown>, is: Record<string, unknown>): Record<string, unknown> {
  if (is.gpu && is.cpu) {
    const { gpu, cpu, ...rest } = is
    return was.gpu ? { ...rest, cpu } : { ...rest, gpu }
  }
  return is
}

export function NewPod() {
  const [value, setValue] = useState<Record<string, unknown>>({ name: '', image: '', cpu: { id: 'cpu3g', vcpuCount: 2 } })
  const [cpus, gpus, centers, registries, volumes, templates] = [useCpus(), useGpus(), useDataCenters(), useRegistries(), useVolumes(), useTemplates()]
  const published = useResource('public templates', async () => (await send('get', '/v2/catalog/templates')).templates)
  const body = value as unknown as Partial<Body>
  const cloud = body.cloud ?? 'SECURE'
  const gpu = gpus.data?.find(g => g.id === body.gpu?.id)
  const cpu = cpus.data?.find(c => c.id === body.cpu?.id)

  const room = useResource(body.gpu?.id ? `room ${body.gpu.id} ${body.gpu.count ?? 1} ${cloud}` : body.cpu?.id ? `room ${body.cpu.id} ${body.cpu.vcpuCount}` : null, async () => body.gpu
    ? await send('get', '/v2/catalog/gpus/{id}', { path: { id: body.gpu.id }, query: { include: ['AVAILABILITY'], product: ['POD'], count: body.gpu.count ?? 1, cloud } as never })
    : await send('get', '/v2/catalog/cpus/{id}', { path: { id: body.cpu!.id }, query: { include: ['AVAILABILITY'], product: ['POD'], ...(body.cpu!.vcpuCount ? { vcpuCount: body.cpu!.vcpuCount } : {}) } as never }), ['pod', 'host'])
  const availability = room.data as { availability?: string; dataCenters?: { id: string; name: string; availability: string }[] } | undefined
  const price = gpu ? (cloud === 'COMMUNITY' ? gpu.price.community : gpu.price.secure) * (body.gpu?.count ?? 1) : cpu ? cpu.price.securePerVcpu * (body.cpu?.vcpuCount ?? cpu.vcpu.min) : 0

  const take = (id: string) => {
    const t = [...(templates.data ?? []), ...(published.data ?? [])].find(t => t.id === id)
    if (!t) return
    setValue({ ...value, name: value.name || t.name, image: t.image, args: t.args || undefined, disk: t.disk, ports: t.ports.length ? t.ports : undefined, env: Object.keys(t.env).length ? t.env : undefined, mounts: t.mounts.persistent ? { persistent: t.mounts.persistent } : undefined })
  }
  const submit = async (sent: Record<string, unknown>) => {
    const pod = await send('post', '/v2/pods', { body: sent as unknown as Body })
    say(`The pod ${pod.name} is created`)
    go(href('pods', pod.id))
  }
  const choices = [...(templates.data ?? []).filter(t => !t.serverless), ...(published.data ?? [])]
  return (
    <Page title="Create a pod" from={{ to: href('pods'), title: 'Pods' }}>
      <div class="two">
        <Card>
          <Form schema={schemaOf('CreatePodRequest')} value={value} onChange={v => setValue(oneMachine(value, v))} onSubmit={submit} onCancel={() => go(href('pods'))} submit="Create the pod" first={['name', 'image', 'gpu', 'cpu', 'ports', 'env']}
            choices={{
              '/gpu/id': gpuChoices(gpus.data, cloud), '/cpu/id': cpuChoices(cpus.data), '/cpu/vcpuCount': powers(cpu), '/dataCenterIds': dataCenterChoices(centers.data), '/registry': registryChoices(registries.data),
              '/mounts/network/*/volumeId': volumeChoices(volumes.data),
            }} labels={{ '/gpu': 'GPU', '/cpu': 'vCPUs', '/disk': 'Disk (GB)', '/gpu/id': 'GPU type', '/cpu/id': 'Flavor', '/cpu/vcpuCount': 'vCPUs', '/env': 'Environment' }}
            before={choices.length > 0 && <div class="field"><label for="template">Begin with a template</label><select id="template" onChange={e => take(e.currentTarget.value)}><option value="">None</option>{choices.map(t => <option key={t.id} value={t.id}>{t.name}: {t.image}</option>)}</select></div>} />
        </Card>
        <div class="price">
          <Card title="Price and room">
            <div class="stack">
              <div><div class="value num">{price ? `${usd(price)} an hour` : '–'}</div><p class="muted">{price ? `${usd(price * 24)} a day while it holds its machine` : 'Choose a GPU or vCPUs.'}</p></div>
              {availability?.availability && <Status of={availability.availability}>{({ NONE: 'No room now', LOW: 'Room for a few', MEDIUM: 'Room for some', HIGH: 'Much room' } as Record<string, string>)[availability.availability]}</Status>}
              {availability?.dataCenters && availability.dataCenters.length > 0 && (
                <table class="plain"><caption class="hidden">Room by data center</caption><thead><tr><th scope="col">Data center</th><th scope="col">Room</th></tr></thead><tbody>
                  {availability.dataCenters.slice(0, 10).map(d => <tr key={d.id}><td>{d.name}</td><td><Status of={d.availability} /></td></tr>)}
                </tbody></table>
              )}
            </div>
          </Card>
          <Card title="The same from a shell"><Command line={curl('POST', '/v2/pods', JSON.parse(JSON.stringify(value)))} /></Card>
        </div>
      </div>
    </Page>
  )
}
