import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** An address of a host, as the resolver returns it. */
export interface Address {
  address: string
  family: number
}

export type Resolve = (host: string) => Promise<Address[]>

/**
 * The networks in which a target may only be if a setting allows it (RFC 6890): this machine, private networks, link-local addresses, and reserved ones. Cloud
 * providers have their metadata at link-local addresses.
 */
const refusedNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]

/**
 * Returns the list of networks in a text. BlockList also finds an IPv4 address that is written as IPv6, such as `::ffff:127.0.0.1`.
 * @throws {Error} for a text that is not a network such as `10.1.0.0/16`
 */
export function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = '', ...others] = network.split('/')
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most || others.length > 0)
      throw new Error(`${network} is not a network: write an address and a number of bits, such as 10.1.0.0/16`)
    list.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

const refused = networksOf(refusedNetworks)

const resolveAll: Resolve = (host) => lookup(host, { all: true })

/**
 * Creates the function that resolves a host once, and returns its addresses. The caller must connect to these addresses: a second resolution might return
 * others.
 * @param allowed networks whose addresses are allowed although they are private
 * @throws {Error} (the function) if the host has no address, or a refused one
 */
export function createResolve(allowed: readonly string[], resolve: Resolve = resolveAll) {
  const exceptions = networksOf(allowed)
  const isIn = (list: BlockList, { address, family }: Address) => list.check(address, family === 6 ? 'ipv6' : 'ipv4')
  /** @param host the host of a URL; an IPv6 address may have brackets */
  return async (host: string): Promise<Address[]> => {
    const literal = host.replace(/^\[|\]$/g, '')
    const family = isIP(literal)
    const addresses = family === 0 ? await resolve(literal) : [{ address: literal, family }]
    if (addresses.length === 0) throw new Error(`${host} has no address`)
    const wrong = addresses.find((one) => isIn(refused, one) && !isIn(exceptions, one))
    if (wrong)
      throw new Error(
        `${host} has the address ${wrong.address}, which is not public: AllowedAddresses must name its network`,
      )
    return addresses
  }
}
