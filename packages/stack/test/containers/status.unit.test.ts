import { expect } from 'chai'
import type { Container } from '../../src/containers/docker.ts'
import { isStopped, rowsOf } from '../../src/containers/status.ts'

function container(service: string, State: Partial<Container['State']>): Container {
  return {
    Id: service,
    Name: `/${service}`,
    Image: '',
    Config: { Labels: { 'com.docker.compose.service': service }, Image: '', Env: [] },
    HostConfig: { NetworkMode: '' },
    State: { Status: 'running', ExitCode: 0, StartedAt: new Date().toISOString(), ...State },
  }
}

describe('the status of containers', () => {
  const expected = ['kafka', 'order-service', 'order-service-2', 'setup']
  const told = (containers: Container[]) =>
    rowsOf(expected, containers).map(({ name, state, isWell }) => `${name}: ${state}, ${isWell ? 'well' : 'not well'}`)

  it('names every missing container, including those of replicas', () => {
    expect(told([container('kafka', {}), container('setup', { Status: 'exited' })])).to.deep.equal([
      'kafka: running, well',
      'order-service: missing, not well',
      'order-service-2: missing, not well',
      'setup: exited (0), well',
    ])
  })

  it('reports success if all containers are healthy and setup has succeeded', () => {
    const healthy = { Health: { Status: 'healthy' } }
    const all = [
      container('kafka', healthy),
      container('order-service', healthy),
      container('order-service-2', healthy),
    ]
    expect(rowsOf(expected, [...all, container('setup', { Status: 'exited' })]).every(({ isWell }) => isWell)).to.equal(
      true,
    )
    expect(told([...all, container('setup', { Status: 'exited', ExitCode: 1 })])).to.include(
      'setup: exited (1), not well',
    )
  })

  it('reports a failure while a container is unhealthy', () => {
    const ill = container('kafka', { Health: { Status: 'unhealthy' } })
    expect(told([ill])).to.include('kafka: running, unhealthy, not well')
  })

  it('reports a stack as stopped if all its containers have ended, with any exit code, and none is restarting', () => {
    const exited = [0, 137, 143].map((ExitCode) => container('kafka', { Status: 'exited', ExitCode }))
    expect(isStopped(rowsOf(expected, exited))).to.equal(true)
    expect(isStopped(rowsOf(expected, [...exited, container('order-service', { Status: 'restarting' })]))).to.equal(
      false,
    )
  })
})
