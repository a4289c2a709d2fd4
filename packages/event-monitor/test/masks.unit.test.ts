import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { fixtureOf } from '../src/model/fixture.ts'
import { editableText, editedValue } from '../src/model/masked.ts'
import { corrected } from '../src/routes/edited.ts'
import { indexRecord, orderCreated, type TestIndex, testIndex } from './support/records.ts'

/** Creates unique texts, and finds the texts in outputs. */
class Markers {
  readonly #prefix = `Pii${randomBytes(6).toString('hex')}`
  readonly #positions: string[] = []
  new(field: string): string {
    return `${this.#prefix} ${this.#positions.push(field)}.`
  }
  /** Returns the names of the fields whose texts occur in an output. */
  in(output: string): string[] {
    const numbers = [...output.matchAll(new RegExp(`${this.#prefix} (\\d+)`, 'g'))].map(([, number]) => Number(number))
    return [...new Set(numbers.map((number) => this.#positions[number - 1] ?? 'a part of one'))]
  }
}

describe('masking of personal values', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex()
  })
  afterEach(() => index.close())

  function marked(markers: Markers) {
    const m = (field: string) => markers.new(field)
    const named = orderCreated(
      {},
      { CustomerName: m('CustomerName'), CustomerTaxId: m('CustomerTaxId'), Note: m('another field') },
    )
    return [
      indexRecord(named, {
        offset: 0,
        key: m('key'),
        headers: { [m('header name')]: '1', note: m('header value'), signature: m('signature') },
      }),
      indexRecord(orderCreated({}, { CustomerNam: m('misspelt'), [m('name of a field')]: 1 }), { offset: 1 }),
      indexRecord(orderCreated({ Extra: { deep: [m('deep')] } }, { Total: m('in a number') }), { offset: 2 }),
      indexRecord(`{"CustomerName": "${m('half of JSON')}`, { offset: 3 }),
      indexRecord(orderCreated({ Headers: { who: m('envelope header') } }), { offset: 4 }),
      indexRecord(named, {
        topic: 'orderevents.dead',
        offset: 5,
        headers: {
          'deadletter-app': m('app'),
          'deadletter-reason': m('reason'),
          'deadletter-detail': m('detail'),
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': '0',
        },
      }),
      indexRecord({ ...orderCreated(), Name: 'StockCounted', Payload: { Person: m('unknown event') } }, { offset: 6 }),
    ]
  }

  it('keeps personal values out of the answers and files of the index', () => {
    const markers = new Markers()
    const records = marked(markers)
    index.add(...records)
    const events = index.reads.events({}, 100, undefined)
    const outputs = [
      events,
      index.reads.facets({}),
      index.reads.kinds(),
      index.reads.deadLetterGroups(),
      index.reads.deadLetterPage(undefined, undefined, 100).items,
      ...events.items.map(({ position }) => index.reads.event(position)),
      ...events.items.map(({ correlationId }) =>
        index.reads.conversation(correlationId, [
          { name: 'payment-service', consumes: ['orderevents'], positions: new Map([['orderevents/0', '100']]) },
        ]),
      ),
      ...events.items.map(({ position }) => fixtureOf(index.reads.rejection(position) ?? {})),
    ]
    expect(events.items).to.have.length(records.length)
    expect(markers.in(JSON.stringify(outputs))).to.deep.equal([])
    const files = readdirSync(index.folder).map((name) => readFileSync(join(index.folder, name), 'latin1'))
    expect(markers.in(files.join('\n'))).to.deep.equal([])
  })

  it('finds no event by a search for a personal value', () => {
    index.add(indexRecord(orderCreated({}, { CustomerName: 'Lovelace' })))
    for (const q of ['Lovelace', 'lov', 'US-1']) expect(index.reads.events({ q }, 10, undefined).items, q).to.be.empty
  })

  it('restores the values of an event that is edited with placeholders', () => {
    const broken = orderCreated({}, { CustomerName: undefined, CustomerNam: 'Ada', CustomerTaxId: 'GB-1', Total: '12' })
    const original = Buffer.from(JSON.stringify(broken))
    const text = editableText(original) ?? ''
    expect(text).not.to.match(/Ada|GB-1/)
    const corrected = text.replace('"CustomerNam"', '"CustomerName"').replace('"Total": "12"', '"Total": 12')
    expect((JSON.parse(editedValue(corrected, original).toString()) as { Payload: object }).Payload).to.deep.include({
      CustomerName: 'Ada',
      CustomerTaxId: 'GB-1',
      Total: 12,
    })
  })

  it('refuses an edit with a duplicate key, or with a number that JavaScript would change', () => {
    const original = Buffer.from(JSON.stringify(orderCreated()))
    const text = JSON.stringify(orderCreated())
    const refused = (from: RegExp, to: string) => () => corrected(text.replace(from, to), original)
    expect(refused(/"Total":[\d.]+/, '"Total":1,"Total":2')).to.throw('/Payload/Total occurs twice')
    expect(refused(/"Total":[\d.]+/, '"Total":999999999999.999999')).to.throw('/Payload/Total has more digits')
    expect(refused(/"Total":[\d.]+/, '"Total":12.50')).not.to.throw()
  })

  it('restores a deep branch from its single placeholder', () => {
    const deep = `${'{"a":'.repeat(70)}"Ada"${'}'.repeat(70)}`
    const original = Buffer.from(JSON.stringify(orderCreated({}, { Note: 'deep' })).replace('"deep"', deep))
    const text = editableText(original) ?? ''
    expect(text).not.to.contain('Ada')
    const corrected = editedValue(text.replace('"Total": 10', '"Total": 12'), original).toString()
    expect(corrected).to.equal(original.toString().replace('"Total":10', '"Total":12'))
  })

  it('restores hidden field names', () => {
    const payload = { 'Ada Lovelace': 1, Other: { 'née Byron': 'GB-1', '*** 1': 2 } }
    const original = Buffer.from(JSON.stringify(orderCreated({}, payload)))
    const text = editableText(original) ?? ''
    expect(text).not.to.match(/Ada|Byron|GB-1/)
    const corrected = editedValue(text.replace('"Total": 10', '"Total": 12'), original).toString()
    expect(corrected).to.equal(original.toString().replace('"Total":10', '"Total":12'))
  })

  it('restores thousands of hidden field names quickly', function () {
    this.timeout(10_000)
    const names = Array.from({ length: 12_000 }, (_, index) => [`a name ${index}`, index])
    const original = Buffer.from(JSON.stringify(orderCreated({}, Object.fromEntries(names))))
    expect(editedValue(editableText(original) ?? '', original)).to.deep.equal(original)
  })

  it('limits an editable text to 512 Ki characters, even if it has thousands of placeholders', () => {
    for (const items of [Array(85_000).fill([]), Array(60_000).fill({}), Array(11_000).fill('Ada')]) {
      const original = Buffer.from(JSON.stringify(orderCreated({}, { items })))
      const text = editableText(original) ?? ''
      expect(text).to.have.length.within(100_000, 512 * 1024)
      expect(editedValue(text, original)).to.deep.equal(original)
    }
  })

  describe('with a placeholder outside of its field', () => {
    const payload = {
      CustomerName: 'Ada',
      CustomerTaxId: 'GB-1',
      Guests: ['Bo', 'Cy'],
      List: [{ Who: 'Di' }, { Who: 'Ed' }],
    }
    const original = Buffer.from(JSON.stringify(orderCreated({ Headers: { who: 'Fay' } }, payload)))
    const at = (pointer: string) => `***{${pointer}}***`
    type Event = { Headers: Record<string, unknown>; Payload: Record<string, unknown> } & Record<string, unknown>
    const edit = (change: (event: Event) => void): string => {
      const event = JSON.parse(editableText(original) ?? '') as Event
      change(event)
      return JSON.stringify(event)
    }

    const misplaced: Record<string, (event: Event) => void> = {
      'in a field that shows its values': (event) => Object.assign(event, { AppName: at('/Payload/CustomerName') }),
      'in the name of the event': (event) => Object.assign(event, { Name: at('/Payload/CustomerTaxId') }),
      'in a field of a number': ({ Payload }) => Object.assign(Payload, { Total: at('/Payload/CustomerTaxId') }),
      'in a new field': ({ Payload }) => Object.assign(Payload, { Note: at('/Payload/CustomerName') }),
      'in another personal field': ({ Payload }) =>
        Object.assign(Payload, { CustomerName: at('/Payload/CustomerTaxId') }),
      'in another object': (event) => {
        event.AppName = event.Payload.CustomerName
        delete event.Payload.CustomerName
      },
      'in a field that replaces its own, and shows values': ({ Payload }) => {
        Payload.Policy = Payload.CustomerName
        delete Payload.CustomerName
      },
      'of the headers': (event) => Object.assign(event, { AppName: at('/Headers/who') }),
      'of an item, in another list': ({ Payload }) => Object.assign(Payload, { Reasons: [at('/Payload/Guests/0')] }),
      'twice in its list': ({ Payload }) =>
        Object.assign(Payload, { Guests: [at('/Payload/Guests/0'), at('/Payload/Guests/0')] }),
    }
    for (const [where, change] of Object.entries(misplaced)) {
      it(`refuses a placeholder ${where}, and names both fields`, () => {
        expect(() => corrected(edit(change), original))
          .to.throw(/has the placeholder of \/(Payload|Headers)\/\w+.*Use it once, in its own field/)
          .and.satisfy(({ message }: Error) => !/Ada|GB-1|Bo|Fay/.test(message))
      })
    }

    it('restores the other items of a list from which an item was removed', () => {
      const text = edit(({ Payload }) => {
        for (const name of ['Guests', 'List']) (Payload[name] as unknown[]).shift()
      })
      const { Payload } = JSON.parse(corrected(text, original).toString()) as Event
      expect(Payload).to.deep.include({ Guests: ['Cy'], List: [{ Who: 'Ed' }] })
    })
  })

  it('keeps a placeholder as text if its pointer names a value that was never hidden', () => {
    const original = Buffer.from(JSON.stringify(orderCreated()))
    const text = JSON.stringify({ ...orderCreated(), Name: '***{/AppId}***' })
    expect((JSON.parse(editedValue(text, original).toString()) as { Name: string }).Name).to.equal('***{/AppId}***')
  })
})
