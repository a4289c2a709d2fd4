import { expect } from 'chai'
import { processState, stopProcesses } from '../../src/processes/process/control.ts'
import { stopUndeclared } from '../../src/processes/up.ts'
import { removeFolders, startScript, temporaryFolder } from '../support.ts'

describe('stopUndeclared', () => {
  const declared = ['kafka', 'kafka-3', 'order-service', 'order-sidecar', 'jaeger', 'exporter', 'prometheus']
  const removed = ['shipping-service', 'shipping-sidecar']
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
    for (const name of [...declared, ...removed]) startScript(folder, name, 'setInterval(() => {}, 1000)')
  })
  afterEach(async () => {
    await stopProcesses(folder, [...declared, ...removed], () => {})
    removeFolders()
  })

  it('stops the processes of a service that services.json no longer has, and keeps all others', async () => {
    const printed: string[] = []
    await stopUndeclared(folder, (line) => printed.push(line))
    for (const name of removed) expect(processState(folder, name).state, name).to.equal('stopped')
    for (const name of declared) expect(processState(folder, name).state, name).to.equal('running')
    expect(printed).to.include(`${removed.join(', ')}: stopping, because services.json has no such service`)
  })
})
