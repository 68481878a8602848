// The search of the site. There is no index to load: when the search is first used, the pages that the list names are read from this server
// and kept, a part for each heading and for each row of a table that has a name.
const form = document.querySelector('form[role=search]')
const input = document.querySelector('#search')
const found = document.querySelector('#found')
const list = document.querySelector('.pages details')
let parts // a promise of all parts

// A narrow page shows the list when it is asked for; a wide one always.
const wide = matchMedia('(min-width: 60.01rem)')
const spread = () => { list.open = wide.matches }
wide.addEventListener('change', spread)
spread()

// partsOf gives the parts of a page.
function partsOf(address, text) {
  const page = new DOMParser().parseFromString(text, 'text/html')
  const title = page.querySelector('h1')?.textContent ?? ''
  const parts = []
  let part
  const begin = (heading, anchor) => parts.push(part = { title, heading, address: anchor ? `${address}#${anchor}` : address, text: '' })
  begin(title, '')
  for (const element of page.querySelector('article').children) {
    if (/^H[1-4]$/.test(element.tagName)) {
      if (element.tagName !== 'H1') begin(element.textContent, element.id)
      continue
    }
    if (element.tagName === 'NAV') continue
    part.text += ` ${element.textContent}`
    for (const row of element.querySelectorAll('tr[id]')) {
      parts.push({ title, heading: row.cells[0].textContent, address: `${address}#${row.id}`, text: [...row.cells].slice(1).map(cell => cell.textContent).join(' ') })
    }
  }
  return parts
}

async function read() {
  const addresses = [...new Set([...document.querySelectorAll('.pages a')].map(link => link.getAttribute('href')))]
  const pages = await Promise.all(addresses.map(async address => {
    const answer = await fetch(address)
    return answer.ok ? partsOf(address, await answer.text()) : []
  }))
  return pages.flat().map(part => ({ ...part, lower: [part.title, part.heading, part.text].map(text => text.toLowerCase()) }))
}

// worth says how well a part fits: 0 unless it has every word.
function worth({ lower: [title, heading, text] }, words) {
  let sum = 0
  for (const word of words) {
    const here = (heading === word ? 40 : heading.includes(word) ? 12 : 0) + (title.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0)
    if (here === 0) return 0
    sum += here
  }
  return sum + (text.includes(words.join(' ')) ? 2 : 0)
}

// excerpt gives the words around the first one that was asked for.
function excerpt(part, words) {
  const text = part.text.replace(/\s+/g, ' ').trim()
  const at = Math.max(0, ...words.map(word => text.toLowerCase().indexOf(word)))
  const from = Math.max(0, at - 60)
  return (from > 0 ? '…' : '') + text.slice(from, from + 180) + (text.length > from + 180 ? '…' : '')
}

function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties })
}

async function search() {
  const asked = input.value
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) {
    found.hidden = true
    return
  }
  const all = await (parts ??= read())
  if (asked !== input.value) return // more was typed meanwhile

  const best = all.map(part => ({ part, of: worth(part, words) })).filter(({ of }) => of > 0).sort((a, b) => b.of - a.of).slice(0, 20)
  const lines = element('ol', '')
  for (const { part } of best) {
    const line = element('li', '')
    const name = part.heading === part.title ? part.title : `${part.title}: ${part.heading}`
    line.append(element('a', name, { href: part.address }), element('p', excerpt(part, words)))
    lines.append(line)
  }
  found.replaceChildren(best.length ? lines : element('p', 'Nothing has all of these words.'))
  found.hidden = false
}

form.hidden = false
form.addEventListener('submit', event => {
  event.preventDefault()
  found.querySelector('a')?.click()
})
input.addEventListener('focus', () => { parts ??= read() }, { once: true })
input.addEventListener('input', search)
found.addEventListener('click', event => { if (event.target.closest('a')) found.hidden = true })
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') found.hidden = true
  if (event.key === '/' && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName) && !event.ctrlKey && !event.metaKey) {
    event.preventDefault()
    input.focus()
  }
})
