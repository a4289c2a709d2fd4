import { expect } from 'chai'
import { ipv6Ports, replicaServices } from '../../src/containers/replicas.ts'
import { services } from './compose-file.ts'

describe('replicaServices', () => {
  const model = {
    services: {
      'payment-pod': { image: 'p', pull_policy: 'never', ports: ['1:1'] },
      'payment-sidecar': { network_mode: 'service:payment-pod', depends_on: { 'payment-pod': {}, setup: {} } },
      'payment-service': {
        build: {},
        network_mode: 'service:payment-pod',
        depends_on: { 'payment-pod': {}, 'payment-sidecar': {} },
      },
    },
  }

  it('adds a pod, a sidecar and a service for each replica, all without published ports', () => {
    expect(replicaServices(model, { 'payment-service': 2 }).services).to.deep.equal({
      'payment-pod-2': { image: 'p', pull_policy: 'never' },
      'payment-sidecar-2': { network_mode: 'service:payment-pod-2', depends_on: { 'payment-pod-2': {}, setup: {} } },
      'payment-service-2': {
        network_mode: 'service:payment-pod-2',
        depends_on: { 'payment-pod-2': {}, 'payment-sidecar-2': {} },
      },
    })
  })

  it('adds no replicas for a service that runs once', () => {
    expect(replicaServices(model, { 'payment-service': 1 }).services).to.deep.equal({})
  })
})

describe('ipv6Ports', () => {
  it('returns the ports that docker-compose.yml publishes on 127.0.0.1, with the same variables', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports)
    const added = ipv6Ports({ services }).services
    expect(Object.keys(added))
      .to.have.members(published.map(([name]) => name))
      .and.to.include('order-pod')
    expect(added['order-pod']?.ports).to.deep.equal([
      `[::1]:\${ORDER_HTTP_PORT:-5000}:5000`,
      `[::1]:\${ORDER_HTTPS_PORT:-5001}:5001`,
    ])
  })
})
