import { render } from 'preact'
import { App } from './app.tsx'
import { payAttention } from './data/attention.ts'
import { listenToKeys } from './data/commands.ts'
import { followLinks } from './data/location.ts'
import { askWhoLooks } from './data/me.ts'
import { rootLinks } from './data/root.ts'
import { keepConnected } from './data/stream.ts'

const root = document.getElementById('page')
if (!root) throw new Error('index.html has no #page')
rootLinks()
followLinks()
listenToKeys()
root.replaceChildren()
render(<App />, root)
keepConnected()
void askWhoLooks()
// The first view comes first.
setTimeout(payAttention, 1000)
