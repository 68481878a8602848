import { close, start } from './harness.mjs'
import { furnish, pages } from './pages.mjs'
try { const s = await start('--test-controls','--private-webhooks','--seed', new URL('seed.yaml', import.meta.url).pathname); const ids = await furnish(s); await pages(s, ids) } finally { await close() }
