import { render } from 'preact'
import { App } from './app'
import { start } from './router'
import { applyTheme } from './theme'
import './style.css'

applyTheme()
start()
render(<App />, document.getElementById('root')!)
