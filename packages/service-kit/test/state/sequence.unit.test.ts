import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

/** A store whose calls take different times, and whose documents another replica changes. */
function busySidecar(type: string): FakeSidecar {
  const sidecar = new FakeSidecar(type)
  for (const name of ['save', 'transact', 'read'] as const) {
    const call = sidecar[name].bind(sidecar) as (...given: unknown[]) => Promise<never>
    Object.assign(sidecar, {
      [name]: async (...given: unknown[]) => {
        await delay(Math.random() * 4)
        return call(...given)
      },
    })
  }
  return sidecar
}

describe('operations of one document', () => {
  for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    describe(`on ${type}`, () => {
      let sidecar: FakeSidecar
      let append: (key: string, number: number, beside?: string[]) => Promise<void>
      beforeEach(() => {
        sidecar = busySidecar(type)
        const change = createUnitOfWork(
          Object.assign(sidecar, { writeIntervalMs: 1 }),
          createArrivalLists(() => new Date()),
        )
        append = (key, number, beside = []) =>
          change({
            ...{ key, beside, bytes: 10 },
            decide: (view) => {
              for (const other of beside) view.get(other)
              const numbers = view.get<number[]>(key) ?? []
              // As in a rebuild, an operation that runs again moves its number to the end.
              view.write([...numbers.filter((each) => each !== number), number])
            },
          })
      })
      const stored = (key: string) => sidecar.documents.get(key)?.value

      it('run in the sequence of their calls, although several batches run at the same time', async () => {
        const numbers = Array.from({ length: 300 }, (_, index) => index)
        const keys = ['a', 'b', 'c', 'd', 'e', 'f']
        let writes = 0
        sidecar.beforeWrite = () => {
          writes += 1
          // Another replica changes a document, so a guard fails.
          if (writes % 7 === 0) sidecar.set('b', [...((stored('b') as number[]) ?? [])])
        }
        await Promise.all(
          numbers.flatMap((number) => [
            ...keys.map((key) => append(key, number)),
            // Calls of other documents fill the batches, so that the calls of one document are in several batches.
            ...Array.from({ length: 4 }, (_, other) => append(`other ${number} ${other}`, number)),
          ]),
        )
        for (const key of keys) expect(stored(key)).to.deep.equal(numbers)
      })

      it('run again in their sequence if another document of the first operation was not saved', async () => {
        sidecar.beforeWrite = () => {
          sidecar.beforeWrite = () => {}
          sidecar.writeElsewhere('b', [0])
        }
        await Promise.all([append('a', 1, ['b']), append('b', 1), append('a', 2)])
        expect([stored('a'), stored('b')]).to.deep.equal([
          [1, 2],
          [0, 1],
        ])
      })
    })
  }
})
