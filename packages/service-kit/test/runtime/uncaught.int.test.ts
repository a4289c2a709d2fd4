import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'

const buggyService = join(import.meta.dirname, 'support/buggy-service.ts')
const folder = join(import.meta.dirname, '../../../event-gateway')

describe('an uncaught error', () => {
  it('ends the service, which prints the error’s stack but no personal data from the error', () => {
    const env = { PATH: process.env.PATH, APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
    const { status, stdout, stderr } = spawnSync(process.execPath, [buggyService, folder], { env, encoding: 'utf8' })
    expect(status, stdout).to.equal(1)
    expect(stderr).to.match(/^Error: a bug, met by .*\n {4}at .*buggy-service\.ts/)
    expect(stdout + stderr).not.to.contain('SECRET')
  })
})
