import { defineConfig } from 'vite'

// The console is served below /console; names of files have a hash of what is in them.
export default defineConfig({
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: { outDir: 'dist', target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false }, cssCodeSplit: false },
  server: { proxy: { '/v2': 'http://127.0.0.1:8765', '/_berth': 'http://127.0.0.1:8765', '/graphql': 'http://127.0.0.1:8765' } },
})
