import { fieldSchema } from '@orderflow/envelope'
import { expect } from 'chai'
import { openapiOf } from '../../src/web/openapi.ts'
import type { Route } from '../../src/web/route.ts'
import { call } from './support/call.ts'
import { thingRoutes, thingsApp } from './support/things.ts'

interface Operation {
  summary: string
  tags: string[]
  parameters: { name: string; schema: object }[]
  requestBody?: { content: { 'application/json': { schema: object } } }
  responses: Record<string, { description: string; headers?: object }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties: Record<string, object>; required?: string[]; example?: object }> }
}

describe('openapiOf', () => {
  let document: Document
  let make: Operation | undefined
  before(async () => {
    document = (await call(thingsApp().app, '/openapi.json')).json as unknown as Document
    make = document.paths['/v1/things']?.post
  })
  const statusesOf = (path: string, method: string) => Object.keys(document.paths[path]?.[method]?.responses ?? {})

  it('links to the page with traces if a setting contains the page’s address', async () => {
    const documentOf = async (tracePage: string) =>
      (await call(thingsApp(undefined, undefined, { tracePage }).app, '/openapi.json')).json
    const traces = { description: 'Traces', url: 'http://127.0.0.1:6686/' }
    expect((await documentOf(traces.url)).externalDocs).to.deep.equal(traces)
    expect(await documentOf('')).not.to.have.property('externalDocs')
  })

  it('links to the page with events if a setting contains the page’s address', async () => {
    const descriptionIn = async (monitorPage: string) =>
      (await call(thingsApp(undefined, undefined, { monitorPage }).app, '/openapi.json')).json.info as {
        description: string
      }
    const { description } = await descriptionIn('http://localhost:5010/')
    expect(description).to.equal('Things.\n\n[See the events](http://localhost:5010/)')
    expect((await descriptionIn('')).description).to.equal('Things.')
  })

  it('contains the statuses that each operation can answer, including those for invalid inputs', () => {
    expect(statusesOf('/v1/things', 'post')).to.deep.equal([
      '201',
      '202',
      '400',
      '403',
      '413',
      '415',
      '422',
      '429',
      '503',
    ])
    expect(statusesOf('/v1/things', 'get')).to.deep.equal(['200', '400', '429', '503'])
    expect(statusesOf('/v1/things/{id}', 'get')).to.deep.equal(['200', '400', '404', '429', '503'])
    expect(statusesOf('/v1/things/{id}/drop', 'post')).to.deep.equal(['200', '400', '403', '404', '409', '429', '503'])
  })

  it('states for each operation that unknown query parameters are refused, and states the rules for JSON bodies', () => {
    const refused = (path: string, method: string) => document.paths[path]?.[method]?.responses['400']?.description
    expect(refused('/v1/things', 'get')).to.match(/Unknown query parameters are refused\.$/)
    expect(refused('/v1/things', 'post')).to.match(
      /Unknown query parameters are refused, and so are duplicate JSON keys/,
    )
    expect(refused('/v1/things/{id}/drop', 'post')).to.match(/Unknown query parameters are refused\.$/)
  })

  it('describes refusals of the domain with the texts that clients receive', () => {
    const drop = document.paths['/v1/things/{id}/drop']?.post
    expect(drop?.responses['409']?.description).to.equal('The thing is too heavy (`too-heavy`).')
  })

  it('describes all refusals with the same status in one answer', () => {
    const refusals = {
      'too-heavy': { status: 409, title: 'It is too heavy' },
      gone: { status: 409, title: 'It is gone' },
    }
    const [route] = thingRoutes().filter(({ operation }) => operation.path.endsWith('/drop')) as [Route]
    const both = { ...route, operation: { ...route.operation, refusals: ['too-heavy', 'gone'] } }
    const { paths } = openapiOf({ title: '', description: '', routes: [both], refusals, problemMembers: {} })
    expect(paths['/v1/things/{id}/drop']?.post?.responses['409']).to.have.property(
      'description',
      'It is too heavy (`too-heavy`). It is gone (`gone`).',
    )
  })

  it('contains the contract’s rules for each field, in requests and answers', () => {
    const amount = fieldSchema('PaymentApproved@1', 'Amount')
    expect(amount).to.include.keys('minimum', 'maximum')
    const { NewThing, Thing } = document.components.schemas
    expect(NewThing?.properties.amount).to.deep.equal(amount)
    expect(Thing?.properties.amount).to.deep.equal(amount)
    expect(NewThing?.required).to.deep.equal(['orderId', 'amount'])
    expect(NewThing?.example).to.include({ amount: 42.5 })
  })

  it('contains the header `Location` for operations that create objects', () => {
    expect(make?.responses['201']).to.have.nested.property('headers.Location')
    expect(make?.tags).to.deep.equal(['things'])
  })

  it('contains the parameters of operations with their limits', () => {
    expect(make?.parameters.map(({ name }) => name)).to.deep.equal(['Idempotency-Key'])
    const list = document.paths['/v1/things']?.get
    expect(list?.parameters.map(({ name }) => name)).to.deep.equal(['limit', 'cursor'])
    expect(list?.parameters[0]?.schema).to.deep.equal({ type: 'integer', minimum: 1, maximum: 100, default: 20 })
  })

  it('describes problem details, with the service’s own members', () => {
    const { properties } = document.components.schemas.Problem ?? { properties: {} }
    expect(properties).to.include.keys('type', 'title', 'status', 'detail', 'instance', 'errors', 'thingId')
  })

  it('contains a schema for every model that it refers to', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    const names = new Set(Array.from(references, ([, name]) => name))
    expect(Object.keys(document.components.schemas)).to.include.members([...names])
    expect(names).to.include('Thing')
  })
})
