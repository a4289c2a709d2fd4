import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { type ApplicationCopy, copyApplication } from '../src/stacks/index.ts'

describe('a copy of an application that has installed the packages of orderflow', () => {
  let application = ''
  let copy: ApplicationCopy
  before(() => {
    application = realpathSync(mkdtempSync(join(tmpdir(), 'application-')))
    const files = {
      '.gitignore': 'node_modules\n.env\n.stack\n',
      '.env': 'COMPOSE_PROJECT_NAME=mine',
      '.stack/secrets.json': '{}',
      'services.json': '{}',
      'booking-service/package.json': '{}',
      'booking-service/node_modules/old/package.json': '{}',
      'node_modules/express/package.json': '{}',
      'node_modules/@types/node/package.json': '{}',
      'node_modules/@orderflow/cli/package.json': '{"name":"installed"}',
    }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(application, dirname(path)), { recursive: true })
      writeFileSync(join(application, path), text)
    }
    mkdirSync(join(application, 'node_modules/@acme'))
    symlinkSync('../../booking-service', join(application, 'node_modules/@acme/booking-service'))
    execFileSync('git', ['init', '--quiet'], { cwd: application })
    copy = copyApplication(application)
  })
  after(() => {
    copy?.remove()
    rmSync(application, { recursive: true })
  })
  const found = (path: string) => realpathSync(join(copy.folder, path))

  it('contains the new files of the application, without ignored files', () => {
    expect(existsSync(join(copy.folder, 'services.json'))).to.equal(true)
    for (const path of ['.env', '.stack']) expect(existsSync(join(copy.folder, path)), path).to.equal(false)
  })

  it('contains its own workspaces under any scope', () => {
    expect(found('node_modules/@acme/booking-service')).to.equal(join(copy.folder, 'booking-service'))
  })

  it('contains its own packages of orderflow, which look for services.json above their folder', () => {
    const path = 'node_modules/@orderflow/cli/package.json'
    expect(found(path)).to.equal(join(copy.folder, path))
    expect(readFileSync(join(copy.folder, path), 'utf8')).to.equal('{"name":"installed"}')
  })

  it('uses all other packages of the application, also those of a single workspace', () => {
    for (const path of ['node_modules/express', 'node_modules/@types/node', 'booking-service/node_modules/old']) {
      expect(found(path)).to.equal(join(application, path))
    }
  })

  it('gives programs an empty standard input', async () => {
    expect(await copy.run('cat', [])).to.include({ code: 0, stdout: '' })
  })
})
