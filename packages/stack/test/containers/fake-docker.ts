import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface FakeImage {
  Id: string
  Config: { Labels: Record<string, string> | null }
}

/**
 * A fake docker command line. Its folder has a file for each image, and a record of its calls. The file `refusal` has the registry's error
 * for a pull, and is empty if a pull succeeds.
 */
const script = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const fileOf = (image) => __dirname + '/' + encodeURIComponent(image) + '.json'
const refusal = readFileSync(__dirname + '/refusal', 'utf8')
const args = process.argv.slice(2)
const last = args.at(-1)
const fail = (text) => { console.error(text); process.exit(1) }
const put = (name, Labels) => {
  writeFileSync(fileOf(name), JSON.stringify({ Id: 'sha256:' + name + ':' + Date.now(), Config: { Labels } }))
}
const [first, second] = args
if (first === 'image' && second === 'inspect') {
  if (!existsSync(fileOf(last))) fail('Error response from daemon: No such image: ' + last)
  console.log(args[3] === '{{.Size}}' ? 1e6 : '[' + readFileSync(fileOf(last), 'utf8') + ']')
  process.exit()
}
const tag = args[args.indexOf('--tag') + 1]
appendFileSync(__dirname + '/calls', (first === 'build' ? 'build ' + tag : args.join(' ')) + '\\n')
if (first === 'pull') {
  if (refusal) fail(refusal)
  put(last, null)
}
if (first === 'tag') put(last, null)
if (first === 'build') {
  const labels = args.filter((_arg, index) => args[index - 1] === '--label').map((label) => label.split('='))
  setTimeout(() => put(tag, Object.fromEntries(labels)), 300)
}
`

/** Puts a fake docker command line first in PATH, until `restore`. */
export function fakeDocker(folder: string) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'docker'), script)
  chmodSync(join(bin, 'docker'), 0o755)
  const fileOf = (image: string) => join(bin, `${encodeURIComponent(image)}.json`)
  const refuse = (refusal: string) => writeFileSync(join(bin, 'refusal'), refusal)
  refuse('')
  writeFileSync(join(bin, 'calls'), '')
  const path = process.env.PATH
  process.env.PATH = `${bin}${delimiter}${path}`

  return {
    refuse,
    have: (name: string, Labels: Record<string, string> | null = null) =>
      writeFileSync(fileOf(name), JSON.stringify({ Id: `sha256:old-${name}`, Config: { Labels } } satisfies FakeImage)),
    labelsOf: (name: string) => (JSON.parse(readFileSync(fileOf(name), 'utf8')) as FakeImage).Config.Labels,
    calls: () => readFileSync(join(bin, 'calls'), 'utf8').trim().split('\n').filter(Boolean),
    restore: () => {
      process.env.PATH = path
    },
  }
}
