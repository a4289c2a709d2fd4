import { randomUUID } from 'node:crypto'
import { event, memorySpecs, request, scenario } from '@orderflow/test-kit/scenario'
import { service } from '../src/service.ts'
import { sparePartIdOf } from '../src/spare-part.ts'
import { subject } from './subject.ts'

const thingId = randomUUID()
const id = sparePartIdOf(thingId)
const first = event('SomethingHappened', { ThingId: thingId })
const second = event(
  'SomethingHappened',
  { ThingId: thingId },
  { creationDate: new Date(Date.parse(first.CreationDate) + 1_000) },
)

describe('spare-part-service in memory', () => {
  memorySpecs(service, subject)

  it('shows the document of an event', () =>
    scenario(service)
      .given(first)
      .when(request('GET', `/v1/spare-parts/${id}`))
      .then({ answered: { status: 200, body: { id, thingId } } }))

  it('keeps the earliest event of each ThingId, in whatever order events arrive', () =>
    scenario(service)
      .when(second, first)
      .then({ stored: { [`spare-part/${id}`]: { state: { SomethingHappened: { Id: first.Id } } } } }))
})
