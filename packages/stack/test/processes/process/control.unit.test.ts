import { expect } from 'chai'
import { inheritedEnvironment } from '../../../src/processes/process/control.ts'

describe('inheritedEnvironment', () => {
  it('returns the variables that programs need on this machine', () => {
    const needed = { PATH: '/bin', HOME: '/root', TMPDIR: '/tmp', LANG: 'C', LC_ALL: 'C', TZ: 'UTC', JAVA_HOME: '/jdk' }
    expect(inheritedEnvironment(needed)).to.deep.equal(needed)
  })

  it('leaves out the variables of a stack, and those that could change a process by accident', () => {
    const others = [
      'PORT',
      'NODE_OPTIONS',
      'DAPR_API_TOKEN',
      'DAPR_HOST_IP',
      'APP_API_TOKEN',
      'KAFKA_OPTS',
      'JAVA_TOOL_OPTIONS',
      'NAMESPACE',
      'Auth__Mode',
      'OTEL_SDK_DISABLED',
      'HTTPS_PROXY',
      'NODE_EXTRA_CA_CERTS',
      'State__ConnectionString',
      '_',
    ]
    expect(inheritedEnvironment(Object.fromEntries(others.map((name) => [name, '1234'])))).to.deep.equal({})
  })
})
