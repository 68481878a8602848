// Icons, drawn on a grid of 16 with one stroke. They stand beside words and say nothing alone.
const drawn: Record<string, string> = {
  overview: 'M2 9.5 8 3l6 6.5M4 8v5.5h8V8',
  pods: 'M8 1.8 14 5v6l-6 3.2L2 11V5zM2.3 5.2 8 8.3l5.7-3.1M8 8.3V14',
  endpoints: 'M3 3.5h10M3 8h10M3 12.5h10M5.5 2v3M10.5 6.5v3M6.5 11v3',
  jobs: 'M2.5 3h11v10h-11zM5 6.2h6M5 9h6M5 11.2h3',
  workers: 'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4',
  templates: 'M3 1.8h7l3 3v9.4H3zM10 1.8v3h3',
  volumes: 'M8 2c3.3 0 5.5.9 5.5 2v8c0 1.1-2.2 2-5.5 2s-5.5-.9-5.5-2V4c0-1.1 2.2-2 5.5-2zM2.5 4c0 1.1 2.2 2 5.5 2s5.5-.9 5.5-2M2.5 8c0 1.1 2.2 2 5.5 2s5.5-.9 5.5-2',
  secrets: 'M3 7h10v7H3zM5 7V5a3 3 0 0 1 6 0v2M8 10v1.5',
  registries: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  keys: 'M5.5 7.5a3 3 0 1 1 2.8 4L7 12.8 5.7 14H3v-2.7l3-3',
  users: 'M6 2.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.8c1.5.6 2.5 1.9 2.5 3.7',
  billing: 'M2 13.5h12M4 13V8.5M8 13V3M12 13V6',
  webhooks: 'M2 4h12v8H2zM2 4.5l6 4.5 6-4.5',
  clock: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.5V8l2.5 1.8',
  faults: 'M8.8 1.5 3 9h4.5l-.8 5.5L13 7H8.3z',
  journal: 'M3 2h9.5v12H3zM5.5 2v12M7.5 5.5H10M7.5 8H10',
  states: 'M2.5 2.5h9l2 2v9h-11zM5 2.5V6h5V2.5M5 13.5V9.5h6v4',
  hosts: 'M2 2.5h12v4.5H2zM2 9h12v4.5H2zM4.5 4.8h.1M4.5 11.3h.1',
  clusters: 'M8 1.5 10.5 3v3L8 7.5 5.5 6V3zM4.5 8 7 9.5v3L4.5 14 2 12.5v-3zM11.5 8 14 9.5v3L11.5 14 9 12.5v-3z',
  documents: 'M2 3c2 0 4 0 6 1.5C10 3 12 3 14 3v9.5c-2 0-4 0-6 1.5-2-1.5-4-1.5-6-1.5zM8 4.5V14',
  graphql: 'M8 1.5 13.6 4.8v6.4L8 14.5 2.4 11.2V4.8zM8 1.5 2.4 11.2h11.2z',
  search: 'M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6zM10.5 10.5 14 14',
  plus: 'M8 3v10M3 8h10',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3',
  play: 'M4.5 2.5v11l8.5-5.5z',
  stop: 'M3.5 3.5h9v9h-9z',
  restart: 'M13 8a5 5 0 1 1-1.6-3.7L13 6M13 2.5V6H9.5',
  trash: 'M3 4h10M6 4V2.5h4V4M4.5 4l.5 9.5h6l.5-9.5M6.8 6.5v4.5M9.2 6.5v4.5',
  edit: 'M10.5 2.5l3 3-8 8H2.5v-3zM9 4l3 3',
  down: 'M4 6l4 4 4-4',
  right: 'M6 3.5 10.5 8 6 12.5',
  out: 'M9.5 2.5h4v4M13.5 2.5 7.5 8.5M11.5 9v4.5h-9v-9H7',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  auto: 'M8 2v12M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  help: 'M6 6a2 2 0 1 1 3 1.7c-.7.400-1 .8-1 1.6M8 11.8v.1M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z',
  leave: 'M6.5 2.5h-4v11h4M10.5 5 13.5 8l-3 3M13.5 8H6',
  terminal: 'M2 3h12v10H2zM4.5 6 6.5 8l-2 2M8 10.5h3.5',
  pause: 'M5 3v10M11 3v10',
  next: 'M3 3.5v9l6-4.5zM12.5 3.5v9',
  check: 'M3 8.5 6.5 12 13 4.5',
  lock: 'M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  why: 'M6 6a2 2 0 1 1 3 1.7c-.7.400-1 .8-1 1.6M8 12v.1',
}

export type IconName = keyof typeof drawn

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawn[name] ?? ''} />
    </svg>
  )
}
