import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { services } from '../../src/application/services.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const commands = ['release', 'rollback']

const make = (folder: string, ...args: string[]) =>
  execFileSync('make', ['-C', folder, '--no-print-directory', ...args], { encoding: 'utf8' })

describe('the Makefile', () => {
  for (const { role: name } of services) {
    it(`contains targets for the release and rollback of ${name}`, () => {
      for (const command of commands) {
        expect(make(repository, '-n', `${command}-${name}`)).to.match(new RegExp(`orderflow ${command} ${name}\n$`))
      }
    })
  }

  it('contains release targets for every service folder, and lists them in `make help`', () => {
    const folder = temporaryFolder()
    for (const file of ['Makefile', 'packages/cli/mistakes.mk']) cpSync(join(repository, file), join(folder, file))
    for (const service of ['order-service', 'gift-card-service']) {
      mkdirSync(join(folder, service))
      writeFileSync(join(folder, service, 'package.json'), '{}')
    }
    expect(make(folder, '-n', 'release-gift-card')).to.match(/orderflow release gift-card\n$/)
    expect(make(folder, 'help'))
      .to.match(/^make release-NAME +Release to/m)
      .and.match(/^NAME is one of: (order gift-card|gift-card order)$/m)
    expect(() => make(folder, '-n', 'release-payment')).to.throw()
  })
})
