import { expect } from 'chai'
import { services } from '../../src/application/services.ts'
import { consequencesOf } from '../../src/dev/changes.ts'

const names = services.map(({ name }) => name)
const [first = '', second = ''] = names
const restartsOf = (path: string, named: readonly string[] = names) => [
  ...(consequencesOf(path, named)?.restarts ?? []),
]

describe('consequencesOf', () => {
  for (const { name, folder } of services) {
    it(`restarts only ${name} for a change in its folder`, () => {
      for (const path of ['src/main.ts', 'src/domain/deep/rule.ts', 'appsettings.json']) {
        expect(consequencesOf(`${folder}/${path}`, names)).to.deep.equal({
          ...{ restarts: new Set([name]), needsTypes: false, needsApplication: false },
        })
      }
    })
  }

  it('restarts only the named services', () => {
    const [{ folder: own = '' } = {}, { folder: other = '' } = {}] = services
    expect(restartsOf(`${own}/src/main.ts`, [first])).to.deep.equal([first])
    expect(restartsOf(`${other}/src/main.ts`, [first])).to.deep.equal([])
    expect(restartsOf('packages/service-kit/src/index.ts', [first, second])).to.deep.equal([first, second])
  })

  it('restarts all services for a change of shared code', () => {
    for (const path of [
      'packages/service-kit/src/web/web.ts',
      'packages/envelope/src/index.ts',
      'envelope-schema/index.ts',
    ]) {
      expect(consequencesOf(path, names)).to.deep.include({ restarts: new Set(names), needsTypes: false })
    }
  })

  it('generates types for a change of a schema, and reads services.json again', () => {
    for (const path of [
      'envelope-schema/schemas/common.json',
      'envelope-schema/schemas/events/A.1.json',
      'envelope-schema/topics.json',
    ]) {
      expect(consequencesOf(path, names)).to.deep.equal({
        ...{ restarts: new Set(names), needsTypes: true, needsApplication: false },
      })
    }
    expect(consequencesOf('services.json', names)).to.include({ needsTypes: true, needsApplication: true })
  })

  for (const path of [
    'envelope-schema/fixtures/valid/full.json',
    'envelope-schema/asyncapi.json',
    'packages/envelope/src/schemas/types.gen.ts',
    'packages/cli/src/cli.ts',
    'packages/test-kit/src/index.ts',
    'packages/service-kit/test/limits.unit.test.ts',
    'docs/develop.md',
    `${first}/test/subject.ts`,
    `${first}/src/.main.ts.swp`,
    `${first}/src/main.ts~`,
  ]) {
    it(`ignores a change of ${path}`, () => {
      expect(consequencesOf(path, names)).to.equal(undefined)
    })
  }
})
