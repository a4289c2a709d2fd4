import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
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

describe('the step that imports the rules of money from the service kit', () => {
  const step = steps.find(({ title }) => title === 'Import the rules of money from the service kit')

  it('leaves all other names in the import of the contract, and changes nothing the second time', async () => {
    const application = temporaryFolder()
    const before = [
      "import { amountFlaw, type Currency, orderEvents } from '@acme/envelope-schema'",
      "import type { Currency } from '@acme/envelope-schema'",
      "import {\n  currencyOf,\n  type PayloadOf,\n} from '@acme/envelope-schema'",
      "import { type CurrencyPair, orderEvents } from '@acme/envelope-schema'",
    ]
    write(application, 'order-service/src/order.ts', before.join('\n'))
    const after = [
      "import { orderEvents } from '@acme/envelope-schema'",
      "import { amountFlaw, type Currency } from '@orderflow/service-kit'",
      "import type { Currency } from '@orderflow/service-kit'",
      "import {\n  type PayloadOf,\n} from '@acme/envelope-schema'",
      "import { currencyOf } from '@orderflow/service-kit'",
      "import { type CurrencyPair, orderEvents } from '@acme/envelope-schema'",
    ]
    for (const _ of [1, 2]) {
      await step?.change?.(application)
      expect(readFileSync(join(application, 'order-service/src/order.ts'), 'utf8')).to.equal(after.join('\n'))
    }
  })
})

describe('the step that limits sidecars to the APIs that services use', () => {
  it('gives an application the same limits as a new application', async () => {
    const file = 'components/configuration.yaml'
    const current = readFileSync(join(repository, file), 'utf8')
    const former = current.replace(/^ {2}# The only APIs[\s\S]*?(?=^ {2}tracing:)/m, '')
    expect(former).not.to.match(/api:|secrets:|accessControl:/)
    const application = temporaryFolder()
    write(application, file, former)
    await steps.find(({ title }) => title === 'Limit sidecars to the APIs that services use')?.change?.(application)
    expect(readFileSync(join(application, file), 'utf8')).to.equal(current)
  })
})

describe('the step that lets make up rebuild the stores', () => {
  it('gives an application the same target as a new application', async () => {
    const current = readFileSync(join(repository, 'tools/new-app/template/Makefile'), 'utf8')
    const former = current.replace(' [REBUILD=1 first rebuilds the stores]', '').replace(/( up) \$\$\{REBUILD.*/, '$1')
    expect(former)
      .to.match(/\n\t@\$\(orderflow\) up\n/)
      .and.not.to.contain('REBUILD')
    const application = temporaryFolder()
    write(application, 'Makefile', former)
    for (const _ of [1, 2]) {
      await steps.find(({ title }) => title === 'Let make up rebuild the stores')?.change?.(application)
      expect(readFileSync(join(application, 'Makefile'), 'utf8')).to.equal(current)
    }
  })
})
