import { createDocuments } from '@orderflow/service-kit'
import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { consumerComponents } from '../../src/application/services.ts'
import { memoryComponents } from '../../src/release/image.ts'

describe('the boot check of an image', () => {
  const [[, streams], [, store]] = memoryComponents() as [[string, string], [string, string]]
  const write = (type: string) =>
    createDocuments(
      new FakeSidecar(type),
      () => new Date(),
    )('')
      .change({ key: 'a', bytes: 1, decide: (view) => view.write({}) })
      .then(
        () => 'written',
        (error: Error) => error.message,
      )

  it('uses a type of store that services support, because other stores never become ready', async () => {
    expect(await write(parse(store).spec.type)).to.equal('written')
    expect(await write('state.in-memory')).to.match(/state\.in-memory is not tested .*; use state\.sqlite/)
  })
  it('replaces each Kafka component by a component in memory', () => {
    const components = parseAllDocuments(streams).map((document) => document.toJS())
    expect(components.map(({ metadata }) => metadata.name)).to.deep.equal(['pubsub', ...consumerComponents])
    for (const { spec } of components)
      expect(spec).to.deep.equal({ type: 'pubsub.in-memory', version: 'v1', metadata: [] })
  })
})
