import { expect } from 'chai'
import { profileShares } from '../support/profile.ts'

describe('profileShares', () => {
  const frame = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url } })

  it('adds up the time by package and folder, without idle time, and sorts by time', () => {
    const nodes = [
      frame(1, '(idle)'),
      frame(2, '(garbage collector)'),
      frame(3, 'a', 'file:///repo/packages/service-kit/src/sidecar/batcher.ts'),
      frame(4, 'b', 'file:///repo/packages/service-kit/src/operations/rebuild.ts'),
      frame(5, 'c', 'file:///repo/node_modules/@grpc/grpc-js/build/src/client.js'),
      frame(6, 'd', 'node:internal/http2/core'),
      frame(7, 'writev'),
    ]
    const profile = { nodes, samples: [1, 2, 3, 4, 5, 6, 7], timeDeltas: [9_000, 1_000, 3_000, 4_000, 2_000, 500, 250] }
    expect(profileShares(profile)).to.deep.equal({
      busyMs: 10.75,
      shares: [
        { where: 'service-kit/src', ms: 7 },
        { where: '@grpc/grpc-js', ms: 2 },
        { where: '(garbage collector)', ms: 1 },
        { where: 'Node, node:internal/http2', ms: 0.5 },
        { where: 'native or generated', ms: 0.25 },
      ],
    })
  })
})
