import { Card, Page } from '../ui/bits'
import { session } from '../session'

const all = [
  ['/docs/rest', '/v2/openapi.json', 'REST', 'Pods, endpoints, templates, volumes, the catalog, billing'],
  ['/docs/queue', '/openapi/queue.json', 'Queue', 'Jobs of an endpoint, and the OpenAI API before its workers'],
  ['/docs/worker', '/openapi/worker.json', 'Workers', 'How a worker takes jobs and reports on them'],
  ['/docs/controls', '/openapi/controls.json', 'Controls', 'What an operator and a test may do to the server'],
] as const

export function Documents() {
  return (
    <Page title="Documents">
      <Card>
        <table class="plain">
          <thead><tr><th scope="col">Interface</th><th scope="col">What it is for</th><th scope="col">OpenAPI</th></tr></thead>
          <tbody>{all.filter(([page]) => page !== '/docs/controls' || session.value?.testControls).map(([page, document, title, says]) => <tr key={page}><th scope="row"><a href={page} target="_blank" rel="noreferrer">{title}</a></th><td>{says}</td><td><a href={document} target="_blank" rel="noreferrer"><code>{document}</code></a></td></tr>)}</tbody>
        </table>
      </Card>
      <p class="muted">The pages let you read the documents and send requests. This console speaks nothing but these interfaces.</p>
    </Page>
  )
}
