import { expect } from 'chai'
import { marksInPs, readProcessTable, readPs } from '../../src/base/process-table.ts'

/** The output of `ps -A -o pid=,pgid=,stat=,lstart=` on macOS. */
const printed = `    1     1 Ss   Sat Nov 21 07:58:02 2026
  612   612 S    Sat Nov 21 07:59:41 2026
31337 31337 Z+   Sun Nov  1 10:00:09 2026
31338 31337 R+   Sun Nov  1 10:00:10 2026
`

/** The output of `ps -A -E -ww -o pid=,command=` on macOS. The environment follows the arguments; that of a system's program is hidden. */
const printedMarks = `    1 /sbin/launchd
  612 /bin/sh /Users/me/my shop/launch /Users/me/my shop/.stack/run/kafka.exit java
  613 java kafka.Kafka PATH=/bin ORDERFLOW_PROCESS=/Users/me/my shop/.stack/run/kafka.exit LC_ALL=C.UTF-8
31338 node src/main.ts ORDERFLOW_PROCESS=/Users/me/shop/.stack/run/order-service.exit
`

describe('the process table', () => {
  it('finds the marks of processes in the output of ps', () => {
    expect([...marksInPs(printedMarks)]).to.deep.equal([
      [613, '/Users/me/my shop/.stack/run/kafka.exit'],
      [31338, '/Users/me/shop/.stack/run/order-service.exit'],
    ])
  })

  it('comes from ps on systems without /proc, and leaves out zombies', () => {
    expect(readPs(printed)).to.deep.equal([
      { pid: 1, group: 1, startId: 'Sat Nov 21 07:58:02 2026' },
      { pid: 612, group: 612, startId: 'Sat Nov 21 07:59:41 2026' },
      { pid: 31338, group: 31337, startId: 'Sun Nov 1 10:00:10 2026' },
    ])
  })

  it('lists the same processes with ps as with /proc, but with another form of the start time', () => {
    const own = readPs().find(({ pid }) => pid === process.pid)
    expect(own?.group).to.equal(readProcessTable().get(process.pid)?.group)
    expect(Date.parse(`${own?.startId} UTC`)).to.be.closeTo(Date.now() - process.uptime() * 1_000, 5_000)
  })

  it('shows the same start time of a process in every time zone', () => {
    const zone = process.env.TZ
    const startOf = () => readPs().find(({ pid }) => pid === process.pid)?.startId
    const before = startOf()
    process.env.TZ = 'Pacific/Auckland'
    const there = startOf()
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
    expect(there).to.equal(before)
  })
})
