import { readFileSync } from 'node:fs'
import type { Objective } from '@orderflow/service-kit/application'
import { expect } from 'chai'
import { templateFile } from '../../src/application/paths.ts'
import { alertsFile, dashboardFile } from '../../src/generate/objective.ts'

const read = (name: string) => readFileSync(templateFile(`observe/${name}`), 'utf8')
const [dashboard, alerts] = [read('dashboard.json'), read('alerts.yml')]

const bookings: Objective = {
  thing: 'booking',
  things: 'bookings',
  status: 'Confirmed',
  event: 'RoomConfirmed@1',
  service: 'booking-service',
  seconds: 2.5,
  share: 0.99,
}

/** Matches a word of the example's objective. */
const example = /order(?!flow)|\bpaid\b|payment/i

describe('the generated parts of alerts and dashboard', () => {
  it('contain no words of the example', () => {
    for (const text of [dashboardFile(dashboard, bookings), alertsFile(alerts, bookings)])
      expect(text).not.to.match(example)
  })

  it('contain no words of a removed objective', () => {
    for (const text of [dashboardFile(dashboard, undefined), alertsFile(alerts, undefined)])
      expect(text).not.to.match(example)
  })

  it('link the alerts to a runbook that does not depend on the objective', () => {
    const links = alertsFile(alerts, bookings).match(/runbook: .*#bookings.*|runbook: .*#reactions-are-late$/gm)
    expect(links).to.deep.equal(Array(3).fill('runbook: docs/runbook.md#reactions-are-late'))
  })

  it('contain panels with the words, the labels and the threshold of the objective', () => {
    const { panels } = JSON.parse(dashboardFile(dashboard, bookings))
    const panel = (wanted: number) => panels.find(({ id }: { id: number }) => id === wanted)
    expect([2, 3, 8, 9].map((id) => panel(id).title)).to.deep.equal([
      'Bookings Confirmed within 2.5 s',
      'Bookings Confirmed per second',
      'Bookings and requests',
      'From the booking to Confirmed',
    ])
    expect(panel(9).description).to.equal(
      'The time from the moment when the cause of RoomConfirmed reached the log until booking-service stored the status confirmed.',
    )
    expect(panel(2).targets[0].expr).to.equal('1 - orderflow:bookings_confirmed_late:ratio_1h')
    expect(panel(2).fieldConfig.defaults.thresholds.steps.at(-1)).to.deep.equal({ color: 'green', value: 0.99 })
    for (const { expr } of [...panel(3).targets, ...panel(9).targets])
      expect(expr).to.contain('{service="booking-service", event="RoomConfirmed@1"}')
  })
})
