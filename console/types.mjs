// Writes src/spec from the documents: the types of what is sent and answered, and the schemas that forms are made of.
//
//   node types.mjs
import { readFile, writeFile, mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'
import openapi, { astToString } from 'openapi-typescript'

const here = new URL('.', import.meta.url)
const documents = ['rest', 'queue', 'controls']

// Schemas of bodies that a form is made of, by the name of their document.
const forms = {
  rest: ['CreatePodRequest', 'UpdatePodRequest', 'CreateEndpointRequest', 'UpdateEndpointRequest', 'CreateTemplateRequest', 'UpdateTemplateRequest',
    'CreateNetworkVolumeRequest', 'UpdateNetworkVolumeRequest', 'CreateGlobalVolumeRequest', 'UpdateGlobalVolumeRequest', 'CreateSecretRequest',
    'UpdateSecretRequest', 'CreateRegistryRequest', 'CreateDelegationRequest'],
  queue: ['Submission'],
  controls: ['NewKey', 'NewUser', 'UserChange', 'Fault', 'Quotas', 'FleetSettings', 'NewHost', 'Script', 'Verification'],
}

// resolved replaces references by what they name, and keeps what forms read.
function resolved(schema, document) {
  if (Array.isArray(schema)) return schema.map(one => resolved(one, document))
  if (schema === null || typeof schema !== 'object') return schema
  const { $ref, ...rest } = schema
  if ($ref) return { ...resolved(document.components.schemas[$ref.split('/').pop()], document), ...resolved(rest, document) }
  const kept = Object.entries(schema).filter(([name]) => !['discriminator', 'format', 'example', 'deprecated'].includes(name))
  const made = Object.fromEntries(kept.map(([name, value]) => [name, resolved(value, document)]))
  if (Array.isArray(made.enum) && made.enum.length > 30) made.enum = made.enum.filter(value => value <= 1024) // vCPUs: no flavor has more
  return made
}

await mkdir(new URL('src/spec/', here), { recursive: true })
const schemas = {}
const operations = new Set()
for (const name of documents) {
  const path = new URL(`../spec/${name}.yaml`, here)
  const document = load(await readFile(path, 'utf8'))
  const types = astToString(await openapi(path, { silent: true }))
  await writeFile(new URL(`src/spec/${name}.d.ts`, here), `// Generated from spec/${name}.yaml by types.mjs.\n${types}`)
  for (const schema of forms[name]) schemas[schema] = resolved(document.components.schemas[schema], document)
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      if (operation.operationId && (name !== 'controls' || operation.operationId === 'receiveWebhook')) operations.add(operation.operationId)
    }
  }
}
for (const item of Object.values(load(await readFile(new URL('../spec/worker.yaml', here), 'utf8')).paths)) {
  for (const operation of Object.values(item)) if (operation.operationId) operations.add(operation.operationId)
}
const written = { schemas, operations: [...operations].sort() }
await writeFile(new URL('src/spec/forms.json', here), JSON.stringify(written, null, 1) + '\n')
console.log(`written: ${fileURLToPath(new URL('src/spec/', here))}`)
