import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { steps } from '../../src/upgrade/steps.ts'
import { temporaryFolder } from '../support.ts'
import { write } from './small-application.ts'

describe('the step that names the version of events in the API', () => {
  const step = steps.find(({ title }) => title === 'Name the version of events in the API')

  it('writes the newest version into fields of APIs only, and changes nothing the second time', async () => {
    const application = temporaryFolder()
    for (const version of [1, 2, 10])
      write(application, `envelope-schema/schemas/events/RoomBooked.${version}.json`, { properties: { Room: {} } })
    const before = [
      "const booking = contractFields('RoomBooked', 'BookingId')",
      "const all = contractFields(\n  'RoomBooked',\n)",
      "const old = contractFields('RoomBooked@1')",
      "jsonBody('NewBooking', { room: ['RoomBooked', 'Room', rule] })",
      "const names = ['RoomBooked', 'RoomFreed']",
      "type: 'RoomBooked'",
    ]
    write(application, 'booking-service/src/routes/book.ts', before.join('\n'))
    const after = [
      "const booking = contractFields('RoomBooked@10', 'BookingId')",
      "const all = contractFields(\n  'RoomBooked@10',\n)",
      "const old = contractFields('RoomBooked@1')",
      "jsonBody('NewBooking', { room: ['RoomBooked@10', 'Room', rule] })",
      "const names = ['RoomBooked', 'RoomFreed']",
      "type: 'RoomBooked'",
    ]
    for (const _ of [1, 2]) {
      await step?.change?.(application)
      expect(readFileSync(join(application, 'booking-service/src/routes/book.ts'), 'utf8')).to.equal(after.join('\n'))
    }
  })
})
