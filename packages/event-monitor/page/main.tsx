import { render } from 'preact'
import { App } from './app.tsx'
import { loadCaller } from './data/api.ts'
import { listenToKeys } from './data/commands.ts'
import { followLinks, rootLinks } from './data/location.ts'
import { keepConnected } from './data/stream.ts'
import { payAttention } from './parts/header.tsx'

const root = document.getElementById('page')
if (!root) throw new Error('index.html has no #page')
rootLinks()
followLinks()
listenToKeys()
root.replaceChildren()
render(<App />, root)
keepConnected()
void loadCaller()
payAttention()
