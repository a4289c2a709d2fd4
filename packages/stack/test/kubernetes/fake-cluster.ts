import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Call {
  program: string
  args: string[]
  input: string
}

/** Records each call. Prints the answer whose words are all among the arguments, or fails with an error of the file `errors.json`. */
const script = `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs')
const args = process.argv.slice(2)
const read = (name) => JSON.parse(readFileSync(__dirname + '/' + name, 'utf8'))
const isMeant = ([words]) => words.split(' ').every((word) => args.includes(word))
const input = args.includes('-') || args.includes('--stdin') ? readFileSync(0, 'utf8') : ''
appendFileSync(__dirname + '/calls', JSON.stringify({ program: require('node:path').basename(__filename), args, input }) + '\\n')
const error = read('errors.json').find(isMeant)
if (error) { console.error(error[1]); process.exit(1) }
const answer = read('answers.json').find(isMeant)
process.stdout.write(answer ? answer[1] : '')
`

/** Puts fake programs first in PATH, until `restore`. */
export function fakeCluster(folder: string) {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const program of ['kubectl', 'helm', 'docker', 'kind']) {
    writeFileSync(join(bin, program), script)
    chmodSync(join(bin, program), 0o755)
  }
  const answers: [words: string, output: string][] = []
  const errors: [words: string, output: string][] = []
  const write = () => {
    writeFileSync(join(bin, 'answers.json'), JSON.stringify(answers))
    writeFileSync(join(bin, 'errors.json'), JSON.stringify(errors))
  }
  write()
  const path = process.env.PATH
  process.env.PATH = `${bin}${delimiter}${path}`

  const calls = (): Call[] => {
    const file = join(bin, 'calls')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return lines.map((line) => JSON.parse(line) as Call)
  }
  return {
    /** Answers calls whose arguments contain all of `words`. An earlier answer comes first. */
    answer: (words: string, output: string | object) => {
      answers.push([words, typeof output === 'string' ? output : JSON.stringify(output)])
      write()
    },
    fail: (words: string, message: string) => {
      errors.push([words, message])
      write()
    },
    calls,
    /** Returns everything that other users of this machine could read: the arguments of all calls. */
    argumentsOfAll: () => JSON.stringify(calls().map(({ args }) => args)),
    restore: () => {
      process.env.PATH = path
    },
  }
}
