import { networkInterfaces } from 'node:os'

/** Returns the loopback addresses of this machine. A program may try either first for `localhost`; there is no ::1 where IPv6 is off. */
export function loopbacks(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address))
  return ['127.0.0.1', ...(own.includes('::1') ? ['::1'] : [])]
}

/** An address as it stands before a port. */
export const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)
