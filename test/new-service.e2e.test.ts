import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, repository } from '@orderflow/stack'
import { claimFolder } from '@orderflow/stack/parts'
import { expect } from 'chai'
import { changesIn, checkoutOfRepository } from './support/checkout.ts'
import { lastCommand, type Step, stepsOf } from './support/document.ts'
import { freeOffset } from './support/free-offset.ts'
import type { Ended } from './support/operate.ts'
import type { RepositoryCopy } from './support/repository-copy.ts'

const name = 'shipping-service'
/** What the finished service may cost in lines, settings and package.json included, schema and tests not. */
const mostLines = 225

describe('docs/new-service.md', () => {
  let copy: RepositoryCopy
  let offset: number
  before(async () => {
    copy = checkoutOfRepository()
    // What make up starts goes on when it ends, and must not when this process does.
    await claimFolder(join(copy.folder, '.stack'))
    offset = await freeOffset()
  })
  after(async () => {
    await copy?.run('make', ['down'])
    copy?.remove()
  })

  let script = ''
  let failed: string | undefined

  async function follow(step: Step): Promise<void> {
    if (step.do === 'write') copy.write(step.path, step.text)
    else if (step.do === 'change') copy.replace(step.path, step.from, step.to)
    else if (step.do === 'see') await see(step.shown)
    else {
      script = step.script
      succeeded(await shell(script))
    }
  }
  /** The document is followed beside other stacks: the ports that it names are moved. */
  function shell(commands: string): Promise<Ended> {
    const moved = commands.replaceAll(/(?<=localhost:)\d+/g, (port) => String(Number(port) + offset))
    return copy.run('bash', ['-euo', 'pipefail', '-c', moved], { PORT_OFFSET: String(offset) })
  }

  /** What is asked for may take a moment to be there. */
  async function see(shown: unknown): Promise<void> {
    let last = ''
    await eventually(async () => {
      last = (await shell(lastCommand(script))).stdout
      return last !== '' && holds(JSON.parse(last), shown)
    }, 'the answer').catch((error: Error) => {
      throw new Error(`${error.message}; it is ${last}`)
    })
  }

  const steps = stepsOf(readFileSync(join(repository, 'docs/new-service.md'), 'utf8'))
  for (const step of steps) {
    const what = titleOf(step)
    it(what, async () => {
      if (failed) throw new Error(`not tried, since this failed: ${failed}`)
      failed = what
      await follow(step)
      failed = undefined
    })
  }

  it(`makes a service of at most ${mostLines} lines of code that changes seven files`, async () => {
    const { changed, added } = await changesIn(copy)
    const byHand = changed.filter((path) => !path.startsWith('envelope-schema/'))
    expect(byHand).to.have.members([
      '.devcontainer/devcontainer.json',
      'components/trust/publishers.json',
      'docker-compose.postgresql.yml',
      'docker-compose.yml',
      'package-lock.json',
      'services.json',
      'stack/observe/prometheus.yml',
    ])
    const own = added.filter((path) => path.startsWith(`${name}/src/`))
    const counts = own.map((path) => readFileSync(join(copy.folder, path), 'utf8').trimEnd().split('\n').length)
    expect(counts.reduce((sum, count) => sum + count)).to.be.within(1, mostLines)
  })

  it('leaves all that needs no stack as well as it was', async () => {
    // What tells of services, or of all events. The kit and the other services do not know of it.
    const tests = ['{envelope-schema,stack}/test/**/*.unit.test.ts']
    const files = [...tests, ...['services', 'structure', 'hostile'].map((file) => `test/${file}.unit.test.ts`)]
    succeeded(await copy.run('mocha', ['--parallel', '--jobs', '2', ...files]))
  })
})

function titleOf(step: Step): string {
  if (step.do === 'run') return `runs ${step.script.trimEnd().split('\n').join('; ').slice(0, 100)}`
  if (step.do === 'see') return `sees ${JSON.stringify(step.shown).slice(0, 100)}`
  return `${step.do}s ${step.path}`
}

/** That no test fails says nothing where none is run. */
function succeeded({ code, stdout, stderr }: Ended): void {
  const printed = `${stdout}\n${stderr}`
  if (code === 0 && !/^0 passed|Cannot find any files/m.test(printed)) return
  throw new Error(`exit code ${code}\n${printed.slice(-4_000)}`)
}

/** Whether all that is shown is there, perhaps with more fields. */
function holds(found: unknown, shown: unknown): boolean {
  if (typeof shown !== 'object' || shown === null) return found === shown
  if (typeof found !== 'object' || found === null) return false
  if (Array.isArray(shown) && (found as unknown[]).length !== shown.length) return false
  return Object.entries(shown).every(([key, value]) => holds((found as Record<string, unknown>)[key], value))
}
