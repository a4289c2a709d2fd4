import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually, send } from './http.ts'
import { checkout, cleanEnvironment, make, run } from './make.ts'
import {
  approvedUpTo,
  authorization,
  commands,
  idempotencyKey,
  newOrder,
  ordersPath,
  printedKey,
  readiness,
  readOrder,
  rehearsal,
  releasedApps,
  releasedLimit,
  statuses,
} from './system.ts'

/** Releases services to a rehearsal. This needs Docker, but no running stack. */
describe('a release on the rehearsal', function () {
  this.timeout(900_000)
  let process: ChildProcess
  let settings: NodeJS.ProcessEnv
  let key: string
  let prefix: string
  const addresses: Record<string, string> = {}

  before(async () => {
    process = spawn('make', ['--no-print-directory', ...commands.rehearsal], {
      cwd: checkout,
      env: cleanEnvironment(),
      // The process gets its own process group, so that the test can interrupt the whole group, as Ctrl-C in a terminal does.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [process.stdout, process.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk))
    await eventually(
      'the rehearsal is ready',
      async () => {
        if (rehearsal.isReady.test(output)) return true
        throw new Error(output)
      },
      600,
    )
    const made = await make(commands.apiKey('acceptance', rehearsal.keys.scopes))
    key = printedKey.key.exec(made)?.[1] ?? ''
    prefix = printedKey.prefix.exec(made)?.[1] ?? ''
    settings = {
      ...(await sourced(rehearsal.settings)),
      [rehearsal.keys.variable]: readFileSync(join(checkout, rehearsal.keys.file), 'utf8'),
    }
    await run('bash', ['-euo', 'pipefail', '-c', rehearsal.login], settings)
  })
  after(async () => {
    if (prefix) await make(commands.revokeApiKey(prefix))
    if (process.exitCode === null && process.pid) globalThis.process.kill(-process.pid, 'SIGINT')
  })

  for (const [service, app] of Object.entries(releasedApps)) {
    it(`puts ${service} live`, async () => {
      await make(commands.export(service), settings)
      await make(commands.release(service, app), settings)
      addresses[service] = address(await make(commands.address(service, app), settings))
      const { status } = await send(`${addresses[service]}${readiness}`)
      expect(status).to.equal(200)
    })
  }

  it('handles an order from its request to its payment', async () => {
    expect(await statusOf(await place(approvedUpTo))).to.equal(statuses.paid)
    expect(await statusOf(await place(approvedUpTo + 1))).to.equal(statuses.rejected)
  })

  it('rejects a caller without a key', async () => {
    expect((await send(`${addresses.order}${ordersPath}`)).status).to.equal(401)
  })

  it('applies a changed setting, and restores the previous setting in a rollback', async () => {
    const { payment } = releasedApps
    await make(commands.release('payment', payment), { ...settings, [releasedLimit]: '50' })
    expect(await statusOf(await place(51))).to.equal(statuses.rejected)
    await make(commands.rollback('payment', payment), settings)
    expect(await statusOf(await place(51))).to.equal(statuses.paid)
  })

  it('removes all files of the rehearsal when the rehearsal is interrupted', async () => {
    globalThis.process.kill(-(process.pid ?? 0), 'SIGINT')
    await eventually('the rehearsal ends', async () => process.exitCode ?? process.signalCode ?? undefined, 60)
    expect(existsSync(join(checkout, rehearsal.folder))).to.equal(false)
  })

  async function place(total: number): Promise<string> {
    const { status, body } = await send(`${addresses.order}${ordersPath}`, {
      body: newOrder(total),
      headers: { ...authorization(key), [idempotencyKey]: randomUUID() },
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return readOrder(body).id
  }

  async function statusOf(id: string): Promise<string> {
    return await eventually(
      `order ${id} ends`,
      async () => {
        const { body } = await send(`${addresses.order}${ordersPath}/${id}`, { headers: authorization(key) })
        const { status } = readOrder(body)
        return status === statuses.paid || status === statuses.rejected ? status : undefined
      },
      60,
    )
  }
})

function address(output: string): string {
  const [found] = /https?:\/\/[^\s/]+/.exec(output) ?? []
  if (found === undefined) throw new Error(`no address in:\n${output}`)
  return found
}

/** Returns the environment of a shell that has read `file`. */
async function sourced(file: string): Promise<NodeJS.ProcessEnv> {
  const output = await run('bash', ['-c', '. "$0" && env -0', file])
  const pairs = output.split('\0').filter((line) => line.includes('='))
  return Object.fromEntries(pairs.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
