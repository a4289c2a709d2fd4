import { isIPv4 } from 'node:net'

/** Whether only programs of this machine reach a listener, by the host that it listens on. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
