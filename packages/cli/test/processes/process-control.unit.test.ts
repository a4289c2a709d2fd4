import { expect } from 'chai'
import { inheritedEnvironment } from '../../src/processes/process-control.ts'

describe('inheritedEnvironment', () => {
  it('returns the variables that programs need on this machine', () => {
    const needed = { PATH: '/bin', HOME: '/root', TMPDIR: '/tmp', LANG: 'C', LC_ALL: 'C', TZ: 'UTC', JAVA_HOME: '/jdk' }
    const network = {
      https_proxy: 'p',
      HTTPS_PROXY: 'p',
      NO_PROXY: 'localhost',
      NODE_USE_ENV_PROXY: '1',
      SSL_CERT_FILE: 'f',
      NODE_EXTRA_CA_CERTS: 'f',
    }
    const documented = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'e',
      Log__Level: 'debug',
      Stream__Brokers: 'b:1',
    }
    const all = { ...needed, ...network, ...documented }
    expect(inheritedEnvironment(all)).to.deep.equal(all)
  })

  it('leaves out variables that could change a process by accident', () => {
    const others = [
      'PORT',
      'NODE_OPTIONS',
      'DAPR_API_TOKEN',
      'DAPR_HOST_IP',
      'APP_API_TOKEN',
      'KAFKA_OPTS',
      'JAVA_TOOL_OPTIONS',
      'NAMESPACE',
      '_',
    ]
    expect(inheritedEnvironment(Object.fromEntries(others.map((name) => [name, '1234'])))).to.deep.equal({})
  })
})
