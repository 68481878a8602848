// The pages that there are: the rail and the palette list them, and the letters after g lead to them.
import { hasControls } from './session'

export interface Place { path: string; title: string; icon: string; letter?: string }
export interface Section { title: string; places: Place[] }

export function sections(): Section[] {
  const all: Section[] = [
    { title: '', places: [{ path: '', title: 'Overview', icon: 'overview', letter: 'o' }] },
    {
      title: 'Compute', places: [
        { path: 'pods', title: 'Pods', icon: 'pods', letter: 'p' }, { path: 'endpoints', title: 'Endpoints', icon: 'endpoints', letter: 'e' },
        { path: 'jobs', title: 'Jobs', icon: 'jobs', letter: 'j' }, { path: 'workers', title: 'Workers', icon: 'workers', letter: 'w' },
        { path: 'clusters', title: 'Clusters', icon: 'clusters' }, { path: 'hosts', title: 'Hosts', icon: 'hosts', letter: 'h' },
      ],
    },
    {
      title: 'Resources', places: [
        { path: 'templates', title: 'Templates', icon: 'templates', letter: 't' }, { path: 'volumes', title: 'Volumes', icon: 'volumes', letter: 'v' },
        { path: 'secrets', title: 'Secrets', icon: 'secrets', letter: 's' }, { path: 'registries', title: 'Registries', icon: 'registries', letter: 'r' },
        { path: 'keys', title: 'Keys', icon: 'keys', letter: 'k' }, { path: 'users', title: 'Users', icon: 'users', letter: 'u' }, { path: 'billing', title: 'Billing', icon: 'billing', letter: 'b' },
      ],
    },
    {
      title: 'Test controls', places: hasControls.value ? [
        { path: 'clock', title: 'Clock', icon: 'clock', letter: 'c' }, { path: 'faults', title: 'Faults', icon: 'faults', letter: 'f' },
        { path: 'journal', title: 'Journal', icon: 'journal', letter: 'l' }, { path: 'webhooks', title: 'Webhooks', icon: 'webhooks', letter: 'm' },
        { path: 'states', title: 'States', icon: 'states', letter: 'a' },
      ] : [],
    },
    { title: 'Interfaces', places: [{ path: 'graphql', title: 'GraphQL', icon: 'graphql', letter: 'q' }, { path: 'documents', title: 'Documents', icon: 'documents', letter: 'd' }] },
  ]
  return all.filter(s => s.places.length)
}
