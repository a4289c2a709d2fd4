import type { Operator } from '../../../src/release/platform/operator.ts'

export const token = 'a-token-of-the-api'

export function operatorOf(changes: Partial<Operator> = {}): Operator {
  return { apiUrl: 'http://127.0.0.1:1', platform: 'heroku', registry: 'localhost:1', app: 'my-app', token, ...changes }
}
