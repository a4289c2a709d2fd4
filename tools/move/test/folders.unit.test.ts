import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { requireFolders } from '../folders.ts'

describe('requireFolders', () => {
  let parent: string

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'orderflow-folders-'))
    for (const file of [
      ...['old/stack/node', 'old/services.json', 'old/event-gateway/package.json'],
      ...['acme/orderflow', 'acme/services.json', 'acme/event-gateway/package.json'],
      ...['main/orderflow', 'main/services.json'],
      'other/README.md',
    ]) {
      mkdirSync(dirname(join(parent, file)), { recursive: true })
      writeFileSync(join(parent, file), '')
    }
  })

  afterEach(() => {
    rmSync(parent, { recursive: true })
  })

  const inParent = (name: string) => name && join(parent, name)
  const required = (from: string, to: string) => requireFolders({ FROM: inParent(from), TO: inParent(to) }, 'move-code')

  it('returns the folders', () => {
    expect(required('old', 'acme')).to.deep.equal([join(parent, 'old'), join(parent, 'acme')])
  })

  const cases: Record<string, [from: string, to: string, message: RegExp, nextStep: RegExp]> = {
    'no FROM': ['', 'acme', /^FROM or TO is missing$/, /^make -C tools move-code FROM=\.\.\/old TO=\.\.\/acme$/],
    'no TO': ['old', '', /^FROM or TO is missing$/, /move-code/],
    'a missing FROM': ['nowhere', 'acme', /^FROM: .*\/nowhere does not exist$/, /^set FROM/],
    'a FROM that is no clone': ['other', 'acme', /^FROM: .*\/other is not a clone of version 0\.1\.0$/, /^set FROM/],
    'a FROM of a later version': ['main', 'acme', /\/main is not a clone of version 0\.1\.0$/, /\.\/orderflow upgrade/],
    'FROM and TO in the wrong order': ['acme', 'old', /\/acme is not a clone of version 0\.1\.0$/, /^set FROM/],
    'a missing TO': ['old', 'nowhere', /^TO: .*\/nowhere does not exist$/, /^make new-app DIR=.*\/nowhere EMPTY=1$/],
    'a TO that is no application': ['old', 'other', /^TO: .*\/other is not an application/, /make new-app/],
    'a clone of this repository as TO': ['old', 'main', /^TO: .*\/main is not an application/, /make new-app/],
    'version 0.1.0 as TO': ['old', 'old', /^TO: .*\/old is not an application/, /make new-app/],
  }
  for (const [title, [from, to, message, nextStep]] of Object.entries(cases)) {
    it(`refuses a move with ${title}`, () => {
      expect(() => required(from, to))
        .to.throw(CliError, message)
        .with.property('nextStep')
        .that.matches(nextStep)
    })
  }
})
