import { expect } from 'chai'
import { application } from '../../src/application/services.ts'
import { CliError } from '../../src/base/error.ts'
import { heardEvent, placeholder, serviceFiles } from '../../src/new-service/template.ts'

const textOf = (event: typeof placeholder) => [...serviceFiles('gift-card-service', event)].flat().join('\n')

describe('the template of a service', () => {
  it('contains the event of the new service, and no words of the example', () => {
    const text = textOf({ name: 'ParcelSent', constant: 'parcelEvents', key: 'ParcelId' })
    expect(text)
      .to.contain("facts(['ParcelSent'])")
      .and.contain('underKey(parcelEvents')
      .and.contain('parcelId: guidText')
    expect(text).not.to.match(/order(?!flow)\w|an order|payment|customer|amount|policy|approved/i)
    expect(text).not.to.match(/\ban? Parcel/)
    expect(text)
      .to.contain('"name": "@orderflow/gift-card-service"')
      .and.not.to.match(/spare.?part/i)
  })

  it('lists all fields as read, in the newest version of its event', () => {
    const files = serviceFiles('gift-card-service', { name: 'OrderCreated', constant: 'orderEvents', key: 'OrderId' })
    expect(JSON.parse(files.get('test/reads.json') ?? '{}')).to.deep.equal({
      'OrderCreated@1': ['/CustomerName', '/CustomerTaxId', '/OrderId', '/Total'],
    })
    const other = serviceFiles('gift-card-service', { name: 'ParcelSent', constant: 'parcelEvents', key: 'ParcelId' })
    expect(other.get('test/reads.json')).not.to.contain('@1')
  })

  it('gets the key of its test event from the topic, and the publisher from the event', () => {
    const text = textOf({ name: 'ParcelSent', constant: 'parcelEvents', key: 'ParcelId' })
    expect(text).to.contain("publisherOf('ParcelSent')").and.contain('underKey(parcelEvents, envelope)')
  })

  it('renames the field of the key if documents already have a field with this name', () => {
    expect(textOf({ ...placeholder, key: 'Id' }))
      .to.contain('eventId: guidText')
      .and.match(/^ {2}id: guidText,$/m)
  })

  it('uses the event that is named, or else the first expected reaction of services.json', () => {
    expect(heardEvent('')).to.deep.equal({
      name: 'PaymentApproved',
      constant: 'paymentEvents',
      key: 'OrderId',
      topic: 'paymentevents',
    })
    expect(heardEvent('OrderCancelled')).to.deep.equal({
      name: 'OrderCancelled',
      constant: 'orderEvents',
      key: 'OrderId',
      topic: 'orderevents',
    })
    expect(() => heardEvent('OrderLost'))
      .to.throw(CliError)
      .with.property('nextStep')
      .that.matches(/^EVENT is one of OrderCancelled, OrderCreated, /)
  })

  /** Returns an application without services. Its outside publishers publish these events to orderevents. */
  const app = (outside: string[]) => ({
    ...application,
    topics: application.topics.map((topic) => ({ ...topic, outside: topic.name === 'orderevents' ? outside : [] })),
    services: {},
  })

  it('uses the topic to which outside publishers publish the event', () => {
    expect(heardEvent('PaymentApproved', app(['PaymentApproved']) as never).topic).to.equal('orderevents')
  })

  it('refuses an event without a topic, even if outside publishers may publish other events', () => {
    expect(() => heardEvent('PaymentApproved', app(['OrderCreated']) as never))
      .to.throw(CliError, 'no topic of services.json has the event PaymentApproved')
      .with.property('nextStep')
      .that.matches(/^add "PaymentApproved" to "outside" of the topic .* or to "produces" of the service/)
  })
})
