import { randomUUID } from 'node:crypto'
import { event, memorySpecs, request, scenario } from '@orderflow/test-kit/scenario'
import { sparePartIdOf } from '../src/domain/spare-part.ts'
import { service } from '../src/service.ts'
import { subject } from './subject.ts'

const ThingId = randomUUID()
const id = sparePartIdOf(ThingId)
const first = event('SomethingHappened', { ThingId })
const second = event(
  'SomethingHappened',
  { ThingId },
  { creationDate: new Date(Date.parse(first.CreationDate) + 1_000) },
)

describe('spare-part-service in memory', () => {
  memorySpecs(service, subject)

  it('shows the document of an event', () =>
    scenario(service)
      .given(first)
      .when(request('GET', `/v1/spare-parts/${id}`))
      .then({ answered: { status: 200, body: { id, thingId: ThingId } } }))

  it('keeps the document of the earliest event for each ThingId, in whatever order events arrive', () =>
    scenario(service)
      .when(second, first)
      .then({ stored: { [`spare-part/${id}`]: { item: { causationId: first.Id } } } }))
})
