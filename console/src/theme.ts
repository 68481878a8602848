// Light or dark: as the system says, unless it was chosen here.
import { signal } from '@preact/signals'

export type Theme = 'auto' | 'light' | 'dark'
const stored = 'berth-theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

export const theme = signal<Theme>((localStorage.getItem(stored) as Theme | null) ?? 'auto')

export function applyTheme(): void {
  const show = () => (document.documentElement.dataset.theme = theme.value === 'auto' ? (dark.matches ? 'dark' : 'light') : theme.value)
  dark.addEventListener('change', show)
  theme.subscribe(show)
}

export function nextTheme(): void {
  theme.value = theme.value === 'auto' ? 'light' : theme.value === 'light' ? 'dark' : 'auto'
  theme.value === 'auto' ? localStorage.removeItem(stored) : localStorage.setItem(stored, theme.value)
}
