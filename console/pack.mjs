// Compresses what vite built in dist/ into built/, which is committed and embedded; with --check it changes nothing and fails if
// built/ has anything else. What is inside is compared: compressors differ.
//
//   node pack.mjs [--check]
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

const limit = 250 * 1024 // bytes that all files have, compressed

const dist = new URL('dist/', import.meta.url).pathname
const built = new URL('built/', import.meta.url).pathname
const entries = await readdir(dist, { recursive: true, withFileTypes: true })
const files = new Map()
for (const entry of entries.filter(e => e.isFile())) {
  const path = join(entry.parentPath, entry.name).slice(dist.length)
  files.set(path.replace(/^assets\//, '') + '.gz', await readFile(join(dist, path)))
}

const all = [...files].map(([name, text]) => [name, text, gzipSync(text, { level: 9 })])
const size = all.reduce((sum, [, , gz]) => sum + gz.length, 0)
for (const [name, text, gz] of all) console.log(`${String(gz.length).padStart(8)} of ${String(text.length).padStart(8)}  ${name}`)
console.log(`${String(size).padStart(8)} compressed, in all`)
if (size > limit) throw new Error(`the console has ${size} bytes compressed, and at most ${limit} are permitted`)

if (process.argv[2] === '--check') {
  const there = await readdir(built)
  const missing = [...files.keys()].filter(name => !there.includes(name))
  const extra = there.filter(name => !files.has(name))
  const other = []
  for (const [name, text] of files) if (!missing.includes(name) && !gunzipSync(await readFile(join(built, name))).equals(text)) other.push(name)
  if (missing.length || extra.length || other.length) {
    console.error(`console/built is not what its sources give: run make console and commit\n${[...missing.map(n => `missing ${n}`), ...extra.map(n => `left over ${n}`), ...other.map(n => `differs ${n}`)].join('\n')}`)
    process.exit(1)
  }
} else {
  await rm(built, { recursive: true, force: true })
  await mkdir(built, { recursive: true })
  for (const [name, , gz] of all) await writeFile(join(built, name), gz)
}
