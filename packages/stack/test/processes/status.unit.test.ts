import { expect } from 'chai'
import { colouredTable, formatDuration } from '../../src/base/terminal.ts'
import { processNamesWith } from '../../src/processes/plan.ts'
import { header, lineOf, requireUp, stackStatus } from '../../src/processes/status.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('the status table', () => {
  afterEach(removeFolders)

  it('contains a line for each process with state, pid, port, memory and uptime', () => {
    const rows = [
      {
        name: 'kafka',
        state: 'running',
        detail: '',
        port: 9092,
        pid: 17,
        residentBytes: 350 * 2 ** 20,
        uptimeMs: 61_000,
      },
      { name: 'order-service', state: 'crashed', detail: 'exit code 1; see make logs', port: 5000 },
    ] as const
    const lines = colouredTable(header, rows.map(lineOf))
    expect(lines.map(({ colour }) => colour)).to.deep.equal(['bold', 'green', 'red'])
    expect(lines.map(({ text }) => text)).to.deep.equal([
      'PROCESS        STATE                                PID  PORT  MEMORY  UPTIME',
      'kafka          running                              17   9092  350 MB  1 min 1 s',
      'order-service  crashed: exit code 1; see make logs  -    5000  -       -',
    ])
  })

  it('shows all processes of a new stack as stopped', () => {
    const folder = temporaryFolder()
    const rows = stackStatus(folder)
    expect(rows.map((row) => row.state)).to.deep.equal(
      processNamesWith({ store: 'sqlite', brokers: 1 }).map(() => 'stopped'),
    )
    expect(() => requireUp(folder)).to.throw('the stack is not running')
  })

  it('shows durations in the two largest units', () => {
    const told = [0, 45_000, 200_000, 3_600_000, 18_720_000, 183_600_000].map(formatDuration)
    expect(told).to.deep.equal(['0 s', '45 s', '3 min 20 s', '1 h', '5 h 12 min', '2 d 3 h'])
  })
})
