import type { Route } from '@orderflow/service-kit'
import type { Answer, BadRequest, Subject } from '@orderflow/service-kit/testing'
import { expect } from 'chai'

type Operation = Route['operation']
type Cases = Record<string, BadRequest>
interface Problem {
  status: number
  detail: string
  instance: string
  errors?: { pointer: string }[]
}
interface Body {
  required: string[]
  example: object
}

const json = { 'content-type': 'application/json' }
const unknownId = '00000000-0000-4000-8000-000000000000'

/** Returns the bad requests that follow from the routes of a service, and those of its subject. */
export function badRequestsOf(routes: readonly Route[], subject: Pick<Subject, 'badRequests'>): Cases {
  return { ...refusedByRoutes(routes), ...subject.badRequests }
}

/** Returns the title of a test of a bad request. */
export const refusalTitle = (what: string, { status }: BadRequest): string =>
  `returns ${status} for ${what}, and names the correction`

export function expectRefused(answer: Answer<Problem>, { status, pointers, tells }: BadRequest): void {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(status)
  expect(answer.headers.get('content-type')).to.match(/^application\/problem\+json/)
  expect(answer.body).to.include({ status })
  expect(answer.body.instance).to.match(/^\/v1\/|^\/\*\*\*/)
  expect(answer.body.detail).to.match(tells)
  expect(answer.body.errors?.map(({ pointer }) => pointer)).to.deep.equal(pointers)
}

function refusedByRoutes(routes: readonly Route[]): Cases {
  const operations = routes.map(({ operation }) => operation)
  return together([
    { 'an unknown route': { path: '/v2/nothing', status: 404, tells: /\/docs/ } },
    ...operations.map(refusedByAny),
    ...operations.map(refusedForParameters),
    ...operations.map(refusedForBody),
  ])
}

const together = (all: Cases[]): Cases => Object.fromEntries(all.flatMap((cases) => Object.entries(cases)))

const titleOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`
const pathOf = ({ path }: Operation, id = unknownId) => path.replace(/\{\w+\}/, id)
const postOf = (operation: Operation, body?: string | Buffer<ArrayBuffer>, headers: Record<string, string> = json) => ({
  path: pathOf(operation),
  init: { method: 'POST', headers, ...(body !== undefined && { body }) },
})
const bodyOf = ({ inputs }: Operation) =>
  inputs.flatMap(({ body }) => body ?? [])[0]?.schema as (Partial<Body> & Pick<Body, 'example'>) | undefined

function refusedByAny(operation: Operation): Cases {
  const [path, title] = [pathOf(operation), titleOf(operation)]
  const refused = { status: 405, tells: /no operation (PUT|DELETE) \/v1/ }
  const unknown = { status: 400, pointers: ['nothing'], tells: /nothing: is not a query parameter of this operation/ }
  const foreign = postOf(operation, undefined, { origin: 'https://evil.example' })
  const slash = `DELETE ${operation.path} with a slash at the end`
  return {
    [`PUT ${operation.path}`]: { path, ...by('PUT'), ...refused },
    [slash]: { path: `${path}/`, ...by('DELETE'), ...refused },
    [`${title} with an unknown query parameter`]: { path: `${path}?nothing=1`, ...by(operation.method), ...unknown },
    ...(operation.method === 'post' && {
      [`${title} from a page of another site`]: { ...foreign, status: 403, tells: /evil\.example/ },
    }),
  }
}

const by = (method: string) => ({ init: { method: method.toUpperCase() } })

function refusedForParameters(operation: Operation): Cases {
  const title = titleOf(operation)
  const requested = by(operation.method)
  const parameters = operation.inputs.flatMap((input) => input.parameters ?? [])
  const cases = parameters.map(({ name, in: where, schema }): Cases => {
    const named = { status: 400, pointers: [name] }
    if (where === 'path' && schema.format !== 'uuid') return {}
    if (where === 'path') {
      const at = (id?: string) => ({ path: pathOf(operation, id), ...requested })
      return {
        [`${title} for an id that is not a GUID`]: { ...at('42'), ...named, tells: /GUID/ },
        [`${title} for an unknown id`]: { ...at(), status: 404, tells: /There is no/ },
        [`${title} with a broken escape in the path`]: { ...at('%zz'), status: 400, tells: /hex digits/ },
      }
    }
    const query = (value: string) => ({ path: `${pathOf(operation)}?${name}=${value}`, ...requested, ...named })
    if (name === 'limit') return { [`${title} for a page of 101 items`]: { ...query('101'), tells: /1 to 100/ } }
    if (name === 'cursor') return { [`${title} with an invalid cursor`]: { ...query('abc'), tells: /next/ } }
    if (schema.format === 'uuid')
      return { [`${title} with a ${name} that is not a GUID`]: { ...query('1'), tells: /GUID/ } }
    if (name !== 'Idempotency-Key') return {}
    const example = JSON.stringify(bodyOf(operation)?.example)
    const key = (text: string) => ({ ...postOf(operation, example, { ...json, [name]: text }), ...named })
    return {
      [`${title} with a blank in its ${name}`]: { ...key('a b'), tells: /visible ASCII/ },
      [`${title} with 256 characters of ${name}`]: { ...key('k'.repeat(256)), tells: /255/ },
    }
  })
  return together(cases)
}

function refusedForBody(operation: Operation): Cases {
  const schema = bodyOf(operation)
  // Leaves out a body that the service reads as bytes, because only the service knows the forms of such a body.
  if (!schema?.required || !schema.example) return {}
  const { required, example } = schema
  const whole = JSON.stringify(example)
  const bodyWith = (changes: object) => JSON.stringify({ ...example, ...changes })
  const latin = Buffer.from(bodyWith({ note: 'é' }), 'latin1')
  const doubled = `{${JSON.stringify(required[0])}:1,${whole.slice(1)}`
  const refused = (what: string, body: string | Buffer<ArrayBuffer>, tells: RegExp, pointers?: string[]): Cases => ({
    [`${titleOf(operation)} ${what}`]: {
      ...postOf(operation, body),
      status: 400,
      tells,
      ...(pointers && { pointers }),
    },
  })
  const as = (what: string, type: string, tells: RegExp): Cases => ({
    [`${titleOf(operation)} ${what}`]: { ...postOf(operation, whole, { 'content-type': type }), status: 415, tells },
  })
  const large = postOf(operation, bodyWith({ note: 'x'.repeat(70_000) }))
  const allPointers = required.map((name) => `/${name}`)
  return together([
    ...required.map((name) => refused(`without ${name}`, bodyWith({ [name]: undefined }), /missing/, [`/${name}`])),
    refused('with an empty body', '', /missing/, allPointers),
    refused('with a body that is not JSON', `${whole.slice(0, -1)},}`, /quotes, commas and brackets/),
    refused('with an unknown field', bodyWith({ nothing: 1 }), /nothing: is not a field of this body/, ['/nothing']),
    refused('with a duplicate key', doubled, /occurs twice: write each key once/, [`/${required[0]}`]),
    refused('with a body that is a list', '[]', /object/, ['']),
    refused('with a body that is null', 'null', /object, not null/, ['']),
    refused('with a body that is not UTF-8', latin, /UTF-8/),
    as('with another content type', 'text/plain', /application\/json/),
    as('with another charset', 'application/json; charset=latin1', /UTF-8/),
    { [`${titleOf(operation)} with a body above 64 KiB`]: { ...large, status: 413, tells: /at most 65536 bytes/ } },
  ])
}
