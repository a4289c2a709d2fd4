/**
 * A STAND-IN for Testcontainers' reaper, ryuk. It removes the resources of a test run after the run has ended or crashed.
 *
 * A test run connects to port 8080 and sends lines of Docker filters (`label=a=b&label=c`), and gets `ACK` for each line. After the last connection
 * was closed, the reaper removes all matching resources.
 */
import { request } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

type Filter = { label: string[] }

const firstConnectionMs = duration('RYUK_CONNECTION_TIMEOUT', '60s')
const reconnectionMs = duration('RYUK_RECONNECTION_TIMEOUT', '10s')
const requestMs = duration('RYUK_REQUEST_TIMEOUT', '10s')
const passes = 10

const filters = new Map<string, Filter>()
const clients = new Set<Socket>()
let timer = setTimeout(reap, firstConnectionMs)

const server = createServer((client) => {
  clients.add(client)
  clearTimeout(timer)
  client.on('error', () => {})
  client.on('close', () => {
    clients.delete(client)
    if (clients.size === 0) timer = setTimeout(reap, server.listening ? reconnectionMs : 0)
  })
  createInterface({ input: client }).on('line', (line) => {
    const label = new URLSearchParams(line.trim()).getAll('label')
    // A filter without a label would match everything on this machine.
    if (label.length > 0) filters.set(line, { label })
    client.write('ACK\n')
  })
})
server.listen(8080, () => console.log('Started: a stand-in for ryuk'))
process.on('SIGTERM', () => {
  server.close()
  clearTimeout(timer)
  if (clients.size === 0) reap()
})

/** Removes resources in passes until a pass finds nothing, because networks end after their containers, and the engine may still create resources. */
async function reap(): Promise<void> {
  server.close()
  let removed = 0
  for (let pass = 0; pass < passes; pass++) {
    const found = (await Promise.all([...filters.values()].map(resources))).flat()
    if (found.length === 0 && pass > 0) break
    for (const path of found) removed += await remove(path)
    await sleep(1000)
  }
  console.log(`removed ${removed}`)
  process.exit()
}

/** Removes a resource. Returns the number of removed resources: 0 if the engine refuses. */
async function remove(path: string): Promise<number> {
  try {
    await docker('DELETE', path)
    return 1
  } catch (error) {
    console.log(`${path}: ${(error as Error).message}`)
    return 0
  }
}

/** Returns the API paths of matching resources, in the order of their removal. */
async function resources(filter: Filter): Promise<string[]> {
  const query = `filters=${encodeURIComponent(JSON.stringify(filter))}`
  const containers = await docker<{ Id: string; Labels: Record<string, string> }[]>(
    'GET',
    `/containers/json?all=1&${query}`,
  )
  const networks = await docker<{ Id: string }[]>('GET', `/networks?${query}`)
  const { Volumes: volumes } = await docker<{ Volumes: { Name: string }[] | null }>('GET', `/volumes?${query}`)
  const images = await docker<{ Id: string }[]>('GET', `/images/json?${query}`)
  const reapers = 'org.testcontainers.ryuk'
  return [
    ...containers.filter(({ Labels }) => Labels[reapers] !== 'true').map(({ Id }) => `/containers/${Id}?force=1&v=1`),
    ...networks.map(({ Id }) => `/networks/${Id}`),
    ...(volumes ?? []).map(({ Name }) => `/volumes/${Name}?force=1`),
    ...images.map(({ Id }) => `/images/${Id}`),
  ]
}

/** Calls the engine's API over its socket. @throws {Error} with the engine's answer, unless it reports success or a missing resource */
function docker<Body>(method: string, path: string): Promise<Body> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: '/var/run/docker.sock', method, path, timeout: requestMs }, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('')
      const status = response.statusCode ?? 0
      if (status < 300 || status === 404) resolve(text && status < 300 ? JSON.parse(text) : undefined)
      else reject(new Error(text.trim()))
    })
    call.on('timeout', () => call.destroy(new Error(`no answer in ${requestMs} ms`)))
    call.on('error', reject)
    call.end()
  })
}

/** Returns the milliseconds of a setting such as 10s, 500ms or 1m. */
function duration(variable: string, standard: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m)$/.exec(process.env[variable] ?? standard) ?? []
  if (!unit) throw new Error(`${variable}: not a duration such as 10s: ${process.env[variable]}`)
  return Number(amount) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm']
}
