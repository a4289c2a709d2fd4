import { expect } from 'chai'
import type { Request } from 'express'
import { networkOf, networkOfSender } from '../../src/web/rate-limits.ts'

describe('networkOf', () => {
  const networks: Record<string, string> = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:192.0.2.1': '192.0.2.1',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff': '2001:db8:1:2::/64',
    '2001:db8:1:2::': '2001:db8:1:2::/64',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:db8::3:4:5:6': '2001:db8:0:0::/64',
    '2001:db8::2:3:4:5:6': '2001:db8:0:2::/64',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0::/64',
    '1:2:3:4:5:6:192.0.2.1': '1:2:3:4::/64',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    'fe80::1%eth0.1': 'fe80:0:0:0::/64',
  }
  for (const [address, network] of Object.entries(networks)) {
    it(`returns ${network} for ${address}`, () => expect(networkOf(address)).to.equal(network))
  }

  it('uses the proxy’s own address if the proxy reports an invalid address', () => {
    const request = (ip: string) => ({ ip, socket: { remoteAddress: '192.0.2.9' } }) as Request
    expect(networkOfSender(request('198.51.100.1'))).to.equal('198.51.100.1')
    for (const ip of ['unknown', '198.51.100.1:5000', '', 'x'.repeat(9_000)]) {
      expect(networkOfSender(request(ip))).to.equal('192.0.2.9')
    }
  })
})
