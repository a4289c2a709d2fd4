import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export const portOf = (server: Server) => (server.address() as AddressInfo).port
