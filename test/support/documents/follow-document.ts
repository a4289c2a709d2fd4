import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { eventually, repository } from '@orderflow/stack/base'
import { claimFolder } from '@orderflow/stack/internals'
import type { Ended } from '@orderflow/test-kit/stacks'
import { checkoutOfRepository } from '../checkouts/checkout.ts'
import { freeOffset } from '../checkouts/free-offset.ts'
import { keepLogs } from '../checkouts/keep-logs.ts'
import type { FileEditor, RepositoryCopy } from '../checkouts/repository-copy.ts'
import { startWatching, type WatchingProgram } from '../programs/watching-program.ts'
import { type BrowserReader, createBrowserReader } from './browser-reader.ts'
import { lastCommand, type Step, stepsOf } from './document.ts'
import type { Sentence } from './instructions.ts'
import { takePicture } from './take-picture.ts'

/** The folder in which tests follow the steps of a document. */
export interface Workplace extends FileEditor {
  folder: string
  run: RepositoryCopy['run']
  remove: () => void | Promise<void>
}

/** A workplace whose stack uses other ports than the document: `offset` is the difference. */
export interface Reader<Place extends Workplace = RepositoryCopy> {
  copy: Place
  offset: number
  /** Additional variables of all commands. */
  env: Record<string, string>
}

/**
 * Declares a test for each step of a document, in a copy of the repository.
 * @param steps the steps of the document, and perhaps others
 * @returns a function that returns the copy, which is removed after the tests
 */
export function followDocument(path: string, steps: readonly Step[] = stepsIn(path)): () => Reader {
  return followSteps(steps, async () => {
    const copy = checkoutOfRepository()
    // The started processes outlive `make up`, but must end with this process.
    await claimFolder(join(copy.folder, '.stack'))
    // Pictures show the ports of the document.
    const offset = process.env.PICTURES ? 0 : await freeOffset()
    const remove = async () => {
      await copy.run('make', ['down'])
      keepLogs(copy.folder, basename(path, '.md'))
      copy.remove()
    }
    return { copy: { ...copy, remove }, offset, env: { PORT_OFFSET: String(offset), STACK: 'local' } }
  })
}

export const stepsIn = (path: string): Step[] => stepsOf(readFileSync(join(repository, path), 'utf8'))

/**
 * Declares a test for each step. After a failed step, the tests of all later steps fail without running them.
 * @param open creates the workplace, which is removed after the tests
 */
export function followSteps<Place extends Workplace>(
  steps: readonly Step[],
  open: () => Promise<Reader<Place>>,
): () => Reader<Place> {
  let reader: Reader<Place>
  before(async () => {
    reader = await open()
  })
  const running: WatchingProgram[] = []
  let browser: BrowserReader | undefined
  /** The lines that read variables from files. They stay in effect, because readers keep their terminal. */
  const sourced = new Set<string>()
  after(async () => {
    await browser?.close()
    for (const program of running) await program.stop()
    await reader?.copy.remove()
  })
  let script = ''
  let failed: string | undefined

  async function follow(step: Step): Promise<void> {
    const { copy } = reader
    if (step.do === 'write') copy.write(step.path, step.text)
    else if (step.do === 'change') copy.replace(step.path, step.from, step.to)
    else if (step.do === 'see') await see(step.shown)
    else if (step.do === 'act') await step.act()
    else if (step.do === 'browse') await browse(step.sentence)
    else if (step.do === 'look') await look(step.picture)
    else if (runsOn.test(step.script)) await begin(step.script)
    else {
      script = step.script
      succeeded(await shell(script))
      for (const [line] of script.matchAll(/^\. .*$/gm)) sourced.add(line)
    }
  }

  async function browse({ instructions }: Sentence): Promise<void> {
    browser ??= await createBrowserReader({ offset: reader.offset, outputOf })
    for (const instruction of instructions) await browser.follow(instruction)
  }

  async function look(picture: string): Promise<void> {
    if (!browser) throw new Error(`${picture} has no page`)
    await takePicture(picture, browser)
  }

  /** Starts a program that runs until the reader ends it with Ctrl-C. */
  async function begin(commands: string): Promise<void> {
    const { copy, offset, env } = reader
    const moved = commands.replace(/(?<=port-forward \S+ )(\d+)/, (port) => `${Number(port) + offset}:${port}`)
    running.push(await startWatching('bash', ['-c', moved], copy.folder, { ...machineOfReader, ...env }))
  }

  async function outputOf(command: string): Promise<string> {
    const ended = await shell(command)
    succeeded(ended)
    return ended.stdout.trim()
  }

  function shell(commands: string): Promise<Ended> {
    const { copy, offset, env } = reader
    const moved = commands.replaceAll(/(?<=localhost:)\d+/g, (port) => String(Number(port) + offset))
    return copy.run('bash', ['-euo', 'pipefail', '-c', [...sourced, moved].join('\n')], { ...machineOfReader, ...env })
  }

  async function see(shown: unknown): Promise<void> {
    let last = ''
    await eventually(async () => {
      last = (await shell(lastCommand(script))).stdout
      return last !== '' && holds(JSON.parse(last), shown)
    }, 'the answer').catch((error: Error) => {
      throw new Error(`${error.message}; it is ${last}`)
    })
  }

  for (const step of steps) {
    if (step.do === 'look' && !process.env.PICTURES) continue
    const what = titleOf(step)
    it(what, async () => {
      if (failed) throw new Error(`not run, because this step failed: ${failed}`)
      failed = what
      await follow(step)
      failed = undefined
    })
  }
  return () => reader
}

/** Throws if the program failed, or if a test run had no tests. */
export function succeeded({ code, stdout, stderr }: Ended): void {
  const printed = `${stdout}\n${stderr}`
  if (code === 0 && !/^0 passed|Cannot find any files/m.test(printed)) return
  throw new Error(`exit code ${code}\n${printed.slice(-4_000)}`)
}

/** Readers work on their own machines, where tests may add fields to reads.json. */
const machineOfReader = { CI: '' }

/** A script that runs until Ctrl-C. */
const runsOn = /^(make dev|kubectl .*port-forward)\b/m

function titleOf(step: Step): string {
  if (step.do === 'act') return step.what
  if (step.do === 'run') return `runs ${step.script.trimEnd().split('\n').join('; ').slice(0, 100)}`
  if (step.do === 'look') return `takes ${step.picture}`
  if (step.do === 'browse') return `follows: ${step.sentence.text}`
  if (step.do === 'see') return `sees ${JSON.stringify(step.shown).slice(0, 100)}`
  return `${step.do}s ${step.path}`
}

/** Returns true if `found` contains everything that the document shows, perhaps with more fields. */
function holds(found: unknown, shown: unknown): boolean {
  if (typeof shown !== 'object' || shown === null) return found === shown
  if (typeof found !== 'object' || found === null) return false
  if (Array.isArray(shown) && (found as unknown[]).length !== shown.length) return false
  return Object.entries(shown).every(([key, value]) => holds((found as Record<string, unknown>)[key], value))
}
