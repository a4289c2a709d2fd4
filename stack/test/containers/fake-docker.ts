import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface FakeState {
  /** What the registry says to a pull that it refuses; empty when it has every image. */
  refusal: string
  images: Record<string, { Id: string; Config: { Labels: Record<string, string> | null } }>
}

/** The docker command line over a file of images: what it was asked is kept, and a build takes a while. */
const script = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const [stateFile, callsFile] = ['state.json', 'calls'].map((name) => __dirname + '/' + name)
const state = JSON.parse(readFileSync(stateFile, 'utf8'))
const args = process.argv.slice(2)
const last = args.at(-1)
const fail = (text) => { console.error(text); process.exit(1) }
const put = (name, Labels) => {
  state.images[name] = { Id: 'sha256:' + name + ':' + Date.now(), Config: { Labels } }
  writeFileSync(stateFile, JSON.stringify(state))
}
const [first, second] = args
if (first === 'image' && second === 'inspect') {
  if (!state.images[last]) fail('Error response from daemon: No such image: ' + last)
  console.log(args[3] === '{{.Size}}' ? 1e6 : JSON.stringify(state.images[last]))
  process.exit()
}
const tag = args[args.indexOf('--tag') + 1]
appendFileSync(callsFile, (first === 'build' ? 'build ' + tag : args.join(' ')) + '\\n')
if (first === 'pull' || first === 'manifest') {
  if (state.refusal) fail(state.refusal)
  if (first === 'pull') put(last, null)
}
if (first === 'tag') put(last, null)
if (first === 'build') {
  const labels = args.filter((_arg, index) => args[index - 1] === '--label').map((label) => label.split('='))
  setTimeout(() => put(tag, Object.fromEntries(labels)), 300)
}
`

/** Puts a docker command line of our own first in PATH, until `restore`. */
export function fakeDocker(folder: string) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docker'), script)
  chmodSync(join(bin, 'docker'), 0o755)
  const stateFile = join(bin, 'state.json')
  const read = () => JSON.parse(readFileSync(stateFile, 'utf8')) as FakeState
  const write = (change: Partial<FakeState>) => writeFileSync(stateFile, JSON.stringify({ ...read(), ...change }))
  writeFileSync(stateFile, JSON.stringify({ refusal: '', images: {} }))
  writeFileSync(join(bin, 'calls'), '')
  const path = process.env.PATH
  process.env.PATH = `${bin}${delimiter}${path}`

  return {
    refuse: (refusal: string) => write({ refusal }),
    /** Makes an image be there, with these labels. */
    have: (name: string, Labels: Record<string, string> | null = null) =>
      write({ images: { ...read().images, [name]: { Id: `sha256:old-${name}`, Config: { Labels } } } }),
    labelsOf: (name: string) => read().images[name]?.Config.Labels,
    /** What it was asked to do. */
    calls: () => readFileSync(join(bin, 'calls'), 'utf8').trim().split('\n').filter(Boolean),
    restore: () => {
      process.env.PATH = path
    },
  }
}
