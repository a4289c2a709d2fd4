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
  expect(answer.status).to.equal(status)
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
  const path = pathOf(operation)
  const isRefused = { status: 405, tells: /no operation (PUT|DELETE) \/v1/ }
  return {
    [`PUT ${operation.path}`]: { path, init: { method: 'PUT' }, ...isRefused },
    [`DELETE ${operation.path} with a slash at the end`]: {
      path: `${path}/`,
      init: { method: 'DELETE' },
      ...isRefused,
    },
    [`${titleOf(operation)} with an unknown query parameter`]: {
      path: `${path}?nothing=1`,
      init: { method: operation.method.toUpperCase() },
      status: 400,
      pointers: ['nothing'],
      tells: /nothing: is not a query parameter of this operation/,
    },
    ...(operation.method === 'post' && {
      [`${titleOf(operation)} from a page of another site`]: {
        ...postOf(operation, undefined, { origin: 'https://evil.example' }),
        status: 403,
        tells: /evil\.example/,
      },
    }),
  }
}

function refusedForParameters(operation: Operation): Cases {
  const { method } = operation
  const title = titleOf(operation)
  const init = { method: method.toUpperCase() }
  const parameters = operation.inputs.flatMap((input) => input.parameters ?? [])
  const cases = parameters.map(({ name, in: where, schema }): Cases => {
    const named = { status: 400, pointers: [name] }
    if (where === 'path' && schema.format !== 'uuid') return {}
    if (where === 'path') {
      return {
        [`${title} for an id that is not a GUID`]: { path: pathOf(operation, '42'), init, ...named, tells: /GUID/ },
        [`${title} for an unknown id`]: { path: pathOf(operation), init, status: 404, tells: /There is no/ },
        [`${title} with a broken escape in the path`]: {
          path: pathOf(operation, '%zz'),
          init,
          status: 400,
          tells: /hex digits/,
        },
      }
    }
    const query = (value: string) => ({ path: `${pathOf(operation)}?${name}=${value}`, init, ...named })
    if (name === 'limit') return { [`${title} for a page of 101 items`]: { ...query('101'), tells: /1 to 100/ } }
    if (name === 'cursor') return { [`${title} with an invalid cursor`]: { ...query('abc'), tells: /next/ } }
    if (schema.format === 'uuid')
      return { [`${title} with a ${name} that is not a GUID`]: { ...query('1'), tells: /GUID/ } }
    if (name !== 'Idempotency-Key') return {}
    const key = (text: string) => ({
      ...postOf(operation, JSON.stringify(bodyOf(operation)?.example), { ...json, [name]: text }),
      ...named,
    })
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
  const title = titleOf(operation)
  const whole = JSON.stringify(example)
  const missing = required.map((name): [string, BadRequest] => [
    `${title} without ${name}`,
    {
      ...postOf(operation, JSON.stringify({ ...example, [name]: undefined })),
      status: 400,
      pointers: [`/${name}`],
      tells: /missing/,
    },
  ])
  const pointers = required.map((name) => `/${name}`)
  const large = JSON.stringify({ ...example, note: 'x'.repeat(70_000) })
  const latin = Buffer.from(JSON.stringify({ ...example, note: 'é' }), 'latin1')
  return {
    ...Object.fromEntries(missing),
    [`${title} with an empty body`]: { ...postOf(operation, ''), status: 400, pointers, tells: /missing/ },
    [`${title} with a body that is not JSON`]: {
      ...postOf(operation, `${whole.slice(0, -1)},}`),
      status: 400,
      tells: /quotes, commas and brackets/,
    },
    [`${title} with an unknown field`]: {
      ...postOf(operation, JSON.stringify({ ...example, nothing: 1 })),
      status: 400,
      pointers: ['/nothing'],
      tells: /nothing: is not a field of this body/,
    },
    [`${title} with a duplicate key`]: {
      ...postOf(operation, `{${JSON.stringify(required[0])}:1,${whole.slice(1)}`),
      status: 400,
      pointers: [`/${required[0]}`],
      tells: /occurs twice: write each key once/,
    },
    [`${title} with a body that is a list`]: {
      ...postOf(operation, '[]'),
      status: 400,
      pointers: [''],
      tells: /object/,
    },
    [`${title} with a body that is null`]: {
      ...postOf(operation, 'null'),
      status: 400,
      pointers: [''],
      tells: /object, not null/,
    },
    [`${title} with a body that is not UTF-8`]: { ...postOf(operation, latin), status: 400, tells: /UTF-8/ },
    [`${title} with another content type`]: {
      ...postOf(operation, whole, { 'content-type': 'text/plain' }),
      status: 415,
      tells: /application\/json/,
    },
    [`${title} with another charset`]: {
      ...postOf(operation, whole, { 'content-type': 'application/json; charset=latin1' }),
      status: 415,
      tells: /UTF-8/,
    },
    [`${title} with a body above 64 KiB`]: { ...postOf(operation, large), status: 413, tells: /at most 65536 bytes/ },
  }
}
