import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repository } from '../../src/application/paths.ts'

export interface Service {
  image: string
  ports?: string[]
  command?: string[]
  environment?: Record<string, unknown>
  profiles?: string[]
  entrypoint?: string[]
  [key: string]: unknown
}

export const text = readFileSync(join(repository, 'docker-compose.yml'), 'utf8')
export const { services } = parse(text, { merge: true }) as { services: Record<string, Service> }
const ofOthers = ['kafka', 'mongo', 'jaeger', 'prometheus', 'grafana']
export const ours = Object.keys(services).filter((name) => !ofOthers.includes(name))
