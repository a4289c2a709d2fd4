import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createEnvelope } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'
import { publishUser } from '@orderflow/stack/internals'
import { expect } from 'chai'
import type { SecuredKafka } from '../../support/kafka/secured-kafka.ts'

export function envelopeCommand(running: () => SecuredKafka): void {
  describe('the command envelope publish', () => {
    const event = () => {
      const payload = { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'GB-1', Total: 1 }
      const app = { id: randomUUID(), name: 'legacy-shop' }
      return JSON.stringify(createEnvelope({ type: 'OrderCreated@1', app, payload, creationDate: new Date() }))
    }

    async function publish(topic: string, env: NodeJS.ProcessEnv, more: string[] = []) {
      const { plan, certificate } = running()
      const ca = join(plan.folder, 'envelope-command.pem')
      writeFileSync(ca, certificate)
      const cli = join(repository, 'packages/envelope/src/cli/main.ts')
      const options = [
        '--brokers',
        `127.0.0.1:${plan.ports.kafka}`,
        '--topic',
        topic,
        '--username',
        publishUser,
        '--ca',
        ca,
        ...more,
      ]
      const child = spawn(process.execPath, [cli, 'publish', ...options, '-'], { env: { ...process.env, ...env } })
      child.stdin.end(event())
      const exit = new Promise((resolve) => child.once('close', resolve))
      const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { out, error, code: await exit }
    }

    it('publishes with a password from the environment or from a file', async () => {
      const password = running().passwords[publishUser] ?? ''
      const file = join(running().plan.folder, 'envelope-command.password')
      writeFileSync(file, `${password}\n`)
      for (const env of [{ ENVELOPE_PASSWORD: password }, { ENVELOPE_PASSWORD_FILE: file }]) {
        const { out, error, code } = await publish('orderevents', env)
        expect({ code, error }).to.deep.equal({ code: 0, error: '' })
        expect(out).to.match(/^published 1 to orderevents: partition \d+, offset \d+, key /)
      }
    })

    it('reports a wrong password, and a topic that the user may not write to', async () => {
      const refused = await publish('orderevents', { ENVELOPE_PASSWORD: 'guessed' })
      expect(refused).to.include({ code: 1, out: 'published 0 to orderevents\n' })
      expect(refused.error)
        .to.match(/SASL_AUTHENTICATION_FAILED/)
        .and.not.to.contain('guessed')
      const password = { ENVELOPE_PASSWORD: running().passwords[publishUser] }
      const denied = await publish('paymentevents', password, ['--any-topic'])
      expect(denied.error).to.match(/TOPIC_AUTHORIZATION_FAILED/)
    })
  })
}
